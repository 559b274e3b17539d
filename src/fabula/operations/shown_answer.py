"""Answers, and what a search found, as they are shown.

The command line, the API, the page, assistants and saved conversations have these values, as JSON
in the same form. Two have no slots, as the library of MCP takes slots for defaults.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from fabula.ask.answer import Answer
from fabula.ask.query import Query
from fabula.ask.quotations.checked import CheckedQuotation, WeakCitation
from fabula.ask.quotations.passage_quotes import quote_cited
from fabula.ask.scope import QuestionScope
from fabula.config.settings import Settings
from fabula.graph.hits import Hit, Passage, Quote, describe_place, document_spans, shown_fields
from fabula.graph.trace import Trace, TraceStep
from fabula.models.usage import Usage

CUT = (
    "The answer was cut at its limit of tokens (answer_tokens), or at the end of the model's "
    "context: ask for less at once, or have the limit raised."
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ShownPassage(Hit):
    """A passage of the context of an answer, without sentences that another one has.

    Attributes:
        number: Its number in the answer.
        spans: The characters of its document that its sentences are.
    """

    number: int
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, passage: Passage) -> ShownPassage:
        """Return a passage of a context as it is shown."""
        return cls(
            **shown_fields(passage.hit) | {"text": passage.text},
            number=passage.number,
            spans=tuple(document_spans(passage.hit, passage.spans)),
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ShownQuote(Hit):
    """A passage that is quoted.

    Attributes:
        number: Its number in the answer.
        matches: The characters of its text that bear the answer.
    """

    number: int
    matches: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, quote: Quote) -> ShownQuote:
        """Return a quote as it is shown."""
        return cls(**shown_fields(quote.hit), number=quote.number, matches=quote.matches)

    @property
    def quote(self) -> Quote:
        """The quote that is shown."""
        return Quote(self.number, self, self.matches)


@dataclass(frozen=True, slots=True)
class StepHit:
    """What a step of a retrieval found: its score there, and whether the next step got it."""

    id: str
    score: float
    kept: bool


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step of a retrieval, with the steps inside it."""

    step: str
    note: str
    seconds: float
    hits: tuple[StepHit, ...]
    steps: tuple[ShownStep, ...]

    @classmethod
    def of(cls, step: TraceStep) -> ShownStep:
        """Return a step as it is shown."""
        hits = tuple(StepHit(hit.id, hit.score, hit.id in step.passed_on) for hit in step.hits)
        inner = tuple(map(cls.of, step.steps))
        return cls(step.name, step.note, round(step.seconds, 6), hits, inner)


@dataclass(frozen=True, kw_only=True)
class ShownHits:
    """The passages that serve a question best.

    Attributes:
        question: The question.
        rows: The passages, best first.
        total: How many there are with those that did not fit into an assistant's result.
        place: Up to where the reader had read; None if the whole text was searched.
        path: The steps of the search.
        usage: What was asked of models, by step.
        money: What it cost in US dollars, as far as prices are known; None if no price is.
        unpriced: The models that were used and whose price is not known: `money` is without them.
        left_out: The collections that could not be searched, and why, where several were.
    """

    question: str
    place: QuestionScope | None = None
    rows: tuple[Hit, ...]
    total: int
    path: tuple[ShownStep, ...]
    usage: Mapping[str, Usage]
    money: float | None
    unpriced: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    def to_text(self) -> str:
        """Return the place, the score and the text of each passage, after its number."""
        texts = [
            f"{rank}. {describe_place(hit)} · score {hit.score:.3f}\n{hit.text.strip()}"
            for rank, hit in enumerate(self.rows, start=1)
        ]
        return "\n\n".join(texts) or "Nothing in the graph passes these filters."

    def to_hint(self) -> str:
        """Return which collections were left out, and why."""
        return "\n".join(
            f"Left out: collection {name}. {why}" for name, why in self.left_out.items()
        )

    def shorten(self) -> ShownHits:
        """Return it without its steps, which an assistant has no use for."""
        return replace(self, path=())


@dataclass(frozen=True, kw_only=True)
class ShownAnswer:
    """An answer, the numbered passages that it was given, and the numbers that it cites.

    Attributes:
        question: The question as it was asked.
        sought: The question as it was searched for.
        answer: The text, with citations as [2] or [1, 3].
        cut: Whether it ends at a limit of tokens, and not where the model would have ended.
        mode: The modes that found its passages.
        model: The chat model of the settings.
        offline: Whether no model was asked.
        cited: The numbers that the answer cites, in order of first use.
        context: The passages that it was given.
        quotes: The cited passages with the sentences that bear the answer; if no model was asked,
            those that the answer consists of.
        quotations: What the answer quotes, compared with the books.
        weak_citations: The citations whose passages have nothing to do with what cites them.
        missing_citations: The numbers that the answer cites and that no passage has.
        hits: What the search found first, best first.
        path: The steps of the search.
        usage: What was asked of models, by step.
        money: What it cost in US dollars, as far as prices are known; None if no price is.
        unpriced: The models that were used and whose price is not known: `money` is without them.
        seconds: How long the answer took.
        conversation: The conversation that it is part of; None for a question by itself.
        turn: Its turn of the conversation.
        kept: Whether it is saved in its conversation; None without one.
        warning: What the reader has to know beside it, such as that it is not saved.
        document: The id of the only document that was asked; '' for all.
        place: Up to where the reader had read; None if the whole text was asked.
        brief: The summaries of whole documents that a model was given beside the passages.
        note: What was assumed to understand a follow-up without a model.
        collections: The collections that were searched, where several were asked.
        left_out: Those that could not be, and why.
    """

    question: str
    sought: str
    answer: str
    cut: bool = False
    mode: str
    model: str
    offline: bool
    cited: tuple[int, ...]
    context: tuple[ShownPassage, ...]
    quotes: tuple[ShownQuote, ...]
    quotations: tuple[CheckedQuotation, ...] = ()
    weak_citations: tuple[WeakCitation, ...] = ()
    missing_citations: tuple[int, ...] = ()
    hits: tuple[Hit, ...]
    path: tuple[ShownStep, ...]
    usage: Mapping[str, Usage]
    money: float | None
    unpriced: tuple[str, ...] = ()
    seconds: float
    conversation: str | None = None
    turn: str | None = None
    kept: bool | None = None
    warning: str = ""
    document: str = ""
    place: QuestionScope | None = None
    brief: str = ""
    note: str = ""
    collections: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def scope(self) -> QuestionScope:
        """What the question was asked of."""
        return self.place or QuestionScope(self.document)

    @property
    def total_usage(self) -> Usage:
        """The usage of all steps."""
        return sum(self.usage.values(), Usage())

    @property
    def documents(self) -> tuple[str, ...]:
        """The ids of the documents that the answer cites or quotes."""
        cited = {passage.document for passage in self.context if passage.number in self.cited}
        return tuple(sorted((cited | {quote.document for quote in self.quotes}) - {""}))

    def shorten(self) -> ShownAnswer:
        """Return it with what an assistant needs of it: it can read and search on itself."""
        return replace(
            self,
            context=tuple(each for each in self.context if each.number in self.cited),
            # An answer that no model wrote is the books' own words.
            quotations=() if self.offline else self.quotations,
            quotes=(),
            hits=(),
            path=(),
            brief="",
        )


AS_THEY_ARE = (
    *("question", "sought", "cut", "cited", "quotations", "weak_citations", "missing_citations"),
    *("hits", "usage", "brief", "note"),
)
"""What is shown of an answer without a change."""


def show_answer(
    answer: Answer, settings: Settings, path: Trace, seconds: float, **more: Any
) -> ShownAnswer:
    """Return an answer as it is shown.

    Args:
        answer: The answer.
        settings: The settings that it was written by.
        path: The steps of its search.
        seconds: How long it took.
        **more: Other fields of it, as its turn of a conversation.
    """
    cost = settings.cost(answer.usage)
    own: dict[str, Any] = {name: getattr(answer, name) for name in AS_THEY_ARE} | {
        "mode": used_modes(path),
        "warning": " ".join(filter(None, (CUT if answer.cut else "", answer.citation_warning))),
    }
    return ShownAnswer(
        answer=answer.text,
        model=settings.model,
        offline=settings.offline,
        context=tuple(map(ShownPassage.of, answer.context)),
        quotes=tuple(map(ShownQuote.of, answer.quotes or quote_cited(answer))),
        path=list_steps(path),
        money=cost.money,
        unpriced=cost.unpriced,
        seconds=round(seconds, 3),
        document=answer.scope.document,
        place=limited_place(answer.scope),
        **own | more,
    )


def show_hits(
    query: Query,
    hits: Sequence[Hit],
    settings: Settings,
    path: Trace,
    usage: Mapping[str, Usage],
    **more: Any,
) -> ShownHits:
    """Return what a search found as it is shown.

    Args:
        query: The question.
        hits: The passages.
        settings: The settings that they were found by.
        path: The steps of the search.
        usage: What it asked of models, by step.
        **more: Other fields of it, as the place of its reader.
    """
    cost = settings.cost(usage)
    return ShownHits(
        question=query.question,
        rows=tuple(hits),
        total=len(hits),
        path=list_steps(path),
        usage=usage,
        money=cost.money,
        unpriced=cost.unpriced,
        **more,
    )


def limited_place(scope: QuestionScope) -> QuestionScope | None:
    """Return the scope of a question whose reader had a place; None for any other."""
    return scope if scope.is_limited else None


def list_steps(path: Trace) -> tuple[ShownStep, ...]:
    """Return the steps of a search as they are shown."""
    return tuple(map(ShownStep.of, path.root.steps))


def used_modes(path: Trace) -> str:
    """Return the modes that found the passages, as the trace of the search names them."""
    return next((step.note for step in path.root.steps if step.name == "retrieve"), "")


def to_json(shown: object) -> Any:
    """Return a dataclass of this module as JSON's values."""
    kind: Any = type(shown)
    return _type_adapter(kind).dump_python(shown, mode="json")


def format_json(shown: object) -> str:
    """Return a dataclass of this module as JSON."""
    kind: Any = type(shown)
    return _type_adapter(kind).dump_json(shown).decode()


def read_answer(text: str) -> ShownAnswer:
    """Return the answer that was saved as JSON."""
    read: ShownAnswer = _type_adapter(ShownAnswer).validate_json(text)
    return read


@cache
def _type_adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
