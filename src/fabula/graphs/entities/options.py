"""The settings of the entity graph: the table `[entities]`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from fabula.graphs.entities.decisions import Pairs

CHAT_ONLY = frozenset({"types", "window_tokens", "gleanings", "triples"})
"""The options that change nothing where no chat model is asked."""

NOT_IN_PROMPTS = frozenset({"triples", "keep_apart", "join"})
"""The options that change no prompt about a window; `triples` only adds other prompts."""


class Options(BaseModel):
    """How the graph is built; the same text, options and replies give the same graph."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    types: str = Field(
        "narrative",
        description="types of entities: the name of a shipped set, or the path of a TOML file",
    )
    window_tokens: int = Field(
        600,
        ge=1,
        description="maximum number of tokens that one call reads, in whole chunks; the last chunk "
        "of a section may make it a quarter more",
    )
    gleanings: int = Field(
        1,
        ge=0,
        le=5,
        description="how often a model is asked what it missed, with a call for each window",
    )
    triples: bool = Field(
        False,
        description="whether to extract facts of subject, predicate and object, too, with one more "
        "call for each window",
    )
    description_tokens: int = Field(
        300,
        ge=16,
        le=2000,
        description="maximum number of tokens of a description merged from many statements",
    )
    keep_apart: Pairs = Field(
        (),
        description="names that are never one entity's, each pair as 'Mrs Stapleton = Miss "
        "Stapleton'",
    )
    join: Pairs = Field(
        (),
        description="names that are always one entity's, each pair as 'the Spirit = Ghost of "
        "Christmas Past'",
    )
