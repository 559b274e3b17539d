"""List, show and remove somebody's own conversations, and rate their answers.

A conversation is about one collection, and only who began it sees it, whatever their role. What it
is made of is written while its questions are answered (`fabula.service.core.conversations`).
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from fabula.errors import NotFound
from fabula.jobs.callers import PERSON
from fabula.operations.asking import WhoAsks
from fabula.operations.kit import operation
from fabula.operations.parameters import After, read_cursor
from fabula.operations.shown_answer import ShownAnswer, read_answer
from fabula.text.names import quote_name

if TYPE_CHECKING:
    from fabula.library.collection import Collection
    from fabula.operations.kit import Asker

ConversationId = Annotated[
    str, Field(min_length=1, max_length=200, description="the id of the conversation")
]
# The terminal has a chat of its own, and an assistant its own conversation.
of_conversations = partial(
    operation, group="Conversations", has_command=False, has_screen=False, has_tool=False
)


@dataclass(frozen=True)
class ConversationSummary:
    """A conversation in a list; `turns` is the number of its turns."""

    id: str
    collection: str
    title: str
    turns: int
    created_at: str
    updated_at: str


@dataclass(frozen=True)
class ConversationTurn:
    """A question of a conversation, and its answer.

    Attributes:
        id: Its id.
        number: Its number in the conversation.
        question: The question.
        answer: The answer, with the passages as they were then; None while it is being written.
        asked: The options of the question.
        note: What was sent with the question, and no model has seen.
        value: The reader's rating: 1 is good, -1 is bad; None without one.
        feedback: The note to the rating.
        left: Whether the reader left before the end, so that the answer is a part of one.
        created_at: When it was asked.
    """

    id: str
    number: int
    question: str
    answer: ShownAnswer | None
    asked: Mapping[str, Any]
    note: str
    value: int | None
    feedback: str
    left: bool
    created_at: str

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> ConversationTurn:
        """Return the turn of a row."""
        names = ("id", "number", "question", "note", "value", "created_at")
        return cls(
            **{name: row[name] for name in names},
            # A turn that is asked again still has the part of its first, incomplete answer.
            answer=read_answer(row["view"]) if row["view"] and row["state"] != "asked" else None,
            asked=json.loads(row["asked"]),
            feedback=row["feedback"] or "",
            left=row["state"] == "left",
        )


@dataclass(frozen=True)
class WholeConversation:
    """A conversation with its turns, in order."""

    conversation: ConversationSummary
    turns: tuple[ConversationTurn, ...]


@dataclass(frozen=True)
class ConversationList:
    """Conversations, the latest first."""

    rows: tuple[ConversationSummary, ...]
    next: str | None


def _call(collection: Collection, asker: Asker | None, name: str, **more: Any) -> Any:
    """Return the rows of a statement about somebody's conversations about a collection."""
    caller = asker.caller if asker else PERSON
    store = collection.app.connect()
    return store.rows(f"service/{name}", collection=collection.name, caller=caller.id, **more)


@of_conversations("/collections/{collection}/conversations", command="conversations list")
def list_conversations(
    collection: Collection,
    limit: Annotated[int, Field(ge=1, le=1000, description="how many at most")] = 50,
    after: After = "",
    asker: WhoAsks = None,
) -> ConversationList:
    """List your conversations, the latest first. Nobody else can see them, not even admins.

    Raises:
        BadValue: `after` is not the `next` of such a list.
    """
    before, id = read_cursor(after)
    more = {"before": before, "before_id": id, "limit": limit + 1}
    found = [
        ConversationSummary(**row["conversation"])
        for row in _call(collection, asker, "find_conversations", **more)
    ]
    page = tuple(found[:limit])
    is_end = len(found) <= limit
    return ConversationList(page, None if is_end else f"{page[-1].updated_at} {page[-1].id}")


@of_conversations(
    "/collections/{collection}/conversations",
    method="POST",
    status=201,
    command="conversations begin",
)
def begin_conversation(
    collection: Collection,
    title: Annotated[
        str, Field(max_length=200, description="its title; '' for that of its first question")
    ] = "",
    asker: WhoAsks = None,
) -> ConversationSummary:
    """Begin a conversation. Questions are added to it by `ask` with its id."""
    id = uuid.uuid4().hex
    [row] = _call(collection, asker, "save_conversation", id=id, title=title)
    return ConversationSummary(**row["conversation"])


@of_conversations(
    "/collections/{collection}/conversations/{conversation}", command="conversations show"
)
def show_conversation(
    collection: Collection, conversation: ConversationId, asker: WhoAsks = None
) -> WholeConversation:
    """Show all turns of a conversation, with the passages as they were when it was answered.

    Raises:
        NotFound: There is no such conversation of yours.
    """
    rows = _call(collection, asker, "find_conversation", id=conversation)
    if not rows:
        raise unknown_conversation(conversation)
    turns = tuple(map(ConversationTurn.of, rows[0]["turns"]))
    return WholeConversation(ConversationSummary(**rows[0]["conversation"]), turns)


@of_conversations(
    "/collections/{collection}/conversations/{conversation}",
    method="DELETE",
    status=204,
    command="conversations remove",
)
def remove_conversation(
    collection: Collection, conversation: ConversationId, asker: WhoAsks = None
) -> None:
    """Delete a conversation and all of its turns.

    Raises:
        NotFound: There is no such conversation of yours.
    """
    rows = _call(collection, asker, "clear_conversation", id=conversation)
    if not rows or not rows[0]["conversations"]:
        raise unknown_conversation(conversation)


@of_conversations(
    "/collections/{collection}/turns/{turn}/feedback",
    method="PUT",
    status=204,
    command="conversations rate",
)
def rate_turn(
    collection: Collection,
    turn: Annotated[str, Field(min_length=1, max_length=200, description="the id of the turn")],
    value: Annotated[
        Literal[1, -1] | None, Field(description="1 is good, -1 is bad, null removes the rating")
    ] = None,
    note: Annotated[str, Field(max_length=4000, description="a note to the rating")] = "",
    asker: WhoAsks = None,
) -> None:
    """Save your rating of an answer; it replaces a previous rating.

    Raises:
        NotFound: There is no such turn of yours.
    """
    [row] = _call(collection, asker, "save_feedback", id=turn, value=value, feedback=note)
    if not row["turns"]:
        raise NotFound(f"There is no turn {quote_name(turn)}.")


def unknown_conversation(id: str) -> NotFound:
    """Return the error for a conversation that is not there, or is another caller's."""
    return NotFound(f"There is no conversation {quote_name(id)}.")
