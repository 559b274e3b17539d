"""By which modes a question is asked: those it names or, with `auto`, the one that serves it best.

With `auto` it is the usual mode, unless another one was measured to be better for the kind of
question by more than noise (`Mode.gains`), and its graphs are there as they were measured. Rules in
`kinds.toml` recognise the kind or, with a chat model, one small call does. So a graph that is built
besides changes the answer to a question only where that was shown to help.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fabula.ask.modes import mode, modes
from fabula.ask.protocols import QuestionModels, QuestionReader
from fabula.ask.query import ANY_LEVEL, AUTO, Query
from fabula.errors import BadReply, SettingsError, did_you_mean, first_problem
from fabula.graph import TEXT
from fabula.graph.hits import Filters
from fabula.graph.installed import graph, graphs
from fabula.graph.mode import KINDS, Kind, MeasuredGain, Mode, ModeRun, Tools
from fabula.graph.trace import Trace
from fabula.models import Chat, Prompt
from fabula.models.counted import Meter
from fabula.models.prompts import fill_prompt

RULES = Path(__file__).with_name("kinds.toml")
USUAL_MODE = "hybrid"
"""Words find what vectors miss, those of a real encoder, too: with MiniLM, hybrid ranking found 6.7
points more of the evidence in four novels than cosine alone (docs/experiments.md)."""
IN_ORDER: tuple[Kind, ...] = ("creative", "comparison", "overview", "reasoning")
"""The kinds in the order of their rules; a question that fits none is taken for one for a fact."""
UNMEASURED: Mapping[Kind, Kind] = {"comparison": "reasoning"}
"""Kinds that no data set measures, and the kind whose figures are used: comparing takes several
passages, too."""
DESCRIPTIONS: Mapping[Kind, str] = {
    "fact": "a question for a fact",
    "reasoning": "one that takes several passages",
    "overview": "one for an overview",
    "comparison": "a comparison",
    "creative": "a creative task",
}
MAX_REPLY_TOKENS = 100
"""Room for a number in JSON, and for a model that writes a word before it."""
MAX_CHARACTERS = 2000
"""Only the beginning of a long question is used to recognise its kind."""


def choose_modes(
    query: Query,
    filters: Filters,
    store: QuestionReader,
    models: QuestionModels,
    meter: Meter,
    trace: Trace,
) -> list[ModeRun]:
    """Return the modes by which a question is asked, each with the tools that it works with.

    Args:
        query: The question; `query.mode` names the modes.
        filters: Where to look.
        store: The graph.
        models: The models that may be asked.
        meter: Counts the calls to models.
        trace: Records the choice, and the steps of retrieval afterwards.

    Returns:
        One entry per mode. Empty if several modes are named and the graph of none is there.

    Raises:
        SettingsError: A mode is not installed, or an option belongs to no mode of the question.

    """
    names = query.modes
    # Options are checked before a model is paid to recognise the kind of question.
    checked = modes() if names == (AUTO,) else names
    options = {name: _check_options(name, query, models) for name in checked}
    if names == (AUTO,):
        names = (_choose_by_kind(query, filters, store, models, meter, trace),)
    elif len(names) > 1:
        names = _with_graphs(names, filters, store, trace)
    return [_prepare(name, options[name], query, store, models, meter, trace) for name in names]


def count_parts(store: QuestionReader, names: Collection[str], filters: Filters) -> dict[str, int]:
    """Return how many documents have each of these graphs, and how many have a text.

    A graph that no document has is left out. A graph of the whole collection counts as if every
    document had it.
    """
    requested = sorted(filter(None, names))
    if not requested:
        return {}
    counts = store.count_parts(filters.collection, filters.document, [TEXT, *requested])
    whole = [name for name in requested if name in graphs() and graphs()[name].build_collection]
    present = store.count_parts(filters.collection, "", whole) if whole else {}
    return counts | dict.fromkeys(present, counts.get(TEXT, 0))


def mode_options(name: str, query: Query) -> dict[str, Any]:
    """Return the options that a query gives to one of its modes.

    Raises SettingsError for an option that is not clearly of one mode of the question.
    """
    names = list(modes()) if query.modes == (AUTO,) else query.modes
    options: dict[str, Any] = {}
    for option, value in query.knobs.items():
        owner, dot, bare = option.rpartition(".")
        if not dot and len(names) > 1:
            raise SettingsError(
                f"The option {option!r} belongs to one mode, and the question is asked by "
                f"{query.mode!r}: name the mode, as '{name}.{option}'."
            )
        if dot and owner not in names:
            hint = did_you_mean(owner, names, f"Its modes are: {query.mode}.")
            raise SettingsError(f"The option {option!r} belongs to no mode of the question. {hint}")
        if owner in ("", name):
            options[bare] = value
    return options


@dataclass(frozen=True, slots=True)
class ModeGain:
    """A gain that was measured, and the mode that it is of."""

    mode: str
    gain: MeasuredGain


@dataclass(frozen=True, slots=True)
class ModeChoice:
    """The mode by which a question is best asked, and the reason in words."""

    mode: str
    why: str


def choose(
    question: str,
    usual: str,
    gains: Sequence[ModeGain],
    chat: Callable[[], Chat] | None,
) -> ModeChoice:
    """Return the mode with the largest gain for the question's kind; without one, the usual mode.

    Args:
        question: The question.
        usual: The usual mode.
        gains: The certain gains of other modes over the usual one, as `certain_gains` returns them.
        chat: Makes the model that recognises the kind; None without a chat model. It is not asked
            if every kind leads to the same mode.

    """
    best = {kind: _best_mode(kind, usual, gains) for kind in KINDS}
    if set(best.values()) == {usual}:
        return ModeChoice(usual, "no other mode was measured to be better")
    if len(set(best.values())) == 1:
        return ModeChoice(best["fact"], "measured to be better for every kind of question")
    kind, source = recognise_kind(question), "rules"
    if chat is not None:
        try:
            kind, source = ask_kind(question, chat()), "the model"
        except BadReply:
            source = "rules, as the model's reply was unusable"
    of_kind = sorted(_gains_for(kind, gains), key=_by_points)
    compared = ", ".join(f"{each.mode} {each.gain.points:+.1f} points" for each in of_kind)
    why = f"it is {DESCRIPTIONS[kind]}, by {source}"
    return ModeChoice(best[kind], f"{why} ({compared or 'no gain was measured'})")


def certain_gains(usual: str, *, offline: bool) -> list[ModeGain]:
    """Return the gains of all modes over the usual one that are no noise.

    Args:
        usual: The usual mode.
        offline: Whether there is no chat model: only what was measured so counts.

    """
    return [
        ModeGain(name, gain)
        for name, mode in modes().items()
        for gain in mode.gains
        if name != usual and gain.against == usual and gain.offline == offline and gain.is_certain
    ]


def recognise_kind(question: str) -> Kind:
    """Return the kind of a question by its words, in any of the languages of `kinds.toml`."""
    plain = question[:MAX_CHARACTERS].casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    words = " ".join(plain.split())
    return next((kind for kind in IN_ORDER if _rules()[kind].search(words)), "fact")


def ask_kind(question: str, chat: Chat) -> Kind:
    """Ask a model for the kind of a question. Raises BadReply if its reply names none."""
    # Only a question with a model needs what reads replies.
    from fabula.models.replies import ask_once, read_choice
    from fabula.models.schemas import ChoiceReply

    request = Prompt(
        system=fill_prompt("kind_system"),
        user=fill_prompt("kind", question=question[:MAX_CHARACTERS]),
        max_tokens=MAX_REPLY_TOKENS,
        temperature=0,
        schema=ChoiceReply,
        placeholder=lambda: json.dumps({"choice": 1}),
    )
    return KINDS[ask_once(chat, request, lambda reply: read_choice(reply, len(KINDS))) - 1]


def _choose_by_kind(
    query: Query,
    filters: Filters,
    store: QuestionReader,
    models: QuestionModels,
    meter: Meter,
    trace: Trace,
) -> str:
    """Return the usual mode, or one that was measured to be better where all its graphs are."""
    with trace.step("choose") as step:
        if query.aspects or query.kinds or query.levels != ANY_LEVEL:
            step.note = f"{USUAL_MODE}: the question is restricted to some passages"
            return USUAL_MODE
        if models.offline and not models.is_static:
            step.note = (
                f"{USUAL_MODE}: without a model, others were measured with static vectors only"
            )
            return USUAL_MODE
        gains = certain_gains(USUAL_MODE, offline=models.offline)
        gains = [each for each in gains if _holds(each, filters, store)]
        chat = None if models.offline else partial(models.chat, meter, "kind")
        choice = choose(query.question, USUAL_MODE, gains, chat)
        step.note = f"{choice.mode}: {choice.why}"
    return choice.mode


def _holds(gain: ModeGain, filters: Filters, store: QuestionReader) -> bool:
    """Return whether every document has the graphs of a gain, built as they were measured."""
    needed = _required_graphs(mode(gain.mode))
    needed |= {option.partition(".")[0] for option in gain.gain.options}
    counts = count_parts(store, needed, filters)
    if any(counts.get(name) != counts.get(TEXT) for name in needed):
        return False
    return all(
        _values_of(option, filters, store) == [value] for option, value in gain.gain.options.items()
    )


def _values_of(option: str, filters: Filters, store: QuestionReader) -> list[Any]:
    """Return the different values of an option that a graph's parts were built with.

    Args:
        option: The option with its graph, as `entities.triples`.
        filters: The collection, and the document if it is only one.
        store: The graph.

    """
    name, _, key = option.partition(".")

    def read() -> list[Any]:
        records = [
            *store.collection_parts(filters.collection).values(),
            *(
                record
                for entry in store.documents(filters.collection)
                if filters.document in ("", entry.id)
                for record in entry.graphs.values()
            ),
        ]
        values: list[Any] = []
        for record in records:
            value = record.made_from.get("settings", {}).get(key)
            if record.made_from.get("graph") == name and value not in values:
                values.append(value)
        return values

    # All parts of a collection are read for this, so it is kept until the graph changes.
    return store.cached(option, filters.collection, filters.document, [name], read) or []


def _with_graphs(
    names: Sequence[str], filters: Filters, store: QuestionReader, trace: Trace
) -> tuple[str, ...]:
    """Return the modes whose graphs are there; possibly none."""
    required = {name: mode(name).graph for name in names}
    counts = count_parts(store, set(required.values()), filters)
    usable = tuple(name for name in names if not required[name] or required[name] in counts)
    for name in names:
        if name not in usable:
            with trace.step("leave out", f"{name}: the graph {required[name]!r} is not built"):
                pass
    return usable


def _prepare(
    name: str,
    options: Any,
    query: Query,
    store: QuestionReader,
    models: QuestionModels,
    meter: Meter,
    trace: Trace,
) -> ModeRun:
    chosen = mode(name)
    tools = Tools(
        store=store,
        embedder=models.counted_embedder(meter),
        models=models.models(meter),
        guide=models.guide(meter),
        trace=trace,
        k=query.max_candidates,
        tokens=query.budget,
        options=options,
        graph_options=models.table(graph(chosen.graph).name) if chosen.graph else None,
        workers=models.workers,
        cost=models.cost,
    )
    return ModeRun(name, chosen, tools)


def _check_options(name: str, query: Query, models: QuestionModels) -> Any:
    """Return the options of a mode: those of the settings, except for those that a query gives."""
    model = mode(name).options
    defaults = models.table(name) if model.model_fields else model()
    try:
        return model.model_validate(defaults.model_dump() | mode_options(name, query))
    except ValidationError as error:
        raise SettingsError(f"Mode {name}: {first_problem(error)}") from error


def _best_mode(kind: Kind, usual: str, gains: Sequence[ModeGain]) -> str:
    """Return the mode with the largest gain, of equals the first by name; else the usual mode."""
    of_kind = _gains_for(kind, gains)
    return min(of_kind, key=_by_points).mode if of_kind else usual


def _gains_for(kind: Kind, gains: Sequence[ModeGain]) -> list[ModeGain]:
    return [each for each in gains if each.gain.kind == UNMEASURED.get(kind, kind)]


def _by_points(each: ModeGain) -> tuple[float, str]:
    return -each.gain.points, each.mode


def _required_graphs(mode: Mode) -> set[str]:
    """Return the graphs without which a mode's gains do not hold."""
    return {mode.graph, *mode.uses} - {""}


@cache
def _rules() -> dict[Kind, re.Pattern[str]]:
    rules = tomllib.loads(RULES.read_text(encoding="utf-8"))
    return {kind: _pattern(rules[kind].values()) for kind in IN_ORDER}


def _pattern(languages: Iterable[Mapping[str, list[str]]]) -> re.Pattern[str]:
    """Compile what a question `begins` with or `has`: whole words, each a regular expression."""
    begins = "|".join(word for words in languages for word in words.get("begins", []))
    has = "|".join(word for words in languages for word in words.get("has", []))
    return re.compile(rf"^\W*(?:{begins})\b|\b(?:{has})\b")
