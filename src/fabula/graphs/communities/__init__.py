"""Communities of entities that belong together, level by level, with a report on each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fabula.graph import CHUNK
from fabula.graph.method import Graph, LazyFunction
from fabula.graph.queries import FOLDER
from fabula.graphs.communities import labels
from fabula.graphs.communities.modes import MODES
from fabula.graphs.communities.options import CHAT_ONLY, OF_CLAIMS, UNASKED, Options

PROMPTS = Path(__file__).parent / "prompts"


def _settings(options: Options, offline: bool) -> Mapping[str, Any]:
    """Return the options that the result depends on: all but those that nothing reads."""
    unread = CHAT_ONLY if offline else frozenset[str]() if options.claims else OF_CLAIMS
    return options.model_dump(mode="json", exclude=set(unread))


GRAPH = Graph(
    name="communities",
    title="Groups of people",
    about="entities that belong together, level by level, with a report on each community",
    version=1,
    options=Options,
    build=LazyFunction(f"{__name__}.build:build"),
    elements=(labels.COMMUNITY, labels.REPORT, labels.CLAIM),
    inherits=(labels.REPORTS,),
    edges=(
        *(labels.HAS_MEMBER, labels.PARENT_COMMUNITY, labels.REPORTS, labels.CITES),
        *(labels.FROM_CHUNK, labels.SUBJECT, labels.OBJECT),
    ),
    connects=(
        (labels.COMMUNITY, labels.HAS_MEMBER, labels.ENTITY),
        (labels.COMMUNITY, labels.PARENT_COMMUNITY, labels.COMMUNITY),
        (labels.REPORT, labels.REPORTS, labels.COMMUNITY),
        (labels.REPORT, labels.CITES, labels.ENTITY),
        (labels.REPORT, labels.CITES, labels.RELATION),
        (labels.REPORT, labels.CITES, labels.CLAIM),
        (labels.CLAIM, labels.FROM_CHUNK, CHUNK),
        (labels.CLAIM, labels.SUBJECT, labels.ENTITY),
        (labels.CLAIM, labels.OBJECT, labels.ENTITY),
    ),
    rests_on=(labels.ENTITIES,),
    modes=MODES,
    prompts=PROMPTS,
    cypher=FOLDER / "communities",
    settings=_settings,
    not_in_prompts=UNASKED,
    describe=LazyFunction(f"{__name__}.part_facts:describe"),
    warnings=LazyFunction(f"{__name__}.part_facts:LEFT_OUT.warnings"),
    tools=LazyFunction(f"{__name__}.tools:make_tools"),
)
