"""The declaration of operations: a function, its parameters, and to whom it is offered.

An operation is a function of a collection, or of the library, and of annotated parameters that
returns a frozen dataclass. From this one declaration are made the command
(`fabula.cli.shared.operations`), the route (`fabula.service.api.operations`), the assistants' tool
(`fabula.service.mcp`) and the screen (`fabula.service.page.screens.operations`); for programs it is
the function itself.

A result with `rows` is a table: its rows are dataclasses of one kind, `total` is how many there are
with those that a limit left out, and its other values are facts about all of it. Rows that have
`document`, `start` and `end` are places in a text, which every interface can open. A list that
grows while it is read has `next` in place of `total`: the parameter `after` takes it, and it is
None at the end. Where columns are known only with the result, it has their names as `columns`, and
its rows are mappings. Where a result is prose, its method `to_text` returns what a terminal shows
in place of a table; `to_notes` returns lines that it shows below one, and `to_hint` what it shows
beside it, on standard error. `to_lines` returns a line for each row, which a screen of a width
shows in place of a table, and `to_svg` a picture of it.

Where a result may be too long for an assistant, its method `shorten` returns what one gets.

A result whose `has_failed` is true is shown, and the command's exit code is 1 then.

A result that is a file for other programs is a `FileResult`: the command writes it to `--out`, and
the route sends it. Its parameter `format`, if the operation has one, may be the name of the file.

What destroys something has the parameter `dry_run`: the command shows first what would go, and asks
unless it was told `--yes`. Assistants are not offered it, as a text might talk them into it.

What takes long returns `Work`. The service does that by a job, and answers with the job; the
command line does it at once, and shows its progress; a program calls its `run`. Each says what it
would do and cost, if it is asked for a dry run.
"""

from __future__ import annotations

import builtins
import inspect
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, is_dataclass, replace
from datetime import UTC, datetime
from enum import Enum, auto
from functools import cache, cached_property, wraps
from importlib.metadata import EntryPoint, entry_points
from operator import attrgetter
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.fields import FieldInfo

from fabula.errors import BadValue, FabulaError, did_you_mean
from fabula.graph.installed import load
from fabula.graph.reading_place import HIDES_UNREAD, MAX_PLACE
from fabula.jobs.callers import PERSON, Caller, Role

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.export.graph_xml import Written
    from fabula.jobs.ledger import Ledger
    from fabula.jobs.queue import Jobs
    from fabula.jobs.work import Work
    from fabula.library import App
    from fabula.library.collection import Collection
    from fabula.models.stop import Stop

GROUP = "fabula.operations"
"""The group of entry points by which a package brings operations, Fabula's own as any other."""
ATTRIBUTE = "operation"
MAX_BODY_BYTES = 4 * 2**20
"""The largest body of a request to an operation that declares no other."""
Function = TypeVar("Function", bound=Callable[..., Any])
Part = TypeVar("Part")


@dataclass(frozen=True)
class Column:
    """How a field of a row is shown; a mark in its annotation.

    Attributes:
        title: The heading; '' for the field's name in words.
        opens: The name of the operation that a cell leads to, whose first parameter is its value.
        is_shown: Whether tables for people have it. JSON and CSV have every field.
        is_right: Whether its cells end at the same place, as those of numbers do.
        max_characters: With how many characters tables show its cells; 0 for all.
    """

    title: str = ""
    opens: str = ""
    is_shown: bool = True
    is_right: bool = False
    max_characters: int = 0


Hidden = Column(is_shown=False)
"""Marks a field of a row that tables for people do not have."""


class Mark(Enum):
    """What else is to be known of a parameter; a mark in its annotation."""

    AT_THIS_MACHINE = auto()
    """Only the command line and programs have it: it may take any time."""
    HAS_SETTING = auto()
    """A setting has its default, so that the command line has the flag of the setting."""
    NAMES_DOCUMENT = auto()
    """Its value names a document, which the page offers to choose."""
    NAMES_COLLECTION = auto()
    """Its value names another collection, which the function gets."""
    CALLER = auto()
    """Its value is the name of who asks; nobody can give it."""
    FOR_VISITOR = auto()
    """Its value is whether a visitor asks; nobody can give it."""
    ASKER = auto()
    """Its value is the asker, who pays for what is asked of models; nobody can give it."""


ABOUT_ASKER = (Mark.CALLER, Mark.FOR_VISITOR, Mark.ASKER)
"""The marks of parameters that say who asks."""
Until = Annotated[str, Field(max_length=MAX_PLACE, description=HIDES_UNREAD)]
"""How far a reader has read."""


@dataclass(frozen=True)
class Entries:
    """What a mapping may have, as the other values say; a mark in its annotation, for forms.

    Attributes:
        about: Returns what it is for, and a text to be copied, for the other parameters' values.
        fields: Returns parameters that stand for its entries, with defaults as people write them.
        read: Returns its value, for the other values and for what was typed for its entries.
    """

    about: Callable[[Mapping[str, Any]], Sequence[str]]
    fields: Callable[[Mapping[str, Any]], Sequence[Parameter]]
    read: Callable[[Mapping[str, Any], Mapping[str, str]], Mapping[str, Any]]


class QuestionMetrics(Protocol):
    """What measures questions."""

    def record_retrieval(self, mode: str, seconds: float) -> None:
        """Record how long a mode took to find passages."""

    def first_token(self, seconds: float) -> None:
        """Record how long it took until an answer began."""


class Services(Protocol):
    """What a service has beside the library, which its requests share."""

    @property
    def jobs(self) -> Jobs:
        """The queue of jobs."""

    @property
    def ledger(self) -> Ledger:
        """What was spent on models."""

    @property
    def metrics(self) -> QuestionMetrics:
        """What measures questions."""


@dataclass(frozen=True)
class Asker:
    """Who asks for an operation, and what they may see.

    Attributes:
        name: The name of the key, or of the user of this machine.
        app: The library that operations on no single collection are about.
        visible: Returns the names of the collections that have documents and that they may see.
        open: Returns a collection that they may see, by its name; NotFound for any other.
        caller: What they may do and spend.
        services: What the service has that they ask; None where none runs in this process.
        stop: Ends a question once it is set, from any thread.
        describe_error: Returns what they may know of an error.
        open_several: Returns collections that share what is left of their quota, by their names, or
            all; None where there are no quotas.
    """

    name: str
    app: App
    visible: Callable[[], Sequence[str]]
    open: Callable[[str], Collection]
    caller: Caller = PERSON
    services: Services | None = None
    stop: Stop | None = None
    describe_error: Callable[[FabulaError], str] = attrgetter("message")
    open_several: Callable[[Sequence[str]], Sequence[Collection]] | None = None

    def open_all(self, names: Sequence[str]) -> Sequence[Collection]:
        """Return collections by their names, or all that they may see. Raises NotFound."""
        from fabula.library.across import find_collections

        return self.open_several(names) if self.open_several else find_collections(self.app, names)

    @property
    def is_visitor(self) -> bool:
        """Whether they have no key, and see no costs and nothing of other people."""
        return self.caller.is_visitor


@dataclass(frozen=True)
class Parameter:
    """A parameter of an operation.

    Attributes:
        name: Its name, the same in every interface.
        annotation: Its type with its bounds and its description.
        default: Its default; `...` if it must be given.
        is_collection: Whether the function gets another collection, which interfaces name.
    """

    name: str
    annotation: Any
    default: Any
    is_collection: bool = False

    @cached_property
    def _parts(self) -> tuple[Any, ...]:
        is_annotated = typing.get_origin(self.annotation) is typing.Annotated
        return typing.get_args(self.annotation) if is_annotated else (self.annotation,)

    @property
    def type(self) -> Any:
        """Its type alone, without the None that stands for no value."""
        known = self._parts[0]
        if NoneType not in typing.get_args(known):
            return known
        return typing.Union[  # noqa: UP007 (of types that are known at run time alone)
            tuple(each for each in typing.get_args(known) if each is not NoneType)
        ]

    @cached_property
    def field(self) -> FieldInfo:
        """Its bounds and its description."""
        return self.find(FieldInfo) or Field()

    def find(self, kind: builtins.type[Part]) -> Part | None:
        """Return the mark of a type in its annotation; None if there is none."""
        return next((part for part in self._parts[1:] if isinstance(part, kind)), None)

    @property
    def is_required(self) -> bool:
        """Whether it must be given."""
        return self.default is ...

    @property
    def is_flag(self) -> bool:
        """Whether it is a yes or no."""
        return self.type is bool

    @property
    def is_list(self) -> bool:
        """Whether it has several values."""
        return typing.get_origin(self.type) is tuple and ... in typing.get_args(self.type)

    @property
    def is_mapping(self) -> bool:
        """Whether it has values by names, which the command line has no flag for."""
        return typing.get_origin(self.type) is Mapping

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that it can have; none if it can have others."""
        of_type = typing.get_args(self.type) if typing.get_origin(self.type) is Literal else ()
        return tuple(str(choice) for choice in of_type if choice)

    def has(self, mark: Mark) -> bool:
        """Return whether it is marked so."""
        return mark in self._parts

    @property
    def bounds(self) -> Mapping[str, int]:
        """The least and the largest number, and the most characters: ge, le, max_length."""
        known = ("ge", "le", "max_length")
        return {
            name: getattr(mark, name)
            for mark in self.field.metadata
            for name in known
            if hasattr(mark, name)
        }


@dataclass(frozen=True)
class Build:
    """What has to be built again after an operation.

    Attributes:
        graph: The name of the graph.
        documents: The ids of the documents in which it is stale; none if nothing has to be built.
        later: Whether that is left to the next build.
    """

    graph: str
    documents: tuple[str, ...]
    later: bool = False

    @property
    def is_due(self) -> bool:
        """Whether there is something to build now."""
        return bool(self.documents) and not self.later


@dataclass(frozen=True)
class FileResult:
    """A file for other programs, which is written where somebody wants it.

    Attributes:
        name: What it is called if nobody says how.
        media_type: What it is.
        write: Writes it to a path, as a file, as a folder or as several files beside it; returns
            what was written, in words.
    """

    name: str
    media_type: str
    write: Callable[[Path], str]


def _undeclared(*_: Any) -> Any:
    raise AssertionError("the operation decorates no function yet")


@dataclass(frozen=True)
class Operation:
    """A function of a collection or of the library, and where and to whom it is offered.

    It decorates the function: `@operation("/collections/{collection}/check", group="Checks")`.

    Attributes:
        path: Its path under `/api/v1`, with `{collection}` and with parameters that are in it.
        role: What its caller must be allowed to do. One of the role admin that is about no single
            collection is for those who may do everything in all of them.
        method: Its method over HTTP; parameters that are not in the path are in the query of a GET
            or DELETE, else in the body.
        status: The status of its response; 204 for one without a body.
        group: The heading under which it is listed, and the screen that it is on.
        title: What the page calls it on that screen; its name where it has none.
        positional: The parameters that a command takes without their names.
        hides_unread: Whether it has the parameter `until`, and gets the collection as somebody
            knows it who has read the parameter `document` up to there.
        is_large: Whether it takes seconds of processor time, so that a caller has few at once.
        is_query: Whether it is a query that only reads, for which Neo4j may take any time, so that
            all callers have few at once.
        is_question: Whether it is counted as a question, of which a caller has few at once. It ends
            when its caller leaves, and has the flags of models at the command line.
        max_body_bytes: The largest body of a request over HTTP.
        is_public: Whether visitors of a public collection may ask for it.
        has_screen: Whether it is on the screen of its group; the page has some of its own.
        has_tool: Whether assistants have it: a text that they read could ask for it.
        is_for_trusted: Whether assistants have it only where the operator trusts them with all that
            the graph has (`serve.cypher_tool`).
        is_recorded: Whether the service writes to the audit that it was asked for. False where the
            function does, which can say more than the names in its path.
        command: How the command line calls it; with two words, as 'keys make', it is an action of
            the command of the first. Its entry point is named so, with a dot between them.
        has_command: Whether its command is made from it; one may be written by hand.
        has_route: Whether its route is made from it; that of a stream is written by hand.
        options: Further parameters, which the function takes as `**options`.
        starts_job: Whether a graph has to be built again after it: `build` of its result says where
            (`Build`). The service does that by a job, whose id is `job` of the result, and answers
            202; the command line and programs do it at once.
        writers: Functions that write other files than tables, by the suffixes of their names. They
            get the path, and then what the operation gets.
        confirms_cost: Whether its command shows what it would do and cost, and asks, before models
            are called.
        examples: Command lines, without the name of the program.
        function: The function; its first parameter is a Collection, or an Asker where it is about
            no single collection.
    """

    path: str
    _: KW_ONLY
    group: str
    title: str = ""
    role: Role = "read"
    method: str = "GET"
    status: int = 200
    positional: Sequence[str] = ()
    hides_unread: bool = False
    is_large: bool = False
    is_query: bool = False
    is_question: bool = False
    max_body_bytes: int = MAX_BODY_BYTES
    is_public: bool = False
    has_screen: bool = True
    has_tool: bool = True
    is_for_trusted: bool = False
    is_recorded: bool = True
    command: str = ""
    has_command: bool = True
    has_route: bool = True
    options: Sequence[Parameter] = ()
    starts_job: bool = False
    writers: Mapping[str, Callable[..., Written]] = field(default_factory=dict)
    confirms_cost: bool = False
    examples: Sequence[str] = ()
    function: Callable[..., Any] = _undeclared

    def __call__(self, function: Function) -> Function:
        """Declare a function as this operation, and have it check its values."""
        signature = inspect.signature(function)
        declared = replace(
            self,
            function=function,
            has_tool=self.has_tool and "dry_run" not in signature.parameters,
            command=self.command or function.__name__.replace("_", "-"),
        )

        @wraps(function)
        def checked(*given: Any, **named: Any) -> Any:
            first, *values = signature.bind(*given, **named).arguments.items()
            own = dict(values)
            own |= own.pop("options") if self.options and "options" in own else {}
            result = function(first[1], **declared.check_own(own))
            if self.starts_job:
                build_now(first[1], result.build)
            return result

        setattr(checked, ATTRIBUTE, declared)
        return cast(Function, checked)

    @property
    def name(self) -> str:
        """Its name in one word, which is that of its command unless it declares another."""
        return self.function.__name__.replace("_", "-")

    @property
    def description(self) -> str:
        """The function's docstring up to the list of its errors, without line breaks in it."""
        text = (inspect.getdoc(self.function) or "").split("\n\nRaises:", 1)[0]
        return re.sub(r"(?<!\n)\n(?!\n)", " ", text)

    @property
    def summary(self) -> str:
        """The first sentence of the description, without its full stop."""
        return self.description.split("\n", 1)[0].removesuffix(".")

    @cached_property
    def _hints(self) -> Mapping[str, Any]:
        # Help needs the names of the parameters, and no driver of Neo4j, which collections import.
        unseen = {"Collection": object, "Asker": object}
        return typing.get_type_hints(self.function, localns=unseen, include_extras=True)

    @property
    def has_collection(self) -> bool:
        """Whether it is about one collection."""
        return "{collection}" in self.path

    @property
    def needs_documents(self) -> bool:
        """Whether its collection has documents already; others may bring the first."""
        return self.role == "read" or self.starts_job or self.is_work or "{document}" in self.path

    @property
    def changes(self) -> bool:
        """Whether it changes something. A question may be in a body, and changes nothing."""
        return self.method != "GET" and self.role != "read" and not self.is_query

    @property
    def has_confirmation(self) -> bool:
        """Whether it destroys something, which a person has to confirm."""
        return self.method == "DELETE" and (
            self.is_work or any(each.name == "dry_run" for each in self.parameters)
        )

    @property
    def is_work(self) -> bool:
        """Whether it takes long, so that the service does all of it by a job."""
        # A question is no work, and imports none.
        from fabula.jobs.work import Work

        return issubclass(self._hints["return"], Work)

    @property
    def is_file(self) -> bool:
        """Whether its result is a file for other programs."""
        return self.result is FileResult

    @property
    def is_drawn(self) -> bool:
        """Whether its result can be a picture."""
        return hasattr(self.result, "to_svg")

    @property
    def has_body(self) -> bool:
        """Whether its parameters are in the body of a request."""
        return self.method not in ("GET", "DELETE")

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its parameters, but for the collection or the asker."""
        known = [*inspect.signature(self.function).parameters.values()][1:]
        if self.options:
            known.pop()
        own = [self._read_parameter(each.name, each.default) for each in known]
        own += self.options
        if self.hides_unread:
            names = [each.name for each in own]
            own.insert(names.index("document") + 1, Parameter("until", Until, ""))
        return tuple(own)

    @cached_property
    def body(self) -> type[BaseModel]:
        """The model of what a request gives beside its path; what is unknown is refused."""
        others = [each for each in self.offered if f"{{{each.name}}}" not in self.path]
        return _make_model(self.name, others)

    def _read_parameter(self, name: str, default: Any) -> Parameter:
        annotation = self._hints[name]
        if default is inspect.Parameter.empty:
            default = ...
        marks = getattr(annotation, "__metadata__", ())
        if Mark.NAMES_COLLECTION in marks:
            return Parameter(name, Annotated[str, *marks], "", is_collection=True)
        return Parameter(name, annotation, default)

    @property
    def offered(self) -> tuple[Parameter, ...]:
        """The parameters that every interface has."""
        local = (Mark.AT_THIS_MACHINE, *ABOUT_ASKER)
        return tuple(each for each in self.parameters if not any(map(each.has, local)))

    @property
    def result(self) -> type[Any]:
        """The type of what interfaces show of it."""
        from fabula.jobs.job import Job

        found: type[Any] = Job if self.is_work else self._hints["return"]
        return found

    @cached_property
    def result_type(self) -> TypeAdapter[Any]:
        """What makes JSON of a result."""
        return TypeAdapter(self.result)

    @cached_property
    def _values(self) -> type[BaseModel]:
        """The model of the parameters' values, other collections by their names."""
        return _make_model(self.name, self.parameters)

    def check(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return values for all parameters, those in text read, those left out by their defaults.

        Raises:
            BadValue: A parameter is unknown, lacks its value or has one that it can't have.
        """
        names = [parameter.name for parameter in self.parameters]
        if unknown := [name for name in values if name not in names]:
            known = f"There are: {', '.join(names)}." if names else "It has none."
            hint = did_you_mean(unknown[0], names, known)
            raise BadValue(f"{self.name} has no parameter {unknown[0]!r}. {hint}")
        try:
            checked = self._values(**values)
        except ValidationError as error:
            first = error.errors()[0]
            raise BadValue(f"{first['loc'][0]}: {first['msg']}.") from error
        return {name: getattr(checked, name) for name in names}

    def check_own(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return values that a program gives for parameters of the function, as `check` does."""
        others = {each.name for each in self.parameters if each.is_collection}
        checked = self.check({name: values[name] for name in values if name not in others})
        return {name: checked[name] for name in values if name not in others} | {
            name: values[name] for name in values if name in others
        }

    def run(
        self,
        collection: Collection | None,
        values: Mapping[str, Any],
        asker: Asker,
        function: Callable[..., Any] | None = None,
    ) -> Any:
        """Return the result of the function; what has to be built after it is left to the caller.

        Args:
            collection: The collection; an operation that is about no single one does not get it.
            values: The values of its parameters, as they were given.
            asker: Who asks.
            function: Another function with the same parameters, such as one that writes a file.

        Raises:
            FabulaError: What the function raises; BadValue as `check` does.
        """
        checked, function = self.check(values), function or self.function
        for parameter in self.parameters:
            if parameter.is_collection:
                name = checked[parameter.name]
                checked[parameter.name] = asker.open(name) if name else None
            elif parameter.has(Mark.CALLER):
                checked[parameter.name] = asker.name
            elif parameter.has(Mark.FOR_VISITOR):
                checked[parameter.name] = asker.is_visitor
            elif parameter.has(Mark.ASKER):
                checked[parameter.name] = asker
        if not self.has_collection:
            return function(asker, **checked)
        if self.hides_unread and collection:
            collection = collection.as_read(checked["document"], checked.pop("until"))
        return function(collection, **checked)

    def plan(self, collection: Collection, values: Mapping[str, Any]) -> Work:
        """Return the work that an operation of work is, for values as `run` takes them."""
        work: Work = self.function(collection, **self.check(values))
        return work

    def without_limit(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return values for a file, which has as many rows as `limit` allows."""
        most = {each.name: each.bounds["le"] for each in self.parameters if each.name == "limit"}
        return {**values, **most}

    def to_json(self, result: Any) -> Any:
        """Return a result as JSON's values: the same for every interface."""
        return self.result_type.dump_python(result, mode="json")

    def to_csv(self, result: Any, *, bom: bool = False) -> str:
        """Return the rows of a result as CSV, with all of their fields; no cell is a formula.

        With `bom` it begins with the byte order mark, by which Excel knows that it is UTF-8.
        """
        # A question needs no exports: it is imported where a table is written.
        from fabula.export.cells import BOM, format_csv

        values = self.to_json(result)
        if "columns" in values:
            names = values["columns"]
        else:
            names = _shown_names(_row_type(self.result) if "rows" in values else self.result)
        rows = values.get("rows", [values])
        mark = BOM if bom else ""
        return mark + format_csv(names, [[row[name] for name in names] for row in rows])


def _make_model(name: str, parameters: Iterable[Parameter]) -> type[BaseModel]:
    values: dict[str, Any] = {each.name: (each.annotation, each.default) for each in parameters}
    return create_model(name, __config__=ConfigDict(extra="forbid"), **values)


operation = Operation
"""The decorator of a function that is an operation."""


def build_now(collection: Collection, build: Build) -> None:
    """Build what has to be built after an operation. Raises the error of a document that fails."""
    if build.is_due:
        for outcome in collection.build(build.graph, *build.documents):
            if outcome.error:
                raise outcome.error


@cache
def operation_entries() -> Mapping[str, EntryPoint]:
    """Return where the installed operations are, by name, without importing them."""
    return {entry.name: entry for entry in sorted(entry_points(group=GROUP))}


@cache
def find_operation(name: str) -> Operation:
    """Return an installed operation.

    Raises:
        SettingsError: Its package can't be loaded.
    """
    found: Operation = getattr(load(operation_entries()[name]), ATTRIBUTE)
    return found


def find_operations() -> list[Operation]:
    """Return the installed operations, those of a module in the order of its text.

    Raises:
        SettingsError: A package can't be loaded.
    """
    found = [find_operation(name) for name in operation_entries()]
    place = attrgetter("function.__module__", "function.__code__.co_firstlineno")
    return sorted(found, key=place)


@dataclass(frozen=True)
class ShownColumn:
    """A column of a table: the field, its heading, and what its cells lead to."""

    name: str
    title: str
    opens: str
    is_right: bool
    max_characters: int

    def text(self, row: Any) -> str:
        """Return the whole text of its cell in a row."""
        if isinstance(row, Mapping):
            from fabula.export.cells import format_cell

            return format_cell(row[self.name])
        return format_value(getattr(row, self.name))

    def cell(self, row: Any) -> str:
        """Return the text of its cell in a row; one that is cut is on one line."""
        text, most = self.text(row), self.max_characters
        if not most:
            return text
        line = " ".join(text.split())
        return line if len(line) <= most else f"{line[: most - 1]}…"


@dataclass(frozen=True)
class Table:
    """A result as a table for people.

    Attributes:
        columns: The columns that are shown.
        rows: The rows, as they are.
        total: How many there are with those that are left out; None if that is not known.
        next: Where a list goes on that does not know it; '' at its end.
        facts: Values about all of it, by their names in words.
    """

    columns: Sequence[ShownColumn]
    rows: Sequence[Any]
    total: int | None
    next: str
    facts: Mapping[str, Any]

    @property
    def has_places(self) -> bool:
        """Whether the rows are places in texts."""
        return bool(self.rows) and all(hasattr(self.rows[0], name) for name in PLACE)


PLACE = ("document", "start", "end")


def make_table(result: Any) -> Table:
    """Return a result as a table; one without `rows` is a table of one row.

    Places that are all in one document are shown without its title; a column that is empty in all
    rows is not shown.
    """
    if not hasattr(result, "rows"):
        return Table(list(_columns(type(result))), [result], 1, "", {})
    if hasattr(result, "columns"):
        columns = [_measure_column(name, result.rows) for name in result.columns]
    else:
        columns = list(_columns(_row_type(type(result))))
        if result.rows:
            columns = [each for each in columns if any(map(each.cell, result.rows))]
    documents = {row.document for row in result.rows if hasattr(row, "document")}
    if len(documents) == 1:
        columns = [column for column in columns if column.name != "title"]
    not_facts = ("rows", "total", "next", "columns")
    about = [each for each in _columns(type(result)) if each.name not in not_facts]
    facts = {each.title: getattr(result, each.name) for each in about}
    total, next = getattr(result, "total", None), getattr(result, "next", None) or ""
    return Table(columns, result.rows, total, next, facts)


def _measure_column(name: str, rows: Sequence[Mapping[str, Any]]) -> ShownColumn:
    """Return a column of mappings; numbers alone end at the same place."""
    is_right = bool(rows) and all(isinstance(row[name], int | float | None) for row in rows)
    return ShownColumn(name, name, "", is_right, 0)


def _row_type(result: type[Any]) -> type[Any]:
    rows = typing.get_type_hints(result)["rows"]
    found: type[Any] = typing.get_args(rows)[0]
    return found


def _shown_names(row: type[Any]) -> list[str]:
    """Return the names of the fields of a dataclass that its JSON has."""
    hints = typing.get_type_hints(row, include_extras=True)
    marks = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
    names = [field.name for field in fields(row)]
    return [name for name in names if not any(getattr(m, "exclude", None) for m in marks[name])]


def _columns(row: type[Any]) -> Iterator[ShownColumn]:
    hints = typing.get_type_hints(row, include_extras=True)
    for each in fields(row):
        parts = typing.get_args(hints[each.name])
        marks = [part for part in parts if isinstance(part, Column)]
        mark = marks[0] if marks else Column()
        if mark.is_shown:
            types = {hints[each.name], *parts, *(a for p in parts for a in typing.get_args(p))}
            is_right = mark.is_right or bool(types & {int, float})
            title = mark.title or in_words(each.name)
            yield ShownColumn(each.name, title, mark.opens, is_right, mark.max_characters)


def in_words(name: str) -> str:
    """Return the name of a field as people read it."""
    return name.replace("_", " ")


def format_value(value: Any) -> str:
    """Return a value of a table as text for people: '' for None, thousands with commas, UTC."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:,.2f}"
        case int():
            return f"{value:,}"
        case str():
            return value
        case datetime():
            return f"{value.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        case Mapping():
            return ", ".join(f"{key} {format_value(each)}" for key, each in value.items())
        case list() | tuple():
            return ", ".join(format_value(each) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        return " ".join(
            format_value(getattr(value, column.name)) for column in _columns(type(value))
        )
    return str(value)
