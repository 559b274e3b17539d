"""The discourse graph: what happens in a text, and how its passages hang together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fabula.graph import CHUNK
from fabula.graph.method import Graph, LazyFunction
from fabula.graph.queries import FOLDER
from fabula_graphs.discourse import labels
from fabula_graphs.discourse.modes import MODES
from fabula_graphs.discourse.options import ASKING, Options


def _settings(options: Options, _offline: bool) -> Mapping[str, Any]:
    """The options, with digests of sets: others under the same name are another set."""
    from fabula_graphs.discourse.demonstrations import read_demonstrations
    from fabula_graphs.discourse.senses import read_senses

    written = {
        "senses": {options.senses: read_senses(options.senses).digest},
        "demonstrations": {
            options.demonstrations: read_demonstrations(options.demonstrations).digest
        },
    }
    return options.model_dump(mode="json", exclude=set(ASKING)) | written


GRAPH = Graph(
    name="discourse",
    title="Events",
    about="what happens in a text, told by who, what, when, where, why and how, and how its "
    "passages hang together",
    version=2,
    options=Options,
    build=LazyFunction(f"{__name__}.build:build"),
    reads_edges=False,
    elements=(labels.EVENT, labels.TERM, labels.LINK),
    growing=(labels.TERM,),
    restrict=LazyFunction(f"{__name__}.known_terms:restrict_part"),
    edges=(
        labels.FROM_CHUNK,
        *labels.SLOT_EDGES.values(),
        *(labels.IS, labels.ARG1, labels.ARG2),
    ),
    connects=(
        (labels.EVENT, labels.FROM_CHUNK, CHUNK),
        *((labels.EVENT, edge, labels.TERM) for edge in labels.SLOT_EDGES.values()),
        (labels.TERM, labels.IS, "Entity"),
        (labels.LINK, labels.ARG1, CHUNK),
        (labels.LINK, labels.ARG2, CHUNK),
    ),
    uses=("entities",),
    needs_model=True,
    modes=MODES,
    prompts=Path(__file__).parent / "prompts",
    cypher=FOLDER / "fabula_graphs/discourse",
    settings=_settings,
    # Only the questions about links depend on the senses.
    not_in_prompts=frozenset({"pairs", "senses"}),
    describe=LazyFunction(f"{__name__}.part_facts:describe"),
    warnings=LazyFunction(f"{__name__}.part_facts:warnings"),
    find=LazyFunction(f"{__name__}.findings:find"),
    tools=LazyFunction(f"{__name__}.tools:make_tools"),
)
