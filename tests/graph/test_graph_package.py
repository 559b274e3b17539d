"""A graph of another package, with no line in the core that knows it: `sections_package`.

What it has is what its author could have written; it is found as an installed package is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner

from database import cypher
from endpoint import Endpoint
from fabula import App, Fabula, cli
from fabula.ask.modes import CORE_MODES
from fabula.cli.shared.health_checks import examine
from fabula.config import settings
from fabula.config.settings import STATIC
from fabula.errors import FabulaError, NotFound, SettingsError
from fabula.graph import TEXT
from fabula.graph.builds import Build
from fabula.graph.installed import graphs
from fabula.graph.method import Built
from fabula.jobs.callers import PERSON, Caller
from fabula.library.current_user import current_user
from fabula.operations.documents import drop_graph, show_document
from fabula.operations.keys import audit
from fabula.operations.notes import list_notes
from fabula.store import Store
from fabula_scholar.pictures.plotting import plot
from forgetting import forget_installed
from mcp_calls import called
from served import served

pytestmark = pytest.mark.replans

PACKAGE = Path(__file__).parents[1] / "support" / "sections_package"
BOTH = ("aspects", "sections")
QUESTION = "Who rang the bell at the harbour?"
CHAPTERS = {"I": "Anna slept at the mill.", "II": "Boris rang the bell.", "III": "Clara rowed."}


def told(**other: str) -> str:
    """Three chapters; `other` gives some another beginning."""
    return "\n\n".join(
        f"CHAPTER {number}\n\n{beginning} It was a long day in chapter {number}, and nobody knew "
        f"why the harbour of chapter {number} lay so still. A lamp burned until the morning, and "
        f"the keeper wrote into his book that no ship had come in chapter {number} of that year. "
        f"Then the wind turned, the ropes were wet, and the gulls of chapter {number} cried."
        for number, beginning in (CHAPTERS | other).items()
    )


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package is installed."""
    monkeypatch.syspath_prepend(str(PACKAGE))
    forget_installed()
    yield
    forget_installed()


@pytest.fixture
def book(package: None, graph_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small book, not yet ingested."""
    monkeypatch.setenv("FABULA_CHUNK_TOKENS", "40")
    path = tmp_path / "harbour.txt"
    path.write_text(f"Title: Harbour\nLanguage: en\n\n{told()}")
    return path


def made(store: Store, graph: str) -> list[dict[str, Any]]:
    """A graph's nodes, and when its part came in."""
    return cypher(
        store,
        "MATCH (n:Passage|Element|Part {graph: $graph}) "
        "RETURN n.id AS id, n.text AS text, toString(n.updated_at) AS at ORDER BY id",
        graph=graph,
    )


def chats(endpoint: Endpoint) -> int:
    """How often a chat model was asked."""
    return sum("messages" in body for body in endpoint.bodies)


@pytest.mark.journey
def test_both_graphs_are_built_at_once_and_are_sound(book: Path) -> None:
    with Fabula() as fabula:
        [outcome] = fabula.ingest(book, graphs=BOTH)
        entry = fabula.document("Harbour")
        findings = fabula.check()
        layers = show_document(fabula, entry.id).layers
    assert outcome.graphs == (TEXT, *BOTH)
    assert set(entry.graphs) == {TEXT, *BOTH}
    assert (outcome.counts["section"], outcome.counts["heading"]) == (3, 3)
    assert outcome.counts["summary"] > 0
    assert "3 sections, 12 words of each" in outcome.notes
    assert entry.graphs["sections"].facts == {"sections": 3, "words": 12}
    assert findings.violations == ()
    assert [layer.passages for layer in layers if layer.kind == "section"] == [3]


def test_its_mode_finds_and_answers_with_the_characters_that_prove_it(book: Path) -> None:
    with Fabula() as fabula:
        fabula.ingest(book, graphs=BOTH)
        answer = fabula.query(QUESTION, mode="contents", k=2, context="passages", fill=False)
        stretches = fabula.sources(answer.hits)
        anywhere = fabula.retrieve(QUESTION, mode="collapsed", kinds=("section",))
        [narrow] = fabula.retrieve(QUESTION, mode="contents", knobs={"width": 1})
        with pytest.raises(SettingsError, match="Mode contents: width"):
            fabula.retrieve(QUESTION, mode="contents", knobs={"width": 0})
    assert [hit.kind for hit in answer.hits] == ["section"] * 2
    assert answer.hits[0].section == "CHAPTER II"
    assert answer.text.startswith("Read CHAPTER II [1].")
    assert answer.cited == (1, 2)
    text = told()
    assert all(hit.text.startswith(f"{hit.section}\n{hit.section} ") for hit in answer.hits)
    for hit in answer.hits:
        found = stretches[hit.id]
        assert "".join(one.text for one in found) == text[hit.start : hit.end]
        assert all(text[one.start : one.end] == one.text for one in found)
    assert len(anywhere) == 3, "the core's own modes find its passages, too"
    assert narrow.id == answer.hits[0].id


def test_its_embedded_elements_are_found_by_its_own_mode_alone(book: Path) -> None:
    with Fabula() as fabula:
        fabula.ingest(book, graphs=BOTH)
        hits = fabula.retrieve(QUESTION, mode="headings", k=3)
        [other] = fabula.retrieve(QUESTION, mode="headings", k=2)[1:]
        proof = fabula.sources(hits)
        everything = [
            hit
            for mode in CORE_MODES
            for hit in fabula.retrieve(QUESTION, mode=mode, k=50, fill=False)
        ]
    assert [hit.kind for hit in hits] == ["heading"] * 3
    assert hits[0].text == hits[0].section == "CHAPTER II"
    assert other.id in {hit.id for hit in hits[1:]}
    assert hits[0].score > hits[1].score >= hits[2].score
    text = told()
    for hit in hits:
        [chunk] = proof[hit.id]
        assert text[chunk.start : chunk.end] == chunk.text
        assert hit.text in chunk.text
    assert {hit.kind for hit in everything} == {"chunk", "detail", "summary", "section"}


def test_it_is_added_later_and_no_model_is_asked_for_aspects_again(
    book: Path, online: None, endpoint: Endpoint, store: Store
) -> None:
    with Fabula() as fabula:
        fabula.ingest(book)
        with pytest.raises(NotFound, match="fabula build sections"):
            fabula.retrieve(QUESTION, mode="contents")
        asked, aspects, text = chats(endpoint), made(store, "aspects"), made(store, TEXT)
        [dry] = fabula.build("sections", dry=True)
        assert (dry.graphs, made(store, "sections")) == (("sections",), [])
        [outcome] = fabula.build("sections", "Harbour")
        assert (outcome.status, outcome.graphs) == ("added", ("sections",))
        assert outcome.steps["embeddings"].calls == dry.steps["embeddings"].calls == 1
        [again] = fabula.build("sections")
        assert (again.status, again.usage.calls) == ("unchanged", 0)
        assert fabula.retrieve(QUESTION, mode="contents")
        assert fabula.check().violations == ()
    assert chats(endpoint) == asked
    assert (made(store, "aspects"), made(store, TEXT)) == (aspects, text)


@pytest.mark.parametrize("run", ["build", "ingest"])
def test_a_changed_knob_of_it_rebuilds_it_alone(book: Path, store: Store, run: str) -> None:
    with Fabula() as fabula:
        fabula.ingest(book, graphs=BOTH)
    aspects, text, before = (made(store, name) for name in ("aspects", TEXT, "sections"))
    with Fabula(settings.Settings.read(**{"sections.words": 3})) as fabula:
        entry = fabula.document("Harbour")
        assert fabula.stale(entry) == {"sections": ["settings.words"]}
        [outcome] = fabula.build("sections") if run == "build" else fabula.ingest(book)
        assert fabula.check().violations == ()
        assert fabula.stale(fabula.document("Harbour")) == {}
    assert (outcome.status, outcome.graphs) == ("replaced", ("sections",))
    assert (made(store, "aspects"), made(store, TEXT)) == (aspects, text)
    now = made(store, "sections")
    assert {row["id"] for row in now if row["text"]} != {row["id"] for row in before if row["text"]}
    assert "CHAPTER I\nCHAPTER I Anna" in {row["text"] for row in now}


def test_it_is_dropped_alone(book: Path, store: Store) -> None:
    with Fabula() as fabula:
        fabula.ingest(book, graphs=BOTH)
        aspects, text = made(store, "aspects"), made(store, TEXT)
        [dropped] = drop_graph(fabula, "sections", dry_run=True).rows
        assert (dropped.title, dropped.graphs) == ("Harbour", ("sections",))
        assert made(store, "sections") != []
        drop_graph(fabula, "sections")
        with pytest.raises(NotFound, match="There is no graph 'sections' here"):
            drop_graph(fabula, "sections")
        with pytest.raises(NotFound, match="fabula build sections"):
            fabula.retrieve(QUESTION, mode="headings")
        assert set(fabula.document("Harbour").graphs) == {TEXT, "aspects"}
        assert fabula.check().violations == ()
    assert made(store, "sections") == []
    assert cypher(store, "MATCH (n:Section|Heading|Retired) RETURN n") == []
    assert (made(store, "aspects"), made(store, TEXT)) == (aspects, text)


@pytest.mark.parametrize(
    ("breaks", "what"),
    [
        ("MATCH (n:Heading {text: 'CHAPTER I'}) DETACH DELETE n", "sections have no heading"),
        ("MATCH (:Section {section: 'CHAPTER I'})-[r:COVERS]->() DELETE r", "cover other chunks"),
    ],
)
def test_what_breaks_its_invariant_is_found(
    book: Path, store: Store, breaks: str, what: str
) -> None:
    with Fabula() as fabula:
        fabula.ingest(book, graphs=BOTH)
        cypher(store, breaks)
        [violation] = fabula.check("Harbour").violations
    assert (violation.invariant, violation.title) == ("check_sections", "Harbour")
    assert what in violation.what


def test_an_export_has_its_nodes_and_edges(book: Path, tmp_path: Path) -> None:
    file, whole = tmp_path / "graph.jsonl", tmp_path / "whole.jsonl"
    with Fabula() as fabula:
        fabula.ingest(book, graphs=BOTH)
        fabula.export(file)
        fabula.export(whole, embeddings=True)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    labels = [label for line in lines for label in line.get("labels", ())]
    assert (labels.count("Section"), labels.count("Heading")) == (3, 3)
    types = [line.get("label") for line in lines]
    assert (types.count("NEXT_SECTION"), types.count("HEADED")) == (2, 3)
    assert types.count("COVERS") >= 3
    assert '"embedding"' not in file.read_text()
    full = [json.loads(line) for line in whole.read_text().splitlines()]
    headings = [line for line in full if "Heading" in line.get("labels", ())]
    assert {len(line["properties"]["embedding"]) for line in headings} == {256}


def test_a_kind_of_elements_is_none_that_the_core_looks_for(book: Path) -> None:
    with Fabula() as fabula:
        fabula.ingest(book, graphs=BOTH)
        assert fabula.retrieve(QUESTION, mode="headings", kinds="heading", document="Harbour")
        with pytest.raises(NotFound, match=r"no kind 'heading'; there are: chunk, .*section"):
            fabula.retrieve(QUESTION, mode="collapsed", kinds="heading")
        assert fabula.retrieve(QUESTION, mode="headings", levels=(1, 9)) == []
        assert fabula.retrieve(QUESTION, mode="headings", aspects="") != []


def test_a_graph_without_an_index_of_elements_takes_them(book: Path, store: Store) -> None:
    with Fabula() as fabula:
        fabula.ingest(book)
    cypher(store, "MATCH (c:Collection) SET c.element_kinds = []")
    for index in ("element_texts", "element_kind", "element_vectors_256"):
        cypher(store, f"DROP INDEX {index} IF EXISTS")
    with Fabula() as fabula:
        assert [problem.message for problem in examine(fabula) if problem.name == "indexes"] == [
            "passage_vectors_256 online, passage_texts online"
        ]
        assert fabula.check().violations == ()
        with pytest.raises(NotFound, match="fabula build sections"):
            fabula.retrieve(QUESTION, mode="headings")
        fabula.build("sections")
        assert len(fabula.retrieve(QUESTION, mode="headings")) == 3
        assert fabula.check().violations == ()
        [told] = [problem.message for problem in examine(fabula) if problem.name == "indexes"]
    assert "element_vectors_256 online, element_texts online" in told


def test_its_passages_are_embedded_again_with_all_others(
    book: Path, endpoint: Endpoint, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Fabula() as fabula:
        fabula.ingest(book, graphs=BOTH)
    [counted] = cypher(store, "MATCH (n:Passage|Heading) RETURN count(n) AS passages")
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with Fabula(model="offline") as fabula:
        assert fabula.reembed().passages == counted["passages"]
        hits = fabula.retrieve(QUESTION, mode="contents")
        assert len(hits) == 3
        headings = fabula.retrieve(QUESTION, mode="headings")
        assert [hit.score for hit in headings] == pytest.approx([hit.score for hit in hits])
        hits += headings
        assert fabula.check().violations == ()
        assert {
            len(row) for row in store.vectors("default", [hit.id for hit in hits]).values()
        } == {endpoint.dimensions}
        sizes = "RETURN DISTINCT size(n.embedding) AS one, size(n.embedding_2) AS two"
        [left] = cypher(store, f"MATCH (n:Passage|Heading) {sizes}")
        assert left == {"one": None, "two": endpoint.dimensions}


def test_an_edit_of_the_text_replaces_all_graphs_at_once(book: Path, store: Store) -> None:
    with Fabula() as fabula:
        fabula.ingest(book, graphs=BOTH)
        before = {row["id"] for row in made(store, "sections")}
        book.write_text(f"Title: Harbour\nLanguage: en\n\n{told(II='Boris broke the bell.')}")
        # It is not named: the document has it.
        [outcome] = fabula.ingest(book)
        entry = fabula.document("Harbour")
        [best] = fabula.retrieve("Who broke the bell?", mode="contents", k=1)
        assert fabula.check().violations == ()
    assert (outcome.status, outcome.graphs) == ("replaced", (TEXT, *BOTH))
    assert len({record.updated_at for record in entry.graphs.values()}) == 1
    assert "Boris broke the bell." in best.text
    after = {row["id"] for row in made(store, "sections")}
    assert len(before & after) == 5, "its part, and two sections with their headings"


@pytest.mark.journey
def test_it_brings_an_operation_which_every_interface_has(book: Path) -> None:
    with App() as app:
        app.collection().ingest(book, graphs=["sections"])
        result = CliRunner().invoke(cli.main, ["sections", str(book), "--json"])
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)
        headings = [row["heading"] for row in found["rows"]]
        assert headings == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]
        with served(app) as it:
            client = it.client()
            assert client.get("/api/v1/collections/default/sections").json() == found
            assert called(it, "sections", PERSON, collection="default") == found
            shown = client.get("/c/default/sections?run=true")
            assert shown.text.count(">CHAPTER") == 3
            assert 'href="/c/default/sections?run=true"' in client.get("/c/default").text
    help = CliRunner().invoke(cli.main, ["--help"]).stdout
    assert " sections," in " ".join(help.partition("More commands")[2].split())
    own_help = CliRunner().invoke(cli.main, ["sections", "--help"]).stdout
    assert "List the sections of a document, or of all." in own_help


def test_it_brings_an_operation_that_changes_something(book: Path) -> None:
    """By whom, for whom alone, and with what body: as it is declared."""
    with App() as app:
        collection = app.collection()
        collection.ingest(book, graphs=["sections"])
        document = collection.document("Harbour").id
        typed = CliRunner().invoke(cli.main, ["mark-section", "Harbour", "Anna slept", "--json"])
        assert typed.exit_code == 0, typed.output
        assert json.loads(typed.stdout) == {"words": "Anna slept", "by": current_user()}
        with served(app) as it:
            path = f"/api/v1/collections/default/documents/{document}/sections"
            writer, body = it.client("write"), {"words": "Boris rang"}
            reply = writer.post(path, json=body)
            assert (reply.status_code, reply.json()) == (201, {**body, "by": "a test"})
            assert it.client("read").post(path, json=body).status_code == 403
            assert writer.post(path, json=body | {"by": "Ada"}).status_code == 422
            assert writer.post(path, json={"words": "x" * 5_000_000}).status_code == 413
            assert writer.post(path, json={"words": "x" * 201}).status_code == 422
            request = {"collection": "default", "document": document, "words": "Clara rowed"}
            reader = Caller("ada", "Ada", "read", frozenset({"default"}))
            assert "needs a key with the role write" in called(
                it, "mark_section", reader, **request
            )
            assert called(it, "mark_section", PERSON, **request)["by"] == PERSON.name
            acts = [act for act in audit(it.asker, 10).rows if act.what != "make key"]
            assert [act.what for act in acts[:2]] == ["mark-section"] * 2
            assert acts[1].target == f"default/{document}"
        assert list_notes(collection, "Harbour").total == 3


def test_what_its_operation_changes_is_changed_by_a_form_of_the_page(book: Path) -> None:
    with App() as app:
        collection = app.collection()
        collection.ingest(book, graphs=["sections"])
        screen, typed = "/c/default/sections", {"tool": "mark-section", "run": "true"}
        typed |= {"document": collection.document("Harbour").id, "words": "Anna slept"}
        with served(app) as it:
            writer, reader = it.client("write"), it.client("read")
            form = writer.get(screen, params=typed).text
            assert 'method="post"' in form
            assert ">Highlight words of a section</button>" in form
            assert list_notes(collection).total == 0, "an address alone changes nothing"
            assert "mark-section" not in reader.get(screen).text
            for refused in (reader.get(screen, params=typed), reader.post(screen, data=typed)):
                assert refused.status_code == 403
            lacking = writer.post(screen, data=typed | {"words": " "})
            assert "Still to be given: words." in lacking.text
            wrong = writer.post(screen, data=typed | {"words": "no such words"})
            assert (wrong.status_code, 'value="no such words"' in wrong.text) == (404, True)
            assert list_notes(collection).total == 0
            done = writer.post(screen, data=typed)
            assert (done.status_code, ">Done</h2>" in done.text) == (200, True)
            assert 'dir="auto">Anna slept</td>' in done.text
            [note] = list_notes(collection).rows
            assert (note.quote, note.creator) == ("Anna slept", "a test")
            [act] = [each for each in audit(it.asker, 9).rows if each.what != "make key"]
            assert (act.what, act.target) == ("mark-section", f"default/{note.document}")
            cookie = it.state.sessions.sign_in(it.key("write"))
            headers = {"Cookie": f"fabula={cookie}", "Sec-Fetch-Site": "cross-site"}
            again = typed | {"words": "Boris rang"}
            with httpx2.Client(base_url=it.url, headers=headers) as led:
                assert led.post(screen, data=again).status_code == 403
            assert list_notes(collection).total == 1


def test_it_brings_an_operation_of_no_single_collection(book: Path) -> None:
    """It counts what the caller may see, and nothing else."""
    with App() as app:
        app.collection().ingest(book, graphs=["sections"])
        app.collection("other").ingest(book, graphs=["sections"])
        typed = json.loads(CliRunner().invoke(cli.main, ["shelves", "--json"]).stdout)
        assert [row["collection"] for row in typed["rows"]] == ["default", "other"]
        with served(app) as it:
            assert it.client().get("/api/v1/sections").json() == typed
            seen = it.client("read", ["other"]).get("/api/v1/sections").json()
            assert seen == {"total": 1, "rows": [{"collection": "other", "sections": 3}]}
            assert called(it, "shelves", PERSON) == typed


def test_it_brings_a_picture(book: Path, tmp_path: Path) -> None:
    with Fabula() as fabula:
        fabula.ingest(book)
        with pytest.raises(NotFound, match="has no graph of sections, so there is no sections"):
            plot(fabula, str(book), tmp_path / "sections.svg", picture="sections")
        fabula.build("sections")
        drawn = plot(fabula, str(book), tmp_path / "sections.svg", picture="sections")
        with pytest.raises(
            NotFound, match=r"There is no picture 'section'. Did you mean sections\?"
        ):
            plot(fabula, str(book), tmp_path / "sections.svg", picture="section")
    assert drawn.passages == 3
    assert drawn.file.read_text().count("CHAPTER") == 3


def test_a_graph_whose_package_is_gone_leaves_nothing_stale(
    book: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Fabula() as fabula:
        fabula.ingest(book, graphs=BOTH)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry != str(PACKAGE)])
    forget_installed()
    book.write_text(f"Title: Harbour\nLanguage: en\n\n{told(II='Boris broke the bell.')}")
    with Fabula() as fabula:
        assert [outcome.status for outcome in fabula.ingest(book)] == ["replaced"]
        assert fabula.check().violations == ()
        with pytest.raises(SettingsError, match="no graph 'sections'"):
            fabula.build("sections")
    assert made(store, "sections") == []


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (
            {"passages": ("Summary",)},
            "'Summary' are made by the graph 'aspects' and by the graph 'sections'",
        ),
        ({"elements": ("Document",)}, "'Document' are made by Fabula itself and"),
        ({"rests_on": ("scenes",)}, "'sections' rests on 'scenes', which no package has"),
        ({"name": "parts"}, "the graph 'parts' by the name 'sections'"),
        ({"build": None}, "'sections' has to have either `build` or `build_collection`"),
        ({"rests_on": ("identities",)}, "'sections', a document's, rests on 'identities'"),
    ],
)
def test_a_graph_that_can_not_stand_beside_the_others_is_refused_in_words(
    other: dict[str, Any], what: str, package: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module("fabula_sections")
    monkeypatch.setattr(module, "GRAPH", replace(module.GRAPH, **other))
    forget_installed()
    with pytest.raises(SettingsError, match=what):
        graphs()


def test_two_graphs_of_one_name_are_refused(tmp_path: Path) -> None:
    info = tmp_path / "other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[fabula.graphs]\nsections = fabula_sections:GRAPH\n")
    error = run_with(f"{PACKAGE}{os.pathsep}{tmp_path}", "list")
    assert "Error: There are two graphs named 'sections', one of them from fabula_sections" in error


@pytest.mark.parametrize("group", ["fabula.graphs", "fabula.modes"])
@pytest.mark.parametrize(
    ("code", "what"), [("import absent", "No module named 'absent'"), ("", "no attribute 'IT'")]
)
def test_a_package_that_can_not_be_loaded_is_named(
    group: str, code: str, what: str, tmp_path: Path
) -> None:
    info = tmp_path / "torn-1.0.dist-info"
    info.mkdir()
    (tmp_path / "torn.py").write_text(code)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torn-book\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\nscenes = torn:IT\n")

    error = run_with(tmp_path, "list")
    assert error.startswith("Error: The package torn-book can't be loaded")
    assert f"scenes = torn:IT of {group}" in error
    assert what in error
    assert "pip uninstall torn-book" in error
    assert ", version " in run_with(tmp_path, "--version")


def run_with(folders: Path | str, *words: str) -> str:
    """What a new process prints that finds the packages of some folders."""
    command = [sys.executable, "-c", "from fabula.cli import run; run()", *words]
    path = os.pathsep.join(filter(None, [str(folders), os.environ.get("PYTHONPATH")]))
    where = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, env=where, check=False)
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def test_it_brings_a_preset() -> None:
    values = json.loads(run_with(PACKAGE, "settings", "--preset", "sections-short", "--json"))
    assert (values["graphs"], values["sections"]["words"]) == (["aspects", "sections"], 3)


@pytest.mark.parametrize(
    ("presets", "what"),
    [
        (None, "No such file or directory"),
        ("[short", "The presets of the package torn-book can't be read"),
        ("[economy]\nlevels = 1", "two presets named 'economy', one of them from the package torn"),
        ("[short]\nlevls = 1", "There is no setting levls (preset 'short'). Did you mean levels?"),
        ("[short.aspects]\nlevels = 1", "input should be a valid string"),
    ],
)
def test_presets_that_can_not_be_used_are_refused_in_words(
    presets: str | None, what: str, tmp_path: Path
) -> None:
    info, package = tmp_path / "torn-1.0.dist-info", tmp_path / "torn"
    info.mkdir()
    package.mkdir()
    (package / "__init__.py").touch()
    if presets is not None:
        (package / "presets.toml").write_text(presets)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torn-book\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[fabula.presets]\ntorn = torn\n")
    error = run_with(tmp_path, "settings", "--preset", "short")
    assert error.startswith("Error: ")
    assert what in error
    assert ", version " in run_with(tmp_path, "--version")


def test_a_mode_with_settings_has_a_name_of_its_own(
    package: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module("fabula_sections")
    mode = module.GRAPH.modes["contents"]
    monkeypatch.setattr(module, "GRAPH", replace(module.GRAPH, modes={"sections": mode}))
    forget_installed()
    with pytest.raises(SettingsError, match="a mode are both named 'sections'"):
        settings.Settings.read()


@pytest.mark.parametrize(
    ("without", "what"),
    [
        ({"passages": ()}, "a node labelled 'Section'"),
        ({"elements": ("Other",)}, r"a node labelled 'Heading'.* \(Section, Other\)"),
        ({"edges": ("COVERS",)}, r"an edge '\w+'.* \(COVERS\)"),
    ],
)
def test_what_is_not_on_its_lists_is_refused_in_words(
    without: dict[str, tuple[str, ...]],
    what: str,
    book: Path,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = import_module("fabula_sections")
    monkeypatch.setattr(module, "GRAPH", replace(module.GRAPH, **without))
    forget_installed()
    with Fabula() as fabula, pytest.raises(FabulaError, match=f"'sections' built {what}"):
        fabula.ingest(book, graphs=["sections"])
    assert cypher(store, "MATCH (n:Document|Section|Staged) RETURN n") == []


def test_a_passage_without_an_embedding_is_refused_in_words(
    book: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module("fabula_sections")

    def bare(*given: Any) -> Build[Built]:
        built: Built = yield from module.build(*given)
        return replace(built, nodes=tuple(replace(node, embedding=None) for node in built.nodes))

    monkeypatch.setattr(module, "GRAPH", replace(module.GRAPH, build=bare))
    forget_installed()
    what = r"'Section' without an embedding, which is not on its list \(Heading\)"
    with Fabula() as fabula, pytest.raises(FabulaError, match=what):
        fabula.ingest(book, graphs=["sections"])
    assert cypher(store, "MATCH (n:Document|Section|Staged) RETURN n") == []


def test_a_build_that_was_killed_is_gone_on_with(
    package: None, graph_url: str, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    books = tmp_path / "books"
    books.mkdir()
    for number in range(10):
        (books / f"{number}.txt").write_text(f"Title: Book {number}\n\n{told(II=f'Day {number}.')}")
    with Endpoint() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("FABULA_MODEL", "offline")
        monkeypatch.setenv("FABULA_CONCURRENCY", "2")
        with Fabula() as fabula:
            fabula.ingest(books, graphs=["aspects"])
        aspects = made(store, "aspects")
        program = "from fabula import Fabula\nwith Fabula() as one: one.build('sections')"
        environment = os.environ | {"PYTHONPATH": str(PACKAGE)}
        # Some of the documents are embedded: the others wait until the process is killed.
        endpoint.held_from = endpoint.calls + 5
        with subprocess.Popen([sys.executable, "-c", program], env=environment) as process:
            late = time.monotonic() + 240
            while not (done := _built(store)):
                assert process.poll() is None and time.monotonic() < late
                time.sleep(0.02)
            process.kill()
        endpoint.release()
        done = _built(store)
        assert 0 < len(done) < 10
        with Fabula() as fabula:
            outcomes = fabula.build("sections")
            assert fabula.check().violations == ()
    assert {outcome.document for outcome in outcomes if outcome.status == "unchanged"} == set(done)
    assert {outcome.status for outcome in outcomes if outcome.document not in done} == {"added"}
    assert len(_built(store)) == 10
    assert made(store, "aspects") == aspects


def _built(store: Store) -> list[str]:
    rows = cypher(store, "MATCH (part:Part {graph: 'sections'}) RETURN part.document AS id")
    return [row["id"] for row in rows]


def test_its_embedding_model_is_in_its_fingerprint(book: Path) -> None:
    with Fabula() as fabula:
        fabula.ingest(book, graphs=BOTH)
        made_from = fabula.document("Harbour").graphs["sections"].made_from
    assert made_from["settings"] == {"words": 12}
    assert made_from["models"]["embedding_model"] == STATIC
    assert set(made_from["rests_on"]) == {TEXT}
