"""What concordancers count, as operations: concordances, collocates, key words and n-grams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from fabula.errors import BadValue, NotFound
from fabula.operations.kit import Column, Mark, Until, operation
from fabula.operations.parameters import Document, First, Limit, NamedDocument, OtherCollection
from fabula.text.names import quote_name
from fabula_scholar.words.collocation import Collocate, CollocateCounter, KeyWord, key_words
from fabula_scholar.words.concordance import (
    SortOrder,
    TextMatch,
    WordCounter,
    WordText,
    cut_after,
    cut_before,
    is_function_word,
)
from fabula_scholar.words.concordance import ngrams as runs_of_words
from fabula_scholar.words.corpus import Corpus, CorpusText, read_corpus, read_reference
from fabula_scholar.words.curves import draw_curves

if TYPE_CHECKING:
    from fabula.library.collection import Collection

GROUP = "Words"
MAX_GRAMS = 10_000_000
"""Different n-grams that are counted: some 2 GB."""
CollocateOrder = Literal["log_likelihood", "log_dice", "mutual_information", "count"]
Words = Annotated[
    str,
    Field(
        min_length=1,
        max_length=500,
        description="words that stand together; in each `*` is any letters and `?` one letter, and "
        "`king|queen` is one or the other; case and accents do not count",
        examples=["ghost*, or king|queen"],
    ),
]
Side = Annotated[int, Field(ge=0, le=50, description="how many words count as near on this side")]
Stemmed = Annotated[bool, Field(description="count other forms of a word as the same (stems)")]
ContentWords = Annotated[bool, Field(description="leave out function words, such as 'the'")]
MinCount = Annotated[int, Field(ge=1, le=10**6, description="minimum count")]


@dataclass(frozen=True)
class ConcordanceLine:
    """Words in their context, with their place in a document.

    Attributes:
        document: The id of the document.
        title: Its title.
        section: The path of the section; '' before the first heading.
        start: The first character of the words in the document's text.
        end: The one after their last.
        left: What is before them, on one line.
        node: The words that were looked for, as printed.
        right: What is after them.
        pages: The labels of its printed pages; '' if the document has none.
        lines: Those of its numbered lines.
    """

    document: Annotated[str, Column(is_shown=False)]
    title: Annotated[str, Column("in")]
    section: str
    start: Annotated[int, Column(is_shown=False)]
    end: Annotated[int, Column(is_shown=False)]
    left: Annotated[str, Column("before", is_right=True)]
    node: Annotated[str, Column("words")]
    right: Annotated[str, Column("after")]
    pages: str
    lines: str


@dataclass(frozen=True)
class DocumentCount:
    """How many places a document has."""

    title: str
    count: int


@dataclass(frozen=True)
class Concordance:
    """Places of words in context, and how many there are in all and by document."""

    total: int
    documents: tuple[DocumentCount, ...]
    rows: tuple[ConcordanceLine, ...]

    def to_lines(self, width: int) -> Iterator[str]:
        """Yield a line for each place, with the words in one column, cut between words to fit."""
        longest = max((len(row.node) for row in self.rows), default=0)
        side = max(0, width - min(longest, width // 2)) // 2
        for row in self.rows:
            line = f"{cut_before(row.left, side):>{side}}{row.node}{row.right}"
            yield line if len(line) <= width else cut_after(line, width)


@operation(
    "/collections/{collection}/concordance",
    group=GROUP,
    title="In context",
    positional=["words"],
    is_large=True,
    hides_unread=True,
    examples=(
        "concordance ghost",
        'concordance "old|poor man*" --document "A Christmas Carol" --sort right',
        r'concordance --regex "\bChristmas [A-Z]\w+" --csv',
    ),
)
def concordance(
    collection: Collection,
    words: Words,
    document: Document = "",
    regex: Annotated[
        bool,
        Field(description="WORDS is a regular expression (Python), over the text as it is"),
        Mark.AT_THIS_MACHINE,
    ] = False,
    stemmed: Stemmed = False,
    sort: Annotated[
        SortOrder,
        Field(description="by place, by the three words on the left or the right, or by the words"),
    ] = "position",
    context: Annotated[int, Field(ge=0, le=2000, description="characters on each side")] = 60,
    first: First = 0,
    limit: Limit = 100,
) -> Concordance:
    """Show every place of some words, with what is before and after it.

    Raises:
        BadValue: The words can't be looked for.
        NotFound: There is no such document.
    """
    if regex and stemmed:
        raise BadValue("A regular expression is looked for in the text: leave stems out.")
    found: list[tuple[tuple[str, ...], ConcordanceLine]] = []
    wanted = first + limit
    total = 0
    documents: list[DocumentCount] = []
    for text in read_corpus(collection, document):
        if regex:
            matches = text.words.find_pattern(words)
        else:
            matches = text.words.find_words(words, stemmed=stemmed)
        if matches:
            documents.append(DocumentCount(text.entry.title, len(matches)))
        total += len(matches)
        keyed = [(text.words.sort_key(match, sort), match) for match in matches]
        keyed.sort(key=lambda item: item[0])
        if len(found) >= wanted and sort == "position":
            continue  # what comes after the lines that are returned is only counted
        # Lines and not the texts are held, and no more of them than may be returned.
        found += [(key, _make_line(text, match, context)) for key, match in keyed[:wanted]]
        found.sort(key=lambda item: item[0])
        del found[wanted:]
    return Concordance(total, tuple(documents), tuple(line for _, line in found[first:]))


@dataclass(frozen=True)
class Collocates:
    """Words near some words; `places` is how often the words that were looked for stand."""

    places: int
    total: int
    rows: tuple[Collocate, ...]


@operation(
    "/collections/{collection}/collocates",
    group=GROUP,
    title="Neighbours",
    positional=["words"],
    is_large=True,
    hides_unread=True,
    examples=("collocates ghost", "collocates ghost --left 3 --right 3 --by log_dice --stemmed"),
)
def collocates(
    collection: Collection,
    words: Words,
    document: Document = "",
    left: Side = 5,
    right: Side = 5,
    by: Annotated[CollocateOrder, Field(description="what rows are sorted by")] = "log_likelihood",
    min_count: MinCount = 2,
    stemmed: Stemmed = False,
    content_words: ContentWords = False,
    limit: Limit = 100,
) -> Collocates:
    """List the words that stand near some words more often than elsewhere.

    Log-likelihood (Dunning 1993) says how sure that is: 10.83 is p < 0.001, and a minus says that
    the word is rarer near. logDice is that of Rychlý (2008), MI pointwise mutual information.

    Raises:
        BadValue: The words can't be looked for, or the window is none.
        NotFound: They are nowhere, or there is no such document.
    """
    if not left + right:
        raise BadValue("A window can't have 0 words on both sides.")
    counter = CollocateCounter(left, right)
    languages: set[str] = set()
    for text in read_corpus(collection, document):
        languages.add(text.entry.language)
        matches = text.words.find_words(words, stemmed=stemmed)
        nodes = [(match.first, match.last) for match in matches]
        counter.add(text.words.forms(stemmed=stemmed), nodes)
    if not counter.nodes:
        raise NotFound(f"The texts do not have {quote_name(words)}.")
    rows = counter.collocates(min_count)
    if content_words:
        rows = [row for row in rows if not _is_small(row.word, languages)]
    rows.sort(key=lambda row: (-getattr(row, by), row.word))
    return Collocates(counter.nodes, len(rows), tuple(rows[:limit]))


@dataclass(frozen=True)
class KeyWords:
    """Words that tell a document from others."""

    total: int
    rows: tuple[KeyWord, ...]


@operation(
    "/collections/{collection}/documents/{document}/keyness",
    group=GROUP,
    title="Key words",
    positional=["document"],
    is_large=True,
    examples=('keyness "A Christmas Carol" --against-collection novels',),
)
def keyness(
    collection: Collection,
    document: NamedDocument,
    against: Annotated[
        str,
        Field(max_length=2000, description="the document to compare with; '' for all others"),
        Mark.NAMES_DOCUMENT,
    ] = "",
    against_collection: OtherCollection = None,
    until: Until = "",
    negative: Annotated[bool, Field(description="words that are rarer, instead")] = False,
    min_count: MinCount = 3,
    stemmed: Stemmed = False,
    content_words: ContentWords = False,
    limit: Limit = 100,
) -> KeyWords:
    """List the words that are more frequent in a document than in others.

    It is compared with another document, with another collection, or else with all others of its
    collection. Log-likelihood says how sure the difference is, log ratio (Hardie 2014) and %DIFF
    how large: a log ratio of 1 is twice as frequent.

    Raises:
        BadValue: A document and a collection were named to compare with.
        NotFound: One of the sides has no words, or there is no such document or place.
    """
    if against and against_collection:
        raise BadValue("Name a document or a collection to compare with, not both.")
    texts = read_corpus(collection.as_read(document, until), document)
    if against_collection and against_collection.name != collection.name:
        reference = read_corpus(against_collection)
    else:
        reference = read_reference(collection, document, against)
    counts = _count_forms(texts, stemmed=stemmed)
    others = _count_forms(reference, stemmed=stemmed)
    if not counts or not others:
        raise NotFound("There are no words to compare: name two different documents.")
    rows = key_words(counts, others, min_count=min_count, negative=negative)
    if content_words:
        languages = {entry.language for entry in texts.entries}
        rows = [row for row in rows if not _is_small(row.word, languages)]
    return KeyWords(len(rows), tuple(rows[:limit]))


@dataclass(frozen=True)
class NGram:
    """Words that follow each other, how often they do, and in how many documents."""

    words: Annotated[str, Column(opens="concordance")]
    count: int
    documents: int


@dataclass(frozen=True)
class NGrams:
    """Runs of words, the most frequent first, and the counts of all words of the texts.

    Attributes:
        tokens: All words.
        types: Different words.
        hapaxes: Words that stand once.
        ratio: The share of different words (type-token ratio).
        standard_ratio: Its mean over every 1,000 words, by which long and short texts compare.
        ngrams: How many runs of words there are.
        distinct: How many different ones.
        total: How many of these are as wanted.
        rows: The most frequent of them.
    """

    tokens: int
    types: int
    hapaxes: int
    ratio: float
    standard_ratio: float
    ngrams: int
    distinct: int
    total: int
    rows: tuple[NGram, ...]


@operation(
    "/collections/{collection}/ngrams",
    group=GROUP,
    title="Counts",
    positional=["document"],
    is_large=True,
    hides_unread=True,
    examples=(
        'ngrams "A Christmas Carol" --content-words',
        "ngrams --size 3 --containing ghost --json",
    ),
)
def ngrams(
    collection: Collection,
    document: Document = "",
    size: Annotated[int, Field(ge=1, le=10, description="words in each run")] = 1,
    containing: Annotated[
        str, Field(max_length=200, description="only those with this word, as ghost*")
    ] = "",
    min_count: MinCount = 1,
    stemmed: Stemmed = False,
    content_words: ContentWords = False,
    limit: Limit = 100,
) -> NGrams:
    """Count words, or runs of words.

    Tokens are all words, types the different ones; their ratio falls with the length of a text, so
    the standardised one is the mean over every 1,000 words.

    Raises:
        BadValue: There are too many n-grams, or `containing` is not one word.
        NotFound: There is no such document.
    """
    if len(containing.split()) > 1:
        raise BadValue(f"Give one word that n-grams contain, not {quote_name(containing)}.")
    counts: Counter[tuple[str, ...]] = Counter()
    documents: Counter[tuple[str, ...]] = Counter()
    words = WordCounter()
    languages: set[str] = set()
    for text in read_corpus(collection, document):
        languages.add(text.entry.language)
        words.add(text.words.words)
        grams = Counter(runs_of_words(text.words, size, stemmed=stemmed))
        counts.update(grams)
        documents.update(grams.keys())
        if len(counts) > MAX_GRAMS:
            raise BadValue(
                f"The texts have more than {MAX_GRAMS:,} different n-grams of {size}: name a "
                "document, or count shorter ones."
            )
    allowed = set(counts)
    if containing:
        forms = WordText("\n\n".join({word for gram in counts for word in gram}))
        wanted = {forms.words[match.first] for match in forms.find_words(containing)}
        allowed = {gram for gram in allowed if wanted.intersection(gram)}
    if content_words:
        small = {word for gram in allowed for word in gram if _is_small(word, languages)}
        allowed = {gram for gram in allowed if not small.issuperset(gram)}
    frequent = [gram for gram in allowed if counts[gram] >= min_count]
    frequent.sort(key=lambda gram: (-counts[gram], gram))
    known = words.counts()
    return NGrams(
        known.tokens,
        known.types,
        known.hapaxes,
        known.ratio,
        known.standard_ratio,
        counts.total(),
        len(counts),
        len(frequent),
        tuple(NGram(" ".join(gram), counts[gram], documents[gram]) for gram in frequent[:limit]),
    )


@dataclass(frozen=True)
class Dispersion:
    """How evenly words are spread over a document.

    Attributes:
        document: The id of the document.
        title: Its title.
        words: The words.
        count: How often the words stand in it.
        parts: In how many of its parts they stand.
        deviation: Gries's DP, normalised: 0 for words that stand everywhere alike, 1 for words that
            stand in one part alone.
        counts: How often they stand in each part.
    """

    document: Annotated[str, Column(is_shown=False)]
    title: str
    words: str
    count: int
    parts: Annotated[int, Column("in parts")]
    deviation: Annotated[float, Column("DP")]
    counts: Annotated[Sequence[int], Column(is_shown=False)]


@dataclass(frozen=True)
class Dispersions:
    """Documents that have the words, those with the most first."""

    total: int
    rows: tuple[Dispersion, ...]

    def to_svg(self) -> str:
        """Return a curve of each document and its words, from its beginning to its end."""
        return draw_curves([(f"{row.words}, {row.title}", row.counts) for row in self.rows])


@operation(
    "/collections/{collection}/dispersion",
    group=GROUP,
    title="Curves",
    positional=["words"],
    is_large=True,
    hides_unread=True,
    examples=(
        "dispersion ghost",
        'dispersion "christmas" --parts 5 --stemmed',
        "dispersion scrooge --beside marley --parts 50 --out curves.svg",
    ),
)
def dispersion(
    collection: Collection,
    words: Words,
    document: Document = "",
    beside: Annotated[
        str, Field(max_length=500, description="other words, to be compared with these")
    ] = "",
    parts: Annotated[
        int, Field(ge=2, le=1000, description="into how many parts a document is cut")
    ] = 20,
    stemmed: Stemmed = False,
    limit: Limit = 100,
) -> Dispersions:
    """Say how evenly some words are spread over each document.

    A document is cut into parts of equally many words. DP (Gries 2008, normalised as by Lijffijt
    and Gries 2012) is 0 where the words stand everywhere alike, and 1 where they are in one part. A
    file that ends in .svg has their curves along the text.

    Raises:
        BadValue: The words can't be looked for.
        NotFound: There is no such document.
    """
    rows = []
    for text in read_corpus(collection, document):
        for query in filter(None, (words, beside)):
            if matches := text.words.find_words(query, stemmed=stemmed):
                rows.append(_spread(text, query, [match.first for match in matches], parts))
    rows.sort(key=lambda row: (-row.count, row.title, row.document))
    return Dispersions(len(rows), tuple(rows[:limit]))


def _spread(text: CorpusText, query: str, places: Sequence[int], parts: int) -> Dispersion:
    """Return how the words of a query, whose numbers in the text are given, are spread over it."""
    size = max(len(text.words.words), 1)
    in_part = Counter(place * parts // size for place in places)
    counts = tuple(in_part[part] for part in range(parts))
    distance = sum(abs(count / len(places) - 1 / parts) for count in counts)
    deviation = distance / 2 / (1 - 1 / parts)
    entry = text.entry
    count = len(places)
    return Dispersion(entry.id, entry.title, query, count, len(in_part), deviation, counts)


def _count_forms(corpus: Corpus, *, stemmed: bool) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text in corpus:
        counts.update(text.words.forms(stemmed=stemmed))
    return counts


def _is_small(word: str, languages: set[str]) -> bool:
    return any(is_function_word(word, language) for language in languages)


def _make_line(text: CorpusText, match: TextMatch, context: int) -> ConcordanceLine:
    left, right = text.words.around(match, context)
    spans = [(match.start, match.end)]
    return ConcordanceLine(
        text.entry.id,
        text.entry.title,
        text.structure.section_at(match.start),
        match.start,
        match.end,
        left,
        " ".join(text.words.text[match.start : match.end].split()),
        right,
        text.structure.pages.range(spans),
        text.structure.lines.range(spans),
    )
