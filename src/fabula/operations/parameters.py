"""The parameters that many operations have: one name, one bound and one description each."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from fabula.errors import BadValue
from fabula.operations.kit import Mark

if TYPE_CHECKING:
    from fabula.library.collection import Collection

MAX_ROWS = 10_000
"""The largest limit of rows, in every interface."""

Document = Annotated[
    str,
    Field(max_length=2000, description="a document's id, title or file; '' for all documents"),
    Mark.NAMES_DOCUMENT,
]
OtherCollection = Annotated[
    "Collection | None",
    Field(description="the name of another collection; '' for none"),
    Mark.NAMES_COLLECTION,
]
NamedDocument = Annotated[
    str,
    Field(min_length=1, max_length=2000, description="a document's id, title or file"),
    Mark.NAMES_DOCUMENT,
]
Who = Annotated[str, Field(description="the name of who asks"), Mark.CALLER]
ForVisitor = Annotated[bool, Field(description="whether a visitor asks"), Mark.FOR_VISITOR]
DryRun = Annotated[bool, Field(description="only say what would be removed")]
Limit = Annotated[int, Field(ge=1, le=MAX_ROWS, description="how many rows at most")]
After = Annotated[
    str, Field(max_length=4000, description="the `next` of the page before; '' for the first")
]


def read_cursor(after: str) -> tuple[str, str]:
    """Return the time and the id of which the `next` of a list consists; '' for the first page.

    Raises:
        BadValue: `after` is not the `next` of such a list.
    """
    at, _, id = after.partition(" ")
    try:
        if after:
            datetime.fromisoformat(at)
    except ValueError:
        raise BadValue(f"after={after[:40]!r} is not the `next` of a page of this list.") from None
    return at, id


First = Annotated[int, Field(ge=0, le=10**9, description="how many rows to skip")]
