"""The three steps of a build: what is planned can be made in a process that knows no database."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from fabula import Fabula
from fabula.build.commit import commit, hold_lock
from fabula.build.make import make
from fabula.build.outcome import SilentProgress
from fabula.build.plan import Planner
from fabula.build.values import BuiltParts, DocumentPlan
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings
from fabula.graph import TEXT, Part
from fabula.graph.entries import Entry
from fabula.load import load
from fabula.models.counted import Meter
from fabula.models.parallel import TaskGroup
from fabula.models.stop import Stop
from fabula.store import Store
from fabula.text.document import Document

WORKER = """
import pickle
import sys

sys.modules["neo4j"] = None

from fabula.build.make import make
from fabula.build.outcome import SilentProgress
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings
from fabula.models.counted import Meter

plan = pickle.load(sys.stdin.buffer)
built = make(plan, ModelFactory(Settings.read()), SilentProgress(), Meter())
sys.stdout.buffer.write(pickle.dumps(built))
"""
"""Makes parts from a plan in a process where whatever imports Neo4j's driver fails."""
GRAPHS = ("aspects", "entities", "communities", "discourse", "facts")


def planner(store: Store, kit: ModelFactory, graphs: Sequence[str] = GRAPHS) -> Planner:
    return Planner(store, kit, "default", graphs)


def planned(plan: DocumentPlan | Entry) -> DocumentPlan:
    assert isinstance(plan, DocumentPlan)
    return plan


def made_elsewhere(plan: DocumentPlan) -> BuiltParts:
    """What a process makes of the plan that is told of no Neo4j, and could import no driver."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NEO4J")}
    worker = subprocess.run(
        [sys.executable, "-c", WORKER],
        input=pickle.dumps(plan),
        env=environment,
        capture_output=True,
        check=False,
    )
    assert worker.returncode == 0, worker.stderr.decode()
    built = pickle.loads(worker.stdout)
    assert isinstance(built, BuiltParts)
    return built


def contents(part: Part) -> tuple[object, ...]:
    """All of a part but what it cost."""
    record = part.record
    vectors = [None if node.embedding is None else node.embedding.tobytes() for node in part.nodes]
    return (part.owner, part.nodes, part.edges, vectors, record.made_from, record.facts)


def committed(store: Store, kit: ModelFactory, document: Document, built: BuiltParts) -> None:
    names, job, meter = [f"document {document.id}"], TaskGroup(kit.workers), Meter()
    held = hold_lock(store, document.collection, names, document.source, job, SilentProgress())
    with held as (lock, progress):
        commit(built, store, kit.embedder.model, lock, progress, meter, Stop())


def test_what_a_worker_without_a_database_makes_is_what_an_ingest_makes(
    online: None, store: Store, story: Path
) -> None:
    store.make_schema()
    document = load(story, "default", 1 << 20)
    with closing(ModelFactory(Settings.read(cache=False))) as kit:
        plan = planned(planner(store, kit).plan_document(document))
        assert plan.status == "added"
        built = made_elsewhere(plan)
        here = make(plan, kit, SilentProgress(), Meter())
        assert [contents(part) for part in built.parts] == [contents(part) for part in here.parts]
        committed(store, kit, document, built)
    assert [part.owner.graph for part in built.parts] == [TEXT, *GRAPHS]
    with Fabula(graphs=",".join(GRAPHS), cache=False) as fabula:
        assert [outcome.status for outcome in fabula.ingest(story)] == ["unchanged"]
        assert fabula.check().violations == ()
        assert fabula.retrieve("Who walked to the harbour?")


def test_a_worker_is_sent_what_is_known_and_asks_only_for_what_is_new(
    online: None, store: Store, story: Path
) -> None:
    with Fabula(graphs="aspects,entities", cache=False) as fabula:
        [first] = fabula.ingest(story)
    story.write_text(story.read_text().replace("CHAPTER V\n", "CHAPTER V\n\nA bell rang once."))
    document = load(story, "default", 1 << 20)
    with closing(ModelFactory(Settings.read(cache=False))) as kit:
        plan = planned(planner(store, kit, ["aspects"]).plan_document(document))
        assert plan.status == "replaced"
        assert [step.name for step in plan.graphs] == ["aspects", "entities"]
        assert all(step.known.nodes for step in plan.graphs)
        built = made_elsewhere(plan)
        committed(store, kit, document, built)
    calls = sum(usage.calls for part in built.parts for usage in part.record.usage.values())
    assert 0 < calls < first.usage.calls
    with Fabula(graphs="aspects", cache=False) as fabula:
        assert [outcome.status for outcome in fabula.ingest(story)] == ["unchanged"]
        assert fabula.check().violations == ()


def test_a_graph_is_built_elsewhere_for_a_text_that_stays(
    online: None, store: Store, story: Path
) -> None:
    with Fabula(graphs="entities", cache=False) as fabula:
        fabula.ingest(story)
        [entry] = fabula.documents()
    with closing(ModelFactory(Settings.read(cache=False))) as kit:
        plan = planned(planner(store, kit, ["communities"]).plan_graphs(entry, ["communities"]))
        assert (plan.status, plan.text_recipe) == ("added", None)
        assert [*plan.unchanged] == ["entities"]
        built = made_elsewhere(plan)
        committed(store, kit, plan.document, built)
        assert isinstance(
            planner(store, kit, ["communities"]).plan_graphs(entry, ["communities"]), Entry
        )
    assert [part.owner.graph for part in built.parts] == ["communities"]
    with Fabula(graphs="entities", cache=False) as fabula:
        assert fabula.check().violations == ()
