"""The options of the aspect graph: the table `[aspects]`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fabula.graph.options import FrozenOptions

DetailsForm = Literal["facts", "whole"]
"""What a detail is: one of the key facts of its chunk, or the whole chunk condensed. The latter is
the original method's: its second detail has the same facts in another form and choice."""
CHAT_ONLY = frozenset({"details_form", "details_per_call", "aspects_with_summaries"})
"""Options that change nothing where no chat model is asked."""
CHOOSING = frozenset({"only_aspects", "without_aspects"})
"""Options that choose aspects: what a graph is made from has the aspects themselves instead."""


class Options(FrozenOptions):
    """The table `[aspects]`; the same text, options and replies give the same graph."""

    set: str = Field(
        "narrative", description="aspect set: the name of a shipped set, or a TOML file"
    )
    only_aspects: str = Field(
        "", description="aspects of the set to build, as plot,theme; all if none is named"
    )
    without_aspects: str = Field("", description="aspects of the set to leave out, as plot,theme")
    cluster_size: int = Field(8, ge=2, description="number of passages to aim at in a cluster")
    cluster_tokens: int = Field(3500, ge=64, description="maximum tokens of a cluster's text")
    cluster_count: Literal["size", "bic"] = Field(
        "size", description="how the number of clusters is chosen: by cluster_size, or by BIC"
    )
    cluster_reduction: Literal["pca", "umap"] = Field(
        "pca", description="how dimensions are reduced; umap needs the extra fabula[umap]"
    )
    cluster_dimensions: int = Field(32, ge=1, description="number of dimensions to cluster in")
    membership: float = Field(
        0.1, gt=0, lt=1, description="a passage is in each cluster above this probability"
    )
    variance_floor: float = Field(
        1.0,
        gt=0,
        description="lower bound of the variance of a spherical mixture, in units of the columns' "
        "mean variance",
    )
    cluster_passes: Literal["one", "two"] = Field(
        "one",
        description="one: passages are clustered at once; two: globally, and then within each "
        "global cluster, as in RAPTOR",
    )
    cluster_mixture: Literal["spherical", "full"] = Field(
        "spherical",
        description="covariances of the mixture: spherical with a floor, or full as in RAPTOR",
    )
    detection_rounds: int = Field(
        2, ge=0, description="how often detection is repeated while an aspect is missing"
    )
    repeat: Literal["missing", "all"] = Field(
        "missing",
        description="what is repeated while an aspect is missing: the question for that aspect, or "
        "all of clustering and detection, as in the original method",
    )
    summary_tokens: int = Field(200, ge=16, description="maximum tokens of a summary")
    levels: int = Field(5, ge=0, description="maximum levels of a summary tree; 0 for no tree")
    details: int = Field(2, ge=0, description="detail nodes for each chunk")
    details_form: DetailsForm = Field(
        "facts",
        description="what a detail is: one of the chunk's key facts, or with a model the whole "
        "chunk condensed, as in the original method",
    )
    detail_tokens: int = Field(60, ge=8, description="maximum tokens of a detail")
    details_per_call: int = Field(
        4,
        ge=1,
        le=32,
        description="number of chunks whose details one call asks for; 1 as in the original method",
    )
    aspects_with_summaries: bool = Field(
        True,
        description="one call names a cluster's aspects and writes their summaries, where one "
        "model does both",
    )
    seed: int = Field(0, ge=0, description="seed of the clustering")
