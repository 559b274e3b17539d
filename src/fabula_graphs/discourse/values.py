"""The values of the discourse graph: what happens in chunks, and how neighbours hang together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

RESOLVED = ("who", "where")
"""The slots whose values may be entities."""
EXPLICIT, IMPLICIT = "explicit", "implicit"
"""The form of a link: whether a connective is printed that says how two chunks hang together."""
ENTITY, NONE = "entity", "none"
"""What a model may say of two chunks that makes no link: they are about the same thing, or nothing
holds between them."""
ARG1_IS_CAUSE, ARG2_IS_CAUSE = "arg1", "arg2"
"""Which argument of a link is the cause of the other."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens in a chunk; `slots` has those values that the text gives.

    `ordinal` counts from 0 within the chunk.
    """

    chunk: str
    ordinal: int
    slots: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Link:
    """How one chunk hangs together with the next.

    `arg1` and `arg2` are the chunks' ids, `arg1` being the earlier one, as the Penn Discourse
    Treebank has it. `sense` is a dotted path of the set, `form` explicit or implicit.
    """

    arg1: str
    arg2: str
    sense: str
    form: str
    connective: str = ""
