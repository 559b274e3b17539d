"""The modes of a question, each prepared with its options and the tools that it works with."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from fabula.ask.modes import mode
from fabula.ask.query import Query
from fabula.errors import NotFound, SettingsError, did_you_mean, first_problem
from fabula.graph import TEXT
from fabula.graph.entries import Entry
from fabula.graph.hits import Filters
from fabula.graph.installed import graph, graphs
from fabula.graph.mode import ModeRun, Tools
from fabula.graph.trace import Trace
from fabula.models.counted import Meter

if TYPE_CHECKING:
    from fabula.ask.protocols import QuestionModels, QuestionReader


def prepare_modes(
    query: Query,
    filters: Filters,
    store: QuestionReader,
    models: QuestionModels,
    meter: Meter,
    trace: Trace,
) -> list[ModeRun]:
    """Return the modes of a question, each with the tools that it works with.

    Args:
        query: The question; `query.mode` names the modes.
        filters: Where to look.
        store: The graph.
        models: The models that may be asked.
        meter: Counts the calls to models.
        trace: Records which modes are left out, and the steps of retrieval afterwards.

    Returns:
        One entry per mode. Empty if several modes are named and the graph of none is there.

    Raises:
        SettingsError: A mode is not installed, or an option belongs to no mode of the question.
    """
    names = query.modes
    options = {name: _check_options(name, query, models) for name in names}
    if len(names) > 1:
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


def refuse_unbuilt(
    names: Sequence[str], store: QuestionReader, filters: Filters, document: Entry | None
) -> None:
    """Raise NotFound if the graph of no mode is built, for a question that found nothing."""
    required = {name: mode(name).graph for name in names}
    counts = count_parts(store, set(required.values()), filters)
    if any(not name or name in counts for name in required.values()):
        return
    name, walked = next(iter(required.items()))
    collection, target = filters.collection, walked
    who = f"no document of collection {collection!r} has"
    if document:
        who, target = f"{document.title} does not have", f"{walked} {document.id}"
    raise NotFound(
        f"Mode {name} needs the graph {walked!r}, which {who}: build that graph, or choose another "
        "mode.",
        advice=f"Run `fabula build {target} --collection {collection}`.",
    )


def mode_options(name: str, query: Query) -> dict[str, Any]:
    """Return the options that a query gives to one of its modes.

    Raises SettingsError for an option that is not clearly of one mode of the question.
    """
    names = query.modes
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
