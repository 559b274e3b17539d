"""The entity graph: people, places and things with all their names, and what ties them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fabula.graph import CHUNK
from fabula.graph.method import Graph, LazyFunction
from fabula.graph.queries import FOLDER
from fabula.graphs.entities import labels
from fabula.graphs.entities.correction_rules import RULES
from fabula.graphs.entities.modes import MODES
from fabula.graphs.entities.options import CHAT_ONLY, NOT_IN_PROMPTS, Options


def _settings(options: Options, offline: bool) -> Mapping[str, Any]:
    """The options with the content of sets, which may change under their names."""
    if offline:
        return options.model_dump(mode="json", exclude=set(CHAT_ONLY))
    from fabula.graphs.entities.demonstrations import read_demonstrations
    from fabula.graphs.entities.types import read_types

    types = {type.name: type.description for type in read_types(options.types)}
    demonstrations = {options.demonstrations: read_demonstrations(options.demonstrations).digest}
    written = {"types": types, "demonstrations": demonstrations}
    return options.model_dump(mode="json") | written


GRAPH = Graph(
    name="entities",
    title="People and places",
    about="people, places and things with all their names, and what ties them",
    version=7,
    options=Options,
    build=LazyFunction(f"{__name__}.build:build"),
    reads_edges=False,
    elements=(labels.ENTITY, labels.RELATION, labels.TRIPLE),
    growing=(labels.ENTITY, labels.RELATION, labels.TRIPLE),
    restrict=LazyFunction(f"{__name__}.known_until:restrict_part"),
    edges=(
        *(labels.FROM_CHUNK, labels.SOURCE, labels.TARGET),
        *(labels.SUBJECT, labels.OBJECT, labels.RELATES_TO),
    ),
    connects=(
        (labels.ENTITY, labels.FROM_CHUNK, CHUNK),
        (labels.RELATION, labels.FROM_CHUNK, CHUNK),
        (labels.TRIPLE, labels.FROM_CHUNK, CHUNK),
        (labels.RELATION, labels.SOURCE, labels.ENTITY),
        (labels.RELATION, labels.TARGET, labels.ENTITY),
        (labels.TRIPLE, labels.SUBJECT, labels.ENTITY),
        (labels.TRIPLE, labels.OBJECT, labels.ENTITY),
        (labels.ENTITY, labels.RELATES_TO, labels.ENTITY),
    ),
    modes=MODES,
    prompts=Path(__file__).parent / "prompts",
    cypher=FOLDER / "entities",
    settings=_settings,
    not_in_prompts=NOT_IN_PROMPTS,
    decisions=RULES,
    follows="entities",
    describe=LazyFunction(f"{__name__}.part_facts:describe"),
    warnings=LazyFunction(f"{__name__}.part_facts:warnings"),
    find=LazyFunction(f"{__name__}.findings:find"),
    tools=LazyFunction(f"{__name__}.tools:make_tools"),
)
