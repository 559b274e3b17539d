"""The graph of facts: who is whose kin, lives where, owns what, as far as an ontology has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fabula.graph import CHUNK
from fabula.graph.method import Graph, LazyFunction
from fabula.graph.mode import Mode
from fabula.graph.queries import FOLDER
from fabula_graphs.facts import labels
from fabula_graphs.facts.options import Options, TriplesOptions


def _settings(options: Options, _offline: bool) -> Mapping[str, Any]:
    """The options, with the content of sets: a name alone may stand for another file later."""
    from fabula_graphs.facts.demonstrations import read_demonstrations
    from fabula_graphs.facts.ontology import read_ontology

    ontology = read_ontology(options.ontology)
    written = {
        "classes": {name: list(above) for name, above in ontology.classes.items()},
        "relations": {
            name: {
                key: list(value) if isinstance(value, tuple) else value
                for key, value in asdict(relation).items()
            }
            for name, relation in ontology.relations.items()
        },
    }
    demonstrations = {options.demonstrations: read_demonstrations(options.demonstrations).digest}
    return options.model_dump(mode="json") | {"ontology": written, "demonstrations": demonstrations}


GRAPH = Graph(
    name="facts",
    title="Facts",
    about="facts of subject, relation and object, checked against an ontology",
    version=3,
    options=Options,
    build=LazyFunction(f"{__name__}.build:build"),
    reads_edges=False,
    elements=(labels.FACT,),
    edges=(labels.FROM_CHUNK, labels.SUBJECT, labels.OBJECT),
    connects=(
        (labels.FACT, labels.FROM_CHUNK, CHUNK),
        (labels.FACT, labels.SUBJECT, "Entity"),
        (labels.FACT, labels.OBJECT, "Entity"),
    ),
    rests_on=("entities",),
    needs_model=True,
    modes={
        "triples": Mode(
            LazyFunction(f"{__name__}.triples:retrieve"),
            "the facts nearest to the question, and the passages that state them",
            options=TriplesOptions,
            graph="facts",
            sentence="Finds facts of the question, and the passages that state them.",
        )
    },
    prompts=Path(__file__).parent / "prompts",
    cypher=FOLDER / "fabula_graphs/facts",
    settings=_settings,
    not_in_prompts=frozenset({"strict", "check"}),
    describe=LazyFunction(f"{__name__}.part_facts:describe"),
    warnings=LazyFunction(f"{__name__}.part_facts:LEFT_OUT.warnings"),
    tools=LazyFunction(f"{__name__}.tools:make_tools"),
)
