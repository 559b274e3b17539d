"""What a document's parts are made from: what changed is made again, and nothing else."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from database import cypher
from endpoint import Endpoint
from fabula import Fabula
from fabula.graph import TEXT
from fabula.graph.installed import graphs
from fabula.graphs.aspects import prompts
from fabula.store import Store

STORY = "\n\n".join(
    f"CHAPTER {number}\n\nAnna walked to the harbour on day {number}. Boris slept at the mill. "
    f"Clara rang the bell {number} times, and nobody knew why."
    for number in range(1, 5)
)


@pytest.fixture
def book(online: None, tmp_path: Path) -> Path:
    """A small book that is in the graph, made by models whose replies are not kept."""
    path = tmp_path / "winter.txt"
    path.write_text(STORY)
    with Fabula(cache=False) as fabula:
        fabula.ingest(path)
    return path


def text_of(store: Store) -> list[dict[str, Any]]:
    """The chunks, their embeddings, and when they came in."""
    return cypher(
        store,
        "MATCH (n:Chunk|Part {graph: 'text'}) "
        "RETURN n.id AS id, n.embedding AS embedding, toString(n.updated_at) AS at ORDER BY id",
    )


def embedded(endpoint: Endpoint, since: int) -> set[str]:
    """The texts that were sent to be embedded."""
    return {text for body in endpoint.bodies[since:] for text in body.get("input", ())}


def test_a_changed_knob_of_aspects_rebuilds_aspects_alone(
    book: Path, endpoint: Endpoint, store: Store
) -> None:
    before, since = text_of(store), len(endpoint.bodies)
    chunks = {row["text"].strip() for row in cypher(store, "MATCH (c:Chunk) RETURN c.text AS text")}
    with Fabula(details=1, cache=False) as fabula:
        assert fabula.stale(fabula.document("winter")) == {"aspects": ["settings.details"]}
        [outcome] = fabula.ingest(book)
        assert fabula.stale(fabula.document("winter")) == {}
        assert fabula.check().violations == ()
    assert (outcome.status, outcome.graphs) == ("replaced", ("aspects",))
    assert text_of(store) == before
    asked = embedded(endpoint, since)
    assert asked, "its own passages were embedded"
    assert not asked & chunks


def test_a_changed_size_of_chunks_rebuilds_all(book: Path) -> None:
    with Fabula(chunk_tokens=20, cache=False) as fabula:
        stale = fabula.stale(fabula.document("winter"))
        assert stale == {TEXT: ["settings.chunk_tokens"], "aspects": [f"rests_on.{TEXT}"]}
        # A graph that is built for what is there rests on the chunks that are there.
        assert [result.status for result in fabula.build("aspects")] == ["unchanged"]
        [outcome] = fabula.ingest(book)
    assert (outcome.status, outcome.graphs) == ("replaced", (TEXT, "aspects"))


def test_what_changes_no_result_makes_nothing_stale(book: Path, endpoint: Endpoint) -> None:
    since = len(endpoint.bodies)
    asking: dict[str, Any] = {"top-down.width": 3}
    with Fabula(concurrency=3, top_k=9, mode="hybrid", timeout=9.0, **asking) as fabula:
        assert fabula.stale(fabula.document("winter")) == {}
        assert [result.status for result in fabula.ingest(book)] == ["unchanged"]
    assert len(endpoint.bodies) == since


def test_a_reworded_prompt_makes_the_graph_stale_and_ingest_makes_it_anew(
    book: Path, endpoint: Endpoint, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reworded = Path(shutil.copytree(prompts.FOLDER, tmp_path / "prompts"))
    file = reworded / "condense_several_system.txt"
    file.write_text(file.read_text() + "\nSay it in the words of a sailor.")
    monkeypatch.setattr(prompts, "FOLDER", reworded)
    installed = dict(graphs())
    installed["aspects"] = replace(installed["aspects"], prompts=reworded)
    for module in ("library.collection", "build.outcome"):
        monkeypatch.setattr(f"fabula.{module}.graphs", lambda: installed)
    monkeypatch.setattr("fabula.build.plan.installed_graphs", lambda: installed)
    monkeypatch.setattr("fabula.config.recipes.installed", lambda: installed)
    before, since = text_of(store), len(endpoint.bodies)
    with Fabula(cache=False) as fabula:
        assert fabula.stale(fabula.document("winter")) == {"aspects": ["prompts"]}
        [outcome] = fabula.ingest(book)
        assert fabula.stale(fabula.document("winter")) == {}
        assert [result.status for result in fabula.ingest(book)] == ["unchanged"]
    assert (outcome.status, outcome.graphs) == ("replaced", ("aspects",))
    assert text_of(store) == before
    bodies = [str(body) for body in endpoint.bodies[since:] if "messages" in body]
    assert any("in the words of a sailor" in prompt for prompt in bodies)
