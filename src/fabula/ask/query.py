"""A question as a value. The options of a question are declared here, and only here.

The settings that give an option its default, the flags of `fabula query`, the body of an HTTP
request and the arguments of the library are all made from the fields of `Query`, by way of
`query_options`. A new option is therefore one new field here, and one line in
`fabula.config.settings.Settings` if a setting gives its default.

`Settings` imports this module, so it imports nothing that takes long: no numpy and no modes.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, get_args, get_type_hints

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from fabula.errors import BadValue, SettingsError, did_you_mean, first_problem

if TYPE_CHECKING:
    from fabula.graph.hits import Filters

USUAL_MODE = "hybrid"
"""The mode of a question that names none, with and without a chat model. No other was measured to
be better by more than noise (docs/modes.md)."""
ANY_LEVEL = (0, 99)
"""The levels of a question that does not restrict them, both inclusive."""
MIN_CANDIDATES, MAX_CANDIDATES = 50, 1000
"""Hits that a context is filled from. Measured on seven novels, 20 are half a point worse than 50,
and 100 no better."""
SHORT_HIT_TOKENS = 20
"""Tokens of a short hit: a wide context may be filled with short hits alone."""

Rewrite = Literal["none", "queries", "answer"]
"""What is searched with: the question, other wordings too, or a made-up answer instead."""
Context = Literal["auto", "passages", "sentences"]
"""What a context is made of; 'auto' is sentences without a chat model, and with one whole passages
if there is room for many of them (`fabula.ask.context_budget`)."""
Order = Literal["auto", "text", "rank"]
"""In which order passages are given; 'auto' is that of the text with a model, and by rank without
one. Sentences are always in the order of the text."""
MIN_CONTEXT_TOKENS = 16


def _check_tokens(value: int | str) -> int | str:
    """Refuse too few tokens. A bound of one part of a union would name the part in its message."""
    if isinstance(value, int) and value < MIN_CONTEXT_TOKENS:
        raise ValueError(f"input should be greater than or equal to {MIN_CONTEXT_TOKENS}")
    return value


ContextTokens = Annotated[int | Literal["auto"], AfterValidator(_check_tokens)]
"""The tokens of a context; 'auto' is what the model has room for, at most 6,000."""
USUAL_TOKENS = 1700
"""The tokens of a context without a chat model, or with one whose window is not known."""

Quotations = Literal["mark", "strict", "off"]
"""What is done with the quotations of an answer: compared and marked, repaired, or nothing."""


class Defaults(Protocol):
    """Where the defaults of a question come from: `fabula.config.settings.Settings`.

    It also has an attribute for each setting that a `DefaultFrom` names.
    """

    @property
    def offline(self) -> bool:
        """Whether no chat model is used."""
        ...


def read_levels(typed: object) -> object:
    """Return the lowest and the highest of levels that were typed as "1" or "1-3"."""
    found = re.fullmatch(r"(\d+)(?:-(\d+))?", typed) if isinstance(typed, str) else None
    return (found[1], found[2] or found[1]) if found else typed


def list_names(given: object) -> object:
    """Return names as a list: a single one needs none, and '' is no name."""
    names = [given] if isinstance(given, str) else given
    return [name for name in names if name] if isinstance(names, list | tuple) else given


@dataclass(frozen=True, slots=True)
class DefaultFrom:
    """Marks an option whose default is the setting of this name."""

    setting: str


@dataclass(frozen=True, slots=True)
class Query:
    """A question: where to look for passages, how to rank them, what an answer is given to read.

    `Query.of` fills in the settings' defaults and checks every value. An option that restricts
    where to look restricts nothing if it is empty. An option of one of several modes is named with
    its mode, as in `knobs={'hippo.damping': 0.5}`.
    """

    question: str
    mode: Annotated[
        str,
        Field(description="how passages are found; several modes, as hippo,hybrid, are fused"),
        DefaultFrom("mode"),
    ] = USUAL_MODE
    k: Annotated[
        int,
        Field(ge=1, description="number of passages that are shown"),
        DefaultFrom("top_k"),
    ] = 5
    context_tokens: Annotated[
        ContextTokens,
        Field(
            description="maximum tokens of the passages that an answer is given to read; auto is "
            "6,000 with a model whose window has room for them, otherwise 1,700 or what fits"
        ),
        DefaultFrom("context_tokens"),
    ] = "auto"
    document: Annotated[
        Sequence[str],
        BeforeValidator(list_names),
        Field(description="only this document: its id, title or file"),
    ] = ()
    where: Annotated[
        str,
        Field(
            max_length=2000,
            description="only documents whose metadata fulfil this, as 'year < 1850 and genre = "
            "gothic'",
        ),
    ] = ""
    until: Annotated[
        str,
        Field(
            max_length=2000,
            description="up to where the reader has read the document: a section that was read, as "
            "'Stave Three', a page as 'p. 113', a share as '40%', or words of the text; without a "
            "document, a volume of a series; nothing of what comes later is used or shown",
        ),
    ] = ""
    aspects: Annotated[
        Sequence[str],
        Field(description="only summaries of these aspects; '' is chunks and details"),
    ] = ()
    kinds: Annotated[
        Sequence[str],
        Field(description="only these kinds of passages: chunk, summary, detail, ..."),
    ] = ()
    levels: Annotated[
        tuple[int, int],
        BeforeValidator(read_levels),
        Field(description="only passages from the lowest to the highest of these levels"),
    ] = ANY_LEVEL
    rewrite: Annotated[
        Rewrite,
        Field(description="search with other wordings too, or with a made-up answer"),
        DefaultFrom("rewrite"),
    ] = "none"
    rerank: Annotated[
        bool,
        Field(description="have a model rank the passages that were found"),
        DefaultFrom("rerank"),
    ] = False
    knobs: Annotated[
        Mapping[str, Any],
        Field(description="options of the mode itself, as {'hippo.damping': 0.5}"),
    ] = field(default_factory=dict)
    context: Annotated[
        Context,
        Field(
            description="what an answer is given to read: whole passages, or the best sentences of "
            "many passages; auto is passages for a model with room for 3,000 tokens, else sentences"
        ),
        DefaultFrom("context"),
    ] = "auto"
    order: Annotated[
        Order,
        Field(
            description="the order of whole passages: as in the text, neighbours joined, or best "
            "first (rank); auto is text with a model, and rank offline"
        ),
        DefaultFrom("order"),
    ] = "auto"
    brief: Annotated[
        bool,
        Field(
            description="give the model the summaries of the whole documents first, at most 300 "
            "tokens, where a graph has them"
        ),
        DefaultFrom("brief"),
    ] = False
    fill: Annotated[
        bool,
        Field(description="also read passages that are not shown, until the context is full"),
        DefaultFrom("fill"),
    ] = True
    quotations: Annotated[
        Quotations,
        Field(
            description="compare what an answer quotes with the books: mark tells what is not in "
            "them; strict also repairs what differs, and takes the marks off what is not there"
        ),
        DefaultFrom("quotations"),
    ] = "mark"

    @classmethod
    def of(cls, question: str, settings: Defaults, **options: Any) -> Query:
        """Return the question with the settings' defaults, except for the `options` given here.

        An option that is None counts as not given. One aspect or kind needs no list.

        Raises:
            BadValue: The question is empty.
            TypeError: A question has no such option.
            SettingsError: A value is out of range or of another type.
        """
        if not question.strip():
            raise BadValue("The question is empty: ask something.")
        if unknown := [name for name in options if name not in query_options()]:
            names = list(query_options())
            hint = did_you_mean(unknown[0], names, f"Its options are {', '.join(names)}.")
            raise TypeError(f"A question has no option {unknown[0]!r}. {hint}")
        values = {name: value for name, value in options.items() if value is not None}
        for name in ("context", "order", "context_tokens"):
            if values.get(name) == "auto":
                del values[name]
        for name in ("aspects", "kinds"):
            if isinstance(values.get(name), str):
                values[name] = (values[name],)
        defaults = _read_defaults(settings)
        try:
            query = _checker().validate_python({"question": question, **defaults, **values})
        except ValidationError as error:
            value = error.errors()[0]["input"]
            message = f"A question's {first_problem(error)}, not {value!r:.60}."
            raise SettingsError(message) from error
        if query.levels[0] > query.levels[1]:
            raise SettingsError(f"A question's levels {query.levels}: the lowest comes first.")
        return query

    def filters(
        self, collection: str, document: str, documents: Sequence[str] = (), read: str = ""
    ) -> Filters:
        """Return where to look: in one collection, and in one document, several or all.

        Args:
            collection: The collection.
            document: The id of the only document; '' for several or all.
            documents: The ids of several; none for all.
            read: Says in words that these are the volumes of a series that the reader has read.
        """
        from fabula.graph.hits import Filters

        return Filters(
            collection=collection,
            document=document,
            kinds=tuple(self.kinds),
            aspects=tuple(self.aspects),
            lowest=self.levels[0],
            highest=self.levels[1],
            documents=tuple(documents),
            read=read,
        )

    @property
    def only_document(self) -> str:
        """The document that is named, or the first of several; '' for none."""
        return self.document[0] if self.document else ""

    @property
    def modes(self) -> tuple[str, ...]:
        """The names in `mode`, each once. Raises SettingsError for a mode that is not installed."""
        from fabula.ask.modes import mode

        names = tuple(dict.fromkeys(filter(None, map(str.strip, self.mode.split(",")))))
        if not names:
            raise SettingsError(f"There is no mode {self.mode!r}: name one, as hybrid.")
        for name in names:
            mode(name)
        return names

    @property
    def max_candidates(self) -> int:
        """How many hits are looked for: `k`, or more if the context is to be filled."""
        if not self.fill:
            return self.k
        wide = min(self.budget // SHORT_HIT_TOKENS, MAX_CANDIDATES)
        return max(self.k, MIN_CANDIDATES, wide)

    @property
    def budget(self) -> int:
        """The tokens of the context.

        While `context_tokens` is still "auto", the window of the model has not been looked up, and
        this is what fits all of them (`fabula.ask.context_budget.settle_budget` looks it up).
        """
        return USUAL_TOKENS if self.context_tokens == "auto" else self.context_tokens


@dataclass(frozen=True, slots=True)
class QueryOption:
    """One option of a question, as `Query` declares it.

    `annotation` is its type with its bounds and its description, as pydantic reads them. `setting`
    is the setting that gives its default, or '' where `default` is the default everywhere.
    """

    name: str
    annotation: Any
    default: Any
    description: str
    setting: str


def _read_defaults(settings: Defaults) -> dict[str, Any]:
    """Return what the settings say of each option, with what "auto" stands for without a model."""
    defaults = {
        option.name: getattr(settings, option.setting)
        for option in query_options().values()
        if option.setting
    }
    if defaults["context"] == "auto" and settings.offline:
        defaults["context"] = "sentences"
    if defaults["order"] == "auto":
        defaults["order"] = "rank" if settings.offline else "text"
    if defaults["context_tokens"] == "auto" and settings.offline:
        defaults["context_tokens"] = USUAL_TOKENS
    return defaults


@cache
def query_options() -> dict[str, QueryOption]:
    """Return all options of a question by their names, in the order of `Query`'s fields."""
    annotations = get_type_hints(Query, include_extras=True)
    options = {}
    for declared in dataclasses.fields(Query):
        if declared.name == "question":
            continue
        annotation = annotations[declared.name]
        marks = get_args(annotation)[1:]
        factory = declared.default_factory
        options[declared.name] = QueryOption(
            name=declared.name,
            annotation=annotation,
            default=declared.default if factory is dataclasses.MISSING else factory(),
            description=FieldInfo.from_annotation(annotation).description or "",
            setting=next((mark.setting for mark in marks if isinstance(mark, DefaultFrom)), ""),
        )
    return options


def default_field(option: str, **bounds: Any) -> Any:
    """Return the pydantic field of the setting that gives an option its default.

    It has the option's default, bounds and description; `bounds` are further ones, as `le=1000`.
    """
    declared = query_options()[option]
    limits = {
        name: value
        for mark in get_args(declared.annotation)[1:]
        if isinstance(mark, FieldInfo)
        for bound in mark.metadata
        for name, value in dataclasses.asdict(bound).items()
    }
    return Field(declared.default, description=declared.description, **limits, **bounds)


@cache
def _checker() -> TypeAdapter[Query]:
    return TypeAdapter(Query)
