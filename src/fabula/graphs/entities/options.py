"""The settings of the entity graph: the table `[entities]`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from fabula.graph.options import FrozenOptions
from fabula.graphs.entities.decided_pairs import Pairs, split_texts

CHAT_ONLY = frozenset(
    {
        *("types", "window_tokens", "gleanings", "triples"),
        *("demonstrations", "domain", "example_questions"),
    }
)
"""The options that change nothing where no chat model is asked."""

NOT_IN_PROMPTS = frozenset({"triples", "keep_apart", "join"})
"""The options that change no prompt about a window; `triples` only adds other prompts."""


Questions = Annotated[tuple[str, ...], BeforeValidator(split_texts)]
"""Questions as settings have them: a list, or one text with semicolons between them."""


class Options(FrozenOptions):
    """How the graph is built; the same text, options and replies give the same graph."""

    types: str = Field(
        "narrative",
        description="types of entities: the name of a shipped set, or the path of a TOML file",
    )
    demonstrations: str = Field(
        "narrative",
        description="examples in the prompts: the name of a shipped set, the path of a TOML file, "
        "or 'none'",
    )
    domain: str = Field(
        "",
        max_length=2000,
        description="what the texts are about and what matters in them; prompts say it",
    )
    example_questions: Questions = Field(
        (),
        max_length=20,
        description="examples of questions that will be asked; the prompt shows them",
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
