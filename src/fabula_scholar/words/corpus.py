"""Concordances, collocates, key words and n-grams of documents of a collection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabula.app.catalogue import empty_collection_error
from fabula.errors import BadValue, NotFound
from fabula.graph.entries import Entry
from fabula.graph.structure import TextStructure
from fabula.text.names import quote_name
from fabula_scholar.words.collocation import Collocate, CollocateCounter, KeyWord, key_words
from fabula_scholar.words.concordance import (
    SORT_ORDERS,
    SortOrder,
    TextMatch,
    TypeTokenCounts,
    WordCounter,
    WordText,
    is_function_word,
    ngrams,
)

if TYPE_CHECKING:
    from fabula.app.collection import Collection
    from fabula.store import Store

END = 10**9
"""A character after the end of any text."""
CONTEXT = 60
"""Characters on each side of a line of a concordance."""
MAX_WINDOW = 50
"""Words on each side in which collocates are counted."""
MAX_GRAM = 10
"""Words of an n-gram."""
MAX_GRAMS = 10_000_000
"""Different n-grams that are counted: some 2 GB."""


@dataclass(frozen=True, slots=True)
class CorpusText:
    """The words of a document, as far as a reader has read it."""

    entry: Entry
    words: WordText
    structure: TextStructure


@dataclass(frozen=True, slots=True)
class ConcordanceLine:
    """A keyword in its context, with its place in a document.

    Attributes:
        document: The id of the document.
        title: Its title.
        section: The path of the section; '' before the first heading.
        start: The first character of the node in the document's text.
        end: The one after its last.
        left: What is before it, on one line.
        node: The words that were looked for, as printed.
        right: What is after it.
        pages: The labels of its printed pages; '' if the document has none.
        lines: Those of its numbered lines.

    """

    document: str
    title: str
    section: str
    start: int
    end: int
    left: str
    node: str
    right: str
    pages: str = ""
    lines: str = ""


@dataclass(frozen=True, slots=True)
class Concordance:
    """Lines of a concordance, and how many there are in all, by documents' titles."""

    lines: tuple[ConcordanceLine, ...]
    total: int
    by_document: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class NGram:
    """Words that follow each other, how often they do, and in how many documents."""

    words: str
    count: int
    documents: int


@dataclass(frozen=True, slots=True)
class NGrams:
    """N-grams, the most frequent first, and the counts of all words of the texts.

    `distinct` is how many different n-grams there are, and `total` how many in all.
    """

    rows: tuple[NGram, ...]
    distinct: int
    total: int
    counts: TypeTokenCounts


@dataclass(frozen=True)
class Corpus:
    """Documents as words, read one after the other.

    Attributes:
        store: The graph; for a reader with a place, the text ends there.
        entries: The documents.

    """

    store: Store
    entries: Sequence[Entry]

    def __iter__(self) -> Iterator[CorpusText]:
        for entry in self.entries:
            rows = self.store.find_chunks(entry, 0, END)
            text = "".join(row["text"] for row in rows)
            yield CorpusText(entry, WordText(text, entry.language), self.store.structure(entry))


def read_corpus(collection: Collection, document: str = "") -> Corpus:
    """Return documents as words: one, by id, title or file, or all of the collection with ''.

    For a reader with a place it is the document that is read, up to the place.

    Raises:
        NotFound: There is no such document, or the collection is empty.

    """
    if document or collection.place:
        return Corpus(collection.store, [collection.document(document)])
    entries = list(collection.documents())
    if not entries:
        raise empty_collection_error(collection.name)
    return Corpus(collection.store, entries)


def read_reference(collection: Collection, document: str, against: str = "") -> Corpus:
    """Return what a document is compared with: another one, or all others of the collection.

    Raises:
        NotFound: There is no such document, or no other one.

    """
    id = collection.document(document).id if document else ""
    if against:
        other = collection.document(against)
        if other.id == id:
            raise NotFound(f"{other.title} can't be compared with itself: name another one.")
        return Corpus(collection.store, [other])
    others = [entry for entry in collection.documents() if entry.id != id]
    if not (others and id):
        raise NotFound(
            "There is nothing to compare with: name a document, and another one or another "
            "collection to compare it with."
        )
    return Corpus(collection.store, others)


def make_concordance(
    corpus: Corpus,
    query: str,
    *,
    regex: bool = False,
    stemmed: bool = False,
    sort: SortOrder = "position",
    context: int = CONTEXT,
    first: int = 0,
    limit: int = 100,
) -> Concordance:
    """Return the lines of a query's words in documents.

    Args:
        corpus: The documents.
        query: Words, with `*` and `?` as wildcards and `|` between alternatives; or with `regex` a
            regular expression of Python, over the text as it is.
        regex: See `query`.
        stemmed: Whether other forms of the words are found, too.
        sort: Where lines are sorted by: their place, the words on the left or on the right, or the
            words that were found.
        context: Characters on each side.
        first: How many lines to leave out, of those sorted.
        limit: How many lines to return at most.

    Raises:
        BadValue: The query cannot be looked for.

    """
    if sort not in SORT_ORDERS:
        raise BadValue(f"Lines are sorted by {', '.join(SORT_ORDERS)}, not by {quote_name(sort)}.")
    found: list[tuple[tuple[str, ...], ConcordanceLine]] = []
    wanted = first + limit
    total = 0
    by_document: list[tuple[str, int]] = []
    for text in corpus:
        matches = find_matches(text.words, query, regex=regex, stemmed=stemmed)
        if matches:
            by_document.append((text.entry.title, len(matches)))
        total += len(matches)
        keyed = [(text.words.sort_key(match, sort), match) for match in matches]
        keyed.sort(key=lambda item: item[0])
        if len(found) >= wanted and sort == "position":
            continue  # what comes after the lines that are returned is only counted
        # Lines and not the texts are held, and no more of them than may be returned.
        found += [(key, _make_line(text, match, context)) for key, match in keyed[:wanted]]
        found.sort(key=lambda item: item[0])
        del found[wanted:]
    return Concordance(tuple(line for _, line in found[first:]), total, tuple(by_document))


def find_matches(
    text: WordText, query: str, *, regex: bool = False, stemmed: bool = False
) -> list[TextMatch]:
    """Return where a query matches a text; raises BadValue as `make_concordance`."""
    if regex:
        if stemmed:
            raise BadValue("A regular expression is looked for in the text: leave stems out.")
        return text.find_pattern(query)
    return text.find_words(query, stemmed=stemmed)


def count_collocates(
    corpus: Corpus,
    query: str,
    *,
    left: int = 5,
    right: int = 5,
    stemmed: bool = False,
    min_count: int = 2,
    function_words: bool = True,
) -> tuple[list[Collocate], int]:
    """Return the words around a query's words, by log-likelihood, and how many nodes there are.

    Args:
        corpus: The documents.
        query: Words, as of `make_concordance`.
        left: How many words on the left count as near.
        right: How many on the right.
        stemmed: Whether words are counted by their stems.
        min_count: How often a word must stand near.
        function_words: Whether to return words such as "the", too. They are counted in any case.

    Raises:
        BadValue: The query cannot be looked for, or the window is none.
        NotFound: It is nowhere.

    """
    if not (0 <= left <= MAX_WINDOW and 0 <= right <= MAX_WINDOW and left + right):
        raise BadValue(f"A window has 0 to {MAX_WINDOW} words on each side, and not 0 on both.")
    counter = CollocateCounter(left, right)
    languages: set[str] = set()
    for text in corpus:
        languages.add(text.entry.language)
        matches = text.words.find_words(query, stemmed=stemmed)
        nodes = [(match.first, match.last) for match in matches]
        counter.add(text.words.forms(stemmed=stemmed), nodes)
    if not counter.nodes:
        raise NotFound(f"The texts do not have {quote_name(query)}.")
    rows = counter.collocates(min_count)
    if not function_words:
        rows = [row for row in rows if not _is_small(row.word, languages)]
    return rows, counter.nodes


def find_key_words(
    corpus: Corpus,
    reference: Corpus,
    *,
    stemmed: bool = False,
    min_count: int = 3,
    negative: bool = False,
    function_words: bool = True,
) -> list[KeyWord]:
    """Return the words that tell documents from others, by log-likelihood.

    Raises:
        NotFound: One of the sides has no words.

    """
    languages = {entry.language for entry in corpus.entries}
    counts = _count_forms(corpus, stemmed=stemmed)
    others = _count_forms(reference, stemmed=stemmed)
    if not counts or not others:
        raise NotFound("There are no words to compare: name two different documents.")
    rows = key_words(counts, others, min_count=min_count, negative=negative)
    if not function_words:
        rows = [row for row in rows if not _is_small(row.word, languages)]
    return rows


def count_ngrams(
    corpus: Corpus,
    *,
    size: int = 1,
    stemmed: bool = False,
    min_count: int = 1,
    function_words: bool = True,
    containing: str = "",
    limit: int = 100,
) -> NGrams:
    """Return runs of words that follow each other in a paragraph, the most frequent first.

    Args:
        corpus: The documents.
        size: How many words they have; 1 for a list of words.
        stemmed: Whether words are counted by their stems.
        min_count: How often a run must stand.
        function_words: Whether to return runs of function words alone.
        containing: Only runs with this word, in which `*` and `?` are wildcards; '' for all.
        limit: How many to return at most.

    Raises:
        BadValue: The size is none, or there are too many n-grams, or `containing` is not one word.

    """
    if len(containing.split()) > 1:
        raise BadValue(f"Give one word that n-grams contain, not {quote_name(containing)}.")
    if not 1 <= size <= MAX_GRAM:
        raise BadValue(f"An n-gram has 1 to {MAX_GRAM} words.")
    counts: Counter[tuple[str, ...]] = Counter()
    documents: Counter[tuple[str, ...]] = Counter()
    words = WordCounter()
    languages: set[str] = set()
    for text in corpus:
        languages.add(text.entry.language)
        words.add(text.words.words)
        grams = Counter(ngrams(text.words, size, stemmed=stemmed))
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
    if not function_words:
        small = {word for gram in allowed for word in gram if _is_small(word, languages)}
        allowed = {gram for gram in allowed if not small.issuperset(gram)}
    frequent = [gram for gram in allowed if counts[gram] >= min_count]
    frequent.sort(key=lambda gram: (-counts[gram], gram))
    rows = tuple(NGram(" ".join(gram), counts[gram], documents[gram]) for gram in frequent[:limit])
    return NGrams(rows, len(counts), counts.total(), words.counts())


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
