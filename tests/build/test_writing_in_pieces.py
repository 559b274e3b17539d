"""A part is staged piece by piece while it is made: the same graph, whenever the run is killed."""

from __future__ import annotations

import pickle
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from database import cypher
from endpoint import Endpoint
from fabula import Fabula
from fabula.build import early_writer
from fabula.config.settings import STATIC
from fabula.graph import Owner, Part
from fabula.operations.documents import remove_document
from fabula.store import Store, parts
from fabula.store.locks import process_lock
from fabula.store.part_reader import read_part
from graphs import DIMENSIONS, MODEL, small_graph
from worker_runs import book, contents, graph_of, statuses, until

HOLDS = 90.0
GRAPHS = "aspects"


@pytest.fixture
def winter(tmp_path: Path) -> Path:
    path = tmp_path / "winter.txt"
    path.write_text(book("the north", 2))
    return path


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that is made is staged at once, each batch by a transaction of its own."""
    monkeypatch.setattr(early_writer, "MIN_EARLY_PASSAGES", 1)
    monkeypatch.setattr(parts, "SMALL_ROWS", 0)


class HeldDetails(Endpoint):
    """An endpoint that answers all but calls for details, and those once they are let go."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.go = threading.Event()
        self.held = 0
        self.raw = self.wait

    def wait(self, _number: int, body: dict[str, Any]) -> None:
        if "you condense" in str(body.get("messages", "")).lower():
            self.held += 1
            self.go.wait(HOLDS)


def test_summaries_are_staged_while_details_are_asked_for(
    graph_url: str, winter: Path, store: Store, early: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABULA_EMBEDDING_MODEL", STATIC)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("FABULA_DETAILS", "1")
    options: dict[str, Any] = {"graphs": GRAPHS, "chunk_tokens": 40, "cache": False}
    with HeldDetails() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        with ThreadPoolExecutor(1) as pool, Fabula(**options) as fabula:
            try:
                outcomes = pool.submit(fabula.ingest, winter)
                until(
                    lambda: (
                        endpoint.held > 0
                        and bool(cypher(store, "MATCH (n:Staged {kind: 'summary'}) RETURN n"))
                    ),
                    "no summary was staged while details are asked for",
                )
                assert not cypher(store, "MATCH (n:Passage|Document|Part) RETURN n")
            finally:
                endpoint.go.set()
            assert statuses(outcomes.result()) == ["added"]
            findings = fabula.check()
            assert (findings.documents, findings.violations, findings.notes) == (1, (), ())
            in_pieces = graph_of(fabula)
            monkeypatch.setattr(early_writer, "MIN_EARLY_PASSAGES", 10**6)
            assert statuses(fabula.ingest(winter, rebuild=True)) == ["replaced"]
            assert graph_of(fabula) == in_pieces


class Killed(RuntimeError):
    """The process is killed before it sends a statement."""


@pytest.mark.usefixtures("online", "early")
def test_a_run_that_is_killed_before_any_statement_of_staging_leaves_nothing_for_good(
    winter: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_at, counts = 10**6, Counter[str]()
    save, switch = parts._save_slices, parts.switch

    def count(what: str) -> None:
        counts["all"] += 1
        counts[what] += 1
        if counts["all"] >= killed_at:
            raise Killed(what)

    def save_or_die(transaction: Any, slices: Sequence[Any], shared: Mapping[str, Any]) -> None:
        count(slices[0][0])
        save(transaction, slices, shared)

    def switch_or_die(*values: Any) -> int:
        count("switch")
        return switch(*values)

    def leave(*_: object) -> None:
        """A process that was killed deletes nothing."""

    monkeypatch.setattr(parts, "_save_slices", save_or_die)
    monkeypatch.setattr("fabula.store.switch", switch_or_die)
    kills = 0
    with Fabula(graphs=GRAPHS) as fabula:
        assert statuses(fabula.ingest(winter)) == ["added"]
        whole = graph_of(fabula)
        # How many pieces there are depends on threads: it ends with a run that is done before.
        for number in range(1, 100, 2):
            for entry in fabula.documents():
                remove_document(fabula, entry.id)
            counts.clear()
            killed_at = number
            with monkeypatch.context() as dying:
                dying.setattr(Store, "discard_staged", leave)
                try:
                    assert statuses(fabula.ingest(winter)) == ["added"]
                    break
                except Killed:
                    kills += 1
            killed_at = 10**6
            assert list(fabula.documents()) == []
            assert fabula.check().violations == ()
            assert statuses(fabula.ingest(winter)) == ["added"]
            assert graph_of(fabula) == whole
            assert fabula.check().violations == ()
            assert not cypher(store, "MATCH (n:Staged|Retired) RETURN n")
    assert kills >= 2


def pieces_of(part: Part, size: int = 2) -> list[Part]:
    """The nodes of a part by twos, each with the edges that begin at it."""
    return [
        replace(
            part,
            nodes=nodes,
            edges=tuple(edge for edge in part.edges if edge.start in {node.id for node in nodes}),
            is_whole=False,
        )
        for start in range(0, len(part.nodes), size)
        for nodes in [part.nodes[start : start + size]]
    ]


@pytest.mark.parametrize("change", ["none", "node", "edge", "missing", "failed"])
def test_pieces_that_differ_from_the_part_are_staged_again(store: Store, change: str) -> None:
    text, aspects = small_graph()
    # A graph that fails after it has given pieces has none of them.
    made = replace(aspects, nodes=(), edges=()) if change == "failed" else aspects
    store.prepare("default", MODEL, DIMENSIONS)
    store.apply([text, made], MODEL)
    owner = Owner("default", "aspects", text.owner.document)
    whole = contents(read_part(store, owner, embeddings=True))
    pieces = pieces_of(aspects)
    first = pieces[0]
    if change == "node":
        other = replace(first.nodes[0], properties={**first.nodes[0].properties, "text": "other"})
        pieces[0] = replace(first, nodes=(other, *first.nodes[1:]))
    elif change == "edge":
        pieces[0] = replace(first, edges=(replace(first.edges[0], properties={"weight": 0.5}),))
    elif change == "missing":
        lost = replace(first.nodes[0], id=f"{first.nodes[0].id}x")
        pieces[0] = replace(first, nodes=(lost, *first.nodes[1:]), edges=())
    with process_lock(store, ["document"], run="run") as lock:
        staged = store.stage_early(pieces[:2], MODEL, lock)
        staged = store.stage_early([text, *pieces[2:3]], MODEL, lock, staged)
        store.apply([text, made], MODEL, lock=lock, staged=staged)
    assert not cypher(store, "MATCH (n:Staged|Retired) RETURN n")
    assert contents(read_part(store, owner, embeddings=True)) == whole


@pytest.mark.parametrize("change", ["none", "node", "embedding", "missing"])
def test_a_whole_part_of_a_worker_that_died_is_only_used_if_it_is_the_same(change: str) -> None:
    """Another worker makes all parts again, and a model may answer it otherwise."""
    text, aspects = small_graph()
    nodes = aspects.nodes
    if change == "node":
        nodes = (replace(nodes[0], properties={**nodes[0].properties, "text": "x"}), *nodes[1:])
    elif change == "embedding":
        nodes = (replace(nodes[0], embedding=nodes[1].embedding), *nodes[1:])
    elif change == "missing":
        nodes = nodes[1:]
    staged = parts.StagedParts((text, pickle.loads(pickle.dumps(replace(aspects, nodes=nodes)))))
    assert staged.fits([text, aspects]) is (change == "none")
    assert staged.fits([text]) is False
