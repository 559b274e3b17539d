"""A rule that fails on a text leaves a gap with its place, and the document comes in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

from building import finish
from database import cypher
from fabula import Fabula, Outcome
from fabula.cli import main
from fabula.errors import BadReply, RuleError, Stopped
from fabula.graph import Gap
from fabula.graph.extraction import RULES, ExtractionCalls, own_id
from fabula.graph.gaps import GapLimit, Missing
from fabula.graph.method import BuildWork
from fabula.store import Store
from fabula.text.document import Chunk
from forgetting import forget_installed
from scripted import Models, Says, made_chunks

PACKAGE = Path(__file__).parents[1] / "support" / "faulty_package"
CHUNKS = made_chunks(*(f"Chunk {number} is here. " for number in range(20)))


class Rule:
    """Returns the numbers of chunks, and fails on some; keeps how many it was given each time."""

    def __init__(self, *failing: int, together: Sequence[int] = ()) -> None:
        self.failing, self.together = set(failing), set(together)
        self.given: list[int] = []

    def __call__(self, chunks: Sequence[Chunk]) -> list[int]:
        numbers = [chunk.index for chunk in chunks]
        self.given.append(len(numbers))
        if self.failing & {*numbers} or (self.together and self.together <= {*numbers}):
            return [numbers[len(numbers)]]
        return numbers


def read(rule: Rule, chunks: Sequence[Chunk] = CHUNKS) -> tuple[list[int], tuple[Gap, ...]]:
    calls = ExtractionCalls(Models(Says(str)), BuildWork(GapLimit("numbers of Twenty")))
    found = calls.read_by_rule(rule, chunks, own_id, lambda chunk: [-chunk.index])
    return found, calls.gaps


def places(gaps: Sequence[Gap]) -> list[list[int]]:
    numbers = {chunk.id: chunk.index for chunk in CHUNKS}
    return sorted([numbers[id] for id in gap.sources] for gap in gaps)


# A rule


def test_a_rule_that_does_not_fail_reads_all_at_once() -> None:
    rule = Rule()
    assert read(rule) == ([*range(20)], ())
    assert read(rule, ()) == ([], ())
    assert rule.given == [20]


def test_a_gap_is_of_the_chunk_alone_that_a_rule_fails_on(faults: list[str]) -> None:
    rule = Rule(7)
    found, gaps = read(rule)
    assert found == [0, 1, 2, 3, 4, 5, 6, -7, *range(8, 20)]
    assert places(gaps) == [[7]]
    assert (gaps[0].step, gaps[0].rests_on) == (RULES, {CHUNKS[7].id: 1.0})
    assert gaps[0].why.startswith("a rule failed with IndexError in test_faults.py, line ")
    assert gaps[0].why.endswith("which is a fault of the program (list index out of range).")
    # All else is read in runs that are as long as can be.
    assert rule.given == [20, 10, 5, 5, 2, 3, 1, 2, 10]


def test_each_chunk_that_a_rule_fails_on_is_a_gap_however_many(faults: list[str]) -> None:
    assert places(read(Rule(0, 7, 19))[1]) == [[0], [7], [19]]
    found, gaps = read(Rule(*range(20)))
    assert found == [-number for number in range(20)]
    assert len(gaps) == 20


def test_where_no_chunk_fails_alone_the_gap_is_of_the_shortest_run(faults: list[str]) -> None:
    found, gaps = read(Rule(together=(7, 8)))
    assert found == [*range(20)]
    assert places(gaps) == [[7, 8, 9]]


# The one place where faults are caught


def test_a_fault_is_logged_once_with_its_traceback_and_what_was_built(faults: list[str]) -> None:
    read(Rule(1, 7, 19))
    [logged] = faults
    assert logged.startswith("A gap in numbers of Twenty: a rule failed with IndexError in ")
    assert "return [numbers[len(numbers)]]" in logged


def fail(error: Exception) -> str:
    raise error


def attempt(limit: GapLimit, error: Exception) -> str | Missing:
    """What becomes of a piece that fails."""
    return finish(limit.attempt(fail, error), Models(Says(str)), BuildWork())


def test_a_strict_run_ends_at_the_first_fault() -> None:
    with pytest.raises(RuleError, match=r"^numbers: a rule failed with KeyError in ") as raised:
        attempt(GapLimit("numbers", strict=True), KeyError("x"))
    assert isinstance(raised.value.__cause__, KeyError)


def test_faults_do_not_count_with_what_models_do_not_give(faults: list[str]) -> None:
    limit = GapLimit()
    limit.expect(10)
    assert all(isinstance(attempt(limit, ValueError()), Missing) for _ in range(10))
    assert attempt(limit, BadReply("No.")) == Missing("No.")
    with pytest.raises(BadReply, match=r"^2 of 10 pieces"):
        attempt(limit, BadReply("No."))


@pytest.mark.parametrize("error", [Stopped(), OSError(28, "no space"), MemoryError()])
def test_what_is_no_fault_of_the_code_is_raised(error: Exception) -> None:
    with pytest.raises(type(error)):
        attempt(GapLimit(), error)


# A document


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """A package whose graph fails on words that a test gives."""
    monkeypatch.syspath_prepend(str(PACKAGE))
    monkeypatch.setenv("FABULA_CHUNK_TOKENS", "40")
    forget_installed()
    faults: dict[str, str] = import_module("fabula_faulty").FAULTS
    yield faults
    faults.update(dict.fromkeys(faults, ""))
    forget_installed()


def run(*words: str) -> str:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.journey
@pytest.mark.parametrize("kind", ["rule", "whole"])
def test_the_document_comes_in_with_a_gap_that_a_later_build_fills(
    package: dict[str, str],
    faults: list[str],
    store: Store,
    graph_url: str,
    story: Path,
    kind: str,
) -> None:
    package[kind] = "Dmitri"
    with Fabula() as fabula:
        [outcome] = fabula.ingest(story, graphs=("aspects", "faulty"))
        assert outcome.status == "added"
        assert {gap.step for gap in outcome.gaps} == {RULES}
        parts = fabula.document("Winter").graphs
        assert parts["faulty"].gaps == len(outcome.gaps)
        assert parts["aspects"].gaps == 0
        assert fabula.check().violations == ()
    lacking = cypher(
        store,
        "MATCH (gap:Gap)-[:LACKS]->(chunk:Chunk) "
        "WHERE gap.start <= chunk.start AND chunk.end <= gap.end "
        "WITH gap, collect(chunk.text) AS texts RETURN texts",
    )
    assert len(lacking) == len(outcome.gaps) >= 1
    assert all("Dmitri" in "".join(row["texts"]) for row in lacking)
    assert "a rule failed with" in run("show", "Winter")
    assert "Gaps in faulty: " in run("check")
    assert f"{len(lacking)} gap" in run("list")
    package[kind] = ""
    with Fabula() as fabula:
        [filled] = fabula.renew("gaps")
        assert (filled.status, filled.gaps) == ("replaced", ())
        assert fabula.document("Winter").gaps == 0


def test_in_a_strict_run_a_fault_fails_its_document_alone(
    package: dict[str, str], graph_url: str, story: Path, tmp_path: Path
) -> None:
    other = tmp_path / "summer.txt"
    other.write_text("Title: Summer\n\nAnna rowed to the mill, and nobody knew why.")
    package["rule"] = "Dmitri"
    with Fabula() as fabula:
        graphs = ("aspects", "faulty")
        outcomes: list[Outcome] = fabula.ingest(story, other, graphs=graphs, strict=True)
    assert [outcome.status for outcome in outcomes] == ["failed", "added"]
    assert "faulty of Winter: a rule failed with IndexError" in str(outcomes[0].error)
