"""Words of documents: concordances, collocates, key words and n-grams."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from fabula.service.http.dependencies import FilledCollection, Reader, State
from fabula.service.http.parameters import ReadUntil
from fabula_scholar.words import views as counted
from fabula_scholar.words.concordance import SortOrder
from fabula_scholar.words.views import CollocatesView, ConcordanceView, KeyWordView, NGramsView

router = APIRouter(tags=["words"])
Words = Annotated[
    str,
    Query(
        min_length=1,
        max_length=500,
        description="words that stand together; in each `*` is any letters and `?` one letter, and "
        "`king|queen` is one or the other",
    ),
]
Document = Annotated[str, Query(max_length=200, description="the id of a document; '' for all")]
Stemmed = Annotated[bool, Query(description="other forms of a word are the same")]
Content = Annotated[bool, Query(description="leave out function words, such as 'the'")]
Limit = Annotated[int, Query(ge=1, le=1000, description="how many rows to return at most")]
Side = Annotated[int, Query(ge=0, le=50, description="how many words count as near")]


@router.get("/collections/{collection}/concordance", summary="Words in their contexts")
def show_concordance(
    state: State,
    collection: FilledCollection,
    caller: Reader,
    words: Words,
    document: Document = "",
    until: ReadUntil = "",
    sort: Annotated[SortOrder, Query(description="what lines are sorted by")] = "position",
    stemmed: Stemmed = False,
    context: Annotated[int, Query(ge=0, le=2000, description="characters on each side")] = 60,
    first: Annotated[int, Query(ge=0, le=10**6, description="number of lines to skip")] = 0,
    limit: Limit = 100,
) -> ConcordanceView:
    """Return every place of some words, with what is before and after it, and its characters in
    the document's text.
    """
    with state.large_task_limit.hold(caller.id):
        return counted.concordance(
            collection, words, document, until, sort, context, first, limit, stemmed=stemmed
        )


@router.get("/collections/{collection}/collocates", summary="Words that stand near words")
def show_collocates(
    state: State,
    collection: FilledCollection,
    caller: Reader,
    words: Words,
    document: Document = "",
    until: ReadUntil = "",
    left: Side = 5,
    right: Side = 5,
    stemmed: Stemmed = False,
    content_words: Content = False,
    limit: Limit = 100,
) -> CollocatesView:
    """Return the words that stand near some words more often than elsewhere, by log-likelihood
    (Dunning 1993), with logDice and mutual information.
    """
    with state.large_task_limit.hold(caller.id):
        return counted.collocates(
            collection,
            words,
            document,
            until,
            (left, right),
            limit,
            stemmed=stemmed,
            content_words=content_words,
        )


@router.get(
    "/collections/{collection}/documents/{document}/keyness",
    summary="Words that tell a document from others",
)
def show_keyness(
    state: State,
    collection: FilledCollection,
    caller: Reader,
    document: str,
    against: Annotated[
        str, Query(max_length=200, description="the id of another document; '' for all others")
    ] = "",
    until: ReadUntil = "",
    negative: Annotated[bool, Query(description="words that are rarer, instead")] = False,
    stemmed: Stemmed = False,
    content_words: Content = False,
    limit: Limit = 100,
) -> list[KeyWordView]:
    """Return the words that are more frequent in a document than in another one, or in all others,
    with log-likelihood, log ratio (Hardie 2014) and %DIFF.
    """
    with state.large_task_limit.hold(caller.id):
        return counted.keyness(
            collection,
            document,
            against,
            until,
            limit,
            stemmed=stemmed,
            negative=negative,
            content_words=content_words,
        )


@router.get("/collections/{collection}/ngrams", summary="How often words stand")
def show_ngrams(
    state: State,
    collection: FilledCollection,
    caller: Reader,
    document: Document = "",
    until: ReadUntil = "",
    size: Annotated[int, Query(ge=1, le=10, description="words in each run")] = 1,
    containing: Annotated[
        str, Query(max_length=200, description="only those with this word, as ghost*")
    ] = "",
    stemmed: Stemmed = False,
    content_words: Content = False,
    limit: Limit = 100,
) -> NGramsView:
    """Return runs of words, the most frequent first, and how many words and different words there
    are.
    """
    with state.large_task_limit.hold(caller.id):
        return counted.ngrams(
            collection,
            document,
            until,
            size,
            containing,
            limit,
            stemmed=stemmed,
            content_words=content_words,
        )
