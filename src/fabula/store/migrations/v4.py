"""To version 4: documents know their sections as a tree, and nodes name them by their paths.

Until version 3 a chunk had the title of its section only, of which a long novel has many of one
name: "CHAPTER V". From version 4 on the section of a node is a path, "BOOK NINE · CHAPTER V", and
a document has the places and the titles of its sections. Nothing is built from either.

All but the steps is a copy of what Fabula had when it wrote graphs of version 4. It stays as it is,
whatever becomes of the original.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import neo4j

from fabula.graph.queries import read_statement
from fabula.store.database import Database
from fabula.store.migration import Step

DOCUMENTS_PER_PAGE = 100
HEAD_CHARACTERS = 5000
"""How much of a chunk is read to see whether it begins with the heading of its section."""
MAX_PATH_BYTES = 997
MAX_ANCESTOR_CHARACTERS = 80
SEPARATOR = " · "
BETWEEN = " – "

Row = dict[str, Any]

_VOLUME, _PART, _ACT, _CHAPTER, _SCENE, _LETTER, _NUMERAL = 10, 20, 30, 40, 50, 60, 70
_WORDS = {
    _VOLUME: """
        volume vol tome tom tomo том band bind svezak τόμος quyển المجلد مجلد כרך खंड खण्ड เล่ม
    """,
    _PART: """
        book part livre partie buch teil theil księga część libro parte livro boek deel kniha část
        díl bok bog del книга книга часть частина kitap kısım βιβλίο μέρος phần tập الجزء جزء كتاب
        الكتاب ספר חלק भाग पुस्तक ภาค
    """,
    _ACT: "act acte akt aufzug acto atto ato akti действие дія πράξη dějství bedrijf",
    _CHAPTER: """
        chapter chap stave canto chant gesang pieśń canticle rozdział kapitel chapitre capítulo
        capitolo hoofdstuk kapitola kapitlet глава розділ bölüm κεφάλαιο ραψωδία chương hồi
        الفصل فصل الباب باب פרק अध्याय परिच्छेद सर्ग บทที่ บท ตอนที่
    """,
    _SCENE: "scene scena scène szene auftritt escena cena scéna сцена явление σκηνή cảnh",
    _LETTER: "letter lettre brief list carta lettera письмо лист γράμμα section § paragraph",
}
_IDEOGRAPHIC_RANKS = {
    **dict.fromkeys("部卷巻編编篇冊册集부권편", _PART),
    **dict.fromkeys("幕막", _ACT),
    **dict.fromkeys("章回話话장화회", _CHAPTER),
    **dict.fromkeys("場场장", _SCENE),
    **dict.fromkeys("節节절", _LETTER),
}
_IDEOGRAPHIC_RANKS["장"] = _CHAPTER
_COUNT = "0-9０-９〇零一二三四五六七八九十百千两兩"
_IDEOGRAPHIC = re.compile(
    rf"\s*(?:第|제)?\s*([{_COUNT}]+)\s*([部卷巻編编篇冊册集幕章回話话場场節节부권편막장화회절])"
    rf"|\s*([卷巻])[之の]?\s*([{_COUNT}]+)"
)
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
class _Heading:
    """What is known of a heading."""

    words: tuple[str, ...]
    kind: str = ""
    rank: int | None = None
    key: str = ""
    contains: bool = False
    is_front: bool = False
    is_back: bool = False
    is_book_title: bool = False


def _section_paths(titles: Sequence[str], depths: Sequence[int]) -> list[str]:
    paths: list[str] = []
    above: list[tuple[int, str]] = []
    for title, depth in zip(titles, depths, strict=True):
        while above and above[-1][0] >= depth:
            above.pop()
        name = title.replace(BETWEEN, " — ")
        paths.append(_fit(SEPARATOR.join([*(outer for _, outer in above), name]), name))
        short = textwrap.shorten(name, MAX_ANCESTOR_CHARACTERS, placeholder="…") or name
        above.append((depth, short))
    return paths


def _fit(path: str, title: str) -> str:
    """Return a path, or else a title, or else its beginning, of at most MAX_PATH_BYTES."""
    for text in (path, title):
        if len(text.encode("utf-8", "replace")) <= MAX_PATH_BYTES:
            return text
    return title.encode("utf-8", "ignore")[: MAX_PATH_BYTES - 3].decode("utf-8", "ignore") + "…"


def _span_of_sections(first: str, last: str) -> str:
    if first == last or not last:
        return first
    return f"{first}{BETWEEN}{last}" if first else last


def _section_depths(titles: Sequence[str], title: str) -> list[int]:
    headings = _rank(_read_headings(titles, title))
    outer_after = _find_outer_after(headings)
    depths: list[int] = []
    above: list[_Heading] = []
    previous_above: list[_Heading] = []
    for number, heading in enumerate(headings):
        before = headings[number - 1] if number else None
        if heading.rank is None:
            if heading.is_back and not outer_after[number]:
                above = []
            elif before and before.contains:
                pass
            else:
                above = list(previous_above)
        else:
            while above and not _outranks(above[-1], heading):
                above.pop()
        depths.append(len(above) + 1)
        previous_above = list(above)
        if not heading.is_book_title:
            above.append(heading)
    return depths


def _read_headings(titles: Sequence[str], title: str) -> list[_Heading]:
    own = fold_words(title)
    guesses = [_keyword(section) for section in titles]
    counts = Counter(guess[0] for guess in guesses if guess)
    headings: list[_Heading] = []
    for section, guess in zip(titles, guesses, strict=True):
        words = fold_words(section)
        heading = _Heading(
            words,
            is_front=any(word in _FRONT for word in words[:2]),
            is_back=any(word in _BACK for word in words[:2]),
            is_book_title=bool(words) and words == own,
        )
        if guess and (guess[2] or counts[guess[0]] > 1):
            kind, key, _ = guess
            rank = _RANKS.get(kind, _NUMERAL)
            heading = replace(heading, kind=kind, key=key, rank=rank, contains=rank <= _ACT)
        headings.append(heading)
    return headings


def _keyword(title: str) -> tuple[str, str, bool] | None:
    """Return the keyword of a title, it with its number, and whether the number is certain."""
    folded = fold(title)
    if match := _IDEOGRAPHIC.match(folded):
        word, number = (match[2], match[1]) if match[2] else (match[3], match[4])
        return word, f"{word} {number}", True
    words = fold_words(title)
    while words and words[0] in _ARTICLES and len(words) > 1:
        words = words[1:]
    if words and words[0] in _RANKS:
        following = [word for word in words[1:] if word not in _ARTICLES]
        is_sure = not following or _is_number(following[0]) or bool(_TWO_WORDS.match(folded))
        return words[0], " ".join([words[0], *following[:1]]), is_sure
    if len(words) > 1 and words[1] in _RANKS:
        return words[1], f"{words[1]} {words[0]}", _is_number(words[0])
    if match := _NUMERAL_LINE.fullmatch(folded):
        kind = "titled number" if match[2] else "number"
        return kind, f"{kind} {match[1]}", True
    return None


def _is_number(word: str) -> bool:
    return bool(re.fullmatch(r"\d{1,4}|[ivxlcdm]+|\d{1,3}(?:st|nd|rd|th|re|er|e)", word))


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
    """Give a rank to those titles right below which numbers begin again.

    Chapters that are numbered from one below "FIRST EPILOGUE" are in it, as are cantos below
    "PURGATORIO". Of the first title, as "INFERNO", only the later ones prove it.
    """
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
    if outer.rank is None or inner.rank is None:
        return False
    return outer.rank < inner.rank


def fold(text: str) -> str:
    """Return a text without case and diacritics."""
    spread = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", "".join(c for c in spread if not unicodedata.combining(c)))


def fold_words(text: str) -> tuple[str, ...]:
    """Return the words of a text, without case, diacritics and punctuation."""
    return tuple(re.findall(r"[^\W_]+|§", fold(text)))


def _fold_all(words: str) -> Iterable[str]:
    return (fold(word) for word in words.split())


_RANKS: Mapping[str, int] = {
    **{word: rank for rank, words in _WORDS.items() for word in _fold_all(words)},
    **_IDEOGRAPHIC_RANKS,
}
_FRONT = frozenset(_fold_all(_FRONT_WORDS))
_BACK = frozenset(_fold_all(_BACK_WORDS))


# The steps


def _migrate_documents(store: Database) -> None:
    """Give document after document its sections, and its nodes their paths, all at once."""
    after = ""
    while page := store.rows("migrate/4_find_documents", after=after, limit=DOCUMENTS_PER_PAGE):
        for document in page:
            with store.session() as session:
                session.execute_write(_migrate_document, document)
        after = page[-1]["id"]


def _migrate_document(transaction: neo4j.ManagedTransaction, document: Row) -> None:
    place = {"collection": document["collection"], "document": document["id"]}
    chunks = transaction.run(
        read_statement("migrate/4_find_chunks"), place | {"characters": HEAD_CHARACTERS}
    ).data()
    starts, titles, numbers = _find_sections(chunks)
    depths = _section_depths(titles, document["title"] or "")
    paths = _section_paths(titles, depths)
    sections = {
        chunk["id"]: "" if number < 0 else paths[number]
        for chunk, number in zip(chunks, numbers, strict=True)
    }
    named = transaction.run(read_statement("migrate/4_find_names"), place).data()
    properties = {
        "published": "",
        "edition": "",
        "section_starts": starts,
        "section_titles": titles,
        "section_levels": [0] * len(titles),
        "section_depths": depths,
        **{name: [] for name in ("page_starts", "page_labels", "line_starts", "line_labels")},
    }
    rows = list(_rename(named, sections))
    transaction.run(
        read_statement("migrate/4_save_sections"),
        place | {"properties": properties, "rows": rows},
    ).consume()


def _find_sections(chunks: Sequence[Row]) -> tuple[list[int], list[str], list[int]]:
    """Return where sections start, their titles, and the number of each chunk's section or -1.

    If two neighbours have one title, such as two letters that are both headed "Letter", the second
    begins where a chunk begins with the heading on a line of its own.
    """
    starts: list[int] = []
    titles: list[str] = []
    numbers: list[int] = []
    before = ""
    for chunk in chunks:
        title = chunk["section"]
        begins = chunk["head"].strip().partition("\n\n")[0].split() == title.split()
        if title and (title != before or begins):
            starts.append(chunk["start"])
            titles.append(title)
        numbers.append(len(titles) - 1)
        before = title
    return starts, titles, numbers


def _rename(named: Sequence[Row], sections: Mapping[str, str]) -> Iterable[Row]:
    """Yield the new name of the section of each node that rests on chunks."""
    for row in named:
        first, last = sections.get(row["first"], ""), sections.get(row["last"], "")
        name = _span_of_sections(first, last) if row["kind"] == "summary" else first
        if name != row["section"]:
            yield {"id": row["id"], "section": name}


STEPS: tuple[Step, ...] = (_migrate_documents,)
