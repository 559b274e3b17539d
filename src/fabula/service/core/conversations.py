"""The turns of conversations while their questions are answered; they are saved in the graph."""

from __future__ import annotations

import json
import uuid
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from fabula.ask.scope import AskedTurn, QuestionScope
from fabula.errors import StoreError
from fabula.models import Turn
from fabula.operations.conversations import unknown_conversation
from fabula.operations.shown_answer import ShownAnswer, format_json, read_answer
from fabula.service.core.errors import Problem

if TYPE_CHECKING:
    from fabula.jobs.callers import Caller
    from fabula.jobs.idempotency import Idempotency
    from fabula.library import App

RETRY_AFTER_SECONDS = 2
"""The Retry-After for an answer that is still being written."""


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
            raise unknown_conversation(id)
        return [_asked_turn(row) for row in rows[0]["turns"]]

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
            raise unknown_conversation(conversation)
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


def _asked_turn(row: dict[str, Any]) -> AskedTurn:
    asked_of = json.loads(row["asked_of"])
    kept = asked_of["scope"]
    scope = QuestionScope(kept["document"], kept["until"], tuple(kept["volumes"]))
    turn = Turn(row["question"], row["answer"])
    return AskedTurn(turn, scope, tuple(asked_of["documents"]))
