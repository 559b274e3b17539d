"""Models of a build without a kit: offline, or stand-ins of a dry run."""

from __future__ import annotations


from dataclasses import dataclass, field

from fabula.graph.method import Role, Text, Work
from fabula.model import Document
from fabula.parallel import Job
from fabula.providers import Chat, Embedder
from fabula.providers.counted import CountedChat, Meter
from fabula.providers.expected import ExpectedChat
from fabula.providers.offline import StaticEmbedder
from fabula.text.chunk import split

STATIC = StaticEmbedder()


@dataclass(frozen=True)
class SmallModels:
    """No chat model where `offline`; else stand-ins reply."""

    offline: bool = True
    meter: Meter = field(default_factory=Meter)
    embedder: Embedder = STATIC
    static: Embedder = STATIC
    temperature: float = 0.5

    def chat(self, role: Role, step: str) -> Chat:
        return CountedChat(ExpectedChat(self.model(role), None), self.meter, step)

    def model(self, role: Role) -> str:
        return "any"


class Silent:
    """Hears nothing of a build's steps."""

    def expect(self, step: str, count: int) -> None:
        """Nothing."""

    def done(self, step: str, usage: object) -> None:
        """Nothing."""
