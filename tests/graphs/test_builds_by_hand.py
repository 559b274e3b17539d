"""Each graph is built with no server, no thread and no model: requests in, a part out."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import Any

from building import in_order
from fabula.graph import Part
from fabula.graph.builds import (
    Build,
    ChatRequest,
    EmbedRequest,
    Piece,
    RejectRequest,
    Start,
    Started,
)
from fabula.graph.installed import graphs
from fabula.graph.method import BuildWork, Known
from fabula.graph.parts import part_of
from fabula.models import Embedder
from fabula.models.roles import Role
from small_models import STATIC, read
from stories import WINTER

SAID = "\n\n“Come in,” said Anna. “I am cold,” Dmitri said.\n"


@dataclass
class Facts:
    """What a build knows of models."""

    offline: bool = False
    temperature: float = 0.5
    static: Embedder = STATIC
    batch: int = 16

    def model(self, role: Role) -> str:
        return "any"


@dataclass
class Hand:
    """Answers requests as a dry run does, one after the other."""

    steps: list[str] = field(default_factory=list)

    def drive(self, build: Build[Any]) -> Any:
        answers: Any = None
        try:
            while True:
                wanted = build.send(answers)
                if isinstance(wanted, Start):
                    answers = Started([self.drive(wanted.build)])
                else:
                    answers = [self.answer(each) for each in wanted]
        except StopIteration as end:
            return end.value

    def answer(self, wanted: Any) -> Any:
        match wanted:
            case ChatRequest():
                self.steps.append(wanted.step)
                assert wanted.prompt.placeholder is not None
                return wanted.prompt.placeholder()
            case EmbedRequest():
                self.steps.append("embeddings")
                assert len(wanted.texts) <= Facts.batch
                return [*STATIC.embed(wanted.texts, "passage").vectors]
            case RejectRequest():
                raise AssertionError("a placeholder can always be read")
            case Piece():
                return self.drive(wanted.build)
            case Started():
                return wanted.outcome[0]
        return self.drive(wanted)


def test_each_graph_of_a_document() -> None:
    text, parts = read(WINTER + SAID, Known()), dict[str, Part]()
    threads = threading.active_count()
    for graph in in_order([graph for graph in graphs().values() if graph.build]):
        assert graph.build
        hand = Hand()
        below = {name: parts[name] for name in (*graph.rests_on, *graph.uses) if name in parts}
        given = replace(text, below=below)
        made = hand.drive(graph.build(given, graph.options(), Facts(), Known(), BuildWork()))
        assert made.gaps == (), graph.name
        parts[graph.name] = part_of(graph, text, made, {}, {})
        asks = {*hand.steps} - {"embeddings"}
        assert bool(asks) == (graph.prompts is not None), graph.name
        assert threading.active_count() == threads, graph.name
    # Nobody has annotated the text, and it states no fact of the ontology.
    empty = {name for name, part in parts.items() if not part.nodes}
    assert empty <= {"annotations", "facts"}
    assert {"aspects", "entities", "communities", "episodes"} <= parts.keys()
