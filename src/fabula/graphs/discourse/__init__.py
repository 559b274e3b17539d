"""The discourse graph: what happens in a text, and how its passages hang together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabula.graph.method import Graph
from fabula.graph.queries import FOLDER
from fabula.graphs.discourse import border, modes, prompts
from fabula.graphs.discourse.build import build
from fabula.graphs.discourse.facts import doubt, tell
from fabula.graphs.discourse.knobs import ASKING, CHAT_ONLY, Knobs
from fabula.graphs.discourse.senses import read_senses


def _settings(knobs: Knobs, offline: bool) -> Mapping[str, Any]:
    """The knobs, and a print of the senses: another text under the same name is another set."""
    without = ASKING | CHAT_ONLY if offline else ASKING
    told = {knobs.senses: read_senses(knobs.senses).digest}
    return knobs.model_dump(mode="json", exclude=set(without)) | {"senses": told}


GRAPH = Graph(
    name="discourse",
    about="what happens in a text, told by who, what, when, where, why and how, and how its "
    "passages hang together",
    version=1,
    knobs=Knobs,
    build=build,
    elements=(border.EVENT, border.TERM, border.LINK),
    edges=(
        border.FROM_CHUNK,
        *border.SLOT_EDGES.values(),
        *(border.IS, border.ARG1, border.ARG2),
    ),
    uses=("entities",),
    modes=modes.MODES,
    prompts=prompts.FOLDER,
    cypher=FOLDER / "discourse",
    settings=_settings,
    # Of senses the questions about links depend alone: the build sees to that.
    unasked=frozenset({"pairs", "senses"}),
    tell=tell,
    doubt=doubt,
)
