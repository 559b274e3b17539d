"""What a question was asked of, and whether an earlier answer may be read with a later question.

An answer to a question about the whole of a book tells what a reader who has a place in it must not
know yet. So each turn of a conversation knows its scope, and `known_turns` leaves out the turns
that rest on more than the present question may (used by `Collection.stream`, and therefore by the
library's conversations, the terminal's chat, and all interfaces of the service).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabula.graph.hits import Filters
from fabula.graph.reading_place import ReadingPlace
from fabula.models import Turn


@dataclass(frozen=True, slots=True)
class QuestionScope:
    """What a question was asked of: documents, and up to where the reader had read them.

    Attributes:
        document: The id of the only document that was asked; '' for all.
        until: How many characters of it the reader had read; None if the reader had no place.
        volumes: The ids of the documents of a series that the reader had read; none if all count.
        name: The place in words, as "A Christmas Carol, up to the end of STAVE TWO (38 %)"; '' if
            the reader had none.
    """

    document: str = ""
    until: int | None = None
    volumes: tuple[str, ...] = ()
    name: str = ""

    @classmethod
    def of(cls, filters: Filters, place: ReadingPlace | None) -> QuestionScope:
        """Return the scope of a question with these filters, and with the place of its reader."""
        if place is None:
            volumes = filters.documents if filters.read else ()
            return cls(filters.document, None, volumes, filters.read)
        words = f"{place.document.title}, {place}"
        return cls(place.document.id, place.end, (), words)

    @property
    def is_limited(self) -> bool:
        """Whether the reader had a place, in a text or in a series."""
        return self.until is not None or bool(self.volumes)

    def includes(self, previous: QuestionScope) -> bool:
        """Return whether all that an answer of another scope rests on may be known in this one."""
        if self.volumes:
            # Of volumes that were read all of the text is known, up to any place. An answer without
            # a place is no such one, even if it is about a volume: its own history was not limited.
            documents = previous.volumes or (previous.document,)
            return previous.is_limited and set(documents) <= set(self.volumes)
        if self.until is None:
            return True
        is_same_text = previous.document == self.document and not previous.volumes
        return is_same_text and previous.until is not None and previous.until <= self.until


EVERYTHING = QuestionScope()
"""The scope of a question to all documents, whose reader has no place."""


@dataclass(frozen=True, slots=True)
class AskedTurn:
    """A turn of a conversation, with what its question was asked of.

    Attributes:
        turn: The question and its answer.
        scope: What the question was asked of.
        documents: The ids of the documents that the answer cites or quotes.
    """

    turn: Turn
    scope: QuestionScope = EVERYTHING
    documents: tuple[str, ...] = ()

    @property
    def only_document(self) -> str:
        """The id of the document that was asked, or that all of the answer is from; '' for none."""
        if self.scope.document:
            return self.scope.document
        return self.documents[0] if len(self.documents) == 1 else ""


def known_turns(history: Sequence[Turn | AskedTurn], scope: QuestionScope) -> list[AskedTurn]:
    """Return the turns of a conversation whose answers tell nothing that lies outside a scope.

    Args:
        history: The previous turns. A plain `Turn` does not say what it was asked of, so it counts
            as one about everything, and is left out as soon as the reader has a place.
        scope: What the present question is asked of.
    """
    asked = [each if isinstance(each, AskedTurn) else AskedTurn(each) for each in history]
    return [each for each in asked if scope.includes(each.scope)]
