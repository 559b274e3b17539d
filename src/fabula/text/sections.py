"""The sections of a text as a tree, and the path of each, as "BOOK NINE · CHAPTER XI".

Files state depths of headings badly or not at all: all headings of a web page may be of one level,
and plain text has none. So the words of the titles decide where the file does not: a book or a part
contains chapters, and a heading below which the numbers begin at one again contains them.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise

from fabula.text.document import Section
from fabula.text.folding import fold
from fabula.text.names import MAX_LINE_BYTES

SEPARATOR = " · "
"""What is between the titles of a path."""
BETWEEN = " – "
"""What is between the paths of the first and the last section of a stretch; no path has it."""
MAX_PATH_BYTES = (MAX_LINE_BYTES - 5) // 2
"""The most bytes of a path: two of them are the section of a summary."""
MAX_ANCESTOR_CHARACTERS = 80
"""How much of the title of an outer section is in the paths of those within it."""

_VOLUME, _PART, _ACT, _CHAPTER, _SCENE, _LETTER, _NUMERAL = 10, 20, 30, 40, 50, 60, 70
_DIVISION_RANKS = {
    "volume": _VOLUME,
    "book": _PART,
    "part": _PART,
    "act": _ACT,
    "chapter": _CHAPTER,
    "scene": _SCENE,
    "letter": _LETTER,
    "section": _LETTER,
}
_MORE_RANKS = {
    "vol": _VOLUME,
    "chap": _CHAPTER,
    "canticle": _CHAPTER,
    "paragraph": _LETTER,
    "§": _LETTER,
}
"""What begins headings only where a file says that they are headings: in prose, too, it may begin
a line."""
_COUNT = "0-9０-９〇零一二三四五六七八九十百千两兩"
_NUMERAL_LINE = re.compile(rf"\s*([ivxlcdm]+|[{_COUNT}]{{1,4}})(?:[.:)、．。—–-]|(?=\s)|$)\s*(.*)")
_TWO_WORDS = re.compile(r"[^\W_]+\s+[^\W_]+\s*(?:[.:)—–-]|$)")
_ARTICLES = frozenset(
    ["the", "a", "an", "der", "die", "das", "le", "la", "les", "l", "el", "il", "lo", "het", "de"]
)
_FRONT_WORDS = """
    preface prologue introduction foreword proem dedication prolog wstęp przedmowa vorwort
    einleitung vorspiel préface avant prólogo prefacio introducción prefazione introduzione
    пролог предисловие вступление
"""
_BACK_WORDS = """
    epilogue afterword conclusion postscript appendix appendices notes glossary finale epilog
    posłowie zakończenie nachwort schluss nachspiel anhang épilogue postface epílogo epilogo
    эпилог послесловие заключение приложение
"""


@dataclass(frozen=True, slots=True)
class TextOutline:
    """The sections of a text in text order, as a tree.

    Attributes:
        sections: The sections.
        depths: The depth of each in the tree, from 1, the outermost.
    """

    sections: tuple[Section, ...] = ()
    depths: tuple[int, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """The path of each section, from the outermost title to its own."""
        return section_paths([section.title for section in self.sections], self.depths)


def outline(sections: Sequence[Section], title: str = "") -> TextOutline:
    """Return the tree of sections.

    Args:
        sections: The sections in text order; a level of 0 is unknown.
        title: The title of the text. A heading that only repeats it contains no others.
    """
    return TextOutline(tuple(sections), section_depths(sections, title))


def section_paths(titles: Sequence[str], depths: Sequence[int]) -> tuple[str, ...]:
    """Return the path of each section, as "BOOK NINE · CHAPTER XI", from titles and depths."""
    paths: list[str] = []
    above: list[tuple[int, str]] = []
    for title, depth in zip(titles, depths, strict=True):
        while above and above[-1][0] >= depth:
            above.pop()
        name = title.replace(BETWEEN, " — ")
        paths.append(_fit(SEPARATOR.join([*(outer for _, outer in above), name]), name))
        above.append((depth, _cut_off(name)))
    return tuple(paths)


def _fit(path: str, title: str) -> str:
    """Return a path, or else a title, or else its beginning, of at most MAX_PATH_BYTES."""
    for text in (path, title):
        if len(text.encode("utf-8", "replace")) <= MAX_PATH_BYTES:
            return text
    return title.encode("utf-8", "ignore")[: MAX_PATH_BYTES - 3].decode("utf-8", "ignore") + "…"


def shorten_paths(paths: Iterable[str]) -> list[str]:
    """Return paths without the outer titles that each shares with the one before it."""
    short: list[str] = []
    before: list[str] = []
    for path in paths:
        parts = path.split(SEPARATOR)
        shared = 0
        while shared < min(len(parts) - 1, len(before)) and parts[shared] == before[shared]:
            shared += 1
        short.append(SEPARATOR.join(parts[shared:]))
        before = parts
    return short


def span_of_sections(first: str, last: str) -> str:
    """Return the name of the stretch from one section to another, as "First – Last", by paths."""
    if first == last or not last:
        return first
    return f"{first}{BETWEEN}{last}" if first else last


def _cut_off(title: str) -> str:
    return textwrap.shorten(title, MAX_ANCESTOR_CHARACTERS, placeholder="…") or title


def section_depths(sections: Sequence[Section], title: str = "") -> tuple[int, ...]:
    """Return the depth of each section in the tree, from 1; the arguments are those of `outline`.

    Of two headings the one with the lower level is the outer one. Where levels are equal or
    unknown, the words of the titles decide: volume, then book and part, act, chapter, scene,
    letter, and bare numbers. A title that has none of these is beside the heading before it, or
    within a book or part that it follows at once.
    """
    headings = _rank(_read_headings(sections, title))
    outer_after = _find_outer_after(headings)
    depths: list[int] = []
    above: list[_Heading] = []
    previous_above: list[_Heading] = []
    for number, heading in enumerate(headings):
        before = headings[number - 1] if number else None
        if heading.rank is None and not (heading.level and before and before.level):
            if heading.is_back and not outer_after[number]:
                above = []
            elif before and before.contains:
                pass  # within the book or part that has just begun
            else:
                above = list(previous_above)
        else:
            while above and not _outranks(above[-1], heading):
                above.pop()
        depths.append(len(above) + 1)
        previous_above = list(above)
        if not heading.is_book_title:
            above.append(heading)
    return tuple(depths)


@dataclass(frozen=True, slots=True)
class _Heading:
    """What is known of a heading.

    Attributes:
        words: The words of the title, folded.
        level: The level that the file states; 0 if it is unknown or means nothing.
        kind: The keyword that it is numbered by, or what stands for one; '' for a plain title.
        rank: The rank of the keyword, the outermost lowest; None for a plain title.
        key: The keyword with the number: the same for two that are the first of their kind.
        contains: Whether sections within it are to be expected.
        is_back: Whether it is the name of what comes at the end of a book.
        is_book_title: Whether it is only the title of the text.
    """

    words: tuple[str, ...]
    level: int
    kind: str = ""
    rank: int | None = None
    key: str = ""
    contains: bool = False
    is_front: bool = False
    is_back: bool = False
    is_book_title: bool = False


def _read_headings(sections: Sequence[Section], title: str) -> list[_Heading]:
    """Read the words of headings; a keyword needs a number, or a second heading of its kind."""
    own = fold_words(title)
    guesses = [_keyword(section.title) for section in sections]
    counts = Counter(guess[0] for guess in guesses if guess)
    headings: list[_Heading] = []
    for section, guess in zip(sections, guesses, strict=True):
        words = fold_words(section.title)
        heading = _Heading(
            words,
            section.level,
            is_front=any(word in _FRONT for word in words[:2]),
            is_back=any(word in _BACK for word in words[:2]),
            is_book_title=bool(words) and words == own,
        )
        if guess and (guess[2] or counts[guess[0]] > 1):
            kind, key, _ = guess
            rank = _ranks().get(kind, _NUMERAL)
            heading = replace(heading, kind=kind, key=key, rank=rank, contains=rank <= _ACT)
        headings.append(heading)
    return _clear_levels(headings)


def _keyword(title: str) -> tuple[str, str, bool] | None:
    """Return the keyword of a title, it with its number, and whether the number is certain."""
    guess = _first_keyword(title)
    # A title may have another before it, as "DAMY I HUZARY: AKT I".
    if guess is None and ": " in title:
        rest = _first_keyword(title.rpartition(": ")[2])
        if rest and rest[2] and rest[0] in _ranks():
            return rest
    return guess


def _first_keyword(title: str) -> tuple[str, str, bool] | None:
    """Return the same of a title that begins with its keyword or its number."""
    folded = fold_title(title)
    if match := _ideographic().match(folded):
        word, number = (match[2], match[1]) if match[2] else (match[3], match[4])
        return word, f"{word} {number}", True
    words = fold_words(title)
    while words and words[0] in _ARTICLES and len(words) > 1:
        words = words[1:]
    if words and words[0] in _ranks():
        following = [word for word in words[1:] if word not in _ARTICLES]
        is_sure = not following or _is_number(following[0]) or bool(_TWO_WORDS.match(folded))
        return words[0], " ".join([words[0], *following[:1]]), is_sure
    if len(words) > 1 and words[1] in _ranks():
        return words[1], f"{words[1]} {words[0]}", _is_number(words[0])
    if match := _NUMERAL_LINE.fullmatch(folded):
        kind = "titled number" if match[2] else "number"
        return kind, f"{kind} {match[1]}", True
    return None


def _is_number(word: str) -> bool:
    return bool(re.fullmatch(r"\d{1,4}|[ivxlcdm]+|\d{1,3}(?:st|nd|rd|th|re|er|e)", word))


def _clear_levels(headings: Sequence[_Heading]) -> list[_Heading]:
    """Drop levels that are all equal or inverted; else fill in missing ones by a heading's kind."""
    levels: dict[str, Counter[int]] = defaultdict(Counter)
    for heading in headings:
        if heading.level:
            levels[heading.kind][heading.level] += 1
    stated = {level for counts in levels.values() for level in counts}
    usual = {kind: counts.most_common(1)[0][0] for kind, counts in levels.items() if kind}
    by_rank = sorted(usual, key=lambda kind: _ranks().get(kind, _NUMERAL))
    is_inverted = any(
        usual[outer] > usual[inner]
        for outer, inner in pairwise(by_rank)
        if _ranks().get(outer, _NUMERAL) < _ranks().get(inner, _NUMERAL)
    )
    if len(stated) < 2 or is_inverted:
        return [replace(heading, level=0) for heading in headings]
    return [
        replace(heading, level=heading.level or usual.get(heading.kind, 0)) for heading in headings
    ]


def _rank(headings: Sequence[_Heading]) -> list[_Heading]:
    """Put kinds of one rank in order, and give a rank to plain titles that contain others."""
    counts = Counter(heading.kind for heading in headings if heading.rank == _PART)
    # Of books and parts, the fewer contain the others; of as many, those that come first.
    order = {kind: place for place, (kind, _) in enumerate(reversed(counts.most_common()))}
    firsts = list(dict.fromkeys(heading.kind for heading in headings if heading.kind in counts))
    if len(set(counts.values())) == 1:
        order = {kind: place for place, kind in enumerate(firsts)}
    ranked = [
        replace(heading, rank=_PART + order[heading.kind]) if heading.kind in order else heading
        for heading in headings
    ]
    ranked = _rank_inner_numbers(ranked)
    return _rank_containers(ranked)


def _rank_inner_numbers(headings: Sequence[_Heading]) -> list[_Heading]:
    """Put bare numbers below numbered titles if they begin below one of them."""
    starts = [
        after.kind == "number" and before.kind == "titled number" and _is_first(after)
        for before, after in pairwise(headings)
    ]
    if not any(starts):
        return [
            replace(heading, kind="number") if heading.kind == "titled number" else heading
            for heading in headings
        ]
    return [
        replace(heading, rank=_NUMERAL + 1) if heading.kind == "number" else heading
        for heading in headings
    ]


def _is_first(heading: _Heading) -> bool:
    return heading.key.rpartition(" ")[2] in ("1", "i", "一", "１")


def _rank_containers(headings: Sequence[_Heading]) -> list[_Heading]:
    """Give a rank to titles right below which numbers begin again, as those of cantos."""
    seen: set[str] = set()
    containers: dict[str, list[int]] = defaultdict(list)
    candidates: dict[str, int] = {}
    parents: dict[str, int] = {}
    for number, (heading, after) in enumerate(pairwise(headings)):
        if heading.key:
            seen.add(heading.key)
        if after.rank is None or heading.kind == after.kind:
            continue
        if heading.rank is not None and heading.rank < after.rank:
            parents.setdefault(after.key, heading.rank)
        elif heading.is_front:
            continue
        elif after.key in seen:
            containers[after.key].append(number)
        else:
            candidates[after.key] = number
    ranked = list(headings)
    outermost = min((heading.rank for heading in headings if heading.rank), default=0)
    for key, numbers in containers.items():
        # Of the first title, as "INFERNO", only the later ones prove it.
        first = [candidates[key]] if key in candidates and key not in parents else []
        for number in [*first, *numbers]:
            inner = headings[number + 1].rank or 0
            rank = parents.get(key, inner - 1)
            if headings[number].is_back:
                rank = min(rank, outermost)
            ranked[number] = replace(ranked[number], rank=rank, contains=True)
    return ranked


def _find_outer_after(headings: Sequence[_Heading]) -> list[bool]:
    """Return for each heading whether a later one contains others."""
    later = [False] * len(headings)
    for number in range(len(headings) - 2, -1, -1):
        later[number] = later[number + 1] or headings[number + 1].contains
    return later


def _outranks(outer: _Heading, inner: _Heading) -> bool:
    if outer.level and inner.level and outer.level != inner.level:
        return outer.level < inner.level
    if outer.rank is None or inner.rank is None:
        return False
    return outer.rank < inner.rank


# Places by their names


def fold_title(text: str) -> str:
    """Return a title as titles are compared: folded, and without all marks on letters."""
    return "".join(letter for letter in fold(text) if not unicodedata.combining(letter))


def fold_words(text: str) -> tuple[str, ...]:
    """Return the words of a text, without case, diacritics and punctuation."""
    return tuple(re.findall(r"[^\W_]+|§", fold_title(text)))


def find_named_sections(
    outline: TextOutline, name: str, number_of: Callable[[str], int] = lambda word: 0
) -> list[int]:
    """Return the numbers of the sections that a name fits best, in text order.

    The best fit is the whole path; then its end, as "BOOK NINE CHAPTER XI", in which titles may be
    left out or cut off after a word; then any part of a title.

    Args:
        outline: The sections.
        name: A path or a part of one; case, diacritics and punctuation do not matter.
        number_of: Returns the value of a number in words or Roman figures, or 0; so "Book 9" is
            BOOK NINE.
    """

    @lru_cache(maxsize=10_000)
    def plain(word: str) -> str:
        return str(number_of(word) or word)

    def read(text: str) -> tuple[str, ...]:
        return tuple(map(plain, fold_words(text)))

    words = read(name)
    if not words:
        return []
    exact: list[int] = []
    whole: list[int] = []
    cut_off: list[int] = []
    within: list[int] = []
    above: list[tuple[int, tuple[str, ...]]] = []
    joined, part = f" {' '.join(words)} ", fold_title(name).strip()
    for index, (section, depth) in enumerate(zip(outline.sections, outline.depths, strict=True)):
        while above and above[-1][0] >= depth:
            above.pop()
        title = read(section.title)
        outer = [part for _, part in above]
        above.append((depth, title))
        path = tuple(word for part in [*outer, title] for word in part)
        if path == words:
            exact.append(index)
        elif words[-len(title) :] == title and _fits(words[: -len(title)], outer):
            whole.append(index)
        elif any(
            words[-size:] == title[:size] and _fits(words[:-size], outer)
            for size in range(min(len(words), len(title)), 0, -1)
        ):
            cut_off.append(index)
        elif joined in f" {' '.join(title)} " or part in fold_title(section.title):
            within.append(index)
    return exact or whole or cut_off or within


def _fits(words: tuple[str, ...], titles: Sequence[tuple[str, ...]]) -> bool:
    """Return whether words are parts of some of these titles, in this order."""
    if not words:
        return True
    for place in range(len(titles) - 1, -1, -1):
        title = f" {' '.join(titles[place])} "
        for size in range(len(words), 0, -1):
            is_part = f" {' '.join(words[-size:])} " in title
            if is_part and _fits(words[:-size], titles[:place]):
                return True
    return False


def _fold_all(words: str) -> Iterable[str]:
    return (fold_title(word) for word in words.split())


@cache
def _ranks() -> Mapping[str, int]:
    """Return the rank of each word of a division; of two languages the outer rank counts."""
    # Who only asks a question needs none of them.
    from fabula.text.heading_words import DIVISIONS, heading_words

    ranks: dict[str, int] = {}
    for name in DIVISIONS:
        for words in heading_words().values():
            for word in _fold_all(words.get(name, "")):
                ranks.setdefault(word, _DIVISION_RANKS[name])
    return ranks | _MORE_RANKS


@cache
def _ideographic() -> re.Pattern[str]:
    """Return the form of headings as 第三章: a number and a character for the division."""
    from fabula.text.heading_words import DIVISIONS, IDEOGRAPHIC, heading_words

    units = "".join(
        unit
        for language in IDEOGRAPHIC
        for name in DIVISIONS
        for unit in heading_words()[language].get(name, "").split()
    )
    return re.compile(
        rf"\s*(?:第|제)?\s*([{_COUNT}]+)\s*([{units}])|\s*([卷巻])[之の]?\s*([{_COUNT}]+)"
    )


_FRONT = frozenset(_fold_all(_FRONT_WORDS))
_BACK = frozenset(_fold_all(_BACK_WORDS))
