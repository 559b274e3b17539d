"""The graph of speech: each quotation of a text, who says it to whom, and the words that say so."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fabula.graph import CHUNK
from fabula.graph.method import Graph, LazyFunction
from fabula.graph.queries import FOLDER
from fabula_graphs.speech import labels
from fabula_graphs.speech.modes import MODES
from fabula_graphs.speech.options import ASKING, CHAT_ONLY, Options


def _settings(options: Options, offline: bool) -> Mapping[str, Any]:
    unread = ASKING | CHAT_ONLY if offline else ASKING
    return options.model_dump(mode="json", exclude=set(unread))


GRAPH = Graph(
    name="speech",
    title="What is said",
    about="what is said in a text, by whom and to whom, with the words that say so",
    version=5,
    options=Options,
    build=LazyFunction(f"{__name__}.build:build"),
    reads_edges=False,
    elements=(labels.QUOTATION,),
    restrict=LazyFunction(f"{__name__}.known_quotations:restrict_part"),
    edges=(labels.FROM_CHUNK, labels.SPOKEN_BY, labels.SPOKEN_TO),
    connects=(
        (labels.QUOTATION, labels.FROM_CHUNK, CHUNK),
        (labels.QUOTATION, labels.SPOKEN_BY, "Entity"),
        (labels.QUOTATION, labels.SPOKEN_TO, "Entity"),
    ),
    uses=("entities",),
    modes=MODES,
    prompts=Path(__file__).parent / "prompts",
    cypher=FOLDER / "fabula_graphs/speech",
    settings=_settings,
    describe=LazyFunction(f"{__name__}.part_facts:describe"),
    warnings=LazyFunction(f"{__name__}.part_facts:LEFT_OUT.warnings"),
    find=LazyFunction(f"{__name__}.findings:find"),
    tools=LazyFunction(f"{__name__}.tools:make_tools"),
)
