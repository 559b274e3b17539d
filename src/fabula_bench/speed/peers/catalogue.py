"""The peers, as peers.toml names them."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("peers.toml")
ADAPTERS = Path(__file__).with_name("adapters")


@dataclass(frozen=True, slots=True)
class Peer:
    """A system of others: its package in the version that was tried, and what must be beside it.

    `python` is what the package requires, as it says; `neo4j`: it needs a server. One that is `of`
    another is another `search` of the same index: package, adapter, environment and index are that
    one's, which is made once.
    """

    name: str
    title: str
    package: str
    version: str
    python: str
    licence: str
    extras: Sequence[str] = ()
    beside: Sequence[str] = ()
    neo4j: bool = False
    of: str = ""
    search: str = ""

    @property
    def home(self) -> str:
        """The name that its adapter, environment and index go by."""
        return self.of or self.name

    @property
    def adapter(self) -> Path:
        """The file that runs inside its environment."""
        return ADAPTERS / f"{self.home.replace('-', '_')}.py"

    @property
    def requirements(self) -> list[str]:
        """What is installed."""
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        return [f"{self.package}{extras}=={self.version}", *self.beside]


def read_peers(file: Path = FILE) -> dict[str, Peer]:
    """All peers by name."""
    tables = tomllib.loads(file.read_text(encoding="utf-8"))
    return {
        name: Peer(name=name, **tables.get(entry.get("of", ""), {}) | entry)
        for name, entry in tables.items()
    }
