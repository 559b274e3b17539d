"""A graph that gets another embedding model: its story, the run, a stop, and what holds then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import cypher
from endpoint import Endpoint
from fabula import Fabula
from fabula.model import DocumentGraph, Filters
from fabula.reembed import Reembedded
from fabula.settings import STATIC
from fabula.store import Store
from fabula.store.space import Space
from graphs import Passage, small_graph

STATEMENTS = (
    "switch_reembedding_on",
    "find_to_embed",
    "save_next_embeddings",
    "schema_passage_vectors_next",
    "switch_space",
    "schema_drop_passage_vectors",
    "schema_passage_vectors",
    "switch_clearing_on",
    "schema_drop_passage_vectors_next",
    "switch_reembedding_off",
)
"""A run's, in order; what lies between two of them is found undone by the next run."""
KNOWN: dict[str, Any] = {
    "model": "offline",
    "chunk_tokens": 40,
    "levels": 0,
    "details": 1,
    "embedding_batch": 16,
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
    """A book and a graph with trees, in the static space; other tests find all as they know it."""
    path = folder / "winter.txt"
    path.write_text(f"Title: Winter\nAuthor: Nobody\nLanguage: en\n\n{STORY}")
    with fabula() as service:
        [outcome] = service.ingest(path)
        store.replace(_static(small_graph(), service), service._kit.built_with)
    assert outcome.chunks > 10
    yield path
    cypher(store, "DROP INDEX passage_vectors_next IF EXISTS")
    cypher(store, "MATCH (s:EmbeddingSpace) REMOVE s.phase, s.next_model, s.next_dimensions")


def _static(graph: DocumentGraph, service: Fabula) -> DocumentGraph:
    def embedded(passages: Sequence[Passage]) -> tuple[Passage, ...]:
        rows = service._kit.embedder.embed([one.text for one in passages]).vectors
        return tuple(replace(one, embedding=row) for one, row in zip(passages, rows, strict=True))

    return replace(
        graph,
        chunks=embedded(graph.chunks),
        summaries=embedded(graph.summaries),
        details=embedded(graph.details),
    )


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
    [row] = cypher(store, "MATCH (n:Chunk|Summary|Detail) RETURN count(*) AS count")
    return int(row["count"])


def space(store: Store) -> Space:
    found = store.space()
    assert found is not None
    return found


def is_canonical(store: Store, model: str, dimensions: int) -> None:
    """One property, one index, one model, and nothing left of how it came to that."""
    now = space(store)
    assert (now.model, now.dimensions, now.phase, now.next_model) == (model, dimensions, "", "")
    [row] = cypher(
        store,
        "MATCH (n:Chunk|Summary|Detail) RETURN count(n.next_embedding) AS next, "
        "collect(DISTINCT size(n.embedding)) AS sizes",
    )
    assert row == {"next": 0, "sizes": [dimensions]}
    indexes = cypher(
        store,
        "SHOW INDEXES YIELD name, type, state, properties, options WHERE type = 'VECTOR' "
        "RETURN name, state, properties[0] AS property, options.indexConfig AS config",
    )
    assert [(row["name"], row["state"], row["property"]) for row in indexes] == [
        ("passage_vectors", "ONLINE", "embedding")
    ]
    config = indexes[0]["config"]
    assert config["vector.dimensions"] == dimensions
    assert config["vector.quantization.type"] == "NONE"
    settings = {entry.settings["embedding_model"] for entry in store.documents()}
    assert settings <= {model}


def finds_each_passage(store: Store, service: Fabula) -> None:
    """The nearest to a text's own vector says just that text; of every fourth."""
    embedder = service._kit.embedder
    rows = cypher(store, "MATCH (n:Chunk|Summary|Detail) RETURN n.text AS text ORDER BY n.id")
    for text in [row["text"] for row in rows[::4]]:
        [vector] = embedder.embed([text.strip()]).vectors
        hits = store.nearest(vector, 5, Filters(), embedder.model)
        assert hits[0].score == pytest.approx(1, abs=1e-4)
        assert text in {hit.text for hit in hits if hit.score > hits[0].score - 1e-4}


def stop(monkeypatch: pytest.MonkeyPatch, statement: str, server: Endpoint | None = None) -> None:
    """A run that ends just before `statement`, as if its process had been killed there."""
    rows = Store.rows

    def crashing(self: Store, name: str, **parameters: Any) -> list[dict[str, Any]]:
        if name == statement:
            raise Crash
        return rows(self, name, **parameters)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "rows", crashing)
        with pytest.raises(Crash):
            reembed(server)
