"""Find people, places and things, and which of them are named together, without a model.

A name is what a text writes with a capital inside sentences. So the rules work badly in languages
that write all nouns so, and find nothing in scripts without capitals. Pronouns are not resolved,
and a relation is described by no more than a sentence that has both names.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain, combinations, pairwise
from typing import NamedTuple

from fabula.graphs.entities.forenames import is_forename
from fabula.graphs.entities.merge import FAMILY
from fabula.graphs.entities.names import lower_name, name_key, name_titles, title_sex
from fabula.graphs.entities.resolve import PERSON, PLACE, UNKNOWN
from fabula.graphs.entities.values import Extraction, Mention, RelationMention
from fabula.graphs.entities.word_forms import beginnings, is_inflected
from fabula.graphs.entities.words import SEXES, Words, words_of
from fabula.models.offline.extracts import salience
from fabula.text.document import Chunk
from fabula.text.ranking import inverse_document_frequencies
from fabula.text.sentences import spans
from fabula.text.stems import Stemmer, stemmer_of
from fabula.text.stems import words as split_words

CAPITAL = 0.5
"""The share of a word's uses inside sentences that have a capital, from which it is a name."""
VERSE, MIN_VERSE_LINES = 0.8, 8
"""The share of lines that begin with a capital from which a text is verse, if it has that many."""
PERSON_USES, ENOUGH_PERSON_USES = 0.05, 3
"""The share of uses that only a person's name has from which it is one; this many always do."""
MIN_PERSON_USES_WITH_ARTICLE = 2
"""How many such uses a name with an article needs: the Table is nobody, the Spirit is."""
COMMON = 10
"""How often a name must be used that is also written small."""
PLACE_USES, PLACE_USES_NEAR, MIN_PLACE_USES_NEAR = 0.5, 0.75, 4
"""The share of uses like a place's from which a name is one. Where none of them has a word like
"in", which only places have, the share and the number must be larger."""
RECURRING = 2
"""How often two names must follow each other with "of" between them to be one name: Ghost of
Christmas Past."""
MAX_HEADING_WORDS = 12
"""A paragraph of so few words without a mark at its end is a heading: all may have a capital."""
MAX_KEYWORDS = 2
_MISTER = frozenset(("mr",))
"""Titles of men that stand before family names alone; other titles of men are also words: count."""
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_NUMERAL = re.compile(r"(?=..)(?:X[CL]|L?X{0,3})(?:I[XV]|V?I{0,3})")
"""The number of a chapter, as XVI, which is no name of its own."""
_BEFORE_A_LINE = "\"'“”„«—– \t_"
_SPACE = re.compile(r"[ \t]*\n?[ \t]*")
_INSIDE = re.compile(r"[,;]?(?:[ \t]+|[ \t]*\n[ \t]*)")
_AFTER_TITLE = re.compile(r"\.(?:[ \t]+|[ \t]*\n[ \t]*)")
_PARAGRAPH = re.compile(r"(?:[^\n]|\n(?![ \t]*\n))+")
_TITLE, _NAME, _CAPITAL, _INITIAL, _PARTICLE = "title", "name", "capital", "initial", "particle"
_ADDRESS_ENDS = re.compile(r"[!?]|[.,][”’\"']")
"""What is behind who is addressed: the end of an exclamation, of a question, or of what is said."""
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
    """The words from `first` to before `last`, which are one name, and the name as printed."""

    first: int
    last: int
    form: str
    start: int


@dataclass(slots=True)
class _Uses:
    """How often a name is used: at all, as persons' names are, as places' are, and with articles.

    `inside` counts words before it that only places have, and `near` those that persons have, too.
    """

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


def extract_entities(chunks: Sequence[Chunk], language: str) -> Extraction:
    """Extract what the chunks of one document name, and what they name together.

    Args:
        chunks: All chunks of the document, in text order.
        language: An ISO 639-1 code.

    Returns:
        A mention for each name of each chunk, with the most particular sentence that has the name,
        and a relation for every two names that a sentence has, with the shortest such sentence.
    """
    small = words_of(language)
    texts = [_read_words(chunk.text) for chunk in chunks]
    is_verse = _is_verse(chunks)
    names = _names(texts, small, is_verse)
    runs = _runs(texts, [chunk.text for chunk in chunks], names, small, is_verse)
    written_small = {word.small for words in texts for word in words if word.text.islower()}
    uses = _uses(texts, runs, small)
    types = _types(uses, small, language)
    real_names = {
        name
        for name, use in uses.items()
        if types[name] != UNKNOWN or _is_name(name, use, written_small, small)
    }
    sentences = _Sentences(chunks, language)
    mentions: list[Mention] = []
    relation_mentions: list[RelationMention] = []
    for row, (chunk, of_chunk) in enumerate(zip(chunks, runs, strict=True)):
        by_name: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for run in of_chunk:
            if name_key(run.form) in real_names and not _NUMERAL.fullmatch(run.form):
                name = _with_article(run.form, uses[name_key(run.form)])
                by_name[name][run.form].append(run.start)
        places = {}
        for name, forms in by_name.items():
            places[name] = sorted(chain.from_iterable(forms.values()))
            printed = {
                form: tuple(chunk.start + start for start in starts)
                for form, starts in forms.items()
            }
            sentence = sentences.most_particular(row, places[name])
            type = types[name_key(name)]
            if type == UNKNOWN and _is_called_as_person(name, small, written_small):
                type = PERSON
            mentions.append(Mention(chunk.id, chunk.start, name, printed, type, sentence))
        relation_mentions += sentences.pairs_of_names(row, places)
    return Extraction(tuple(mentions), tuple(relation_mentions))


def _is_called_as_person(name: str, small: Words, written_small: AbstractSet[str]) -> bool:
    """Whether a name begins with a title, or with a forename: who is only mentioned has no verb."""
    if title_sex(name):
        return True
    words = name_key(name).split()
    has_article = lower_name(name).split()[0] in small.articles
    is_place_or_thing = words[-1] in small.kinds_of_place | small.kinds_of_thing
    if has_article or is_place_or_thing or not small.connectives.isdisjoint(words):
        return False
    return is_forename(words[0]) and (len(words) > 1 or words[0] not in written_small)


def _with_article(form: str, use: _Uses) -> str:
    """A name with its article, if it mostly has one: the Spirit is nobody's family name."""
    return f"{use.articles.most_common(1)[0][0]} {form}" if _has_article(use) else form


def _has_article(use: _Uses) -> bool:
    return 2 * use.articles.total() >= use.count


def _is_name(name: str, use: _Uses, written_small: AbstractSet[str], small: Words) -> bool:
    """Whether a name of no person or place is a name: it must be common if it is written small."""
    if small.nouns_have_capitals:
        return False
    words = set(name.split()) - small.connectives - small.articles
    return use.count >= COMMON or not words <= written_small


def _read_words(text: str) -> list[_Word]:
    words: list[_Word] = []
    for paragraph in _PARAGRAPH.finditer(text):
        matches = list(_WORD.finditer(text, paragraph.start(), paragraph.end()))
        is_heading = len(matches) <= MAX_HEADING_WORDS and not _ENDED.search(paragraph[0])
        end = paragraph.start()
        before = "\n\n"
        for match in matches:
            before += text[end : match.start()]
            end = match.end()
            word = match[0]
            bare = _POSSESSIVE.sub("", word)
            last = match.start() + len(bare)
            small = bare.casefold().replace("’", "'")
            words.append(_Word(bare, small, match.start(), last, bare != word, before, is_heading))
            before = ""
    return words


def _is_verse(chunks: Iterable[Chunk]) -> bool:
    """Whether lines inside paragraphs begin with capitals."""
    first_letters = [
        line[0]
        for chunk in chunks
        for paragraph in _PARAGRAPH.findall(chunk.text)
        for line in (line.lstrip(_BEFORE_A_LINE) for line in paragraph.splitlines()[1:])
        if line and line[0].isalpha()
    ]
    capitals = sum(map(str.isupper, first_letters))
    return len(first_letters) >= MIN_VERSE_LINES and capitals > VERSE * len(first_letters)


def _names(texts: Iterable[Sequence[_Word]], small: Words, is_verse: bool) -> set[str]:
    """Words, in lower case, that have a capital in at least half of their uses inside sentences."""
    capital: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for words in texts:
        for previous, word in pairwise(words):
            if word.is_heading or not _is_inside(word, previous, small, is_verse):
                continue
            if _is_shouted(word.text) and _is_shouted(previous.text):
                continue
            inside[word.small] += 1
            capital[word.small] += word.text[0].isupper()
    # Who is only addressed or named first in a sentence has no capital that means anything: of such
    # words forenames are names, if the text never prints them small.
    first_words = {word.small for words in texts for word in words if word.text[0].isupper()}
    written_small = {word.small for words in texts for word in words if word.text[0].islower()}
    forenames = {word for word in first_words - capital.keys() - written_small if is_forename(word)}
    often = {word for word, count in capital.items() if count >= CAPITAL * inside[word]}
    return {
        word
        for word in often | forenames
        if len(word) > 1 and word not in small.never and word not in small.titles
    }


def _is_inside(word: _Word, previous: _Word, small: Words, is_verse: bool) -> bool:
    """Whether a word is inside a sentence, so that its capital means something."""
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
    """The names of each text; two that often follow each other with "of" between are one name."""
    simple = [list(_simple_runs(words, names, small, is_verse)) for words in texts]
    if small.paradigms:
        simple = _split_neighbours(texts, simple, small)
    counts = Counter(
        _smalls(words, first[0], second[1])
        for words, of_text in zip(texts, simple, strict=True)
        for first, second in pairwise(of_text)
        if _are_linked(words, first, second, small)
    )
    runs = []
    for words, text, of_text in zip(texts, printed, simple, strict=True):
        joined: list[tuple[int, int]] = []
        for run in of_text:
            is_linked = joined and _are_linked(words, joined[-1], run, small)
            if is_linked and counts[_smalls(words, joined[-1][0], run[1])] >= RECURRING:
                joined[-1] = (joined[-1][0], run[1])
            else:
                joined.append(run)
        runs.append([_make_run(words, text, first, last) for first, last in joined])
    return runs


def _split_neighbours(
    texts: Sequence[Sequence[_Word]], runs: Sequence[Sequence[tuple[int, int]]], small: Words
) -> list[list[tuple[int, int]]]:
    """Split runs that occur only once into their names, each with the titles before it."""
    # In a language with cases the names of two persons may follow each other.
    counts = Counter(
        _smalls(words, *run) for words, of_text in zip(texts, runs, strict=True) for run in of_text
    )

    def parts(words: Sequence[_Word], first: int, last: int) -> Iterator[tuple[int, int]]:
        names = [row for row in range(first, last) if words[row].small not in small.titles]
        if len(names) == 1 or counts[_smalls(words, first, last)] > 1:
            yield first, last
        else:
            starts = [first, *(row + 1 for row in names)]
            for start, name in zip(starts, names, strict=False):
                yield start, name + 1

    return [
        [part for run in of_text for part in parts(words, *run)]
        for words, of_text in zip(texts, runs, strict=True)
    ]


def _make_run(words: Sequence[_Word], text: str, first: int, last: int) -> _Run:
    start, end = words[first].start, words[last - 1].end
    return _Run(first, last, " ".join(text[start:end].split()), start)


def _smalls(words: Sequence[_Word], first: int, last: int) -> tuple[str, ...]:
    return tuple(word.small for word in words[first:last])


def _are_linked(
    words: Sequence[_Word], first: tuple[int, int], second: tuple[int, int], small: Words
) -> bool:
    """Whether "of", which may make one name of them, is between two names."""
    between = words[first[1] : second[0] + 1]
    if words[first[1] - 1].is_possessive or not all(
        _SPACE.fullmatch(word.before) for word in between
    ):
        return False
    smalls = [word.small for word in between[:-1]]
    return bool(smalls) and smalls[0] in small.connectives and {*smalls[1:]} <= small.articles


def _simple_runs(
    words: Sequence[_Word], names: set[str], small: Words, is_verse: bool
) -> Iterator[tuple[int, int]]:
    """First word and end of each run of name words with titles, initials and particles."""
    roles = _roles(words, names, small)
    index = 0
    while index < len(words):
        end = _end_of_run(words, roles, index, is_verse)
        if end > index:
            yield index, end
        index = max(end, index + 1)


def _roles(words: Sequence[_Word], names: set[str], small: Words) -> list[str]:
    """What each word may be in a name; '' for no part of a name."""

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
    roles = [role(word, after) for word, after in zip(words, followers, strict=False)]
    for index, (previous, word) in enumerate(pairwise(words), 1):
        if roles[index - 1] == _TITLE and _is_titled(previous, word, small):
            roles[index] = _NAME
    return roles


def _is_titled(title: _Word, word: _Word, small: Words) -> bool:
    """Whether a capital shows a name because a title is before it: Mrs. Long, or Miss March."""
    has_capital = word.text[0].isupper() and len(word.text) > 1 and not _is_shouted(word.text)
    if not has_capital or word.is_heading or small.nouns_have_capitals:
        return False
    if title.text.islower() or word.small in small.titles or word.small in small.articles:
        return False
    # Behind "Sir" or "the Captain" a sentence may go on with a word that only has a capital.
    is_of_address = SEXES["wives"], SEXES["maidens"]
    is_near = _SPACE.fullmatch(word.before) or _AFTER_TITLE.fullmatch(word.before)
    is_certain = small.titles.get(title.small) in is_of_address or title.small in _MISTER
    return is_certain and bool(is_near)


def _end_of_run(words: Sequence[_Word], roles: Sequence[str], first: int, is_verse: bool) -> int:
    """Where the name ends that begins at `first`; `first` itself if no name begins there."""
    index = last = first
    while index < len(words) and (index == first or _goes_on(words, roles, index, is_verse)):
        has_name = last > first
        ends = ("", _TITLE) if has_name else ("", _CAPITAL)
        if roles[index] == _NAME or (roles[index] == _CAPITAL and has_name):
            last = index + 1
        elif roles[index] in ends or (roles[index] == _PARTICLE and index == first):
            break
        index += 1
    return last


def _goes_on(words: Sequence[_Word], roles: Sequence[str], index: int, is_verse: bool) -> bool:
    """Whether a name may reach over what is before a word."""
    gap = words[index].before
    is_repeated = words[index].small == words[index - 1].small
    if words[index - 1].is_possessive or is_repeated or (is_verse and "\n" in gap):
        return False
    is_stop = roles[index - 1] in (_TITLE, _INITIAL) and _AFTER_TITLE.fullmatch(gap)
    return bool(is_stop or _SPACE.fullmatch(gap))


def _uses(
    texts: Sequence[Sequence[_Word]], runs: Sequence[Sequence[_Run]], small: Words
) -> dict[str, _Uses]:
    """How all forms of each name are used, by its key."""
    uses: dict[str, _Uses] = defaultdict(_Uses)
    for words, of_text in zip(texts, runs, strict=True):
        for run in of_text:
            _count_use(uses[name_key(run.form)], words, run, small)
    return uses


def _types(uses: Mapping[str, _Uses], small: Words, language: str) -> dict[str, str]:
    """The type of each name, from how it is used in all its case forms, and from its words."""
    bases = _bases(uses, language)
    of_bases: dict[str, _Uses] = defaultdict(_Uses)
    for name, use in uses.items():
        of_bases[bases[name]].add(use)
    persons = {name for name, use in of_bases.items() if _is_person(name, use, small)}
    full = {name for name in of_bases if _is_full_name(name, small)}
    # Full names are seldom beside verbs of speech: a person's first or last name shows that a full
    # name is a person's.
    persons |= {
        name for name in full if not persons.isdisjoint((name.split()[0], name.split()[-1]))
    }
    places = {name for name, use in of_bases.items() if _is_place(name, use, small)} - persons
    families = {f"{name.split()[-1]}s" for name in persons}
    families_in_full = {f"{name.split()[-1]}s" for name in persons & full}
    groups = {
        name
        for name in of_bases.keys() & families
        if name in families_in_full or of_bases[name].articles
    }
    by_type = ((groups, FAMILY), (persons, PERSON), (places, PLACE))
    return {
        name: next((type for of_type, type in by_type if base in of_type), UNKNOWN)
        for name, base in bases.items()
    }


def _bases(uses: Mapping[str, _Uses], language: str) -> dict[str, str]:
    """For each name the commonest of those that may be case forms of it, or itself."""
    bases = {name: name for name in uses}
    if words_of(language).paradigms:
        by_beginnings: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for name in sorted(uses, key=lambda name: (-uses[name].count, name)):
            alike = by_beginnings[beginnings(name)]
            case_forms = (other for other in alike if is_inflected(name, other, language))
            bases[name] = next(case_forms, name)
            if bases[name] == name:
                alike.append(name)
    return bases


def _count_use(use: _Uses, words: Sequence[_Word], run: _Run, small: Words) -> None:
    """Add one use of a name to what is known of it."""
    use.count += 1
    last = words[run.last - 1]
    if name_titles(run.form):
        use.person += 1
    if run.last < len(words):
        after = words[run.last]
        if _SPACE.fullmatch(after.before) and not last.is_possessive:
            use.person += after.small in small.speech | small.acts and after.text.islower()
        elif after.before.strip() == ",":
            use.person += after.small in small.who
    use.person += _is_addressed(words, run)
    index = run.first - 1
    if index < 0 or not _SPACE.fullmatch(words[run.first].before):
        return
    if words[index].small in small.articles and index and _SPACE.fullmatch(words[index].before):
        use.articles[words[index].small] += 1
        index -= 1
    before = words[index]
    use.person += before.small in small.fond
    if before.small in small.speech and not _SPACE.fullmatch(before.before):
        use.person += 1
    if not last.is_possessive:
        use.inside += before.small in small.inside
        use.near += before.small in small.inside | small.near


def _is_addressed(words: Sequence[_Word], run: _Run) -> bool:
    """Whether a name is alone between a comma and a sentence end, as in "Come up, Kinch!"."""
    if not run.first or words[run.last - 1].is_possessive:
        return False
    is_behind_comma = words[run.first].before.strip() == ","
    follows = words[run.last].before if run.last < len(words) else ""
    ends = bool(_ADDRESS_ENDS.match(follows))
    # The word before the comma is no name, as Paris is none in "in Paris, France!"
    return is_behind_comma and ends and words[run.first - 1].text.islower()


def _is_person(name: str, use: _Uses, small: Words) -> bool:
    fewest = MIN_PERSON_USES_WITH_ARTICLE if _has_article(use) else 1
    return (
        use.person >= max(fewest, min(PERSON_USES * use.count, ENOUGH_PERSON_USES))
        and use.inside <= 2 * use.person
        and name.split()[-1] not in small.kinds_of_thing
        and not _ends_as_place(name, use, small)
    )


def _is_place(name: str, use: _Uses, small: Words) -> bool:
    share, fewest = (PLACE_USES, 1) if use.inside else (PLACE_USES_NEAR, MIN_PLACE_USES_NEAR)
    is_often = use.near >= share * use.count and use.near >= fewest
    return _ends_as_place(name, use, small) or is_often


def _ends_as_place(name: str, use: _Uses, small: Words) -> bool:
    """Whether it is a name like Baskerville Hall, or the Hall, but not Mr Hall."""
    words = name.split()
    return words[-1] in small.kinds_of_place and (len(words) > 1 or _has_article(use))


def _is_full_name(name: str, small: Words) -> bool:
    """Whether it has several words, and none that is only in the names of places and things."""
    words = name.split()
    joining = small.connectives | small.articles
    is_place_or_thing = words[-1] in small.kinds_of_place | small.kinds_of_thing
    return len(words) > 1 and joining.isdisjoint(words) and not is_place_or_thing


class _Sentences:
    """The sentences of chunks, and how particular each of them is."""

    def __init__(self, chunks: Sequence[Chunk], language: str) -> None:
        self._chunks = chunks
        self._spans = [spans(chunk.text, language) for chunk in chunks]
        self._starts = [[start for start, _ in of_chunk] for of_chunk in self._spans]
        stemmer = stemmer_of(language)
        # A stem is not a whole word: the first word with a stem stands for it as a keyword.
        self._stems: dict[str, str] = {}
        self._words: dict[str, str] = {}
        self._terms = [
            [self._read_terms(chunk.text[start:end], stemmer) for start, end in of_chunk]
            for chunk, of_chunk in zip(chunks, self._spans, strict=True)
        ]
        self._idf = inverse_document_frequencies(chain.from_iterable(self._terms))
        self._salience = [salience(of_chunk, self._idf) for of_chunk in self._terms]

    def most_particular(self, row: int, starts: Iterable[int]) -> str:
        """The sentence of highest salience of those of a chunk that have one of these places."""
        sentences = {self._find(row, start) for start in starts}
        best = min(sentences, key=lambda sentence: (-self._salience[row][sentence], sentence))
        return self._text(row, best)

    def pairs_of_names(
        self, row: int, names: Mapping[str, Iterable[int]]
    ) -> Iterator[RelationMention]:
        """The pairs of names that sentences of a chunk have, in the order of their first places."""
        names_of: dict[int, dict[str, None]] = defaultdict(dict)
        for place, name in sorted(
            (place, name) for name, places in names.items() for place in places
        ):
            names_of[self._find(row, place)].setdefault(name)
        sentences_of: dict[tuple[str, str], list[int]] = defaultdict(list)
        for sentence, in_sentence in sorted(names_of.items()):
            for first, second in combinations(in_sentence, 2):
                turned = (second, first)
                pair = turned if turned in sentences_of else (first, second)
                sentences_of[pair].append(sentence)
        chunk = self._chunks[row]
        for (source, target), sentences in sentences_of.items():
            shortest = min((self._text(row, sentence) for sentence in sentences), key=len)
            in_names = {*split_words(source), *split_words(target)}
            keywords = self._keywords(row, sentences, in_names)
            yield RelationMention(chunk.id, chunk.start, source, target, shortest, keywords)

    def _keywords(self, row: int, sentences: Iterable[int], without: set[str]) -> tuple[str, ...]:
        """The words of highest tf-idf in some sentences, without the words of names."""
        terms = (self._terms[row][sentence] for sentence in sentences)
        counts = Counter(chain.from_iterable(terms))
        for word in without:
            counts.pop(self._stems.get(word, ""), None)
        best = sorted(counts, key=lambda term: (-counts[term] * self._idf[term], term))
        return tuple(self._words[term] for term in best[:MAX_KEYWORDS])

    def _read_terms(self, text: str, stemmer: Stemmer) -> list[str]:
        """The stems of a sentence's words that say what it is about."""
        terms = []
        for word in split_words(text):
            if word not in self._stems:
                self._stems[word] = next(iter(stemmer.terms(word)), "")
            if term := self._stems[word]:
                self._words.setdefault(term, word)
                terms.append(term)
        return terms

    def _find(self, row: int, place: int) -> int:
        """The sentence of a chunk that has this place."""
        return bisect_right(self._starts[row], place) - 1

    def _text(self, row: int, sentence: int) -> str:
        start, end = self._spans[row][sentence]
        return " ".join(self._chunks[row].text[start:end].split())
