"""Communities of a collection: groups of entities across its documents, with reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabula.graph.method import Graph, LazyFunction
from fabula.graph.queries import FOLDER
from fabula.graphs.communities import PROMPTS, labels
from fabula.graphs.communities.options import CHAT_ONLY, UNASKED
from fabula_graphs.collection_communities.options import IDENTITIES, LABELS, Options


def _settings(options: Options, offline: bool) -> Mapping[str, Any]:
    return options.model_dump(mode="json", exclude=set(CHAT_ONLY) if offline else None)


GRAPH = Graph(
    name="collection_communities",
    title="Groups of people in several books",
    about="who belongs together across the documents of a collection, with a report of each group",
    version=1,
    options=Options,
    build_collection=LazyFunction(f"{__name__}.build:build_collection"),
    elements=(LABELS.community, LABELS.report),
    edges=(labels.HAS_MEMBER, labels.PARENT_COMMUNITY, labels.REPORTS, labels.CITES),
    connects=(
        (LABELS.community, labels.HAS_MEMBER, labels.ENTITY),
        (LABELS.community, labels.PARENT_COMMUNITY, LABELS.community),
        (LABELS.report, labels.REPORTS, LABELS.community),
        (LABELS.report, labels.CITES, labels.ENTITY),
        (LABELS.report, labels.CITES, labels.RELATION),
    ),
    rests_on=(labels.ENTITIES,),
    uses=(IDENTITIES,),
    prompts=PROMPTS,
    cypher=FOLDER / "fabula_graphs/collection_communities",
    settings=_settings,
    not_in_prompts=UNASKED,
    describe=LazyFunction("fabula.graphs.communities.part_facts:describe"),
    warnings=LazyFunction("fabula.graphs.communities.part_facts:LEFT_OUT.warnings"),
)
