"""The options of a question's modes, and several modes at once: no Neo4j."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cases import for_each
from fabula.ask.mode_runs import mode_options, prepare_modes
from fabula.ask.query import Query
from fabula.ask.retrieve import RetrievalResult, retrieve
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings
from fabula.errors import SettingsError
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Mode, ModeRun, NoOptions, Tools
from fabula.graph.trace import Trace as Steps
from fabula.graph.trace import TraceStep
from fabula.models.parallel import Workers

# Several modes at once


def asked(mode: str, **given: Any) -> Query:
    return Query.of("Who?", Settings(), mode=mode, **given)


def test_modes_are_named_with_commas_each_once() -> None:
    assert asked("hippo, hybrid,hippo,").modes == ("hippo", "hybrid")
    assert Query.of("Who?", Settings()).modes == ("hybrid",)
    with pytest.raises(SettingsError, match=r"There is no mode 'hipo'\. Did you mean hippo"):
        assert asked("hybrid,hipo").modes
    with pytest.raises(SettingsError, match="There is no mode ' , '"):
        assert asked(" , ").modes


def test_knobs_of_several_modes_name_their_mode() -> None:
    both = asked("hippo,fast", knobs={"hippo.damping": 0.4, "fast.chunks": 3})
    assert mode_options("hippo", both) == {"damping": 0.4}
    assert mode_options("fast", both) == {"chunks": 3}
    assert mode_options("hippo", asked("hippo", knobs={"damping": 1, "hippo.facts": 2})) == {
        "damping": 1,
        "facts": 2,
    }
    with pytest.raises(SettingsError, match=r"'damping' belongs to one mode, .*'hippo\.damping'"):
        mode_options("hippo", asked("hippo,fast", knobs={"damping": 0.4}))
    with pytest.raises(
        SettingsError, match=r"'hipo\.damping' belongs to no mode .* Did you mean hippo"
    ):
        mode_options("fast", asked("hippo,fast", knobs={"hipo.damping": 0.4}))


@for_each("knob", ["hippo.damping", "damping", "hippo.dampin"])
def test_a_knob_that_can_not_be_is_refused_before_anything_is_read(knob: str) -> None:
    nothing = cast(Any, None)
    query = asked("hippo,hybrid", knobs={knob: 7})
    with pytest.raises(SettingsError, match="dampin"):
        prepare_modes(query, Filters("c"), nothing, ModelFactory(Settings()), nothing, Steps())


def hit(id: str, kind: str = "chunk", score: float = 1.0) -> Hit:
    place: dict[str, Any] = {
        "document": "d",
        "title": "D",
        "language": "en",
        "section": "",
        "aspect": "",
    }
    return Hit(
        id=id, kind=kind, level=0, start=0, end=9, text=f"{id}.", tokens=2, score=score, **place
    )


@pytest.fixture
def workers() -> Iterator[Workers]:
    workers = Workers(1)
    yield workers
    workers.close()


def found(
    workers: Workers,
    ways: Mapping[str, tuple[Sequence[Hit], tuple[str, ...]]],
    *,
    k: int = 5,
    kinds: tuple[str, ...] = (),
) -> tuple[RetrievalResult, list[TraceStep], list[Filters]]:
    """What modes of these hits and kinds find together, the path, and what each was asked with."""
    path, told = Steps(), list[Filters]()
    nothing = cast(Any, None)

    def way(name: str, hits: Sequence[Hit], own: tuple[str, ...]) -> ModeRun:
        def find(question: str, filters: Filters, tools: Tools) -> list[Hit]:
            told.append(filters)
            with path.step(f"look {name}") as step:
                step.record(hits)
            return [*hits][: tools.k]

        mode = Mode(find, name, kinds=own)
        store = cast(Any, SimpleNamespace(place=None))
        return ModeRun(
            name, mode, Tools(store, *(nothing,) * 3, path, k, 100, NoOptions(), None, workers)
        )

    made = [way(name, hits, own) for name, (hits, own) in ways.items()]
    filters = Filters("c", kinds=kinds)
    result = retrieve(Query("Who?", k=k, fill=False), filters, made)
    [whole] = path.root.steps
    return result, whole.steps, told


def test_hits_of_several_modes_are_fused_by_their_ranks_and_records_stay_records(
    workers: Workers,
) -> None:
    one = [hit("a", score=9.0), hit("b", score=8.0)]
    other = [hit("r", "relation"), hit("b", score=0.1), hit("c", score=0.05)]
    result, steps, _ = found(workers, {"one": (one, ()), "other": (other, ())})
    assert [(one.id, one.kind) for one in result.hits] == [
        ("b", "chunk"),
        ("a", "chunk"),
        ("r", "relation"),
        ("c", "chunk"),
    ]
    assert result.hits[0].score == pytest.approx(2 / 62)
    assert [(step.name, step.note) for step in steps] == [
        ("mode", "one"),
        ("mode", "other"),
        ("fuse", "by ranks"),
    ]
    assert [inner.name for step in steps for inner in step.steps] == ["look one", "look other"]


def test_one_mode_alone_keeps_its_scores_and_its_path(workers: Workers) -> None:
    result, steps, _ = found(workers, {"one": ([hit("a", score=9.0)], ())})
    assert [hit.score for hit in result.hits] == [9.0]
    assert [step.name for step in steps] == ["look one"]


def test_a_mode_whose_kinds_are_filtered_out_is_left_out_of_several(workers: Workers) -> None:
    ways = {"one": ([hit("a")], ("detail",)), "other": ([hit("b")], ("chunk",))}
    result, _, told = found(workers, ways, kinds=("chunk",))
    assert [hit.id for hit in result.hits] == ["b"]
    assert [one.kinds for one in told] == [("chunk",)]
    assert found(workers, ways, kinds=("summary",))[0] == RetrievalResult()
    assert [one.kinds for one in found(workers, ways)[2]] == [("detail",), ("chunk",)]


def test_several_modes_give_no_more_than_one(workers: Workers) -> None:
    lists = {name: ([hit(f"{name}{n}") for n in range(5)], ()) for name in "abc"}
    assert len(found(workers, lists, k=4)[0].hits) == 4
