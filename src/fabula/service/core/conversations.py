"""Conversations, saved in the graph: each belongs to one caller and is about one collection."""

from __future__ import annotations

import json
import uuid
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from fabula.app.shown_answer import ShownAnswer, format_json, read_answer
from fabula.ask.scope import AskedTurn, QuestionScope
from fabula.errors import NotFound, StoreError
from fabula.models import Turn
from fabula.service.core.errors import Problem
from fabula.service.core.paging import Page, make_cursor, read_cursor, take_page
from fabula.service.core.views import View
from fabula.text.names import quote_name

if TYPE_CHECKING:
    from fabula.app import App
    from fabula.jobs.callers import Caller
    from fabula.jobs.idempotency import Idempotency

RETRY_AFTER_SECONDS = 2
"""The Retry-After for an answer that is still being written."""


class ConversationView(View):
    """A conversation in a list; `turns` is the number of its turns."""

    id: str
    collection: str
    title: str
    turns: int
    created_at: str
    updated_at: str


class TurnView(View):
    """A question and its answer; `answer` is null while it is being written.

    `left` is true if the reader disconnected before the end; `answer` is then the part that was
    written. `value` and `feedback` are the reader's rating, `note` is what was sent with the
    question.
    """

    id: str
    number: int
    question: str
    answer: ShownAnswer | None
    asked: dict[str, Any]
    note: str
    value: int | None
    feedback: str
    left: bool
    created_at: str

    @classmethod
    def of(cls, row: dict[str, Any]) -> Self:
        """Return the view of a row."""
        names = ("id", "number", "question", "note", "value", "created_at")
        return cls(
            **{name: row[name] for name in names},
            # A turn that is asked again still has the part of its first, incomplete answer.
            answer=read_answer(row["view"]) if row["view"] and row["state"] != "asked" else None,
            asked=json.loads(row["asked"]),
            feedback=row["feedback"] or "",
            left=row["state"] == "left",
        )


class ConversationWhole(View):
    """A conversation with its turns, in order."""

    conversation: ConversationView
    turns: list[TurnView]


class BeingAnswered(Problem):
    """The same request is being answered just now."""

    status, name = 409, "conflict"


@dataclass(frozen=True, slots=True)
class Retaken:
    """A turn that is asked again under its Idempotency-Key, as its answer was incomplete."""

    id: str
    conversation: str
    number: int


class Conversations:
    """The conversations of all callers. Each caller sees only its own, whatever its role."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._writing: set[str] = set()
        """The turns that this process is answering."""

    def renew(self) -> None:
        """Renew the leases of the turns that are being answered here."""
        if ids := sorted(self._writing):
            self._app.connect().rows("service/save_lease", ids=ids)

    def begin(self, caller: Caller, collection: str, title: str = "") -> ConversationView:
        """Begin a conversation, which has no turns yet."""
        id = uuid.uuid4().hex
        [row] = self._app.connect().rows(
            "service/save_conversation",
            id=id,
            collection=collection,
            caller=caller.id,
            title=title,
        )
        return ConversationView(**row["conversation"])

    def page(
        self, caller: Caller, collection: str, limit: int, after: str
    ) -> Page[ConversationView]:
        """Return a page of a caller's conversations about a collection, the latest first."""
        before, id = read_cursor(after, str, str) or ("", "")
        rows = self._app.connect().rows(
            "service/find_conversations",
            collection=collection,
            caller=caller.id,
            before=before,
            before_id=id,
            limit=limit + 1,
        )
        views, has_more = take_page(
            [ConversationView(**row["conversation"]) for row in rows], limit
        )
        next = make_cursor(views[-1].updated_at, views[-1].id) if has_more else None
        return Page(items=list(views), next=next)

    def find(self, caller: Caller, collection: str, id: str) -> ConversationWhole:
        """Return a caller's conversation. Raises NotFound, also for one of another caller."""
        row = self._row(caller, collection, id)
        turns = [TurnView.of(turn) for turn in row["turns"]]
        return ConversationWhole(conversation=ConversationView(**row["conversation"]), turns=turns)

    def history(
        self, caller: Caller, collection: str, id: str, before: int | None = None
    ) -> list[AskedTurn]:
        """Return the answered turns of a caller's conversation, in order.

        Each says what it was asked of, so that none is given to a model with a question whose
        reader has not read so far (`fabula.ask.scope.known_turns`).

        Args:
            caller: Whose conversation it is.
            collection: The collection that it is about.
            id: The conversation.
            before: Only turns before the turn of this number.

        Raises:
            NotFound: The caller has no such conversation.

        """
        rows = self._app.connect().rows(
            "service/find_history",
            id=id,
            collection=collection,
            caller=caller.id,
            before=before,
        )
        if not rows:
            raise _not_found(id)
        return [_asked_turn(row) for row in rows[0]["turns"]]

    def remove(self, caller: Caller, collection: str, id: str) -> None:
        """Delete a caller's conversation. Raises NotFound."""
        rows = self._app.connect().rows(
            "service/clear_conversation", id=id, collection=collection, caller=caller.id
        )
        if not rows or not rows[0]["conversations"]:
            raise _not_found(id)

    def forget(self, collection: str) -> None:
        """Delete all conversations about a collection, which is being removed."""
        self._app.connect().rows("service/clear_conversations", collection=collection)

    def rate(
        self, caller: Caller, collection: str, turn: str, value: int | None, feedback: str
    ) -> None:
        """Save a caller's rating of an answer. Raises NotFound."""
        [row] = self._app.connect().rows(
            "service/save_feedback",
            id=turn,
            collection=collection,
            caller=caller.id,
            value=value,
            feedback=feedback,
        )
        if not row["turns"]:
            raise NotFound(f"There is no turn {quote_name(turn)}.")

    def find_answer(
        self, collection: str, idempotency: Idempotency
    ) -> ShownAnswer | Retaken | None:
        """Return the answer that was given under an Idempotency-Key.

        Only a complete answer is given again. If the reader left before the end, or the process
        that wrote the answer has ended, the turn is retaken: whoever calls this method then has to
        answer the turn, or to `drop_turn` it.

        Returns:
            The answer, or the turn that is retaken; None if the key is new.

        Raises:
            Conflict: The key came with another request before.
            BeingAnswered: The request with this key is being answered just now.

        """
        rows = self._app.connect().rows(
            "service/take_turn", collection=collection, once=idempotency.mark, said=idempotency.body
        )
        for row in rows:
            idempotency.refuse_other_body(row["said"])
            if row["is_taken"]:
                self._writing.add(row["id"])
                return Retaken(row["id"], row["conversation"], row["number"])
            if row["state"] == "asked":
                raise BeingAnswered(
                    "The request with this Idempotency-Key is just being answered: send it again "
                    "in a moment.",
                    headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
                )
            return read_answer(row["view"])
        return None

    def begin_turn(
        self,
        caller: Caller,
        collection: str,
        conversation: str,
        question: str,
        options: dict[str, Any],
        note: str,
        idempotency: Idempotency | None,
    ) -> str:
        """Save a turn that is going to be answered, and return its id.

        Args:
            caller: Who asks.
            collection: The collection that is asked.
            conversation: The conversation that the turn becomes a part of.
            question: The question.
            options: How it is asked, as JSON values.
            note: What is saved with the turn, and shown to no model.
            idempotency: The Idempotency-Key of the request.

        Raises:
            NotFound: The caller has no such conversation.
            Conflict: The same request was begun under its Idempotency-Key just before.

        """
        id = uuid.uuid4().hex
        try:
            rows = self._app.connect().rows(
                "service/save_turn",
                id=id,
                conversation=conversation,
                collection=collection,
                caller=caller.id,
                question=question,
                asked=json.dumps(options, ensure_ascii=False),
                note=note,
                once=idempotency.mark if idempotency else None,
                said=idempotency.body if idempotency else None,
            )
        except StoreError:
            # The uniqueness constraint: another request with the key was first.
            if idempotency and isinstance(
                turn := self.find_answer(collection, idempotency), Retaken
            ):
                self.drop_turn(collection, turn.id)
            raise
        if not rows:
            raise _not_found(conversation)
        self._writing.add(id)
        return id

    def end_turn(self, collection: str, turn: str, view: ShownAnswer, *, left: bool) -> None:
        """Save the answer of a turn; `left` is whether its reader left before the end."""
        self._writing.discard(turn)
        self._app.connect().rows(
            "service/save_answer",
            id=turn,
            collection=collection,
            state="left" if left else "answered",
            answer=view.answer,
            cited=view.cited,
            hits=[hit.id for hit in view.hits],
            mode=view.mode,
            view=format_json(view),
            asked_of=json.dumps({"scope": asdict(view.scope), "documents": view.documents}),
        )

    def drop_turn(self, collection: str, turn: str) -> None:
        """Delete a turn that has no answer."""
        self._writing.discard(turn)
        self._app.connect().rows("service/clear_turn", id=turn, collection=collection)

    def _row(self, caller: Caller, collection: str, id: str) -> dict[str, Any]:
        rows = self._app.connect().rows(
            "service/find_conversation", id=id, collection=collection, caller=caller.id
        )
        if not rows:
            raise _not_found(id)
        return rows[0]


def _asked_turn(row: dict[str, Any]) -> AskedTurn:
    asked_of = json.loads(row["asked_of"])
    kept = asked_of["scope"]
    scope = QuestionScope(kept["document"], kept["until"], tuple(kept["volumes"]))
    turn = Turn(row["question"], row["answer"])
    return AskedTurn(turn, scope, tuple(asked_of["documents"]))


def _not_found(id: str) -> NotFound:
    return NotFound(f"There is no conversation {quote_name(id)}.")
