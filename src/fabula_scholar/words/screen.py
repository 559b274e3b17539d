"""Words of books: concordances, collocates, key words and n-grams, each line a link into a book."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from fabula.app.collection import Collection
from fabula.app.reading import MAX_PLACE
from fabula.errors import FabulaError
from fabula.export.cells import format_csv
from fabula.service.core.errors import status_of
from fabula.service.core.views import View
from fabula.service.http.addresses import address
from fabula.service.http.admission import is_cross_site
from fabula.service.http.dependencies import FilledCollection, Reader, State
from fabula.service.page.document_choices import list_choices
from fabula.service.page.rendering import show
from fabula.service.page.screen import Screen
from fabula_scholar.words import views as counted
from fabula_scholar.words.concordance import SortOrder
from fabula_scholar.words.corpus import MAX_GRAM, MAX_WINDOW

router = APIRouter()
Tool = Literal["concordance", "collocates", "keyness", "ngrams"]
CollocateOrder = Literal["log_likelihood", "log_dice", "mutual_information", "count"]
TOOLS: Mapping[Tool, tuple[str, str]] = {
    "concordance": ("Concordance", "Every place of some words, with what is before and after it."),
    "collocates": ("Collocates", "The words that stand near some words more often than elsewhere."),
    "keyness": ("Key words", "The words that are more frequent in one book than in others."),
    "ngrams": ("Counts", "How often words, and runs of words, stand in the books."),
}
"""The tools by their name in the address: how they are called, and what they do."""
SORTS: Mapping[SortOrder, str] = {
    "position": "place",
    "left": "words before",
    "node": "the words",
    "right": "words after",
}
"""What the lines of a concordance can be sorted by."""
MEASURES: Mapping[CollocateOrder, str] = {
    "log_likelihood": "log-likelihood",
    "log_dice": "logDice",
    "mutual_information": "MI",
    "count": "near",
}
"""What collocates can be sorted by."""
PAGE_SIZE = 100
"""Lines of a concordance on a page."""
MAX_ROWS = 200
"""Rows of the other tables."""
MAX_FILE_ROWS = 10_000
"""Rows of a file that is downloaded."""
CONTEXT = 60
"""Characters on each side of a line."""
FILE_CONTEXT = 200
END = "100%"
"""The place at the end of a book, as the reader's bookmark is put aside."""
Text = Annotated[str, Field(max_length=500)]
Name = Annotated[str, Field(max_length=2000)]
Window = Annotated[int, Field(ge=0, le=MAX_WINDOW)]
Format = Literal["", "csv", "json"]
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


class WordQuery(BaseModel):
    """What is counted, as the form and the address have it."""

    model_config = ConfigDict(frozen=True, str_strip_whitespace=True)

    tool: Tool = "concordance"
    words: Text = ""
    document: Name = ""
    against: Name = ""
    until: str = Field("", max_length=MAX_PLACE)
    sort: SortOrder = "position"
    by: CollocateOrder = "log_likelihood"
    left: Window = 5
    right: Window = 5
    size: int = Field(1, ge=1, le=MAX_GRAM)
    containing: Text = ""
    stemmed: bool = False
    content_words: bool = False
    negative: bool = False
    page: int = Field(1, ge=1, le=10_000)

    @property
    def is_complete(self) -> bool:
        """Whether all that the tool needs was entered."""
        if self.tool in ("concordance", "collocates"):
            return bool(self.words)
        return bool(self.document) or self.tool == "ngrams"

    def address(self, collection: str, **changed: Any) -> str:
        """Return the address of this query with some values changed; what is usual is left out.

        A form that still lacks something is shown to be filled in, and not as a mistake.
        """
        query = self.model_copy(update=changed)
        fields = WordQuery.model_fields
        asked = {
            name: str(value).lower() if isinstance(value, bool) else value
            for name in fields
            if (value := getattr(query, name)) != fields[name].default
        }
        run = "true" if query.is_complete else ""
        return address("c", collection, "words", **asked, run=run)


class WordForm(WordQuery):
    """A query, whether to count it, and the kind of file that is wanted in place of a screen."""

    run: bool = False
    format: Format = Field("", alias="as")


@router.get("/c/{collection}/words")
def show_words(
    request: Request,
    state: State,
    collection: FilledCollection,
    caller: Reader,
    form: Annotated[WordForm, Query()],
) -> Response:
    """Show the form of a tool and, with `run`, what it counts; or return that as a file."""
    status, problem = 200, ""
    found: dict[str, Any] | None = None
    query: WordQuery = form
    tool, run, format = form.tool, form.run, form.format
    # A link on another site's page counts nothing, as the browser sends the reader's cookie with
    # it: the form is only filled in.
    is_led = run and is_cross_site(request)
    try:
        query = _find_documents(collection, query)
        if run and query.is_complete and not is_led:
            with state.large_task_limit.hold(caller.id):
                found = COUNTERS[tool](collection, query, bool(format))
    except FabulaError as error:
        # The form keeps what was entered, so that it can be corrected.
        status, problem = status_of(error), error.message
        if format or status >= 500:
            raise
    if found is not None and format:
        return _file(tool, found["rows"], format)
    values = {
        "collection": collection.name,
        "query": query,
        "document": query.document,
        "documents": list_choices(collection, query.document),
        "tools": [
            (name, title, query.address(collection.name, tool=name, page=1))
            for name, (title, _) in TOOLS.items()
        ],
        "about": TOOLS[tool][1],
        "problem": problem,
        "is_led": is_led,
        "lacks": run and not query.is_complete,
        "found": found,
        "max_file_rows": MAX_FILE_ROWS,
        "files": [
            (kind, query.address(collection.name, page=1) + f"&as={kind}") for kind in MEDIA_TYPES
        ],
        "sorts": [
            (name, title, query.address(collection.name, sort=name, page=1))
            for name, title in SORTS.items()
        ],
        "measures": {
            name: (title, query.address(collection.name, by=name))
            for name, title in MEASURES.items()
        },
        "whole_url": query.address(collection.name, until=END, page=1),
        "previous_url": query.address(collection.name, page=query.page - 1),
        "next_url": query.address(collection.name, page=query.page + 1),
        "max_window": MAX_WINDOW,
        "max_gram": MAX_GRAM,
    }
    return show(request, "words.html", values, status)


def _find_documents(collection: Collection, query: WordQuery) -> WordQuery:
    """Return the query with the ids of documents, which may have been typed by their titles."""
    named = {
        name: collection.document(value).id
        for name, value in (("document", query.document), ("against", query.against))
        if value
    }
    # A place is one in a single book; to the ends of all books everything is counted anyway.
    until = query.until if query.document or query.until != END else ""
    return query.model_copy(update={**named, "until": until})


def _find_lines(collection: Collection, query: WordQuery, is_file: bool) -> dict[str, Any]:
    first = 0 if is_file else (query.page - 1) * PAGE_SIZE
    found = counted.concordance(
        collection,
        query.words,
        query.document,
        query.until,
        query.sort,
        FILE_CONTEXT if is_file else CONTEXT,
        first,
        MAX_FILE_ROWS if is_file else PAGE_SIZE,
        stemmed=query.stemmed,
    )
    return {
        "rows": found.rows,
        "total": found.total,
        "by_document": found.documents,
        "first": first,
        "more": found.total > first + len(found.rows),
    }


def _find_collocates(collection: Collection, query: WordQuery, is_file: bool) -> dict[str, Any]:
    found = counted.collocates(
        collection,
        query.words,
        query.document,
        query.until,
        (query.left, query.right),
        MAX_FILE_ROWS,
        stemmed=query.stemmed,
        content_words=query.content_words,
    )
    rows = sorted(found.rows, key=lambda row: (-getattr(row, query.by), row.word))
    return {"rows": rows if is_file else rows[:MAX_ROWS], "total": len(rows), "nodes": found.nodes}


def _find_key_words(collection: Collection, query: WordQuery, is_file: bool) -> dict[str, Any]:
    rows = counted.keyness(
        collection,
        query.document,
        query.against,
        query.until,
        MAX_FILE_ROWS,
        stemmed=query.stemmed,
        negative=query.negative,
        content_words=query.content_words,
    )
    return {"rows": rows if is_file else rows[:MAX_ROWS], "total": len(rows)}


def _find_ngrams(collection: Collection, query: WordQuery, is_file: bool) -> dict[str, Any]:
    found = counted.ngrams(
        collection,
        query.document,
        query.until,
        query.size,
        query.containing,
        MAX_FILE_ROWS,
        stemmed=query.stemmed,
        content_words=query.content_words,
    )
    rows = found.rows if is_file else found.rows[:MAX_ROWS]
    return {"rows": rows, "total": len(found.rows), "counts": found}


COUNTERS: Mapping[Tool, Callable[[Collection, WordQuery, bool], dict[str, Any]]] = {
    "concordance": _find_lines,
    "collocates": _find_collocates,
    "keyness": _find_key_words,
    "ngrams": _find_ngrams,
}
"""What counts for each tool; the last argument is whether it is for a file."""


def _file(tool: Tool, views: Sequence[View], format: str) -> Response:
    """Return rows as CSV, in which no cell is a formula, or as JSON."""
    rows = [view.model_dump() for view in views]
    if format == "csv":
        columns = list(type(views[0]).model_fields) if views else []
        text = format_csv(columns, [list(row.values()) for row in rows])
    else:
        text = json.dumps(rows, ensure_ascii=False)
    headers = {
        "Content-Disposition": f'attachment; filename="{tool}.{format}"',
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    content = text.encode("utf-8", "surrogatepass")
    return Response(content, media_type=MEDIA_TYPES[format], headers=headers)


SCREEN = Screen(
    "Words",
    "/c/{collection}/words",
    needs_books=True,
    for_members=True,
    router=router,
    folder=Path(__file__).parent,
)
