"""A graph that gets another embedding model: its story, the run, a stop, and what holds then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from database import cypher
from endpoint import Endpoint
from fabula import Fabula
from fabula import store as store_module
from fabula.build.reembed import Reembedded
from fabula.config.settings import STATIC
from fabula.graph import TEXT, Node, Part, fingerprint
from fabula.graph.hits import Filters
from fabula.graph.installed import graphs
from fabula.graph.queries import read_statement
from fabula.models import Embedder
from fabula.store import Store, database, reembedding, schema
from fabula.store.embedding_space import Space
from fabula.store.integrity import check
from graphs import names_of, put, small_graph

STATEMENTS = (
    "core/reembed_begin",
    "core/reembed_find",
    "core/reembed_save",
    "core/save_parts",
    "core/reembed_flip",
    "core/reembed_clear",
    "core/reembed_end",
)
"""A run's, in order; what lies between two of them is found undone by the next run."""
COLLECTION = "winter"
KNOWN: dict[str, Any] = {
    "model": "offline",
    "chunk_tokens": 40,
    "levels": 0,
    "details": 1,
    "embedding_batch": 16,
    "collection": COLLECTION,
}
"""Settings that make a graph fast."""
STORY = "\n\n".join(
    f"CHAPTER {number}\n\n"
    + " ".join(
        f"{name} walked to the {place} of town {day} in the long winter, and told nobody why."
        for day, (name, place) in enumerate(
            [("Anna", "harbour"), ("Boris", "mill"), ("Clara", "church"), ("Dmitri", "forest")] * 3
        )
    )
    for number in ("I", "II", "III")
)


class Crash(BaseException):
    """Stands for whatever ends a process; nothing catches it."""


@contextmanager
def written(store: Store, folder: Path) -> Iterator[Path]:
    """A book and a graph with trees, in the static space."""
    path = folder / "winter.txt"
    path.write_text(f"Title: Winter\nAuthor: Nobody\nLanguage: en\n\n{STORY}")
    with fabula() as service:
        [outcome] = service.ingest(path)
        embedder = service.app.models.embedder
        parts = small_graph(collection=COLLECTION)
        put(store, _embedded([*parts, names_of(parts)], embedder), embedder.model)
    assert outcome.counts["chunk"] > 10
    yield path


def _embedded(parts: Sequence[Part], embedder: Embedder) -> list[Part]:
    def embedded(node: Node) -> Node:
        if node.embedding is None:
            return node
        said = node.properties.get("embedded_text", node.properties["text"])
        [row] = embedder.embed([said]).vectors
        return replace(node, embedding=row)

    text, *others = (replace(part, nodes=tuple(map(embedded, part.nodes))) for part in parts)
    models = {"models": {"embedding_model": embedder.model}}
    base = {**text.record.made_from, **models}
    own = {**models, "rests_on": {TEXT: fingerprint(base)}}
    made = [(text, base), *((part, {**part.record.made_from, **own}) for part in others)]
    return [
        replace(part, record=replace(part.record, made_from=made_from)) for part, made_from in made
    ]


def fabula(server: Endpoint | None = None, model: str = "m", **flags: Any) -> Fabula:
    """A service that writes offline, and embeds with `model` at `server` or with static vectors."""
    known = KNOWN | flags
    if server is None:
        return Fabula(embedding_model=STATIC, **known)
    return Fabula(embedding_model=model, base_url=server.url, api_key="sk-test", **known)


def reembed(server: Endpoint | None = None, model: str = "m", **flags: Any) -> Reembedded:
    with fabula(server, model, **flags) as service:
        return service.reembed()


def passages(store: Store) -> int:
    """How many passages and embedded elements there are."""
    [row] = cypher(
        store,
        "MATCH (n:Passage|Element) WHERE coalesce(n.embedding, n.embedding_2) IS NOT NULL "
        "RETURN count(*) AS count, count(CASE WHEN n:Element THEN 1 END) AS elements",
    )
    assert row["elements"] == 3
    return int(row["count"])


def space(store: Store) -> Space:
    found = store.space(COLLECTION)
    assert found is not None
    return found


def is_canonical(store: Store, model: str, dimensions: int) -> None:
    """One property, one label, one model, an index of them, and nothing left of another."""
    now = space(store)
    assert (now.model, now.dimensions, now.phase, now.next_model) == (model, dimensions, "", "")
    one, two = (dimensions, None) if now.slot == 1 else (None, dimensions)
    for what, count in (("Passage", passages(store) - 3), ("Element", 3)):
        rows = cypher(
            store,
            f"MATCH (n:{what}) WHERE n.text <> 'name 3' "
            f"WITH [label IN labels(n) WHERE label =~ '{what}[0-9]+'] AS labels, "
            "size(n.embedding) AS one, size(n.embedding_2) AS two "
            "RETURN labels, one, two, count(*) AS count",
        )
        assert rows == [{"labels": [f"{what}{dimensions}"], "one": one, "two": two, "count": count}]
    [bare] = cypher(store, "MATCH (n:Element {text: 'name 3'}) RETURN labels(n) AS labels, n")
    assert set(bare["labels"]) == {"Element", "ElementText", "Name"}
    assert not {"embedding", "embedding_2"} & bare["n"].keys()
    found = {index.name: (index.state, index.dimensions) for index in store.indexes()}
    assert found[now.index] == found[now.element_index] == ("ONLINE", dimensions)
    assert check(store, [graphs()["aspects"]]).violations == ()
    for entry in store.documents(COLLECTION):
        models = {graph.made_from["models"]["embedding_model"] for graph in entry.graphs.values()}
        assert models == {model}


def finds_each_passage(store: Store, service: Fabula) -> None:
    """The nearest to a text's own vector says just that text; of every fourth, and each element."""
    embedder = service.app.models.embedder
    rows = cypher(store, "MATCH (n:Passage) RETURN n.text AS text ORDER BY n.id")
    for text in [row["text"] for row in rows[::4]]:
        [vector] = embedder.embed([text.strip()]).vectors
        hits = store.nearest(vector, 5, Filters(COLLECTION), embedder.model)
        assert hits[0].score == pytest.approx(1, abs=1e-4)
        assert text in {hit.text for hit in hits if hit.score > hits[0].score - 1e-4}
    for number in range(3):
        [vector] = embedder.embed([f"who is called name {number}"]).vectors
        found = store.nearest_elements(vector, 5, Filters(COLLECTION), embedder.model)
        assert (len(found), found[0].text) == (3, f"name {number}")
        assert found[0].score == pytest.approx(1, abs=1e-4)


def stop(monkeypatch: pytest.MonkeyPatch, statement: str, server: Endpoint | None = None) -> None:
    """A run that ends just before `statement`, as if its process had been killed there."""

    def crashing(name: str) -> str:
        if name == statement:
            raise Crash
        return read_statement(name)

    with monkeypatch.context() as patched:
        for module in (store_module, database, reembedding, schema):
            patched.setattr(module, "read_statement", crashing)
        with pytest.raises(Crash):
            reembed(server)
