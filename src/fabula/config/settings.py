"""Every knob, with its default: read from flags, the environment, and files named `fabula.toml`.

The core's settings are fields here; each graph and each mode has a table of its own.
pydantic-settings reads those places too, but passes over a misspelt variable, does not tell where a
wrong value came from, and knows no name that stands for several: what it could do is little here.
"""

from __future__ import annotations

import fnmatch
import itertools
import os
import re
import tomllib
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path, PurePath
from typing import Any, Literal, NoReturn, Self

import platformdirs
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    SerializeAsAny,
    ValidationError,
    field_validator,
)
from pydantic.fields import FieldInfo

from fabula.ask.query import Context, Expand, Rewrite, default_field
from fabula.config import serving
from fabula.errors import SettingsError, did_you_mean
from fabula.models.address import shown_url
from fabula.text.names import problem, quoted

if typing.TYPE_CHECKING:
    from fabula.models.prices import Cost
    from fabula.models.usage import Usage

FILE = "fabula.toml"
PREFIX = "FABULA_"
Preset = Literal[
    "fabula",
    "published",
    "economy",
    "raptor",
    "naive",
    "local-published",
    "global-published",
    "drift-published",
    "light-published",
    "fast-published",
    "mini-published",
    "hippo-published",
    "discourse-published",
]
PRESETS = Path(__file__).parent / "presets.toml"
OFFLINE = "offline"
STATIC = "wordllama-256"
"""The chat and the embedding model that need no endpoint."""
UNRECORDED = "a model that was not recorded"
"""What stands for the model of a usage that names none, where the settings have none either."""
CONVENTIONAL = {
    "neo4j_uri": "NEO4J_URI",
    "neo4j_username": "NEO4J_USERNAME",
    "neo4j_password": "NEO4J_PASSWORD",
    "neo4j_database": "NEO4J_DATABASE",
    "api_key": "OPENAI_API_KEY",
    "base_url": "OPENAI_BASE_URL",
}
"""Settings with an environment variable that other programs know too."""

SECRET = ("api_key", "neo4j_password")
"""Settings that are never shown, and are no flags: others on a machine could read them there."""
OWN = (*SECRET, "keyring", "base_url", "neo4j_*", "home", "cache_folder", "prices", "serve.*")
"""Settings that a working folder's file may not hold, and no path is one either: the folder may be
a stranger's, and would name what programs are run, and who is sent texts and passwords."""
OFF_ONLY = ("fetch",)
"""Settings that a working folder's file may turn off, but not on: with them the network is reached,
and the user's own file may have turned them off."""
FLAT = ("aspects", "hybrid", "top-down", "bottom-up", "adaptive")
"""Tables whose settings go by their names alone, too, as they did before there were tables."""
SET = "aspects.set"
"""What `aspects` alone names, where it is no table."""
ADDRESSES = ("neo4j_uri", "base_url")
"""Settings that may hold a name and a password, which are not shown either."""


class Settings(BaseModel):
    """All settings, checked and frozen; `Settings.read()` gathers them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Where the graph is
    home: Path = Field(
        Path(platformdirs.user_data_dir("fabula", appauthor=False)),
        description="folder of the private Neo4j: its programs, data and password",
    )
    neo4j_uri: str | None = Field(None, description="another Neo4j server, instead of the private")
    neo4j_username: str = Field("neo4j", description="user at that server")
    neo4j_password: SecretStr = Field(SecretStr(""), description="password at that server")
    neo4j_database: str = Field("neo4j", description="database at that server")
    neo4j_heap: str = Field(
        "512m", pattern=r"^\d+[mg]$", description="heap of the private Neo4j, as 512m or 2g"
    )
    neo4j_page_cache: str = Field(
        "128m", pattern=r"^\d+[mg]$", description="page cache of the private Neo4j"
    )
    dumps: bool = Field(
        True, description="keep the last three dumps of the private Neo4j, at most one a day"
    )
    preset: Preset = Field(
        "fabula",
        description="defaults of this method, now, as published or at the least cost, or of a "
        "baseline in its own collection",
    )
    collection: str = Field("default", min_length=1, description="collection to work in")

    # Models
    api_key: SecretStr | None = Field(None, description="key of the model endpoint")
    keyring: bool = Field(
        False, description="take the key from the system's keyring, where `fabula init` puts it"
    )
    base_url: str | None = Field(None, description="an OpenAI-compatible endpoint")
    model: str = Field(
        "gpt-4.1-mini", description="chat model for summaries, details and answers, or 'offline'"
    )
    aspect_model: str | None = Field(
        None, description="chat model that detects aspects; the same as model unless set"
    )
    embedding_model: str = Field(
        "text-embedding-3-small",
        description=f"embedding model, or '{STATIC}' for static vectors without an endpoint",
    )
    temperature: float = Field(0.5, ge=0, le=2, description="temperature while building")
    answer_temperature: float = Field(0.0, ge=0, le=2, description="temperature of answers")
    answer_tokens: int = Field(500, ge=16, description="most tokens of an answer")
    concurrency: int = Field(16, ge=1, le=256, description="model calls at the same time")
    timeout: float = Field(120.0, gt=0, description="seconds to wait for a model's reply")
    attempts: int = Field(6, ge=1, description="tries for one model call before giving up")
    cache: bool = Field(True, description="keep every reply that was paid for, and use it again")
    cache_folder: Path = Field(
        Path(platformdirs.user_cache_dir("fabula", appauthor=False)),
        description="folder of the response cache, which may be deleted at any time",
    )
    prices: Path | None = Field(
        None, description="TOML file of models' prices, beside those that Fabula knows"
    )
    max_calls: int | None = Field(None, ge=1, description="stop before more model calls than these")
    max_tokens: int | None = Field(None, ge=1, description="stop when so many tokens are spent")
    embedding_batch: int = Field(128, ge=1, le=2048, description="texts in one embedding call")

    # Loading
    max_file_mb: int = Field(64, ge=1, description="larger files are reported, not read")
    fetch: bool = Field(True, description="fetch documents that are named by https addresses")

    # The text and its graphs
    graphs: tuple[str, ...] = Field(
        ("aspects",), description="graphs to build of each document, as aspects,entities"
    )
    chunk_tokens: int = Field(200, ge=16, description="most tokens of a chunk")

    # Asking: the defaults of a question's options, as `fabula.ask.query.Query` declares them.
    mode: str = default_field("mode")
    top_k: int = default_field("k", le=1000)
    rewrite: Rewrite = default_field("rewrite")
    rerank: bool = default_field("rerank")
    rerank_model: str | None = Field(
        None, description="model for the endpoint's /rerank; without one the chat model ranks"
    )
    diversity: float = default_field("diversity")
    expand: Expand = default_field("expand")
    context: Context = default_field("context")
    context_tokens: int = default_field("context_tokens")
    history_tokens: int = Field(
        1000, ge=0, description="most tokens of a conversation that its next question is read with"
    )
    fill: bool = default_field("fill")

    tables: dict[str, SerializeAsAny[BaseModel]] = Field(
        default_factory=dict, repr=False, description="settings of each graph and mode, by its name"
    )

    @field_validator("graphs", mode="before")
    @classmethod
    def _divided(cls, value: Any) -> Any:
        """A variable and a flag hold one text."""
        return tuple(filter(None, re.split(r"[,\s]+", value))) if isinstance(value, str) else value

    @field_validator("collection")
    @classmethod
    def _named(cls, value: str) -> str:
        """Only what no collection can be called: an old one may have a name that a new may not."""
        if wrong := problem(value):
            raise ValueError(wrong)
        return value

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """What was given, but keys, passwords and those within addresses."""
        for name, value in self:
            if name in self.model_fields_set - {*SECRET, "tables"}:
                yield name, shown_url(value) if name in ADDRESSES and value else value

    def shown(self) -> dict[str, Any]:
        """Return all settings as JSON has them, without keys and passwords."""
        values = self.model_dump(mode="json")
        return values | {name: shown_url(values[name]) for name in ADDRESSES if values[name]}

    def table(self, name: str) -> Any:
        """The settings of the graph or mode of that name: its own model, checked and frozen."""
        return self.tables.get(name) or knobs()[name]()

    def with_preset(self, name: str) -> Self:
        """These settings with what a preset has instead of defaults: what was given stays.

        Raises SettingsError for a preset that there is not.
        """
        if name not in _presets():
            hint = did_you_mean(name, _presets(), f"There are: {', '.join(_presets())}.")
            raise SettingsError(f"There is no preset {name!r}. {hint}")
        own: dict[str, Any] = {}
        tables: dict[str, dict[str, Any]] = {}
        for flat, value in _presets()[name].items():
            for path in paths(flat):
                table, _, key = path.rpartition(".")
                holder = self.table(table) if table else self
                if key not in holder.model_fields_set:
                    (tables.setdefault(table, {}) if table else own)[key] = value
        told = {name: self.table(name).model_copy(update=new) for name, new in tables.items()}
        return self.model_copy(update=own | {"preset": name, "tables": self.tables | told})

    @property
    def offline(self) -> bool:
        """Whether no chat model is used at all."""
        return self.model == OFFLINE

    def model_of(self, step: str) -> str:
        """The model that a step asks, by the name that usage has of the step.

        A usage itself names the models that were asked; this is for one that was recorded by an
        earlier version, and does not.
        """
        if step == "embeddings":
            return self.embedding_model
        if step == "rerank":
            return self.rerank_model or self.model
        if step in ("aspects", "route") and not self.offline:
            return self.aspect_model or self.model
        return self.model

    def by_model(self, steps: Mapping[str, Usage]) -> dict[str, Usage]:
        """Return the usage of each model out of that of each step.

        A usage names the models that were asked. What an earlier version recorded does not: that is
        taken to have asked the model that these settings have for such a step.
        """
        from fabula.models.usage import Usage  # numpy takes longer than all else that settings need

        models: dict[str, Usage] = {}
        for step, usage in steps.items():
            parts = dict(usage.models)
            unnamed = usage.unnamed
            if unnamed != Usage():
                name = self.model_of(step)
                if unnamed.calls and name in (OFFLINE, STATIC):
                    name = UNRECORDED
                parts[name] = parts.get(name, Usage()) + unnamed
            for name, part in parts.items():
                models[name] = models.get(name, Usage()) + part
        return models

    def cost(self, steps: Mapping[str, Usage]) -> Cost:
        """Price the usage of steps, the part of each model by its own price."""
        from fabula.models.prices import cost, read_prices

        return cost(read_prices(self.prices), self.by_model(steps))

    @classmethod
    def read(cls, **flags: Any) -> Self:
        """Settings from `flags` (None is not given), the environment, files and a preset.

        The files are the user's own, and over it that of the working folder, or the one that
        FABULA_CONFIG names; the working folder's may not hold what is OWN.

        Without a key, here or in the keyring, and a base URL the models are OFFLINE and STATIC.
        Raises SettingsError, which names the flag, variable or key that is wrong, and the nearest
        right one.
        """
        # A variable set to nothing is not set, as in `FABULA_HOME= fabula list`.
        environment = {name: value for name, value in os.environ.items() if value}
        given, origin = _gather(flags, environment)
        for name, value in _presets().get(given.get("preset", ""), {}).items():
            for path in paths(name):
                given.setdefault(path, value)
        has_key = given.get("api_key") or _is_on(given.get("keyring"))
        if not has_key and not given.get("base_url"):
            given.setdefault("model", OFFLINE)
            given.setdefault("embedding_model", STATIC)
        own = {name: value for name, value in given.items() if "." not in name}
        tables = {name: _table(name, given, origin) for name in knobs()}
        try:
            return cls.model_validate(own | {"tables": tables})
        except ValidationError as error:
            raise SettingsError(_in_words(error, origin)) from error


@cache
def knobs() -> dict[str, type[BaseModel]]:
    """The tables: the model of each graph's and each mode's own settings, by its name."""
    from fabula.ask.modes import modes
    from fabula.graph.installed import graphs

    tables: dict[str, type[BaseModel]] = {serving.TABLE: serving.Serving}
    tables |= {name: graph.knobs for name, graph in graphs().items()}
    own = {name: mode.knobs for name, mode in modes().items() if mode.knobs.model_fields}
    # A graph and the mode that walks it may be of one name, if they have one table.
    if twice := [name for name in tables.keys() & own.keys() if tables[name] is not own[name]]:
        raise SettingsError(
            f"A graph and a mode are both named {min(twice)!r}, and have a table of settings each: "
            "remove the package of one."
        )
    return tables | own


@cache
def names() -> dict[str, FieldInfo]:
    """Every setting by its whole name, as `chunk_tokens` and `aspects.levels`."""
    core = {name: field for name, field in Settings.model_fields.items() if name != "tables"}
    return core | {
        f"{table}.{name}": field
        for table, model in knobs().items()
        for name, field in model.model_fields.items()
    }


def variable(name: str) -> str:
    """The environment variable of a setting, by its whole name."""
    return CONVENTIONAL.get(name) or PREFIX + name.replace(".", "__").replace("-", "_").upper()


def paths(name: str) -> list[str]:
    """The whole names that a name stands for: itself, or those of the tables that are FLAT."""
    if name in names():
        return [name]
    if name == "aspects":
        return [SET]
    inside = [f"{table}.{name}" for table in FLAT]
    return [path for path in inside if path in names() and path != SET]


def _table(name: str, given: Mapping[str, Any], origin: Mapping[str, str]) -> BaseModel:
    own = {
        path.split(".", 1)[1]: value for path, value in given.items() if path.startswith(f"{name}.")
    }
    try:
        return knobs()[name].model_validate(own)
    except ValidationError as error:
        raise SettingsError(_in_words(error, origin, f"{name}.")) from error


def _is_on(value: Any) -> bool:
    """Whether a value that is not checked yet means yes, in a file, a variable or a flag."""
    return value is True or str(value).strip().lower() in ("true", "1", "on", "yes", "t", "y")


def _presets() -> dict[str, dict[str, Any]]:
    return tomllib.loads(PRESETS.read_text(encoding="utf-8"))


def _gather(
    flags: Mapping[str, Any], environment: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """All values that were given, and where each came from; the strongest source wins."""
    given: dict[str, Any] = {}
    origin: dict[str, str] = {}
    sources = (_of_files(environment), _of_environment(environment), _of_flags(flags))
    for name, value, place in itertools.chain(*sources):
        for path in paths(name) or [_unknown(name, place)]:
            given[path], origin[path] = value, place
    return given, origin


Given = Iterator[tuple[str, Any, str]]
"""Names, values, and where they come from."""


def own_file() -> Path:
    """The user's own file of settings, which may set everything."""
    return Path(platformdirs.user_config_dir("fabula", appauthor=False)) / FILE


def _of_files(environment: Mapping[str, str]) -> Given:
    yield from _of_file(own_file())
    if "FABULA_CONFIG" in environment:
        named = Path(environment["FABULA_CONFIG"])
        if not named.is_file():
            raise SettingsError(f"FABULA_CONFIG names {named}, which is not a file.")
        yield from _of_file(named)
    else:
        yield from _of_working_folder(Path(FILE))


def _of_working_folder(file: Path) -> Given:
    if file.is_file() and own_file().is_file() and file.samefile(own_file()):
        return
    for name, value, place in _of_file(file):
        turns_on = any(path in OFF_ONLY for path in paths(name)) and _is_on(value)
        if turns_on or any(map(_is_own, paths(name))):
            flag = "" if name in SECRET or "." in name else f" or --{name.replace('_', '-')}"
            raise SettingsError(
                f"{place} is not taken from the working folder, whose files may be a stranger's. "
                f"Set {variable(name)}{flag}, or write the line to {own_file()}. If you trust "
                f"all of this file, name it: FABULA_CONFIG={file}."
            )
        yield name, value, place


def _is_own(name: str) -> bool:
    """Whether a setting, by its whole name, is kept from the working folder's file."""
    named = any(fnmatch.fnmatchcase(name, pattern) for pattern in OWN)
    return named or _holds_path(names()[name].annotation)


def _holds_path(annotation: Any) -> bool:
    is_path = isinstance(annotation, type) and issubclass(annotation, PurePath)
    return is_path or any(map(_holds_path, typing.get_args(annotation)))


def _of_file(file: Path) -> Given:
    for key, value in _read_toml(file).items():
        if not isinstance(value, dict):
            yield key, value, f"{file}: {key}"
            continue
        for name, one in value.items():
            yield f"{key}.{name}", one, f"{file}: {key}.{name}"


def _of_environment(environment: Mapping[str, str]) -> Given:
    for name, conventional in CONVENTIONAL.items():
        if environment.get(conventional):
            yield name, environment[conventional], conventional
    by_variable = {variable(name): name for name in names()}
    # Whole names last, so that they are stronger than those that stand for several.
    for place in sorted(environment, key=lambda one: one in by_variable):
        if place.startswith(PREFIX) and place != "FABULA_CONFIG":
            flat = place.removeprefix(PREFIX).lower()
            yield by_variable.get(place, flat), environment[place], place


def _of_flags(flags: Mapping[str, Any]) -> Given:
    for name, value in flags.items():
        if value is not None:
            yield name, value, name if "." in name else f"--{name.replace('_', '-')}"


def _unknown(name: str, place: str) -> NoReturn:
    flat = [path.rpartition(".")[2] for path in names() if path.partition(".")[0] in FLAT]
    known = [*names(), *flat]
    if place.startswith(PREFIX):
        name, known = place, [variable(one) for one in known]
    hint = did_you_mean(name, known, "See `fabula settings` for all names.")
    raise SettingsError(f"There is no setting {place}. {hint}")


def _read_toml(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError) as error:
        raise SettingsError(f"{file} can't be read as TOML: {error}.") from error


def _in_words(error: ValidationError, origin: Mapping[str, str], within: str = "") -> str:
    problems = []
    for one in error.errors(include_url=False):
        name = f"{within}{one['loc'][0]}" if one["loc"] else within.rstrip(".")
        value = one["input"]
        given = quoted(value) if isinstance(value, str) else repr(value)
        given = "(not shown)" if name in SECRET else given
        what = one["msg"].removeprefix("Value error, ").lower()
        problems.append(f"{origin.get(name, name)} = {given}: {what}")
    return "; ".join(problems) + "."
