"""A question as a value, and its hits, found as it says."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Annotated, Any, Literal, TypedDict

from pydantic import Field, TypeAdapter, ValidationError

from fabula.ask.choosing import choose, walked_unasked
from fabula.ask.context import Context
from fabula.ask.modes import mode, modes
from fabula.ask.retrieve import Expand, Found, Rewrite, retrieve
from fabula.config.kit import Kit
from fabula.config.settings import AUTO, STATIC, Settings
from fabula.errors import FabulaError, SettingsError, did_you_mean, first_problem
from fabula.graph import TEXT
from fabula.graph.hits import Filters
from fabula.graph.installed import graph, graphs
from fabula.graph.mode import Tools, Way
from fabula.graph.path import Path
from fabula.models.counted import Meter
from fabula.store import Store

FEWEST_READ, MOST_READ = 50, 1000
"""Hits that a context is filled from. Measured on seven novels, 20 are half a point worse than 50,
and 100 no better."""
SHORT = 20
"""Tokens of a short hit, so that a wide context is filled with such, too."""
ANY_LEVEL = (0, 99)


class Asked(TypedDict, total=False):
    """What may be given with a question: the fields of a Query, by their names."""

    mode: str
    k: int
    context_tokens: int
    document: str
    aspects: str | Sequence[str]
    kinds: str | Sequence[str]
    levels: tuple[int, int]
    rewrite: Rewrite
    rerank: bool
    diversity: float
    expand: Expand
    knobs: Mapping[str, Any]
    context: Context | Literal["auto"]
    fill: bool


@dataclass(frozen=True, slots=True)
class Query:
    """A question, and how to find and what to give an answer to read; `of` fills in the defaults.

    `mode` is the name of one, of several as 'hippo,hybrid', or 'auto', chosen by the question.
    `document` is an id, title or file, '' for all; `aspects` are names, '' being that of chunks
    and details; `kinds` as chunk, summary, detail; what is empty lets all through. `levels`: the
    lowest and the highest. `k` hits are shown; an answer is given `context_tokens` to read, of the
    passages or of the best sentences, as `context` says: of these hits alone, or, with `fill`, of
    as many as it takes. `knobs` are settings of the mode's own; of several modes each is named with
    its mode, as 'hippo.damping'.
    """

    question: str
    mode: str
    k: Annotated[int, Field(ge=1)]
    context_tokens: Annotated[int, Field(ge=16)]
    document: str = ""
    aspects: Sequence[str] = ()
    kinds: Sequence[str] = ()
    levels: tuple[int, int] = ANY_LEVEL
    rewrite: Rewrite = "none"
    rerank: bool = False
    diversity: Annotated[float, Field(ge=0, le=1)] = 0.0
    expand: Expand = "none"
    knobs: Mapping[str, Any] = field(default_factory=dict)
    context: Context = "passages"
    fill: bool = True

    @classmethod
    def of(cls, question: str, settings: Settings, **given: Any) -> Query:
        """A question asked as the settings say, but for what is `given`; None is not given.

        Raises FabulaError for one without a character, TypeError for what it has no place for, and
        SettingsError for a value that can't be.
        """
        if not question.strip():
            raise FabulaError("The question is empty: ask something.")
        if unknown := [name for name in given if name not in cls.__dataclass_fields__]:
            names = [name for name in cls.__dataclass_fields__ if name != "question"]
            hint = did_you_mean(unknown[0], names, f"It may have {', '.join(names)}.")
            raise TypeError(f"A question has no {unknown[0]!r}. {hint}")
        given = {name: one for name, one in given.items() if one is not None}
        if given.get("context") == "auto":
            del given["context"]
        for name in ("aspects", "kinds"):
            if isinstance(given.get(name), str):
                given[name] = (given[name],)
        usual: dict[str, Any] = {
            "mode": settings.mode,
            "k": settings.top_k,
            "context_tokens": settings.context_tokens,
            "context": _usual_context(settings),
            "fill": settings.fill,
            "rewrite": settings.rewrite,
            "rerank": settings.rerank,
            "diversity": settings.diversity,
            "expand": settings.expand,
        }
        try:
            query = _checker().validate_python({"question": question, **usual, **given})
        except ValidationError as error:
            value = error.errors()[0]["input"]
            told = f"A question's {first_problem(error)}, not {value!r:.60}."
            raise SettingsError(told) from error
        if query.levels[0] > query.levels[1]:
            raise SettingsError(f"A question's levels {query.levels}: the lowest comes first.")
        return query

    def filters(self, collection: str, document: str) -> Filters:
        """Where to look: in one collection, and in one document by its id, or '' for all."""
        return Filters(
            collection=collection,
            document=document,
            kinds=tuple(self.kinds),
            aspects=tuple(self.aspects),
            lowest=self.levels[0],
            highest=self.levels[1],
        )

    @property
    def modes(self) -> tuple[str, ...]:
        """The names in `mode`. Raises SettingsError for one that is not there."""
        names = tuple(dict.fromkeys(filter(None, map(str.strip, self.mode.split(",")))))
        if not names:
            raise SettingsError(f"There is no mode {self.mode!r}: name one, as hybrid.")
        if AUTO in names and len(names) > 1:
            raise SettingsError(f"Mode {AUTO} chooses one itself: name it alone, or no other.")
        for name in names:
            if name != AUTO:
                mode(name)
        return names

    @property
    def reach(self) -> int:
        """How many hits are looked for: `k`, or more where the context is to be filled."""
        if not self.fill:
            return self.k
        return max(self.k, FEWEST_READ, min(self.context_tokens // SHORT, MOST_READ))


@cache
def _checker() -> TypeAdapter[Query]:
    return TypeAdapter(Query)


def make_ways(
    query: Query,
    filters: Filters,
    store: Store,
    kit: Kit,
    settings: Settings,
    meter: Meter,
    path: Path,
) -> list[Way]:
    """The modes that a query is asked by, each with what it works with; none without their graphs.

    `meter` counts calls, `path` is told steps. Raises SettingsError for a mode that isn't there,
    and for knobs of none that is asked.
    """
    names = query.modes
    # A knob that can't be is refused before a model is asked which mode it is to be.
    knobs = {
        name: _knobs(name, query, settings) for name in (modes() if names == (AUTO,) else names)
    }
    if names == (AUTO,):
        names = (_choose(query, filters, store, kit, settings, meter, path),)
    elif len(names) > 1:
        names = _with_graphs(names, filters, store, path)
    return [_way(name, knobs[name], query, store, kit, settings, meter, path) for name in names]


def count_parts(store: Store, names: Collection[str], filters: Filters) -> dict[str, int]:
    """How many documents have each of some graphs, and a text; a graph that none has is left out.

    What belongs to the collection itself is as if all its documents had it.
    """
    wanted = sorted(filter(None, names))
    if not wanted:
        return {}
    found = store.count_parts(filters.collection, filters.document, [TEXT, *wanted])
    own = [name for name in wanted if name in graphs() and graphs()[name].settle]
    there = store.count_parts(filters.collection, "", own) if own else {}
    return found | dict.fromkeys(there, found.get(TEXT, 0))


def _choose(
    query: Query,
    filters: Filters,
    store: Store,
    kit: Kit,
    settings: Settings,
    meter: Meter,
    path: Path,
) -> str:
    """The mode that serves a question best, of those whose graphs all that is asked has."""
    # Static vectors miss what words find.
    usual = "hybrid" if settings.embedding_model == STATIC else "collapsed"
    with path.step("choose") as step:
        if query.aspects or query.kinds or query.levels != ANY_LEVEL:
            step.note = f"{usual}: only some passages are asked for"
            return usual
        if settings.offline and settings.embedding_model != STATIC:
            step.note = (
                f"{usual}: without a model, other modes were measured with static embeddings"
            )
            return usual
        walked = walked_unasked(offline=settings.offline)
        counts = count_parts(store, walked, filters)
        whole = [name for name in walked if counts.get(name) == counts.get(TEXT)]
        chat = None if settings.offline else partial(kit.chat, meter, "kind")
        choice = choose(query.question, usual, whole, chat)
        step.note = f"{choice.mode}: {choice.why}"
    return choice.mode


def _with_graphs(
    names: Sequence[str], filters: Filters, store: Store, path: Path
) -> tuple[str, ...]:
    """Those modes whose graphs are there; maybe none."""
    walked = {name: mode(name).graph for name in names}
    counts = count_parts(store, set(walked.values()), filters)
    kept = tuple(name for name in names if not walked[name] or walked[name] in counts)
    for name in names:
        if name not in kept:
            with path.step("leave out", f"{name}: the graph {walked[name]!r} is not there"):
                pass
    return kept


def _way(
    name: str,
    knobs: Any,
    query: Query,
    store: Store,
    kit: Kit,
    settings: Settings,
    meter: Meter,
    path: Path,
) -> Way:
    chosen = mode(name)
    tools = Tools(
        store=store,
        embedder=kit.counted_embedder(meter),
        models=kit.models(meter),
        guide=kit.guide(meter),
        path=path,
        k=query.reach,
        tokens=query.context_tokens,
        knobs=knobs,
        method=settings.table(graph(chosen.graph).name) if chosen.graph else None,
        workers=kit.workers,
    )
    return Way(name, chosen, tools)


def search(query: Query, filters: Filters, ways: Sequence[Way]) -> Found:
    """The passages that serve the question best, best first; those of several ways are fused.

    Raises SettingsError for what needs a model where there is none.
    """
    with ways[0].tools.path.step("retrieve", ",".join(way.name for way in ways)):
        return retrieve(
            query.question,
            filters,
            ways,
            shown=query.k,
            rewrite=query.rewrite,
            rerank=query.rerank,
            diversity=query.diversity,
            expand=query.expand,
        )


def _knobs(name: str, query: Query, settings: Settings) -> Any:
    """The knobs of one of a query's modes: the settings', but for those that are given."""
    own = mode(name).knobs
    usual = settings.table(name) if own.model_fields else own()
    try:
        return own.model_validate(usual.model_dump() | given_knobs(name, query))
    except ValidationError as error:
        raise SettingsError(f"Mode {name}: {first_problem(error)}") from error


def given_knobs(name: str, query: Query) -> dict[str, Any]:
    """The knobs that a query gives one of its modes. Raises SettingsError for one of no mode's."""
    asked = list(modes()) if query.modes == (AUTO,) else query.modes
    found: dict[str, Any] = {}
    for knob, value in query.knobs.items():
        of, dot, bare = knob.rpartition(".")
        if not dot and len(asked) > 1:
            raise SettingsError(
                f"The knob {knob!r} is one mode's, and the mode is {query.mode!r}: say whose it "
                f"is, as '{name}.{knob}'."
            )
        if dot and of not in asked:
            hint = did_you_mean(of, asked, f"It is asked by {query.mode}.")
            raise SettingsError(f"The knob {knob!r} is of no mode that is asked. {hint}")
        if of in ("", name):
            found[bare] = value
    return found


def _usual_context(settings: Settings) -> Context:
    """What a model makes of sentences was not measured."""
    if settings.context != "auto":
        return settings.context
    return "sentences" if settings.offline else "passages"
