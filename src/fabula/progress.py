"""How far a document is: what steps tell, and whoever listens."""

from __future__ import annotations

from typing import Protocol

from fabula.model import Usage


class Progress(Protocol):
    """Listens to the making of one document; called from several threads."""

    def expect(self, step: str, count: int) -> None:
        """`count` more pieces of work of `step` have become known."""
        ...

    def done(self, step: str, usage: Usage) -> None:
        """One piece of work of `step` is done; `usage` is what all steps asked of models so far."""
        ...
