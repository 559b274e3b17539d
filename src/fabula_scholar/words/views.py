"""Concordances, collocates, key words and n-grams, as the interfaces show them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Self

from fabula.app.collection import Collection
from fabula.service.core.views import View, document_of
from fabula_scholar.words.collocation import Collocate, KeyWord
from fabula_scholar.words.concordance import SortOrder
from fabula_scholar.words.corpus import (
    ConcordanceLine,
    Corpus,
    count_collocates,
    count_ngrams,
    find_key_words,
    make_concordance,
    read_corpus,
    read_reference,
)


class LineView(View):
    """A place of the words that were looked for, with what is before and after it."""

    document: str
    title: str
    section: str
    start: int
    end: int
    left: str
    node: str
    right: str
    pages: str
    lines: str

    @classmethod
    def of(cls, line: ConcordanceLine) -> Self:
        """Return the view of a line."""
        return cls(**asdict(line))


class TitleCount(View):
    """How many places a document has."""

    title: str
    count: int


class ConcordanceView(View):
    """Places of words in context; `total` is how many there are in all."""

    total: int
    documents: list[TitleCount]
    rows: list[LineView]


class CollocateView(View):
    """A word that stands near the words that were looked for, with measures of how much more often
    it does than elsewhere.
    """

    word: str
    count: int
    left: int
    right: int
    total: int
    log_likelihood: float
    log_dice: float
    mutual_information: float

    @classmethod
    def of(cls, item: Collocate) -> Self:
        """Return the view of a collocate."""
        return cls(**asdict(item))


class CollocatesView(View):
    """Collocates by log-likelihood; `nodes` is how often the words that were looked for stand."""

    nodes: int
    rows: list[CollocateView]


class KeyWordView(View):
    """A word that tells a document from others; %DIFF is null if these do not have it."""

    word: str
    count: int
    reference_count: int
    per_million: float
    reference_per_million: float
    log_likelihood: float
    log_ratio: float
    percent_difference: float | None

    @classmethod
    def of(cls, item: KeyWord) -> Self:
        """Return the view of a key word."""
        return cls(**asdict(item))


class NGramView(View):
    """Words that follow each other."""

    words: str
    count: int
    documents: int


class NGramsView(View):
    """N-grams, the most frequent first, and how many words the texts have."""

    tokens: int
    types: int
    hapaxes: int
    ratio: float
    standard_ratio: float
    rows: list[NGramView]


def concordance(
    collection: Collection,
    words: str,
    document: str,
    until: str,
    sort: SortOrder,
    context: int,
    first: int,
    limit: int,
    *,
    stemmed: bool,
) -> ConcordanceView:
    """Return the places of words. Regular expressions are for programs: they may take any time."""
    found = make_concordance(
        _corpus(collection, document, until),
        words,
        stemmed=stemmed,
        sort=sort,
        context=context,
        first=first,
        limit=limit,
    )
    return ConcordanceView(
        total=found.total,
        documents=[TitleCount(title=title, count=count) for title, count in found.by_document],
        rows=[LineView.of(line) for line in found.lines],
    )


def collocates(
    collection: Collection,
    words: str,
    document: str,
    until: str,
    window: tuple[int, int],
    limit: int,
    *,
    stemmed: bool,
    content_words: bool,
) -> CollocatesView:
    """Return the words that stand near words."""
    rows, nodes = count_collocates(
        _corpus(collection, document, until),
        words,
        left=window[0],
        right=window[1],
        stemmed=stemmed,
        function_words=not content_words,
    )
    return CollocatesView(nodes=nodes, rows=[CollocateView.of(row) for row in rows[:limit]])


def keyness(
    collection: Collection,
    document: str,
    against: str,
    until: str,
    limit: int,
    *,
    stemmed: bool,
    negative: bool,
    content_words: bool,
) -> list[KeyWordView]:
    """Return the words that tell a document from another one, or from all others."""
    id = document_of(collection, document).id
    other = document_of(collection, against).id if against else ""
    rows = find_key_words(
        read_corpus(collection.as_read(id, until), id),
        read_reference(collection, id, other),
        stemmed=stemmed,
        negative=negative,
        function_words=not content_words,
    )
    return [KeyWordView.of(row) for row in rows[:limit]]


def ngrams(
    collection: Collection,
    document: str,
    until: str,
    size: int,
    containing: str,
    limit: int,
    *,
    stemmed: bool,
    content_words: bool,
) -> NGramsView:
    """Return runs of words, and the counts of all words."""
    found = count_ngrams(
        _corpus(collection, document, until),
        size=size,
        containing=containing,
        limit=limit,
        stemmed=stemmed,
        function_words=not content_words,
    )
    return NGramsView(
        **asdict(found.counts),
        ratio=found.counts.ratio,
        rows=[NGramView(**asdict(row)) for row in found.rows],
    )


def _corpus(collection: Collection, document: str, until: str) -> Corpus:
    id = document_of(collection, document).id if document else ""
    return read_corpus(collection.as_read(id, until), id)
