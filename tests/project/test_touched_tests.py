"""scripts/touched_tests.py: a change runs the tests of what it touches."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.graph.installed import graphs
from touched_tests import find_changed_files, find_touched_tests

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def touched(*changed: str) -> set[str]:
    return set(find_touched_tests(changed))


def test_a_module_touches_tests_named_after_it_or_its_package_or_that_import_it() -> None:
    found = touched("src/fabula/jobs/queue.py")
    assert {
        "tests/jobs/test_queue.py",
        "tests/service/test_service_jobs_shown.py",
    } <= found
    assert "tests/text/test_names.py" in touched("src/fabula/text/names.py")
    assert "tests/text/test_names.py" not in found


def test_a_module_touches_tests_named_after_those_that_import_it() -> None:
    changed = "src/fabula_graphs/speech/rules.py"
    importers = {
        "tests/fabula_graphs/speech/test_speech_build.py",
        "tests/fabula_graphs/speech/test_speech_rules.py",
    }
    assert importers <= touched(changed)
    assert "tests/store/test_store.py" not in touched(changed)


def test_what_a_module_reads_touches_its_tests() -> None:
    assert "tests/graphs/aspects/test_tree.py" in touched(
        "src/fabula/graphs/aspects/prompts/summarise.txt"
    )
    found = touched("cypher/service/save_key.cypher")
    assert found == touched("src/fabula/operations/keys.py") != set()
    assert "tests/service/test_page_reading.py" in touched(
        "src/fabula/service/page/templates/error.html"
    )


def test_a_test_touches_itself_and_shared_code_those_that_import_it() -> None:
    assert touched("tests/text/test_names.py") == {"tests/text/test_names.py"}
    assert "tests/service/test_service_kills.py" in touched("tests/support/killed_service.py")
    assert "tests/models/endpoint/test_tools.py" in touched("tests/support/endpoint/server.py")
    assert "tests/project/test_run_tests.py" in touched("scripts/run_tests.py")


def test_other_versions_touch_all_tests() -> None:
    every = {str(file.relative_to(ROOT)) for file in (ROOT / "tests").rglob("test_*.py")}
    assert touched(".ci/versions.txt") == every


def test_documentation_touches_the_tests_that_run_it_and_other_files_none() -> None:
    assert "tests/project/test_tutorials.py" in touched("docs/tutorials/scholar.md")
    assert touched("LICENSE", "src/fabula/gone.py") == set()


def test_without_a_history_all_tests_are_touched() -> None:
    every = {str(file.relative_to(ROOT)) for file in (ROOT / "tests").rglob("test_*.py")}
    assert touched(*find_changed_files("1990-01-01")) == every


def test_each_graph_has_a_journey() -> None:
    rooms = {path.name: path for path in (ROOT / "tests").glob("*graphs/*") if path.is_dir()}
    folders = {graph: rooms[graph] for graph in graphs()} | {"aspects": ROOT / "tests" / "library"}
    folders["collection_communities"] = folders["communities"]
    without = [
        graph
        for graph, folder in folders.items()
        if not any("mark.journey" in file.read_text("utf-8") for file in folder.glob("test_*.py"))
    ]
    assert without == []
