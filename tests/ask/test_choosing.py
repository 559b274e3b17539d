"""Which mode a question is asked by where none is named, and several modes at once: no Neo4j."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from cases import for_each
from fabula.ask.choosing import (
    ModeChoice,
    ModeGain,
    ask_kind,
    certain_gains,
    choose,
    choose_modes,
    mode_options,
    recognise_kind,
)
from fabula.ask.modes import modes
from fabula.ask.query import Query
from fabula.ask.retrieve import RetrievalResult, retrieve
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings
from fabula.errors import BadReply, SettingsError, TextRefused
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import KINDS, Kind, MeasuredGain, Mode, ModeRun, NoOptions, Tools
from fabula.graph.trace import Trace as Steps
from fabula.graph.trace import TraceStep
from fabula.models import Chat, Prompt, Reply
from fabula.models.parallel import Workers
from scripted import Says

# The kind of a question


@for_each(
    ("question", "kind"),
    [
        ("Who is Fred?", "fact"),
        ("How many ghosts come?", "fact"),
        ("How old is Tiny Tim?", "fact"),
        ("What is the relationship between Fred and Scrooge?", "reasoning"),
        ("WHY   does\nScrooge change?", "reasoning"),
        ("How does Marley’s visit lead to Scrooge's change?", "reasoning"),
        ("What happens to Scrooge throughout the story?", "overview"),
        ("Summarise the third stave.", "overview"),
        ("How do Fred and Scrooge differ?", "comparison"),
        ("What do the three ghosts have in common?", "comparison"),
        ("Rewrite the plot as a news report, and explain why.", "creative"),
        ("Imagine you are Bob Cratchit. Write a letter.", "creative"),
        ("Who rewrites the plot?", "overview"),
        ("Wer ist Fred?", "fact"),
        ("Warum ändert sich Scrooge?", "reasoning"),
        ("Wie heißt der Neffe?", "fact"),
        ("Worum geht es?", "overview"),
        ("Compare Fred et Scrooge.", "comparison"),
        ("Pourquoi Scrooge change-t-il ?", "reasoning"),
        ("Comment s'appelle le neveu ?", "fact"),
        ("Streść księgę pierwszą.", "overview"),
        ("Dlaczego Tadeusz wyjechał?", "reasoning"),
        ("Czym różnią się Hrabia i Tadeusz?", "comparison"),
        ("Почему Соня плачет?", "reasoning"),
        ("Напиши письмо от имени Сони.", "creative"),
        ("罪与罚的主人公是谁？", "fact"),
        ("", "fact"),
    ],
)
def test_the_words_of_a_question_tell_its_kind(question: str, kind: Kind) -> None:
    assert recognise_kind(question) == kind


def test_a_question_without_end_is_told_in_no_time() -> None:
    recognise_kind("Who?")
    began = time.process_time()
    for _ in range(100):
        assert recognise_kind("How does one and how " * 1000) == "reasoning"
        assert recognise_kind("what of what or " * 1000) == "fact"
    assert (time.process_time() - began) / 200 < 0.1


def test_a_model_tells_the_kind_by_number_in_one_small_call() -> None:
    for number, kind in enumerate(KINDS, 1):
        says = Says(lambda _, number=number: f'{{"choice": {number}}}')  # type: ignore[misc]
        assert ask_kind("Who is Fred?" * 1000, says) == kind
        [asked] = says.asked
        assert asked.max_tokens <= 100
        assert len(asked.user) < 3000


# The mode for it


def model(reply: str) -> Says:
    return Says(lambda _: reply)


def gain(mode: str, kind: Kind, points: float = 5.0, low: float = 1.0) -> ModeGain:
    """A gain over the mode hybrid, as it might be measured."""
    interval = (low, 2 * points - low)
    return ModeGain(mode, MeasuredGain(kind, "hybrid", points, interval, False, "measured"))


GAINS = (gain("fast", "fact"), gain("local", "overview"), gain("global", "overview", 7.0))
ASKED: Sequence[tuple[str, Kind]] = (
    ("Who is Fred?", "fact"),
    ("Why does he laugh?", "reasoning"),
    ("What is the plot?", "overview"),
    ("Compare Fred and Bob.", "comparison"),
    ("Write a letter of Fred's.", "creative"),
)


def test_without_a_gain_every_question_is_asked_by_the_usual_mode_and_no_model_is_asked() -> None:
    def none() -> Chat:
        raise AssertionError("a model was asked")

    for question, _ in ASKED:
        for usual in ("hybrid", "collapsed"):
            choice = choose(question, usual, (), none)
            assert choice == ModeChoice(usual, "no other mode was measured to be better")


def test_the_mode_with_the_largest_gain_for_the_kind_is_taken() -> None:
    found = {kind: choose(question, "hybrid", GAINS, None).mode for question, kind in ASKED}
    assert found == {
        "fact": "fast",
        "reasoning": "hybrid",
        "overview": "global",
        "comparison": "hybrid",
        "creative": "hybrid",
    }
    of_several = (gain("hippo", "reasoning"),)
    assert choose("Compare Fred and Bob.", "hybrid", of_several, None).mode == "hippo"


def test_a_model_recognises_the_kind_in_one_call() -> None:
    says = model('{"choice": 3}')
    choice = choose("Who is Fred?", "hybrid", GAINS, lambda: says)
    assert choice.mode == "global"
    assert choice.why == (
        "it is one for an overview, by the model (global +7.0 points, local +5.0 points)"
    )
    assert len(says.asked) == 1


def test_no_model_is_asked_where_each_kind_leads_to_one_mode() -> None:
    def none() -> Chat:
        raise AssertionError("a model was asked")

    measured: Sequence[Kind] = ("fact", "reasoning", "overview", "creative")
    everywhere = [gain("fast", kind) for kind in measured]
    choice = choose("Who is Fred?", "hybrid", everywhere, none)
    assert choice == ModeChoice("fast", "measured to be better for every kind of question")


@pytest.mark.parametrize(
    "reply", ['{"choice": 9}', "an overview", "", "9" * 100_000, '{"choice": "']
)
def test_what_is_no_kind_leaves_it_to_the_rules(reply: str) -> None:
    says = model(reply)
    choice = choose("Who is Fred?", "hybrid", GAINS, lambda: says)
    assert (choice.mode, len(says.asked)) == ("fast", 1)
    assert "a question for a fact, by rules, as the model's reply was unusable" in choice.why


def test_a_question_that_an_endpoint_refuses_is_left_to_the_rules() -> None:
    class Refuses(Says):
        def complete(self, prompt: Prompt) -> Reply:
            raise TextRefused("It says no.")

    choice = choose("What is the plot?", "hybrid", GAINS, lambda: Refuses(str))
    assert choice.mode == "global"


@pytest.mark.parametrize(
    ("points", "interval", "is_certain"),
    [
        (2.9, (0.1, 5.7), True),
        (3.0, (-1.0, 7.0), True),
        (2.9, (-0.1, 5.9), False),
        (2.9, (0.0, 5.8), False),
        (-4.0, (-6.0, -2.0), False),
    ],
)
def test_a_gain_is_certain_from_three_points_on_or_if_its_interval_is_above_0(
    points: float, interval: tuple[float, float], is_certain: bool
) -> None:
    measured = MeasuredGain("fact", "hybrid", points, interval, True, "measured")
    assert measured.is_certain == is_certain


def test_every_gain_of_an_installed_mode_is_a_figure_of_ours() -> None:
    """Figures of other implementations are documentation; a gain names the command behind it."""
    gains = [gain for mode in modes().values() for gain in mode.gains]
    assert gains
    for each in gains:
        assert each.command.startswith(("python -m bench", "fabula bench run"))
        assert each.interval[0] <= each.points <= each.interval[1]
        assert each.against in ("hybrid", "collapsed")


def test_no_mode_is_chosen_over_the_usual_one_by_what_is_measured_today() -> None:
    """Of hippo, fast, light, local and global nothing certain is measured with Fabula yet."""
    for usual in ("hybrid", "collapsed"):
        for offline in (False, True):
            assert certain_gains(usual, offline=offline) == []


def test_a_gain_counts_only_against_the_usual_mode_and_as_it_was_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    better = MeasuredGain("fact", "hybrid", 9.0, (4.0, 14.0), True, "measured")
    noise = MeasuredGain("overview", "hybrid", 1.0, (-4.0, 6.0), True, "measured")
    installed = modes() | {"fast": replace(modes()["fast"], gains=(better, noise))}
    monkeypatch.setattr("fabula.ask.choosing.modes", lambda: installed)
    assert certain_gains("hybrid", offline=True) == [ModeGain("fast", better)]
    assert certain_gains("hybrid", offline=False) == []
    assert certain_gains("collapsed", offline=True) == []


# Several modes at once


def asked(mode: str, **given: Any) -> Query:
    return Query.of("Who?", Settings(), mode=mode, **given)


def test_modes_are_named_with_commas_each_once() -> None:
    assert asked("hippo, hybrid,hippo,").modes == ("hippo", "hybrid")
    assert asked("auto").modes == ("auto",)
    with pytest.raises(SettingsError, match=r"There is no mode 'hipo'\. Did you mean hippo"):
        assert asked("hybrid,hipo").modes
    with pytest.raises(SettingsError, match="Mode auto chooses one itself"):
        assert asked("auto,hybrid").modes
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
    assert mode_options("hybrid", asked("auto", knobs={"hippo.damping": 0.4})) == {}
    for mode in ("hippo,fast", "auto"):
        with pytest.raises(
            SettingsError, match=r"'damping' belongs to one mode, .*'hippo\.damping'"
        ):
            mode_options("hippo", asked(mode, knobs={"damping": 0.4}))
    with pytest.raises(
        SettingsError, match=r"'hipo\.damping' belongs to no mode .* Did you mean hippo"
    ):
        mode_options("fast", asked("hippo,fast", knobs={"hipo.damping": 0.4}))


@pytest.mark.parametrize("knob", ["hippo.damping", "damping", "hippo.dampin"])
def test_a_knob_that_can_not_be_is_refused_before_the_mode_is_chosen(knob: str) -> None:
    """And so before a model is paid to tell the question's kind: here is none to ask."""
    nothing = cast(Any, None)
    query = asked("auto", knobs={knob: 7})
    with pytest.raises(SettingsError, match="dampin"):
        choose_modes(query, Filters("c"), nothing, ModelFactory(Settings()), nothing, Steps())


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
        given = (nothing,) * 4
        return ModeRun(name, mode, Tools(*given, path, k, 100, NoOptions(), None, workers))

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
    assert [one.score for one in result.hits] == [9.0]
    assert [step.name for step in steps] == ["look one"]


def test_a_mode_whose_kinds_are_filtered_out_is_left_out_of_several(workers: Workers) -> None:
    ways = {"one": ([hit("a")], ("detail",)), "other": ([hit("b")], ("chunk",))}
    result, _, told = found(workers, ways, kinds=("chunk",))
    assert [one.id for one in result.hits] == ["b"]
    assert [one.kinds for one in told] == [("chunk",)]
    assert found(workers, ways, kinds=("summary",))[0] == RetrievalResult()
    assert [one.kinds for one in found(workers, ways)[2]] == [("detail",), ("chunk",)]


def test_several_modes_give_no_more_than_one(workers: Workers) -> None:
    lists = {name: ([hit(f"{name}{n}") for n in range(5)], ()) for name in "abc"}
    assert len(found(workers, lists, k=4)[0].hits) == 4


def test_a_bad_reply_is_the_only_trouble_that_rules_stand_in_for() -> None:
    class Broke(Says):
        def complete(self, prompt: Prompt) -> Reply:
            raise SettingsError("No key.")

    with pytest.raises(SettingsError, match="No key"):
        choose("Who?", "hybrid", GAINS, lambda: Broke(str))
    with pytest.raises(BadReply):
        ask_kind("Who?", model("none"))
