"""A story, and a model that states facts of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from building import finish
from fabula.graph import TEXT, Owner, Part, Record
from fabula.graph.method import BuildText, BuildWork, Built, Known
from fabula.graph.parts import chunks_of, part_of
from fabula.graphs.entities import GRAPH as ENTITIES
from fabula.library.collection import Collection
from fabula.models.offline import StaticEmbedder
from fabula.store.part_reader import read_part
from fabula.text.document import Chunk
from fabula_graphs.facts.build import build
from fabula_graphs.facts.labels import FACT
from fabula_graphs.facts.options import Options
from scripted import Models, Says, built, entity, made_chunks, script, told

STORY = made_chunks(
    "Old Scrooge kept a counting-house in London. Bob Cratchit was his clerk. ",
    "Bob Cratchit feared the miser on Cornhill. ",
    "Tiny Tim is the son of Bob Cratchit. ",
    "In 1843 Tiny Tim came to London. ",
)
"""Of windows of two chunks each."""


CAST = {
    "Old Scrooge": {
        "entities": [
            entity("Scrooge", 1, description="He is a miser."),
            entity("Bob Cratchit", 1, 2),
            entity("London", 1, type="place"),
            entity("Cornhill", 2, type="place"),
        ],
        "relations": [],
    },
    "Tiny Tim is": {
        "entities": [
            entity("Tiny Tim", 1, 2),
            entity("Bob Cratchit", 1),
            entity("London", 2, type="place"),
        ],
        "relations": [],
    },
}


PERSONS = {"subject_type": "person", "object_type": "person"}


TO_PLACE = {"subject_type": "person", "object_type": "settlement"}


def triple(subject: str, predicate: str, object: str, *parts: Any, **types: str) -> dict[str, Any]:
    """A record as a model writes it."""
    return {
        "subject": subject,
        "predicate": predicate,
        "object": object,
        **(types or PERSONS),
        "parts": list(parts),
    }


FIRST = [
    triple("Bob Cratchit", "works for", "Scrooge", 1),
    triple("Bob Cratchit", "feared", "the miser", 2),
    triple("the miser", "was seen on", "Cornhill", 2, **TO_PLACE),
]


SECOND = [
    triple("Tiny Tim", "is the son of", "Bob Cratchit", 1),
    triple("Tiny Tim", "came to", "London", 2, **TO_PLACE),
    triple("Tiny Tim", "travels to", "1843", 2, subject_type="person", object_type="time"),
]


STATED = {"Scrooge kept": FIRST, "is the son": SECOND}


@dataclass
class Model:
    """States what is scripted of passages, and takes names and predicates for what it is told.

    By their words, so that a test sees which candidates it was shown; 0 for all others.
    """

    stated: Mapping[str, Any] = field(default_factory=lambda: STATED)
    means: Mapping[str, str] = field(default_factory=lambda: {"the miser": "Scrooge"})
    prompts: list[str] = field(default_factory=list)

    def says(self) -> Says:
        return Says(self.reply)

    def reply(self, user: str) -> str:
        self.prompts.append(user)
        if "state?" in user:
            own = user.partition("<passages>")[2].partition("</passages>")[0].partition("[1]")[2]
            found = (records for words, records in self.stated.items() if words in own)
            records: Any = next(found, [])
            return records if isinstance(records, str) else json.dumps({"triples": records})
        chosen: dict[str, list[dict[str, int]]] = {"names": [], "predicates": []}
        listed = "names"
        # The phrases that the candidates below belong to: one, or all predicates.
        phrases: dict[str, int] = {}
        for line in user.partition("</facts>")[2].splitlines():
            if line == "Predicates:":
                listed, phrases = "predicates", {}
            elif line.startswith("["):
                if listed == "names":
                    phrases = {}
                phrases[line.partition("] ")[2]] = int(line[1 : line.index("]")])
            elif line.startswith("    ("):
                place, told = int(line[5 : line.index(")")]), line.partition(") ")[2]
                for words in [
                    phrase for phrase in phrases if told.startswith(self.means.get(phrase, "?"))
                ]:
                    chosen[listed].append({"n": phrases.pop(words), "is": place})
        return json.dumps(chosen)

    @property
    def states(self) -> list[str]:
        return [prompt for prompt in self.prompts if "state?" in prompt]

    @property
    def normalises(self) -> list[str]:
        return [prompt for prompt in self.prompts if "</facts>" in prompt]


def cast_of(chunks: Sequence[Chunk] = STORY, said: Any = CAST) -> Part:
    """The document's part of the graph of entities."""
    made, _ = built(chunks, Models(script(said)), window_tokens=200, gleanings=0)
    return part_of(ENTITIES, told(chunks), made, {}, {})


def facts_of(
    model: Model,
    chunks: Sequence[Chunk] = STORY,
    cast: Part | None = None,
    known: Known | None = None,
    document: str = "d",
    **knobs: Any,
) -> Built:
    models = Models(model.says())
    text = told(chunks)
    text = BuildText(
        replace(text.document, id=document), text.chunks, {"entities": cast or cast_of(chunks)}
    )
    settings, work = Options(**{"window_tokens": 200, **knobs}), BuildWork()
    return finish(build(text, settings, models, known or Known(), work), models, work)


def state_facts(collection: Collection, title: str, facts: Iterable[tuple[str, str, str]]) -> None:
    """Give a document with entities some facts, as a model states them: subject, words, object."""
    entry = collection.document(title)
    text, cast = (
        read_part(collection.open_store(), Owner(collection.name, name, entry.id))
        for name in (TEXT, "entities")
    )
    model = Model({words: [triple(subject, words, object, 1)] for subject, words, object in facts})
    made = facts_of(
        model, chunks_of(text), cast, document=entry.id, window_tokens=1, normalise=False
    )
    record = Record({"graph": "facts", "rests_on": {"entities": cast.record.fingerprint}})
    owner = Owner(collection.name, "facts", entry.id)
    embedder = StaticEmbedder()
    vectors = embedder.embed([node.properties["text"] for node in made.nodes]).vectors
    nodes = tuple(
        replace(node, embedding=vector) for node, vector in zip(made.nodes, vectors, strict=True)
    )
    part = Part(owner, nodes, made.edges, record, frozenset({FACT}))
    collection.open_store().apply([part], embedder.model)


def texts(made: Built) -> list[str]:
    return sorted(node.properties["text"] for node in made.nodes)
