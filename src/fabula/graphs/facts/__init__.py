"""The graph of facts: who is whose kin, lives where, owns what, as far as an ontology has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from fabula.graph.method import Graph
from fabula.graph.queries import FOLDER
from fabula.graphs.facts import border, prompts, triples
from fabula.graphs.facts.build import build
from fabula.graphs.facts.knobs import CHAT_ONLY, Knobs
from fabula.graphs.facts.ontology import read_ontology
from fabula.graphs.facts.telling import doubt, tell


def _settings(knobs: Knobs, offline: bool) -> Mapping[str, Any]:
    """The knobs, the ontology written out: another text under the same name is another one."""
    ontology = read_ontology(knobs.ontology)
    written = {
        "classes": {name: list(above) for name, above in ontology.classes.items()},
        "relations": {
            name: {key: list(one) if isinstance(one, tuple) else one for key, one in told.items()}
            for name, told in ((name, asdict(one)) for name, one in ontology.relations.items())
        },
    }
    left_out = set(CHAT_ONLY) if offline else set()
    return knobs.model_dump(mode="json", exclude=left_out) | {"ontology": written}


GRAPH = Graph(
    name="facts",
    about="facts of subject, relation and object, checked against an ontology",
    version=1,
    knobs=Knobs,
    build=build,
    elements=(border.FACT,),
    edges=(border.FROM_CHUNK, border.SUBJECT, border.OBJECT),
    rests_on=("entities",),
    modes={"triples": triples.MODE},
    prompts=prompts.FOLDER,
    cypher=FOLDER / "facts",
    settings=_settings,
    unasked=frozenset({"strict"}),
    tell=tell,
    doubt=doubt,
)
