"""The discourse graph: what happens in a text, and how its passages hang together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fabula.graph.method import Graph, LazyFunction
from fabula.graph.queries import FOLDER
from fabula.graphs.discourse import mapping, modes
from fabula.graphs.discourse.options import ASKING, CHAT_ONLY, Options
from fabula.graphs.discourse.senses import read_senses


def _settings(options: Options, offline: bool) -> Mapping[str, Any]:
    """The options, and a digest of the senses: other senses under the same name are another set."""
    unread = ASKING | CHAT_ONLY if offline else ASKING
    digest = {options.senses: read_senses(options.senses).digest}
    return options.model_dump(mode="json", exclude=set(unread)) | {"senses": digest}


GRAPH = Graph(
    name="discourse",
    about="what happens in a text, told by who, what, when, where, why and how, and how its "
    "passages hang together",
    version=1,
    options=Options,
    build=LazyFunction(f"{__name__}.build:build"),
    elements=(mapping.EVENT, mapping.TERM, mapping.LINK),
    edges=(
        mapping.FROM_CHUNK,
        *mapping.SLOT_EDGES.values(),
        *(mapping.IS, mapping.ARG1, mapping.ARG2),
    ),
    uses=("entities",),
    modes=modes.MODES,
    prompts=Path(__file__).parent / "prompts",
    cypher=FOLDER / "discourse",
    settings=_settings,
    # Only the questions about links depend on the senses: the build asks them anew.
    not_in_prompts=frozenset({"pairs", "senses"}),
    describe=LazyFunction(f"{__name__}.facts:describe"),
    warnings=LazyFunction(f"{__name__}.facts:warnings"),
)
