"""The settings of the modes over entities, each class the table of a mode, as `[light]`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabula.graph.options import FrozenOptions

Reading = Annotated[
    Literal["shared", "own"],
    Field(
        description="what a model is asked about the question: what all modes over entities need, "
        "so that its reply is cached for all of them, or what the published system asks"
    ),
]
EntityShare = Annotated[
    float, Field(ge=0, le=1, description="share of the context for records of entities")
]
RelationShare = Annotated[
    float, Field(ge=0, le=1, description="share of the context for records of relations")
]
MaxChunks = Annotated[int, Field(ge=1, le=1000, description="maximum number of chunks")]
MAX_NEAR_FACTS = 100
"""How many facts the index is asked for by `hippo`; their cosines are scaled among themselves."""


class FastOptions(FrozenOptions):
    """How the walk goes, and how much of what it meets is read."""

    reading: Reading = "shared"
    damping: float = Field(0.85, gt=0, lt=1, description="probability that the walk goes on")
    entities: int = Field(128, ge=1, le=10_000, description="number of entities that rank chunks")
    relations: int = Field(64, ge=1, le=10_000, description="number of relations that rank chunks")
    least: float | None = Field(
        None,
        ge=0,
        le=1,
        description="share of the walk's steps that an entity needs; the default is its share of "
        "the ends of all relations",
    )
    mentions: bool = Field(
        True, description="whether a chunk also counts for the entities that it mentions"
    )
    passages: float | None = Field(
        None,
        ge=0,
        le=1,
        description="weight of the passages that the question finds without the walk; the default "
        "is 0 with a model and 0.7 without one",
    )
    chunks: MaxChunks = 1000
    entity_share: EntityShare = 0.1
    relation_share: RelationShare = 0.1


class HippoOptions(FrozenOptions):
    """Where the walk begins, and how it goes."""

    facts: int = Field(
        5, ge=1, le=MAX_NEAR_FACTS, description="number of facts from which a model chooses"
    )
    phrases: int = Field(5, ge=1, le=100, description="number of entities at which the walk begins")
    passage_weight: float | None = Field(
        None,
        ge=0,
        le=100,
        description="weight of passages beside that of facts where the walk begins; the default is "
        "0.05 with a model and 1 without one",
    )
    damping: float = Field(0.5, gt=0, lt=1, description="probability that the walk goes on")


class LightOptions(FrozenOptions):
    """What is looked for, and how it is ranked."""

    reading: Reading = "shared"
    search: Literal["low", "high", "both", "mix"] = Field(
        "mix",
        description="what is searched by: details, themes, both, or both and the whole question",
    )
    keywords: Literal["each", "together"] = Field(
        "each", description="whether each keyword is embedded, or all of them as one text"
    )
    ranking: Literal["question", "degree"] = Field(
        "question", description="what relations are ranked by: the question, or their ends' degrees"
    )
    entities: int = Field(
        40, ge=1, le=1000, description="maximum number of entities near to details"
    )
    relations: int = Field(
        40, ge=1, le=1000, description="maximum number of relations near to themes"
    )
    least: float = Field(0.2, ge=-1, le=1, description="minimum cosine of both")
    most_relations: int = Field(
        10, ge=1, le=100_000, description="maximum number of relations of each entity"
    )
    chunks: MaxChunks = 20
    entity_share: EntityShare = 0.2
    relation_share: RelationShare = 0.25


class LocalOptions(FrozenOptions):
    """How many entities there are, and how much of them is read."""

    entities: int = Field(
        10, ge=1, le=1000, description="number of entities nearest to the question"
    )
    named: bool = Field(True, description="whether entities that the question names come first")
    relations: int = Field(
        10,
        ge=0,
        le=1000,
        description="maximum number of relations to other entities, for each entity",
    )
    report_share: float | None = Field(
        None,
        ge=0,
        le=1,
        description="share of the context for reports, where there are communities; the default is "
        "0.15 with a model and 0 without one",
    )
    entity_share: EntityShare = 0.15
    relation_share: RelationShare = 0.2


class MiniOptions(FrozenOptions):
    """Where paths begin and end, and what they are ranked by."""

    reading: Reading = "shared"
    names: int = Field(5, ge=1, le=1000, description="maximum number of entities near to a name")
    least: float = Field(0.5, ge=-1, le=1, description="minimum cosine of these with the name")
    answers: int = Field(
        60, ge=0, le=1_000_000, description="maximum number of entities that may be the answer"
    )
    relations: int = Field(
        60, ge=1, le=1_000_000, description="number of relations that weigh paths"
    )
    hops: int = Field(
        2, ge=0, le=4, description="how far from a relation names and answers count, in relations"
    )
    paths: int = Field(30, ge=1, le=10_000, description="number of paths that rank chunks")
    chunks: MaxChunks = 30
    entity_share: EntityShare = 0.1
