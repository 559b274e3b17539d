"""A question as a value, and its hits, found as it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Literal, TypedDict

from pydantic import Field, TypeAdapter, ValidationError

from fabula.context import Context
from fabula.errors import FabulaError, SettingsError, did_you_mean, first_problem
from fabula.graph.method import graph
from fabula.kit import Kit
from fabula.model import Filters
from fabula.providers.counted import Meter
from fabula.retrieve import Expand, Found, Rewrite, retrieve
from fabula.retrieve.modes import Mode, Tools, mode
from fabula.retrieve.path import Path
from fabula.settings import STATIC, Settings
from fabula.store import Store

FEWEST_READ, MOST_READ = 50, 1000
"""Hits that a context is filled from. Measured on seven novels, 20 are half a point worse than 50,
and 100 no better."""
SHORT = 20
"""Tokens of a short hit, so that a wide context is filled with such, too."""


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

    `document` is an id, title or file, '' for all; `aspects` are names, '' being that of chunks
    and details; `kinds` as chunk, summary, detail; what is empty lets all through. `levels`: the
    lowest and the highest. `k` hits are shown; an answer is given `context_tokens` to read, of the
    passages or of the best sentences, as `context` says: of these hits alone, or, with `fill`, of
    as many as it takes. `knobs` are settings of the mode's own.
    """

    question: str
    mode: str
    k: Annotated[int, Field(ge=1)]
    context_tokens: Annotated[int, Field(ge=16)]
    document: str = ""
    aspects: Sequence[str] = ()
    kinds: Sequence[str] = ()
    levels: tuple[int, int] = (0, 99)
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
        given = {name: one for name, one in given.items() if one not in (None, "auto")}
        for name in ("aspects", "kinds"):
            if isinstance(given.get(name), str):
                given[name] = (given[name],)
        usual: dict[str, Any] = {
            "mode": _usual_mode(settings),
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
    def reach(self) -> int:
        """How many hits are looked for: `k`, or more where the context is to be filled."""
        if not self.fill:
            return self.k
        return max(self.k, FEWEST_READ, min(self.context_tokens // SHORT, MOST_READ))


@cache
def _checker() -> TypeAdapter[Query]:
    return TypeAdapter(Query)


def make_tools(
    query: Query, store: Store, kit: Kit, settings: Settings, meter: Meter, path: Path
) -> Tools:
    """What a query's mode works with; `meter` counts calls, `path` is told steps."""
    chosen = mode(query.mode)
    return Tools(
        store=store,
        embedder=kit.counted_embedder(meter),
        models=kit.models(meter),
        guide=kit.guide(meter),
        path=path,
        k=query.reach,
        tokens=query.context_tokens,
        knobs=_knobs(query, chosen, settings),
        method=settings.table(graph(chosen.graph).name) if chosen.graph else None,
        workers=kit.workers,
    )


def search(query: Query, filters: Filters, tools: Tools) -> Found:
    """The passages that serve the question best, best first.

    Raises SettingsError for a mode that isn't there, or that needs a model where there is none.
    """
    with tools.path.step("retrieve", query.mode):
        return retrieve(
            query.question,
            filters,
            mode(query.mode),
            tools,
            shown=query.k,
            rewrite=query.rewrite,
            rerank=query.rerank,
            diversity=query.diversity,
            expand=query.expand,
        )


def _knobs(query: Query, chosen: Mode, settings: Settings) -> Any:
    usual = settings.table(query.mode) if chosen.knobs.model_fields else chosen.knobs()
    try:
        return chosen.knobs.model_validate(usual.model_dump() | dict(query.knobs))
    except ValidationError as error:
        raise SettingsError(f"Mode {query.mode}: {first_problem(error)}") from error


def _usual_context(settings: Settings) -> Context:
    """What a model makes of sentences was not measured."""
    if settings.context != "auto":
        return settings.context
    return "sentences" if settings.offline else "passages"


def _usual_mode(settings: Settings) -> str:
    """Static vectors miss what words find."""
    if settings.mode != "auto":
        return settings.mode
    return "hybrid" if settings.embedding_model == STATIC else "collapsed"
