"""Sets of demonstrations of the questions about what passages state, one TOML file each."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from fabula.graph import demonstrations, sets
from fabula_graphs.facts.stating import TypedReply

QUESTIONS: Mapping[str, type[BaseModel]] = {
    "statements": TypedReply,
}
"""The shapes of the replies, by the names that the questions have in a file."""


def list_shipped() -> tuple[str, ...]:
    """Return the names of the sets that come with Fabula."""
    return sets.list_shipped(__name__)


def read_demonstrations(name_or_path: str) -> demonstrations.Demonstrations:
    """Read a shipped set or a TOML file; "none" leaves all demonstrations out.

    Raises:
        SettingsError: There is no such set, or the file is none; the message says why.

    """
    return demonstrations.read_demonstrations(name_or_path, __name__, QUESTIONS)
