"""The entity graph: people, places and things with all their names, and what ties them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fabula.graph.method import Graph, LazyFunction
from fabula.graph.queries import FOLDER
from fabula.graphs.entities import labels
from fabula.graphs.entities.modes import MODES
from fabula.graphs.entities.options import CHAT_ONLY, NOT_IN_PROMPTS, Options


def _settings(options: Options, offline: bool) -> Mapping[str, Any]:
    """The options with the types written out, as a set of types may change under its name."""
    if offline:
        return options.model_dump(mode="json", exclude=set(CHAT_ONLY))
    from fabula.graphs.entities.types import read_types

    types = {type.name: type.description for type in read_types(options.types)}
    return options.model_dump(mode="json") | {"types": types}


GRAPH = Graph(
    name="entities",
    about="people, places and things with all their names, and what ties them",
    version=2,
    options=Options,
    build=LazyFunction(f"{__name__}.build:build"),
    elements=(labels.ENTITY, labels.RELATION, labels.TRIPLE),
    edges=(
        *(labels.FROM_CHUNK, labels.SOURCE, labels.TARGET),
        *(labels.SUBJECT, labels.OBJECT, labels.RELATES_TO),
    ),
    modes=MODES,
    prompts=Path(__file__).parent / "prompts",
    cypher=FOLDER / "entities",
    settings=_settings,
    not_in_prompts=NOT_IN_PROMPTS,
    describe=LazyFunction(f"{__name__}.facts:describe"),
    warnings=LazyFunction(f"{__name__}.facts:warnings"),
)
