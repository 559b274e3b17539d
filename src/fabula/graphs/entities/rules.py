"""Names, who bears them and who is named with whom, found without a model.

A name is what a text writes with a capital inside sentences: no claim is made for languages that
write all nouns so, and nothing is found where there are no capitals. Pronouns are nobody, and what
a relation means is not told: a sentence that names both is quoted.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import NamedTuple

from fabula.graphs.entities.merge import FAMILY
from fabula.graphs.entities.names import key, title
from fabula.graphs.entities.resolve import PERSON, PLACE, UNKNOWN, beginnings, is_inflected
from fabula.graphs.entities.values import Extraction, Mention, Tie
from fabula.graphs.entities.words import Words, words_of
from fabula.models.offline.extracts import salience
from fabula.text.document import Chunk
from fabula.text.ranking import inverse_document_frequencies
from fabula.text.sentences import spans
from fabula.text.stems import Stemmer, stemmer_of
from fabula.text.stems import words as split_words

CAPITAL = 0.5
"""The share of a word's uses inside sentences that have a capital, from which it is a name."""
VERSE, FEWEST_LINES = 0.8, 8
"""The share of lines that begin with a capital, from which a text of so many lines is verse."""
PERSONS, ENOUGH = 0.05, 3
"""The share of uses that only a person's name has, from which it is one; so many do in any case."""
FEWEST_WITH_ARTICLE = 2
"""How many such uses it takes for what has an article: the Table is nobody, the Spirit is."""
COMMON = 10
"""How often a name is used, at least, that is also written small."""
HALF, MOST, FEWEST = 0.5, 0.75, 4
"""The share of uses like a place's, from which a name is one; more where none says "in"."""
RECURRING = {"of": 2, "'s": 3}
"""How often two names stand together before they are one: Ghost of Christmas Past, Land's End."""
LONGEST_HEADING = 12
"""Words of a paragraph that is a heading, if it has no mark at its end: all may have a capital."""
KEYWORDS = 2
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_BEFORE_A_LINE = "\"'“”„«—– \t_"
_SPACE = re.compile(r"[ \t]*\n?[ \t]*")
_INSIDE = re.compile(r"[,;]?(?:[ \t]+|[ \t]*\n[ \t]*)")
_AFTER_TITLE = re.compile(r"\.(?:[ \t]+|[ \t]*\n[ \t]*)")
_PARAGRAPH = re.compile(r"(?:[^\n]|\n(?![ \t]*\n))+")
_TITLE, _NAME, _CAPITAL, _INITIAL, _PARTICLE = "title", "name", "capital", "initial", "particle"
_ENDED = re.compile(r"[.!?…,;:—–-][\"'”’»)\]_*]*\s*$")


class _Word(NamedTuple):
    """A word of a text, without its possessive, and what is between it and the word before."""

    text: str
    small: str
    start: int
    end: int
    is_possessive: bool
    before: str
    is_heading: bool


class _Run(NamedTuple):
    """Words from `first` to before `last` that are one name, as it is printed."""

    first: int
    last: int
    form: str
    start: int


@dataclass(slots=True)
class _Uses:
    """How a name is used: how often at all, and as what persons and places are named."""

    count: int = 0
    person: int = 0
    inside: int = 0
    near: int = 0
    articles: Counter[str] = field(default_factory=Counter)

    def add(self, other: _Uses) -> None:
        self.count += other.count
        self.person += other.person
        self.inside += other.inside
        self.near += other.near
        self.articles += other.articles


def extract_by_rules(chunks: Sequence[Chunk], language: str) -> Extraction:
    """What the chunks of one document name, and what they name together."""
    small = words_of(language)
    texts = [_read_words(chunk.text) for chunk in chunks]
    is_verse = _is_verse(chunks)
    names = _names(texts, small, is_verse)
    runs = _runs(texts, [chunk.text for chunk in chunks], names, small, is_verse)
    uses = _uses(texts, runs, small)
    types = _types(uses, small, language)
    written_small = {word.small for words in texts for word in words if word.text.islower()}
    kept = {
        name
        for name, use in uses.items()
        if types[name] != UNKNOWN or _is_kept(name, use, written_small, small)
    }
    reader = _Reader(chunks, language)
    mentions: list[Mention] = []
    ties: list[Tie] = []
    for at, (chunk, found) in enumerate(zip(chunks, runs, strict=True)):
        by_name: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for run in found:
            if key(run.form) in kept:
                by_name[_named(run.form, uses[key(run.form)])][run.form].append(run.start)
        places = {}
        for name, forms in by_name.items():
            places[name] = sorted(start for starts in forms.values() for start in starts)
            printed = {
                form: tuple(chunk.start + start for start in starts)
                for form, starts in forms.items()
            }
            said = reader.most_telling(at, places[name])
            mentions.append(Mention(chunk.id, chunk.start, name, printed, types[key(name)], said))
        ties += reader.ties(at, places)
    return Extraction(tuple(mentions), tuple(ties))


def _named(form: str, use: _Uses) -> str:
    """A name with its article, if it mostly has one: the Spirit is nobody's family name."""
    return f"{use.articles.most_common(1)[0][0]} {form}" if _has_article(use) else form


def _has_article(use: _Uses) -> bool:
    return 2 * use.articles.total() >= use.count


def _is_kept(name: str, use: _Uses, written_small: AbstractSet[str], small: Words) -> bool:
    """Whether a name of nobody and no place is one: what is also written small has to be common."""
    if small.nouns_have_capitals:
        return False
    words = set(name.split()) - small.connectives - small.articles
    return use.count >= COMMON or not words <= written_small


def _read_words(text: str) -> list[_Word]:
    found: list[_Word] = []
    for paragraph in _PARAGRAPH.finditer(text):
        matches = list(_WORD.finditer(text, paragraph.start(), paragraph.end()))
        is_heading = len(matches) <= LONGEST_HEADING and not _ENDED.search(paragraph[0])
        end = paragraph.start()
        before = "\n\n"
        for match in matches:
            before += text[end : match.start()]
            end = match.end()
            word = match[0]
            bare = _POSSESSIVE.sub("", word)
            last = match.start() + len(bare)
            small = bare.casefold().replace("’", "'")
            found.append(_Word(bare, small, match.start(), last, bare != word, before, is_heading))
            before = ""
    return found


def _is_verse(chunks: Iterable[Chunk]) -> bool:
    """Whether lines begin with a capital that begin no paragraph."""
    begun = [
        line[0]
        for chunk in chunks
        for paragraph in _PARAGRAPH.findall(chunk.text)
        for line in (one.lstrip(_BEFORE_A_LINE) for one in paragraph.splitlines()[1:])
        if line and line[0].isalpha()
    ]
    return len(begun) >= FEWEST_LINES and sum(map(str.isupper, begun)) > VERSE * len(begun)


def _names(texts: Iterable[Sequence[_Word]], small: Words, is_verse: bool) -> set[str]:
    """Words, in lower case, that have a capital in at least half of their uses inside sentences."""
    capital: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for words in texts:
        for at, word in enumerate(words):
            if word.is_heading or not at or not _is_inside(word, words[at - 1], small, is_verse):
                continue
            is_shouted = _is_shouted(word.text)
            if is_shouted and _is_shouted(words[at - 1].text):
                continue
            inside[word.small] += 1
            capital[word.small] += word.text[0].isupper()
    return {
        word
        for word, count in capital.items()
        if count >= CAPITAL * inside[word]
        and len(word) > 1
        and word not in small.never
        and word not in small.titles
    }


def _is_inside(word: _Word, previous: _Word, small: Words, is_verse: bool) -> bool:
    """Whether a word is in the midst of a sentence, so that its capital means something."""
    if is_verse and "\n" in word.before:
        return False
    if _INSIDE.fullmatch(word.before):
        return True
    may_have_stop = previous.small in small.titles or _is_initial(previous)
    return may_have_stop and bool(_AFTER_TITLE.fullmatch(word.before))


def _is_initial(word: _Word) -> bool:
    return len(word.text) == 1 and word.text.isupper() and word.small != "i"


def _is_shouted(text: str) -> bool:
    return len(text) > 1 and text.isupper()


def _runs(
    texts: Sequence[Sequence[_Word]],
    printed: Sequence[str],
    names: set[str],
    small: Words,
    is_verse: bool,
) -> list[list[_Run]]:
    """The names of each text; two that often stand together, with "of" or 's between, are one."""
    found = [list(_simple_runs(words, names, small, is_verse)) for words in texts]
    if small.paradigms:
        found = _without_neighbours(texts, found, small)
    together = Counter(
        _smalls(words, one[0], other[1])
        for words, some in zip(texts, found, strict=True)
        for one, other in pairwise(some)
        if _link(words, one, other, small)
    )
    joined = []
    for words, text, some in zip(texts, printed, found, strict=True):
        whole: list[tuple[int, int]] = []
        for one in some:
            link = _link(words, whole[-1], one, small) if whole else ""
            if link and together[_smalls(words, whole[-1][0], one[1])] >= RECURRING[link]:
                whole[-1] = (whole[-1][0], one[1])
            else:
                whole.append(one)
        joined.append([_printed(words, text, first, last) for first, last in whole])
    return joined


def _without_neighbours(
    texts: Sequence[Sequence[_Word]], found: Sequence[Sequence[tuple[int, int]]], small: Words
) -> list[list[tuple[int, int]]]:
    """Runs that occur but once as the names they are made of, but for the titles before them.

    Where cases tell who does what to whom, two persons' names may follow each other.
    """
    times = Counter(
        _smalls(words, *run) for words, some in zip(texts, found, strict=True) for run in some
    )

    def parts(words: Sequence[_Word], first: int, last: int) -> Iterator[tuple[int, int]]:
        named = [at for at in range(first, last) if words[at].small not in small.titles]
        if len(named) == 1 or times[_smalls(words, first, last)] > 1:
            yield first, last
        else:
            for start, end in zip([first, *(at + 1 for at in named)], named, strict=False):
                yield start, end + 1

    return [
        [part for run in some for part in parts(words, *run)]
        for words, some in zip(texts, found, strict=True)
    ]


def _printed(words: Sequence[_Word], text: str, first: int, last: int) -> _Run:
    start, end = words[first].start, words[last - 1].end
    return _Run(first, last, " ".join(text[start:end].split()), start)


def _smalls(words: Sequence[_Word], first: int, last: int) -> tuple[str, ...]:
    return tuple(word.small for word in words[first:last])


def _link(
    words: Sequence[_Word], one: tuple[int, int], other: tuple[int, int], small: Words
) -> str:
    """What ties two names that follow each other into one, if that recurs: "of", 's, or ''."""
    between = words[one[1] : other[0] + 1]
    if not all(_SPACE.fullmatch(word.before) for word in between):
        return ""
    if words[one[1] - 1].is_possessive:
        return "'s" if len(between) == 1 else ""
    some = [word.small for word in between[:-1]]
    is_of = some and some[0] in small.connectives and set(some[1:]) <= small.articles
    return "of" if is_of else ""


def _simple_runs(
    words: Sequence[_Word], names: set[str], small: Words, is_verse: bool
) -> Iterator[tuple[int, int]]:
    """First word and end of each run of name words with titles, initials and particles."""
    roles = _roles(words, names, small)
    at = 0
    while at < len(words):
        end = _end_of_run(words, roles, at, is_verse)
        if end > at:
            yield at, end
        at = max(end, at + 1)


def _roles(words: Sequence[_Word], names: set[str], small: Words) -> list[str]:
    """What each word may be in a name; '' for nothing."""

    def role(word: _Word, after: _Word | None) -> str:
        if word.text.islower():
            return _PARTICLE if word.small in small.particles else ""
        if word.small in small.titles or word.small in small.before_first:
            return _TITLE
        if len(word.text) == 1:
            has_stop = after and _AFTER_TITLE.fullmatch(after.before)
            return _INITIAL if has_stop and _is_initial(word) else ""
        if word.small in names:
            return _NAME
        is_plain = word.small in small.never or _is_shouted(word.text) or word.is_heading
        return "" if is_plain or small.nouns_have_capitals else _CAPITAL

    followers = [*words[1:], None]
    return [role(word, after) for word, after in zip(words, followers, strict=False)]


def _end_of_run(words: Sequence[_Word], roles: Sequence[str], first: int, is_verse: bool) -> int:
    """Where a name that begins there ends; at its beginning, if none does."""
    at = last = first
    while at < len(words) and (at == first or _goes_on(words, roles, at, is_verse)):
        has_name = last > first
        ends = ("", _TITLE) if has_name else ("", _CAPITAL)
        if roles[at] == _NAME or (roles[at] == _CAPITAL and has_name):
            last = at + 1
        elif roles[at] in ends or (roles[at] == _PARTICLE and at == first):
            break
        at += 1
    return last


def _goes_on(words: Sequence[_Word], roles: Sequence[str], at: int, is_verse: bool) -> bool:
    """Whether a name may reach over what is before a word."""
    gap = words[at].before
    is_repeated = words[at].small == words[at - 1].small
    if words[at - 1].is_possessive or is_repeated or (is_verse and "\n" in gap):
        return False
    is_stop = roles[at - 1] in (_TITLE, _INITIAL) and _AFTER_TITLE.fullmatch(gap)
    return bool(is_stop or _SPACE.fullmatch(gap))


def _uses(
    texts: Sequence[Sequence[_Word]], runs: Sequence[Sequence[_Run]], small: Words
) -> dict[str, _Uses]:
    """How all forms of each name are used, by its key."""
    uses: dict[str, _Uses] = defaultdict(_Uses)
    for words, found in zip(texts, runs, strict=True):
        for run in found:
            _note(uses[key(run.form)], words, run, small)
    return uses


def _types(uses: Mapping[str, _Uses], small: Words, language: str) -> dict[str, str]:
    """The type of each name, from how it is used in all its case forms, and from its words."""
    bases = _bases(uses, language)
    together: dict[str, _Uses] = defaultdict(_Uses)
    for name, use in uses.items():
        together[bases[name]].add(use)
    persons = {name for name, use in together.items() if _is_person(name, use, small)}
    full = {name for name in together if _is_full_name(name, small)}
    # Who is named in full seldom speaks under that name: the names in it are told by each other.
    single = {name for name in persons if not _has_article(together[name])}
    persons |= {name for name in full if single & _ends(name)}
    parts = {part for name in persons & full for part in _ends(name)}
    places = {name for name, use in together.items() if _is_place(name, use, small)} - persons
    persons |= (together.keys() & parts) - places
    families = {f"{name.split()[-1]}s" for name in persons}
    families_in_full = {f"{name.split()[-1]}s" for name in persons & full}
    groups = {
        name
        for name in together.keys() & families
        if name in families_in_full or together[name].articles
    }
    kinds = ((groups, FAMILY), (persons, PERSON), (places, PLACE))
    return {
        name: next((kind for some, kind in kinds if base in some), UNKNOWN)
        for name, base in bases.items()
    }


def _bases(uses: Mapping[str, _Uses], language: str) -> dict[str, str]:
    """For each name the commonest of those that may be case forms of it, or itself."""
    bases = {name: name for name in uses}
    if words_of(language).paradigms:
        begun: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for name in sorted(uses, key=lambda name: (-uses[name].count, name)):
            near = begun[beginnings(name)]
            found = (one for one in near if is_inflected(name, one, language))
            bases[name] = next(found, name)
            if bases[name] == name:
                near.append(name)
    return bases


def _note(use: _Uses, words: Sequence[_Word], run: _Run, small: Words) -> None:
    """Add one use of a name to what is known of it."""
    use.count += 1
    last = words[run.last - 1]
    if title(run.form):
        use.person += 1
    if run.last < len(words):
        after = words[run.last]
        if _SPACE.fullmatch(after.before):
            told = small.kin if last.is_possessive else small.speech | small.acts
            use.person += after.small in told and after.text.islower()
        elif after.before.strip() == ",":
            use.person += after.small in small.who
    at = run.first - 1
    if at < 0 or not _SPACE.fullmatch(words[run.first].before):
        return
    if words[at].small in small.articles and at and _SPACE.fullmatch(words[at].before):
        use.articles[words[at].small] += 1
        at -= 1
    before = words[at]
    use.person += before.small in small.fond
    if before.small in small.speech and not _SPACE.fullmatch(before.before):
        use.person += 1
    if not last.is_possessive:
        use.inside += before.small in small.inside
        use.near += before.small in small.inside | small.near


def _is_person(name: str, use: _Uses, small: Words) -> bool:
    fewest = FEWEST_WITH_ARTICLE if _has_article(use) else 1
    return (
        use.person >= max(fewest, min(PERSONS * use.count, ENOUGH))
        and use.inside <= 2 * use.person
        and name.split()[-1] not in small.kinds_of_thing
        and not _ends_as_place(name, use, small)
    )


def _is_place(name: str, use: _Uses, small: Words) -> bool:
    is_often = use.near >= (HALF if use.inside else MOST) * use.count
    return _ends_as_place(name, use, small) or (
        is_often and use.near >= (1 if use.inside else FEWEST)
    )


def _ends_as_place(name: str, use: _Uses, small: Words) -> bool:
    """Whether it is Baskerville Hall, or the Hall, but not Mr Hall."""
    words = name.split()
    return words[-1] in small.kinds_of_place and (len(words) > 1 or _has_article(use))


def _is_full_name(name: str, small: Words) -> bool:
    """Whether it has several words, and none that joins or ends those of other names."""
    words = name.split()
    others = small.connectives | small.articles
    is_owned = any(word.endswith("'s") for word in words[:-1])
    is_else = words[-1] in small.kinds_of_place | small.kinds_of_thing
    return len(words) > 1 and others.isdisjoint(words) and not is_owned and not is_else


def _ends(name: str) -> set[str]:
    return {name.split()[0], name.split()[-1]}


class _Reader:
    """The sentences of chunks, and how much each of them says that is particular."""

    def __init__(self, chunks: Sequence[Chunk], language: str) -> None:
        self._chunks = chunks
        self._spans = [spans(chunk.text, language) for chunk in chunks]
        self._starts = [[start for start, _ in some] for some in self._spans]
        stemmer = stemmer_of(language)
        # A word's stem is a stub; the first word of that stem stands for it as a keyword.
        self._stems: dict[str, str] = {}
        self._words: dict[str, str] = {}
        self._terms = [
            [self._read(chunk.text[start:end], stemmer) for start, end in some]
            for chunk, some in zip(chunks, self._spans, strict=True)
        ]
        self._idf = inverse_document_frequencies(terms for some in self._terms for terms in some)
        self._salience = [salience(some, self._idf) for some in self._terms]

    def most_telling(self, at: int, starts: Iterable[int]) -> str:
        """Of the sentences of a chunk that hold these places, the one of highest salience."""
        found = {self._sentence(at, start) for start in starts}
        return self._text(at, min(found, key=lambda one: (-self._salience[at][one], one)))

    def ties(self, at: int, names: Mapping[str, Iterable[int]]) -> Iterator[Tie]:
        """The pairs of names that sentences of a chunk hold, in the order of their first places."""
        named: dict[int, dict[str, None]] = defaultdict(dict)
        for place, name in sorted((one, name) for name, some in names.items() for one in some):
            named[self._sentence(at, place)].setdefault(name)
        sentences: dict[tuple[str, str], list[int]] = defaultdict(list)
        for sentence, some in sorted(named.items()):
            for one, other in combinations(some, 2):
                pair = (other, one) if (other, one) in sentences else (one, other)
                sentences[pair].append(sentence)
        chunk = self._chunks[at]
        for (one, other), found in sentences.items():
            said = min((self._text(at, sentence) for sentence in found), key=len)
            keywords = self._keywords(at, found, {*split_words(one), *split_words(other)})
            yield Tie(chunk.id, chunk.start, one, other, said, keywords)

    def _keywords(self, at: int, sentences: Iterable[int], names: set[str]) -> tuple[str, ...]:
        """The words of highest tf-idf in some sentences, without these names."""
        counts = Counter(term for one in sentences for term in self._terms[at][one])
        for name in names:
            counts.pop(self._stems.get(name, ""), None)
        best = sorted(counts, key=lambda term: (-counts[term] * self._idf[term], term))
        return tuple(self._words[term] for term in best[:KEYWORDS])

    def _read(self, text: str, stemmer: Stemmer) -> list[str]:
        """The stems of a sentence's words that say what it is about."""
        found = []
        for word in split_words(text):
            if word not in self._stems:
                self._stems[word] = next(iter(stemmer.terms(word)), "")
            if term := self._stems[word]:
                self._words.setdefault(term, word)
                found.append(term)
        return found

    def _sentence(self, at: int, place: int) -> int:
        return bisect_right(self._starts[at], place) - 1

    def _text(self, at: int, sentence: int) -> str:
        start, end = self._spans[at][sentence]
        return " ".join(self._chunks[at].text[start:end].split())
