"""Conversations that outlast a page and a process: each is one caller's, about one collection."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from fabula.errors import NotFound, StoreError
from fabula.models import Turn
from fabula.service.core.errors import Conflict
from fabula.service.core.paging import Page, begin_after, cursor, take
from fabula.service.core.views import AnswerView, View
from fabula.text.names import quoted

if TYPE_CHECKING:
    from fabula.app import App
    from fabula.service.core.callers import Caller
    from fabula.service.core.idempotency import Idempotency

SOON = 2
"""Seconds after which an answer that is still being written may be asked for again."""


class ConversationView(View):
    """A conversation as a list shows it: `turns` is how many it has."""

    id: str
    collection: str
    title: str
    turns: int
    created_at: str
    updated_at: str


class TurnView(View):
    """A question and what was answered; `answer` is null while it is being written.

    `left` is whether the reader left before the end: then `answer` is the part that was written by
    then. `value` and `feedback` are what its reader thought of it, `note` what was kept with it.
    """

    id: str
    number: int
    question: str
    answer: AnswerView | None
    asked: dict[str, Any]
    note: str
    value: int | None
    feedback: str
    left: bool
    created_at: str

    @classmethod
    def of(cls, row: dict[str, Any]) -> Self:
        """That of a node."""
        own = ("id", "number", "question", "note", "value", "created_at")
        return cls(
            **{name: row[name] for name in own},
            # A turn that is asked again has the part that its reader left, which is not its answer.
            answer=AnswerView.model_validate_json(row["view"])
            if row["view"] and row["state"] != "asked"
            else None,
            asked=json.loads(row["asked"]),
            feedback=row["feedback"] or "",
            left=row["state"] == "left",
        )


class ConversationWhole(View):
    """A conversation with all its turns, in order."""

    conversation: ConversationView
    turns: list[TurnView]


@dataclass(frozen=True, slots=True)
class Retaken:
    """A turn that is asked again under its Idempotency-Key, as its answer never became whole."""

    id: str
    conversation: str
    number: int


class Conversations:
    """Those of all callers; each sees its own alone, whatever its role."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._writing: set[str] = set()
        """The turns that this process is answering."""

    def renew(self) -> None:
        """Renew the turns that are being answered here, whose Idempotency-Keys else lapse."""
        if ids := sorted(self._writing):
            self._app.store.rows("service/save_lease", ids=ids)

    def begin(self, caller: Caller, collection: str, title: str = "") -> ConversationView:
        """A conversation that has no turn yet."""
        id = uuid.uuid4().hex
        asked = {"collection": collection, "caller": caller.id, "title": title}
        [row] = self._app.store.rows("service/save_conversation", id=id, **asked)
        return ConversationView(**row["conversation"])

    def page(
        self, caller: Caller, collection: str, limit: int, after: str
    ) -> Page[ConversationView]:
        """A caller's conversations about a collection, the last first."""
        before, id = begin_after(after, str, str) or ("", "")
        rows = self._app.store.rows(
            "service/find_conversations",
            collection=collection,
            caller=caller.id,
            before=before,
            before_id=id,
            limit=limit + 1,
        )
        some, more = take([ConversationView(**row["conversation"]) for row in rows], limit)
        next = cursor(some[-1].updated_at, some[-1].id) if more else None
        return Page(items=list(some), next=next)

    def find(self, caller: Caller, collection: str, id: str) -> ConversationWhole:
        """A caller's conversation. Raises NotFound; another's is not there for it."""
        row = self._row(caller, collection, id)
        turns = [TurnView.of(one) for one in row["turns"]]
        return ConversationWhole(conversation=ConversationView(**row["conversation"]), turns=turns)

    def history(
        self, caller: Caller, collection: str, id: str, before: int | None = None
    ) -> list[Turn]:
        """What was said in a caller's conversation, in order; or `before` the turn of that number.

        Raises NotFound.
        """
        rows: Sequence[dict[str, Any]] = self._row(caller, collection, id)["turns"]
        return [
            Turn(row["question"], row["answer"])
            for row in rows
            if row["answer"] and (before is None or row["number"] < before)
        ]

    def remove(self, caller: Caller, collection: str, id: str) -> None:
        """Takes a caller's conversation out. Raises NotFound."""
        asked = {"collection": collection, "caller": caller.id}
        rows = self._app.store.rows("service/clear_conversation", id=id, **asked)
        if not rows or not rows[0]["conversations"]:
            raise _not_there(id)

    def forget(self, collection: str) -> None:
        """Takes all conversations about a collection out, as whoever removes it does."""
        self._app.store.rows("service/clear_conversations", collection=collection)

    def rate(
        self, caller: Caller, collection: str, turn: str, value: int | None, feedback: str
    ) -> None:
        """Keeps what the caller thought of an answer. Raises NotFound."""
        asked = {"collection": collection, "caller": caller.id}
        told = {"value": value, "feedback": feedback}
        [row] = self._app.store.rows("service/save_feedback", id=turn, **asked, **told)
        if not row["turns"]:
            raise NotFound(f"There is no turn {quoted(turn)}.")

    def answered(self, collection: str, once: Idempotency) -> AnswerView | Retaken | None:
        """Return what was answered under an Idempotency-Key; None if the key is new.

        Only a whole answer is given again. If the reader left before the end, or the process that
        wrote the answer ended, the turn is taken up to be asked again: the caller of this method
        has to answer it, or to `drop_turn` it.

        Raises:
            Conflict: The key came with something else, or is being answered just now.

        """
        rows = self._app.store.rows(
            "service/take_turn", collection=collection, once=once.mark, said=once.body
        )
        for row in rows:
            once.refuse_other_body(row["said"])
            if row["is_taken"]:
                self._writing.add(row["id"])
                return Retaken(row["id"], row["conversation"], row["number"])
            if row["state"] == "asked":
                raise Conflict(
                    "What was sent with this Idempotency-Key is just being answered: send it again "
                    "in a moment.",
                    headers={"Retry-After": str(SOON)},
                )
            return AnswerView.model_validate_json(row["view"])
        return None

    def begin_turn(
        self,
        caller: Caller,
        collection: str,
        conversation: str,
        question: str,
        asked: dict[str, Any],
        note: str,
        once: Idempotency | None,
    ) -> str:
        """The id of a turn that is going to be answered. Raises NotFound, and Conflict where the
        same was begun under its Idempotency-Key just before.
        """
        id = uuid.uuid4().hex
        try:
            rows = self._app.store.rows(
                "service/save_turn",
                id=id,
                conversation=conversation,
                collection=collection,
                caller=caller.id,
                question=question,
                asked=json.dumps(asked, ensure_ascii=False),
                note=note,
                once=once.mark if once else None,
                said=once.body if once else None,
            )
        except StoreError:
            # The constraint: another request was first.
            if once and isinstance(taken := self.answered(collection, once), Retaken):
                self.drop_turn(collection, taken.id)
            raise
        if not rows:
            raise _not_there(conversation)
        self._writing.add(id)
        return id

    def end_turn(self, collection: str, turn: str, view: AnswerView, *, left: bool) -> None:
        """Keeps what was answered; `left` is whether its reader left before the end."""
        self._writing.discard(turn)
        self._app.store.rows(
            "service/save_answer",
            id=turn,
            collection=collection,
            state="left" if left else "answered",
            answer=view.answer,
            cited=view.cited,
            hits=[hit.id for hit in view.hits],
            mode=view.mode,
            view=view.model_dump_json(),
        )

    def drop_turn(self, collection: str, turn: str) -> None:
        """Takes a turn out that came to nothing."""
        self._writing.discard(turn)
        self._app.store.rows("service/clear_turn", id=turn, collection=collection)

    def _row(self, caller: Caller, collection: str, id: str) -> dict[str, Any]:
        asked = {"collection": collection, "caller": caller.id}
        rows = self._app.store.rows("service/find_conversation", id=id, **asked)
        if not rows:
            raise _not_there(id)
        return rows[0]


def _not_there(id: str) -> NotFound:
    return NotFound(f"There is no conversation {quoted(id)}.")
