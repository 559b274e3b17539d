"""Communities of entities that belong together, level by level, with a report on each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fabula.graph.method import Graph, Lazy
from fabula.graph.queries import FOLDER
from fabula.graphs.communities import border
from fabula.graphs.communities.knobs import CHAT_ONLY, OF_CLAIMS, UNASKED, Knobs
from fabula.graphs.communities.modes import MODES

PROMPTS = Path(__file__).parent / "prompts"


def _settings(options: Knobs, offline: bool) -> Mapping[str, Any]:
    """Return the options that the result depends on: all but those that nothing reads."""
    unread = CHAT_ONLY if offline else frozenset[str]() if options.claims else OF_CLAIMS
    return options.model_dump(mode="json", exclude=set(unread))


GRAPH = Graph(
    name="communities",
    about="entities that belong together, level by level, with a report on each community",
    version=1,
    knobs=Knobs,
    build=Lazy(f"{__name__}.build:build"),
    elements=(border.COMMUNITY, border.REPORT, border.CLAIM),
    edges=(
        *(border.HAS_MEMBER, border.PARENT_COMMUNITY, border.REPORTS, border.CITES),
        *(border.FROM_CHUNK, border.SUBJECT, border.OBJECT),
    ),
    rests_on=(border.ENTITIES,),
    modes=MODES,
    prompts=PROMPTS,
    cypher=FOLDER / "communities",
    settings=_settings,
    unasked=UNASKED,
    tell=Lazy(f"{__name__}.facts:describe"),
    doubt=Lazy(f"{__name__}.facts:warnings"),
)
