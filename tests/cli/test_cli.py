"""The command line as a user types it, offline, on the tests' Neo4j."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cases import for_each
from commands import run
from endpoint import Endpoint
from fabula.cli import main
from fabula.errors import NotFound
from fabula.store import Store
from graphs import DIMENSIONS, MODEL, put, small_graph
from stories import LIGHTHOUSE as STORY

pytestmark = pytest.mark.long


@pytest.fixture
def story(tmp_path: Path) -> Path:
    path = tmp_path / "lighthouse.txt"
    path.write_text(STORY)
    return path


@pytest.fixture
def ingested(graph_url: str, story: Path) -> Result:
    return run("ingest", story)


# Ingest


@pytest.mark.journey
def test_ingest_says_what_it_made_and_again_that_nothing_changed(
    ingested: Result, story: Path
) -> None:
    assert "added      The Lighthouse: 3 chunks" in ingested.stdout
    assert "1 added; no model calls." in ingested.stdout
    assert "Offline: no chat model is set" in ingested.stderr
    entry = json.loads(run("show", "lighthouse", "--json").stdout)
    assigned = entry["graphs"]["aspects"]["facts"]["assigned"]
    assert assigned
    found = f"found in no cluster, so assigned to the nearest one: {', '.join(assigned)}"
    assert found in run("show", "lighthouse").stdout
    assert found in ingested.stdout
    assert "unchanged  lighthouse.txt: The Lighthouse is up to date" in run("ingest", story).stdout


LIBRARYS_BOOK = f"""The Project Gutenberg eBook of The Lighthouse, by A. Writer

*** START OF THE PROJECT GUTENBERG EBOOK THE LIGHTHOUSE ***

CONTENTS

{"".join(f"Chapter {n}. The Lamp of the Harbour . . . . {n}" + chr(10) for n in range(1, 30))}

{STORY}

*** END OF THE PROJECT GUTENBERG EBOOK THE LIGHTHOUSE ***

Updated editions will replace the previous one.
"""


def test_ingest_says_what_it_left_out_of_a_file(
    graph_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    (tmp_path / "book.txt").write_text(LIBRARYS_BOOK)
    for more in ("--dry-run", "--collection=default"):
        lines = run("ingest", tmp_path / "book.txt", more).stdout.splitlines()
        [left_out] = [line.strip() for line in lines if line.strip().startswith("left out: ")]
        assert left_out.startswith("left out: contents 1,0")
        assert "characters, library header 1" in left_out
        [warning] = [line for line in lines if "of the text was left out" in line]
        assert warning.startswith("\x1b[33m"), "It is yellow."


def test_the_outcomes_of_ingest_are_printed_as_json(graph_url: str, tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text(LIBRARYS_BOOK)
    sources = (tmp_path / "book.txt", "nowhere.txt")
    for status, more in (("added", "--dry-run"), ("added", "--json"), ("unchanged", "--json")):
        [book, nowhere] = json.loads(run("ingest", *sources, "--json", more, code=1).stdout)
        assert (book["status"], book["title"]) == (status, "The Lighthouse")
        assert set(book["left_out"]) == {"contents", "library header", "licence"}
        [warning] = book["warnings"]
        assert "of the text was left out: contents " in warning
        assert (nowhere["status"], nowhere["left_out"]) == ("failed", {})
        assert "nowhere.txt" in nowhere["error"]
    # The graph keeps it.
    shown = json.loads(run("show", "The Lighthouse", "--json").stdout)
    assert (shown["left_out"], shown["warnings"]) == (book["left_out"], book["warnings"])
    lines = run("show", "The Lighthouse").stdout.splitlines()
    assert f"warning: {warning}" in lines
    assert any(line.startswith("left out of its file: contents 1,0") for line in lines)


def test_ingest_names_what_it_cannot_read_and_goes_on(
    graph_url: str, story: Path, tmp_path: Path
) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    (tmp_path / "empty.md").write_text("\n")
    (tmp_path / "notes.docx").write_bytes(b"PK")
    result = run("ingest", tmp_path, tmp_path / "notes.docx", "nowhere.txt", code=1)
    for name in ("broken.pdf", "notes.docx", "nowhere.txt"):
        assert any(
            line.startswith("failed") and name in line for line in result.stdout.splitlines()
        ), name
    assert "1 added, 3 failed" in result.stdout
    assert "empty.md has no words in it" in " ".join(result.output.split())


def test_a_large_file_is_reported_not_read(graph_url: str, tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_text("word " * 300_000)
    result = run("ingest", tmp_path / "large.txt", "--max-file-mb", "1", code=1)
    assert "large.txt" in result.stdout
    assert "max" in result.stdout.lower()


def test_a_folder_without_readable_files_is_no_success(graph_url: str, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    assert "has no file that Fabula reads" in run("ingest", tmp_path / "bare", code=1).stdout


def test_calls_and_tokens_are_told(
    graph_url: str, story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Endpoint() as endpoint:
        result = run("ingest", story, "--base-url", endpoint.url)
    assert f"{endpoint.calls} calls" in result.stdout
    assert "Offline" not in result.output


# Query


def test_nothing_ingested_yet_is_said_with_the_command(graph_url: str) -> None:
    message = run("query", "Who?", code=1).stderr
    assert "Run `fabula ingest BOOK --collection default`" in message


# List, show, remove


def test_remove_says_what_goes_and_asks_first(ingested: Result) -> None:
    output = run("remove", "The Lighthouse", code=1, answer="n\n").stderr
    assert "would remove The Lighthouse" in output
    assert "its graphs (aspects)" in output
    assert "The Lighthouse" in run("list").stdout
    run("remove-collection", "--yes")
    assert "There are no documents here" in run("list").stdout


def test_of_several_documents_none_is_removed_if_one_is_not_there(
    ingested: Result, tmp_path: Path
) -> None:
    (tmp_path / "lamp.txt").write_text("The lamp went out.")
    run("ingest", tmp_path / "lamp.txt", "--set", "graphs=")
    run("remove", "The Lighthouse", "nowhere", "--yes", code=1)
    listed = json.loads(run("list", "--json").stdout)
    assert listed["total"] == 2
    [id] = [row["id"] for row in listed["rows"] if row["title"] == "The Lighthouse"]
    assert "The Lighthouse" in run("show", id[:6]).stdout
    removed = json.loads(run("remove", "lamp.txt", id, "--yes", "--json").stdout)
    assert [each["title"] for each in removed] == ["Lamp", "The Lighthouse"]
    assert json.loads(run("list", "--json").stdout)["total"] == 0


# Graphs


@pytest.mark.journey
def test_a_graph_is_dropped_and_built_again(ingested: Result) -> None:
    assert "would drop aspects: The Lighthouse" in run("drop", "aspects", "--dry-run").stdout
    run("drop", "aspects", code=1, answer="n\n")
    assert "No errors" in (before := run("check").stdout)
    assert "aspects of 1 document" in before
    assert "dropped    aspects: The Lighthouse" in run("drop", "aspects", "--yes").stdout
    assert "No errors: 1 document, 3 passages\n" in run("check").stdout
    assert "no graph 'aspects' here" in run("drop", "aspects", "--yes", code=1).stderr
    assert "lighthouse.txt: to be added" in run("build", "aspects", "--dry-run").stdout
    assert "added      The Lighthouse: 7 summaries" in run("build", "aspects").stdout
    assert run("check").stdout == before
    assert "1 unchanged" in run("build", "aspects", "lighthouse").stdout
    assert "There are: annotations, aspects" in run("build", "quux", code=1).stderr


def test_the_graphs_of_an_ingest_are_chosen(graph_url: str, story: Path) -> None:
    assert "3 chunks; no model calls" in run("ingest", story, "--set", "graphs=").stdout
    assert "7 summaries" in run("ingest", story, "--graphs", "aspects").stdout
    assert "There is no graph 'aspect'" in run("ingest", story, "--graphs", "aspect", code=1).stderr


def test_list_check_and_export_take_one_collection_or_all(
    ingested: Result, story: Path, tmp_path: Path
) -> None:
    run("ingest", story, "--collection", "second")
    assert run("list").stdout.count("The Lighthouse") == 1
    assert run("list", "--all").stdout.count("The Lighthouse") == 2
    found = json.loads(run("check", "--all", "--json").stdout)
    assert (found["documents"], found["graphs"], found["rows"]) == (2, {"aspects": 2}, [])
    for flags in ([], ["--all"]):
        run("export", "--out", "graph.jsonl", *flags)
        written = (tmp_path / "graph.jsonl").read_text(encoding="utf-8").rstrip("\n")
        lines = [json.loads(line) for line in written.split("\n")]
        titles = [line for line in lines if line["type"] == "node" and "Document" in line["labels"]]
        assert len(titles) == 1 + len(flags)


# Doctor, settings, errors


def test_doctor_looks_at_the_collection_that_a_question_is_asked_of(
    ready: Store, graph_url: str
) -> None:
    """As after `make demo`, whose book is not in the default collection."""
    ready.prepare("tales", MODEL, DIMENSIONS)
    put(ready, small_graph(collection="tales"))
    # Its model is an endpoint's, and there is none here.
    lines = run("doctor", code=1).stdout.splitlines()
    named = {line.split()[1]: line for line in lines}
    assert "tales, as default is empty, and no collection was named" in named["collection"]
    assert "online" in named["indexes"]
    assert "`fabula reembed --collection tales`" in named["embeddings"]
    lines = run("doctor", "--collection", "default").stdout.splitlines()
    assert not any("tales" in line for line in lines)


def test_doctor_says_when_neo4j_is_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:9")
    assert "BAD  Neo4j" in run("doctor", code=1).stdout


def test_doctor_says_which_model_embeds_the_questions_of_another_space(
    ready: Store, graph_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(ready, small_graph())
    with Endpoint() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-right")
        monkeypatch.setenv("FABULA_EMBEDDING_MODEL", "other")
        output = run("doctor").stdout
    [line] = [line for line in output.splitlines() if line.split()[1] == "embeddings"]
    assert line.startswith("ok")
    assert f"of {MODEL}: questions are embedded by it, too" in line
    assert "`fabula reembed --collection default` gives it embeddings of other" in line


@pytest.mark.parametrize(
    ("variable", "value", "name", "says"),
    [
        ("OPENAI_API_KEY", "sk-wrong", "model", "OPENAI_API_KEY"),
        ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1", "model", "OPENAI_BASE_URL"),
    ],
)
def test_doctor_tells_a_wrong_key_and_a_wrong_address_apart(
    variable: str,
    value: str,
    name: str,
    says: str,
    ready: Store,
    graph_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put(ready, small_graph())
    with Endpoint(key="sk-right") as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-right")
        monkeypatch.setenv("FABULA_EMBEDDING_MODEL", MODEL)
        monkeypatch.setenv(variable, value)
        ill = [one for one in run("doctor", code=1).stdout.splitlines() if one.startswith("BAD")]
    cures = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "fabula reembed")
    assert [cure for cure in cures if any(cure in line for line in ill)] == [says]
    assert any(line.startswith(f"BAD  {name} ") and says in line for line in ill)


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_settings_show_no_password_of_an_address(
    form: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:hunter2@models.example/v1")
    shown = run("settings", *form).stdout
    assert "http://models.example/v1" in shown
    assert "hunter2" not in shown
    assert "hunter2" not in run("query", "--help-all").stdout


def test_settings_shows_every_setting_and_how_it_is_given() -> None:
    shown = run("settings").stdout
    settings_named = {
        "--top-k, FABULA_TOP_K",
        "--levels, FABULA_LEVELS",
        "OPENAI_API_KEY",
        "FABULA_SERVE__PORT",
        "fabula db start --neo4j-heap, FABULA_NEO4J_HEAP",
        "--set top-down.width=VALUE",
    }
    assert {one for one in settings_named if one in shown} == settings_named
    sets = ("top_k=9", "levels=3", "hybrid.word_weight=0.25")
    found = json.loads(run("settings", *(f"--set={one}" for one in sets), "--json").stdout)
    assert (found["top_k"], found["aspects"]["levels"]) == (9, 3)
    assert found["hybrid"]["word_weight"] == 0.25


@for_each(
    ("word", "found"),
    [
        ("top-down", {"top-down": {"width", "depth"}}),
        ("--chunk-tokens", {"": {"chunk_tokens"}}),
        ("FABULA_LEVELS", {"aspects": {"levels"}}),
        ("Page Cache", {"": {"neo4j_page_cache"}}),
    ],
)
def test_a_word_finds_settings_by_name_and_by_what_they_are_for(
    word: str, found: dict[str, set[str]]
) -> None:
    given = ("--", word) if word.startswith("-") else (word,)
    shown = json.loads(run("settings", "--json", *given).stdout)
    tables = {name: set(value) for name, value in shown.items() if isinstance(value, dict)}
    core = {"": set(shown) - set(tables)} if set(shown) - set(tables) else {}
    assert core | tables == found


def test_a_word_that_no_setting_has_is_named() -> None:
    assert "'zzz'" in run("settings", "zzz", code=2).stderr


@for_each(
    ("flag", "says"),
    [
        ("--cluster-tokens", "--set aspects.cluster_tokens=VALUE"),
        ("--width", "bottom-up.width, top-down.width"),
        ("--neo4j-heap", "--set neo4j_heap=VALUE"),
    ],
)
def test_a_flag_that_a_setting_might_have_says_how_it_is_given(flag: str, says: str) -> None:
    assert says in run("query", "Who?", flag, "3", code=2).stderr


@for_each(
    ("given", "says"),
    [
        ("aspects.level=3", "Did you mean aspects.levels?"),
        ("aspects.levels=many", "aspects.levels = 'many'"),
        ("aspects.levels", "name=value"),
        ("api_key=sk-1", "OPENAI_API_KEY"),
    ],
)
def test_what_cannot_be_set_is_named(given: str, says: str) -> None:
    result = CliRunner().invoke(main, ["settings", "--set", given])
    assert result.exit_code in (1, 2)
    assert says in result.stderr


@pytest.mark.journey
def test_showing_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from fabula.cli import COMMANDS, find_commands, main\n"
        "main(['--help'], standalone_mode=False)\n"
        "heavy = {'numpy', 'neo4j', 'openai', 'sklearn', 'pydantic', 'rich'} & {*sys.modules}\n"
        "for name in (*COMMANDS, *find_commands()): main([name, '--help'], standalone_mode=False)\n"
        "print(sorted(heavy | {'neo4j', 'sklearn'} & {*sys.modules}))"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.splitlines()[-1] == "[]"


def test_a_misspelt_setting_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FABULA_TOPK", "3")
    assert run("list", code=1).stderr.strip() == (
        "Error: There is no setting FABULA_TOPK. Did you mean FABULA_TOP_K?"
    )


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("NEO4J_PASSWORD", "wrong", "NEO4J_PASSWORD"),
        ("NEO4J_URI", "bolt://127.0.0.1:9", "NEO4J_URI"),
        ("NEO4J_URI", "nonsense", "NEO4J_URI"),
        ("NEO4J_DATABASE", "books", "NEO4J_DATABASE"),
    ],
)
def test_a_server_that_does_not_let_in_is_one_line(
    variable: str, value: str, says: str, graph_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    message = run("list", code=1).stderr
    assert message.startswith("Error: ")
    assert message.count("\n") == 1
    assert says in message


def test_debug_shows_the_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:9")
    result = CliRunner().invoke(main, ["--debug", "list"])
    assert type(result.exception).__name__ == "StoreError"
    assert result.exit_code == 1


def test_debug_is_understood_after_the_command_too(graph_url: str) -> None:
    result = CliRunner().invoke(main, ["show", "nothing", "--debug"])
    assert isinstance(result.exception, NotFound)
    assert "--debug" in run("db", "status", "--help").output
