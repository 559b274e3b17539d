"""Documents as the graph lists them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fabula.models.usage import Usage, sum_usage
from fabula.text.document import full_title
from fabula.text.metadata import Metadata

if TYPE_CHECKING:
    from fabula.graph import Record

_OFFLINE = "offline"
"""The name of the chat model where there is none (`fabula.config.settings.OFFLINE`)."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A document as the graph lists it, with what each of its parts was made from and cost."""

    id: str
    collection: str
    title: str
    author: str
    language: str
    source: str
    sha256: str
    tokens: int
    created_at: str
    updated_at: str
    graphs: Mapping[str, Record]
    published: str = ""
    """The date or year of the text; '' if unknown."""
    edition: str = ""
    """The edition that the file was made from; '' if unknown."""
    reading: int = 1
    """The version of the way that its file was read."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """The characters of its file that are not in the text, by kind."""
    warnings: tuple[str, ...] = ()
    """What was wrong with its file, in full sentences."""
    metadata: Metadata = field(default_factory=dict)
    """Its fields of one's own (`fabula.text.metadata`)."""
    is_off: bool = False
    """Whether questions to the collection leave it out."""
    stated: Metadata = field(default_factory=dict)
    """The fields that its file stated last, where it was read to be ingested again."""
    appended: tuple[str, ...] = ()
    """The files whose texts it was continued with, in order."""

    def __repr__(self) -> str:
        title = full_title(self.title, self.author)
        return f"<Entry {self.id} {title}: {self.tokens:,} tokens, {', '.join(self.graphs)}>"

    @property
    def usage(self) -> dict[str, Usage]:
        """What each step of all its graphs asked of models, by the step."""
        return sum_usage(record.usage for record in self.graphs.values())

    @property
    def is_extracted(self) -> bool:
        """Whether no model wrote anything in its graphs: their texts are extracts of the book."""
        models = (record.made_from.get("models", {}) for record in self.graphs.values())
        return {names["model"] for names in models if names.get("model")} == {_OFFLINE}

    @property
    def gaps(self) -> int:
        """How many pieces of all its graphs no model gave."""
        return sum(record.gaps for record in self.graphs.values())


@dataclass(frozen=True, slots=True)
class Layer:
    """How many passages of one kind, aspect and level a document has."""

    kind: str
    aspect: str
    level: int
    passages: int
    tokens: int
