"""Answer a question while its answer is written, as a turn of a conversation or by itself.

The API, the page and the OpenAI interface use these functions; what is answered at once is an
operation (`fabula.operations.asking`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fabula.ask.query import Query
from fabula.ask.scope import AskedTurn
from fabula.errors import FabulaError, Forbidden, first_problem
from fabula.export.citations import citations_json, cite_quotes
from fabula.library.collection import Collection
from fabula.operations.asking import BegunAnswer
from fabula.operations.conversations import begin_conversation
from fabula.operations.kit import Asker, find_operation
from fabula.operations.shown_answer import (
    ShownAnswer,
    ShownPassage,
    ShownStep,
    limited_place,
    list_steps,
)
from fabula.service.core import errors
from fabula.service.core.write_behind import write_behind

if TYPE_CHECKING:
    from fabula.jobs.idempotency import Idempotency
    from fabula.service.core.conversations import Conversations

Event = tuple[Literal["retrieval", "passages", "step", "token", "answer", "error"], Any]
"""An event of an answer that is being written, and its values. A `step` is one of a mode that
searches on while it answers; the `answer` is a ShownAnswer."""
NEW = "new"
"""The `conversation` of a question that begins one."""
NOT_SAVED = (
    "The answer is complete, but could not be saved in its conversation yet, as Neo4j does not "
    "accept it. The service tries again for about two minutes: copy what you need."
)


if TYPE_CHECKING:  # a type checker cannot follow a model that is made at run time

    class Asked(BaseModel):
        """The question, and the options of one."""

        question: str

else:
    Asked = find_operation("query.ask").body


class Question(Asked):
    """A question, and how it is asked; what is left out is as the settings say."""

    model_config = ConfigDict(frozen=True)

    conversation: str | None = Field(
        None,
        max_length=64,
        description="the id of the conversation that the question is part of; 'new' begins one",
    )
    note: str = Field("", max_length=2000, description="kept with the turn; no model sees it")

    @classmethod
    def parse_values(cls, **given: Any) -> Self:
        """Make it of values that did not come as JSON. Raises Problem for what it can't hold."""
        try:
            return cls(**given)
        except ValidationError as error:
            raise errors.Problem(f"That can't be asked: {first_problem(error)}.") from error

    @property
    def options(self) -> dict[str, Any]:
        """How it is asked, as far as that was said."""
        return self.model_dump(exclude={"question", "conversation", "note"}, exclude_defaults=True)

    def query(self, collection: Collection) -> Query:
        """Convert to a library `Query`. Raises FabulaError for what can't be asked."""
        return Query.of(self.question, collection.settings, **self.options)


def ask(
    conversations: Conversations,
    asker: Asker,
    collection: Collection,
    question: Question,
    *,
    idempotency: Idempotency | None = None,
) -> Answering | RepeatedAnswer:
    """Find the passages for an answer, and return the answer that is to be written from them.

    A question with a `conversation` becomes a turn of it, and is answered with its earlier turns.

    Args:
        conversations: Where conversations are saved.
        asker: Who asks, and pays.
        collection: What is asked.
        question: The question; its conversation may be NEW.
        idempotency: The Idempotency-Key of a question in a conversation: for a day, the same
            request gets the same answer.

    Raises:
        NotFound: The caller has no such conversation.
    """
    # Made first, so that an invalid question does not become a turn.
    query = question.query(collection)
    if question.conversation is None:
        return Answering(asker, [collection], query)
    if asker.is_visitor:
        raise Forbidden("Conversations are kept for those who have signed in: ask without one.")
    caller, turn, before = asker.caller, "", None
    known = conversations.find_answer(collection.name, idempotency) if idempotency else None
    if isinstance(known, ShownAnswer):
        return RepeatedAnswer(known)
    if known:
        # The first answer was not finished in the background: when a reader leaves, the model's
        # call is ended, so that nothing is paid for that nobody reads.
        conversation, turn, before = known.conversation, known.id, known.number
    elif question.conversation == NEW:
        conversation = begin_conversation(collection, asker=asker).id
    else:
        conversation = question.conversation
    try:
        history = conversations.history(caller, collection.name, conversation, before=before)
        if not turn:
            turn = conversations.begin_turn(
                caller,
                collection.name,
                conversation,
                question.question,
                question.options,
                question.note,
                idempotency,
            )
        saved = SavedTurn(conversations, collection.name, conversation, turn)
        return Answering(asker, [collection], query, history=history, turn=saved)
    except BaseException:
        if turn:
            SavedTurn(conversations, collection.name, conversation, turn).drop()
        raise


def citations(view: ShownAnswer) -> dict[str, Any]:
    """Return the words that an answer cites as W3C Web Annotations."""
    quotes = [each.quote for each in view.quotes]
    return citations_json(view.question, cite_quotes(quotes, view.question, view.answer))


@dataclass(frozen=True)
class SavedTurn:
    """A turn of a conversation, which is saved or dropped once its answer has ended."""

    conversations: Conversations
    collection: str
    conversation: str
    id: str

    def save(self, view: ShownAnswer, *, left: bool) -> bool:
        """Save its answer; `left` is whether its reader left before the end."""
        end = partial(self.conversations.end_turn, self.collection, self.id, view, left=left)
        return write_behind(end, f"The answer of turn {self.id}")

    def drop(self) -> None:
        """Delete it, as it has no answer."""
        drop = partial(self.conversations.drop_turn, self.collection, self.id)
        write_behind(drop, f"The deletion of turn {self.id}, which has no answer,")


class Answering:
    """An answer that is being written: read its `events`, or its `view` once it is complete.

    `close` ends it from any thread; the part that was written by then is saved.
    """

    def __init__(
        self,
        asker: Asker,
        collections: Sequence[Collection],
        query: Query,
        *,
        is_across: bool = False,
        history: Sequence[AskedTurn] = (),
        turn: SavedTurn | None = None,
    ) -> None:
        self._turn = turn
        self._place_in_conversation = {
            "conversation": turn and turn.conversation,
            "turn": turn and turn.id,
        }
        self._is_closed = False
        self._ending = threading.Lock()
        self._is_ended = False
        self._is_complete = False
        """Whether the whole answer of the model was read."""
        self._is_saved: bool | None = None
        self._view: ShownAnswer | None = None
        self._begun = BegunAnswer(asker, query, collections, is_across=is_across, history=history)

    def events(self) -> Iterator[Event]:
        """Yield the retrieval, the passages, the pieces of the answer, and then the whole answer.

        If a model fails, the last event is the problem instead.
        """
        begun, stream = self._begun, self._begun.stream
        known = list_steps(begun.path)
        retrieval = {
            "mode": begun.mode,
            "sought": stream.sought,
            "path": known,
            "document": stream.scope.document,
            "place": limited_place(stream.scope),
            "note": stream.note,
            **self._place_in_conversation,
        }
        yield "retrieval", retrieval | begun.about_collections
        yield "passages", {"context": [*map(ShownPassage.of, stream.context)]}
        try:
            shown = len(known)
            for piece in self._pieces():
                # A mode that searches on yields an empty piece after each of its steps.
                new = begun.path.root.steps[shown:]
                shown += len(new)
                for step in new:
                    yield "step", ShownStep.of(step)
                if piece:
                    yield "token", {"text": piece}
            if self._is_complete:
                # Saved before the event, so that whoever has read it finds the turn. A Neo4j that
                # is down delays the event by at most two seconds, and is no error.
                self._end()
                yield "answer", self._final()
        except FabulaError as error:
            yield "error", errors.describe_problem(error)
        finally:
            self._end()

    def view(self) -> ShownAnswer:
        """Wait for the whole answer, and return it. Raises ModelError if a model fails."""
        try:
            for _ in self._pieces():
                pass
        finally:
            self._end()
        return self._final()

    def close(self) -> None:
        """End the model's call, and save the part that was written."""
        self._is_closed = True
        self._begun.stream.close()
        self._end()

    def _pieces(self) -> Iterator[str]:
        """Yield the pieces of the answer."""
        yield from self._begun.read()
        self._is_complete = not self._is_closed

    def _final(self) -> ShownAnswer:
        """Return the whole answer, with whether it was saved."""
        view = self._answer_view()
        warnings = [view.warning, NOT_SAVED if self._is_saved is False else ""]
        return replace(view, kept=self._is_saved, warning=" ".join(filter(None, warnings)))

    def _answer_view(self) -> ShownAnswer:
        """Return the answer after its end: the same for the reader and for the turn."""
        if self._view is None:
            self._view = self._begun.show(**self._place_in_conversation)
        return self._view

    def _end(self) -> None:
        """Save the turn, once, also if the reader has left."""
        with self._ending:
            if self._is_ended:
                return
            self._is_ended = True
        if self._turn is None:
            return
        # '' if a model failed: then there is no answer to save.
        if not self._begun.stream.text:
            self._turn.drop()
            return
        view = replace(self._answer_view(), kept=True)
        self._is_saved = self._turn.save(view, left=not self._is_complete)


class RepeatedAnswer:
    """An answer that was given before, with the interface of `Answering`."""

    def __init__(self, view: ShownAnswer) -> None:
        self._view = view

    def events(self) -> Iterator[Event]:
        """Yield the events of `Answering`, with the answer in one piece."""
        names = ("mode", "sought", "path", "document", "place", "note", "conversation", "turn")
        yield "retrieval", {name: getattr(self._view, name) for name in names}
        yield "passages", {"context": self._view.context}
        yield "token", {"text": self._view.answer}
        yield "answer", self._view

    def view(self) -> ShownAnswer:
        """Return the whole answer."""
        return self._view

    def close(self) -> None:
        """Do nothing: no call is under way."""
