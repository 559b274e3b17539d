"""The settings of the graph of facts and of the mode that asks it: the table `[facts]`."""

from __future__ import annotations

from pydantic import Field

from fabula.graph.options import FrozenOptions


class Options(FrozenOptions):
    """How facts are stated and checked; the same text, options and replies give the same graph."""

    ontology: str = Field(
        "narrative",
        description="classes and relations that facts have: a shipped ontology's name or a TOML "
        "file",
    )
    demonstrations: str = Field(
        "narrative",
        description="examples in the prompt: a shipped set's name, a TOML file, or 'none'",
    )
    window_tokens: int = Field(
        600, ge=1, description="maximum tokens of the whole chunks that one call reads"
    )
    normalise: bool = Field(
        True,
        description="ask which entity a name means, and which relation a predicate, where words "
        "alone don't tell: up to a call more a window",
    )
    listed_relations: int = Field(
        60,
        ge=0,
        le=500,
        description="an ontology of up to this number of relations is listed as a whole where a "
        "predicate is to be matched; of a larger one the five nearest relations by embeddings",
    )
    check: bool = Field(
        True, description="leave out facts whose ends are not of the classes of their relation"
    )
    strict: bool = Field(
        False,
        description="leave out facts whose predicate is not a relation of the ontology; else they "
        "are of `related_to`, if it has that",
    )


class TriplesOptions(FrozenOptions):
    """What the mode `triples` looks for: the table `[triples]`."""

    facts: int = Field(50, ge=1, le=1000, description="facts that are near to the question")
    least: float = Field(0.2, ge=-1, le=1, description="minimum cosine of a fact")
    fact_share: float = Field(0.25, ge=0, le=1, description="share of facts' records")
