"""The settings of the entity graph: the table `[entities]`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from fabula.graphs.entities.decisions import Pairs

CHAT_ONLY = frozenset({"types", "window_tokens", "gleanings", "triples"})
"""The options that change nothing where no chat model is asked."""

UNASKED = frozenset({"triples", "keep_apart", "join"})
"""The options that change no prompt about a window; `triples` only adds other prompts."""


class Knobs(BaseModel):
    """How the graph is built; the same text, options and replies give the same graph."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    types: str = Field(
        "narrative", description="types of entities: a shipped set's name or a TOML file"
    )
    window_tokens: int = Field(
        600,
        ge=1,
        description="most tokens of the whole chunks that one call reads; a quarter more with "
        "the last chunk of a section",
    )
    gleanings: int = Field(
        1,
        ge=0,
        le=5,
        description="times that a model is asked what it missed, each a call a window",
    )
    triples: bool = Field(
        False, description="facts of subject, predicate and object, too: a call more a window"
    )
    description_tokens: int = Field(
        300,
        ge=16,
        le=2000,
        description="most tokens of a description that is merged of many statements",
    )
    keep_apart: Pairs = Field(
        (), description="names that are never one, each pair as 'Mrs Stapleton = Miss Stapleton'"
    )
    join: Pairs = Field(
        (), description="names that are one, each pair as 'the Spirit = Ghost of Christmas Past'"
    )
