"""All settings with their defaults, read from flags, the environment and files `fabula.toml`.

The settings of the core are fields of `Settings`; each graph and each mode has a table of its own.
pydantic-settings reads the same places, but it ignores a misspelt variable, does not say where a
wrong value came from, and gives every setting a variable. It would have little left to do.
"""

from __future__ import annotations

import fnmatch
import itertools
import json
import os
import re
import tomllib
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
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

from fabula.ask.query import Context, ContextTokens, Order, Quotations, Rewrite, default_field
from fabula.config import serving
from fabula.errors import SettingsError, did_you_mean
from fabula.models.endpoint.address import redact_url
from fabula.text.names import name_problem, quote_name

if typing.TYPE_CHECKING:
    from fabula.models.prices import Cost
    from fabula.models.usage import Usage

FILE = "fabula.toml"
PREFIX = "FABULA_"
PRESETS = "presets.toml"
PRESETS_GROUP = "fabula.presets"
"""The group of entry points that name packages with a file of presets, as graphs have."""


@cache
def presets() -> Mapping[str, Mapping[str, Any]]:
    """Return the settings of each preset, by its name.

    A package is found and its file read without an import: it may be a graph's, which takes long.

    Raises:
        SettingsError: A package's file can't be read, or two packages have a preset of one name.
    """
    known = tomllib.loads((Path(__file__).parent / PRESETS).read_text(encoding="utf-8"))
    for entry in sorted(entry_points(group=PRESETS_GROUP)):
        added = _read_presets(entry)
        if twice := known.keys() & added.keys():
            raise SettingsError(
                f"There are two presets named {min(twice)!r}, one of them from the package "
                f"{_package(entry)}: remove that package, or the other one."
            )
        known |= added
    return known


def _read_presets(entry: EntryPoint) -> dict[str, Any]:
    """Return the presets of a package."""
    try:
        spec = find_spec(entry.value)
        if not (spec and spec.submodule_search_locations):
            raise ModuleNotFoundError(f"there is no package {entry.value}")
        file = Path(spec.submodule_search_locations[0]) / PRESETS
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (ImportError, ValueError, OSError) as error:
        raise SettingsError(
            f"The presets of the package {_package(entry)} can't be read (entry point {entry.name} "
            f"= {entry.value} of {entry.group}: {error}). Install another version of it, or remove "
            f"it: pip uninstall {_package(entry)}."
        ) from error


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else entry.value


if typing.TYPE_CHECKING:  # a type checker cannot know the names in a file
    Preset = str
else:
    Preset = Literal[tuple(presets())]
OFFLINE = "offline"
STATIC = "wordllama-256"
"""The names of the chat model and of the embedding model that need no endpoint."""
CONVENTIONAL = {
    "neo4j_uri": "NEO4J_URI",
    "neo4j_username": "NEO4J_USERNAME",
    "neo4j_password": "NEO4J_PASSWORD",
    "neo4j_database": "NEO4J_DATABASE",
    "api_key": "OPENAI_API_KEY",
    "base_url": "OPENAI_BASE_URL",
}
"""Settings whose environment variable is one that other programs use too."""
SHORT = {"aspects": "aspects.set", "levels": "aspects.levels", "details": "aspects.details"}
"""The settings of a graph that are given most often: they have a name without their table's, and a
flag and a variable of this name, as the settings of the core have."""

SECRET = (
    *("api_key", "neo4j_password", "collections"),
    "serve.oidc_client_secret",
)
"""Settings that are never shown, and have no flags: other users of the machine could read them."""
OWN = (
    *SECRET,
    *("keyring", "base_url", "neo4j_*", "home", "cache_folder", "prices"),
    "serve.*",
)
"""Settings that the file in the working folder may not hold; nor may it hold any path. The folder
may have come from a stranger, who would then choose which programs run, and who is sent texts and
passwords."""
OFF_ONLY = ("fetch",)
"""Settings that the file in the working folder may turn off, but not on: they allow access to the
network, which the user's own file may have turned off."""
DETECTION_STEPS = ("aspects", "route")
"""Steps that ask `aspect_model`."""
ADDRESSES = ("neo4j_uri", "base_url")
"""Settings that may contain a user name and a password, which are not shown."""


class CollectionServer(BaseModel):
    """The server and database of one collection; None: as the settings of that name say."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    neo4j_uri: str | None = None
    neo4j_username: str | None = None
    neo4j_password: SecretStr | None = None
    neo4j_database: str | None = None


class Settings(BaseModel):
    """All settings, checked and frozen; `Settings.read()` collects them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Where the graph is
    home: Path = Field(
        Path(platformdirs.user_data_dir("fabula", appauthor=False)),
        description="folder of the private Neo4j: its programs, data and password",
    )
    neo4j_uri: str | None = Field(
        None, description="URI of another Neo4j server, in place of the private one"
    )
    neo4j_username: str = Field("neo4j", description="user at that server")
    neo4j_password: SecretStr = Field(SecretStr(""), description="password at that server")
    neo4j_database: str = Field("neo4j", description="database at that server")
    collections: dict[str, CollectionServer] = Field(
        default_factory=dict,
        description="tables [collections.NAME] with the neo4j_uri, neo4j_username, neo4j_password "
        "and neo4j_database of collections that are in another graph; what is not set is as above",
    )
    neo4j_heap: str = Field(
        "512m", pattern=r"^\d+[mg]$", description="heap of the private Neo4j, as 512m or 2g"
    )
    neo4j_page_cache: str = Field(
        "128m", pattern=r"^\d+[mg]$", description="page cache of the private Neo4j"
    )
    dumps: bool = Field(
        True, description="keep the last three dumps of the private Neo4j, at most one per day"
    )
    preset: Preset = Field(
        "fabula",
        description="which defaults: Fabula's own, as published, or at the lowest cost; or those "
        "of a baseline, in a collection of its own",
    )
    collection: str = Field("default", min_length=1, description="collection to work in")

    # Models
    api_key: SecretStr | None = Field(None, description="key of the model endpoint")
    keyring: bool = Field(
        False, description="take the key from the system's keyring, where `fabula init` saves it"
    )
    base_url: str | None = Field(None, description="URL of an OpenAI-compatible endpoint")
    model: str = Field(
        "gpt-4.1-mini", description="chat model for summaries, details and answers, or 'offline'"
    )
    aspect_model: str | None = Field(
        None,
        description="chat model that detects aspects; the same as `model` unless set; 'strong': "
        "the strong model beside it, as gpt-4.1 beside gpt-4.1-mini",
    )
    embedding_model: str = Field(
        "text-embedding-3-small",
        description=f"embedding model; '{STATIC}' for static vectors without an endpoint; or one "
        "of this machine, as 'fastembed:BAAI/bge-small-en-v1.5' "
        "(pip install 'fabula[local-models]')",
    )
    embedding_query_prefix: str | None = Field(
        None,
        description="what the embedding model wants before a question; without it, what is known "
        "of the model; 'none' for nothing",
    )
    embedding_passage_prefix: str | None = Field(
        None,
        description="what it wants before a passage, likewise; another prefix needs `fabula "
        "reembed`, as another model does",
    )
    model_window: int | None = Field(
        None,
        ge=1,
        description="tokens that the chat model takes in a call, prompt and reply together; "
        "otherwise as the list of known models or the endpoint says",
    )
    temperature: float = Field(0.5, ge=0, le=2, description="temperature while building")
    answer_temperature: float = Field(0.0, ge=0, le=2, description="temperature of answers")
    answer_tokens: int = Field(500, ge=16, description="maximum tokens of an answer")
    concurrency: int = Field(16, ge=1, le=256, description="maximum model calls at the same time")
    timeout: float = Field(120.0, gt=0, description="seconds to wait for a model's reply")
    attempts: int = Field(6, ge=1, description="maximum attempts of one model call")
    cache: bool = Field(True, description="save every reply that was paid for, and use it again")
    cache_folder: Path = Field(
        Path(platformdirs.user_cache_dir("fabula", appauthor=False)),
        description="folder of the response cache; delete it when no batches are under way",
    )
    cache_max_gb: float = Field(
        10.0,
        gt=0,
        description="gigabytes of the response cache; beyond them the oldest embeddings are "
        "deleted, then the oldest replies, but nothing that is less than a day old",
    )
    prices: Path | None = Field(
        None, description="TOML file with prices of models, in addition to those that Fabula knows"
    )
    max_calls: int | None = Field(None, ge=1, description="stop after this number of model calls")
    max_tokens: int | None = Field(None, ge=1, description="stop after this number of tokens")
    batch_min_tokens: int = Field(
        100_000, ge=0, description="with --batch, embed fewer tokens than this at once"
    )
    batch_min_calls: int = Field(
        0, ge=0, description="with --batch, make a round of fewer chat calls than this at once"
    )
    embedding_batch: int = Field(128, ge=1, le=2048, description="texts in one embedding call")

    # Loading
    max_file_mb: int = Field(64, ge=1, description="larger files are reported, and not read")
    fetch: bool = Field(True, description="fetch documents that are named by https addresses")

    # The text and its graphs
    graphs: tuple[str, ...] = Field(
        ("aspects",), description="graphs to build for each document, as aspects,entities"
    )
    chunk_tokens: int = Field(200, ge=16, description="maximum tokens of a chunk")

    # Asking: the defaults of a question's options, as `fabula.ask.query.Query` declares them.
    mode: str = default_field("mode")
    top_k: int = default_field("k", le=1000)
    rewrite: Rewrite = default_field("rewrite")
    rerank: bool = default_field("rerank")
    rerank_model: str | None = Field(
        None,
        description="model for the endpoint's /rerank, or one of this machine, as "
        "'fastembed:Xenova/ms-marco-MiniLM-L-6-v2'; without it, the chat model ranks",
    )
    context: Context = default_field("context")
    context_tokens: ContextTokens = default_field("context_tokens")
    order: Order = default_field("order")
    brief: bool = default_field("brief")
    history_tokens: int = Field(
        1000, ge=0, description="maximum tokens of the previous turns that a question is read with"
    )
    question_history: int = Field(
        500,
        ge=0,
        le=10_000,
        description="questions of `fabula query` that `fabula history` keeps in Fabula's folder; 0 "
        "for none",
    )
    fill: bool = default_field("fill")
    quotations: Quotations = default_field("quotations")

    tables: dict[str, SerializeAsAny[BaseModel]] = Field(
        default_factory=dict, repr=False, description="settings of each graph and mode, by its name"
    )

    @field_validator("graphs", mode="before")
    @classmethod
    def _split_names(cls, value: Any) -> Any:
        """Split the names that a variable or a flag holds in one text."""
        return serving.split_names(value)

    @field_validator("collections", mode="before")
    @classmethod
    def _read_collections(cls, value: Any) -> Any:
        """Read what a variable holds in one text, as JSON."""
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            raise ValueError('is not JSON, as {"novels": {"neo4j_database": "novels"}}') from None

    @field_validator("embedding_query_prefix", "embedding_passage_prefix")
    @classmethod
    def _read_prefix(cls, value: str | None) -> str | None:
        r"""Read 'none' as no prefix, as an empty variable is none, and '\n' as a line's end."""
        if value is None:
            return None
        return "" if value.strip().lower() == "none" else value.replace("\\n", "\n")

    @field_validator("collection")
    @classmethod
    def _check_name(cls, value: str) -> str:
        """Refuse what no collection can be called; old ones may have names that are refused now."""
        if fault := name_problem(value):
            raise ValueError(fault)
        return value

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Yield what was given, except for keys, passwords and the passwords in addresses."""
        for name, value in self:
            if name in self.model_fields_set - {*SECRET, "tables"}:
                yield name, redact_url(value) if name in ADDRESSES and value else value

    def redacted(self) -> dict[str, Any]:
        """Return all settings as JSON has them, without keys and passwords."""
        values = self.model_dump(mode="json")
        return values | {name: redact_url(values[name]) for name in ADDRESSES if values[name]}

    def values(self) -> dict[str, Any]:
        """Return what `redacted` does, each setting by its whole name, as `aspects.levels`."""
        values = self.redacted()
        tables = values.pop("tables")
        return values | {
            f"{table}.{name}": value
            for table, settings in tables.items()
            for name, value in settings.items()
        }

    def table(self, name: str) -> Any:
        """Return the settings of the graph or mode of this name: its own model, frozen."""
        return self.tables.get(name) or table_models()[name]()

    @property
    def offline(self) -> bool:
        """Whether no chat model is used at all."""
        return self.model == OFFLINE

    @property
    def embeds_by_endpoint(self) -> bool:
        """Whether the embedding model is one of an endpoint."""
        if self.embedding_model == STATIC:
            return False
        from fabula.models.providers import split_provider

        return not split_provider(self.embedding_model)[0]

    @property
    def uses_endpoint(self) -> bool:
        """Whether the chat model or the embedding model is one of an endpoint."""
        return not self.offline or self.embeds_by_endpoint

    @property
    def has_endpoint(self) -> bool:
        """Whether an endpoint is set: an address, or a key for OpenAI's."""
        return bool(self.base_url or self.api_key or self.keyring)

    def endpoint_key(self) -> str | None:
        """Return the endpoint's key; None if there is none.

        Only a call needs it, as the keyring may ask the user.

        Raises:
            SettingsError: The keyring has no key for the endpoint.
        """
        if self.api_key:
            return self.api_key.get_secret_value()
        if not self.keyring:
            return None
        from fabula.models.endpoint.address import normalize_url
        from fabula.models.keyring import read_key

        return read_key(normalize_url(self.base_url))

    def for_collection(self, collection: str) -> Self:
        """Return settings that name the server and database of a table `[collections.NAME]`.

        Raises:
            KeyError: There is no table for it.
            SettingsError: It has another database, and no server that could have several.
        """
        settings = self.model_copy(
            update={
                name: value for name, value in self.collections[collection] if value is not None
            }
        )
        if not settings.neo4j_uri:
            raise SettingsError(
                f"collections.{collection} has no neo4j_uri, and Fabula's own Neo4j has a single "
                "database: name the server."
            )
        return settings

    def without_endpoint(self) -> Self:
        """Return settings with which nothing is asked of an endpoint, so that nothing costs money.

        There is no chat model, and a collection that was embedded at an endpoint can't be asked.
        """
        from fabula.models.providers import LOCAL, split_provider

        ranker = self.rerank_model
        has_own_ranker = ranker is not None and split_provider(ranker)[0] == LOCAL
        update: dict[str, Any] = {
            "model": OFFLINE,
            "aspect_model": None,
            "rerank_model": ranker if has_own_ranker else None,
            "base_url": None,
            "api_key": None,
            "keyring": False,
        }
        if self.embeds_by_endpoint:
            update["embedding_model"] = STATIC
        return self.model_copy(update=update)

    def for_workers(self) -> Self:
        """Return the settings with which another process makes parts as this one would.

        This process answers what they want of an endpoint: so they have no address and no key of
        it, no budget and no cache, and nothing of Neo4j.
        """
        update: dict[str, Any] = {
            "neo4j_uri": None,
            "neo4j_username": "neo4j",
            "neo4j_password": SecretStr(""),
            "collections": {},
            "base_url": None,
            "api_key": None,
            "keyring": False,
            "cache": False,
            "max_calls": None,
            "max_tokens": None,
        }
        return self.model_copy(update=update)

    @property
    def models_folder(self) -> Path:
        """The folder of the files of models that run on this machine."""
        return self.home / "models"

    @property
    def judge(self) -> str:
        """The name of the chat model that detects aspects; offline, OFFLINE."""
        if self.offline or not self.aspect_model:
            return self.model
        # Builds alone need it.
        from fabula.models.strong_model import STRONG, strong_model

        return strong_model(self.model) if self.aspect_model == STRONG else self.aspect_model

    def model_of(self, step: str) -> str:
        """Return the model that a step asks, by the step's name in a usage."""
        if step == "embeddings":
            return self.embedding_model
        if step == "rerank":
            return self.rerank_model or self.model
        if step in DETECTION_STEPS and not self.offline:
            return self.judge
        return self.model

    def by_model(self, steps: Mapping[str, Usage]) -> dict[str, Usage]:
        """Return the usage of each model, from the usage of each step.

        A usage names the models that were asked. What it has of none, such as calls that a graph
        saved, is taken to be of the model that these settings have for the step.
        """
        # Imported here because numpy takes longer to import than all else that settings need.
        from fabula.models.usage import Usage

        models: dict[str, Usage] = {}
        for step, usage in steps.items():
            parts = dict(usage.models)
            unnamed = usage.unnamed
            if unnamed != Usage():
                name = self.model_of(step)
                parts[name] = parts.get(name, Usage()) + unnamed
            for name, part in parts.items():
                models[name] = models.get(name, Usage()) + part
        return models

    def cost(self, steps: Mapping[str, Usage]) -> Cost:
        """Return what the usage of steps costs, the part of each model by its own price."""
        from fabula.models.prices import cost, read_prices

        return cost(read_prices(self.prices), self.by_model(steps))

    @classmethod
    def read(cls, **flags: Any) -> Self:
        """Read the settings from flags, the environment, files and the preset.

        The strongest source wins: flags, then the environment, then the file of the working folder
        or the one that FABULA_CONFIG names, then the user's own file, then the preset. The file of
        the working folder may not hold the settings of `OWN`. Without a base URL and without a key,
        here or in the keyring, the models are OFFLINE and STATIC.

        Args:
            **flags: Settings by their names; None counts as not given. The name of a setting in a
                table, as `aspects.levels`, can be given in a dictionary: `**{"aspects.levels": 3}`.

        Raises:
            SettingsError: A setting is unknown or has a bad value. The message names the flag, the
                variable or the line of the file, and the nearest name that exists.
        """
        # A variable set to nothing is not set, as in `FABULA_HOME= fabula list`.
        environment = {name: value for name, value in os.environ.items() if value}
        values, origin = _gather(flags, environment)
        for path, value in _preset_settings(values.get("preset", "")):
            values.setdefault(path, value)
        has_key = values.get("api_key") or _is_on(values.get("keyring"))
        if not (has_key or values.get("base_url")):
            values.setdefault("model", OFFLINE)
            values.setdefault("embedding_model", STATIC)
        core = {name: value for name, value in values.items() if "." not in name}
        tables = {name: _read_table(name, values, origin) for name in table_models()}
        try:
            return cls.model_validate(core | {"tables": tables})
        except ValidationError as error:
            raise SettingsError(_describe(error, origin)) from error


@cache
def table_models() -> dict[str, type[BaseModel]]:
    """Return the model of each table, by name: `serve`, each graph's, each mode's."""
    from fabula.ask.modes import modes
    from fabula.graph.installed import graphs

    tables: dict[str, type[BaseModel]] = {serving.TABLE: serving.Serving}
    tables |= {name: graph.options for name, graph in graphs().items()}
    of_modes = {name: mode.options for name, mode in modes().items() if mode.options.model_fields}
    # A graph and a mode may have the same name if they share one table.
    shared = tables.keys() & of_modes.keys()
    if twice := [name for name in shared if tables[name] is not of_modes[name]]:
        raise SettingsError(
            f"A graph and a mode are both named {min(twice)!r}, and have a table of settings each: "
            "remove the package of one."
        )
    return tables | of_modes


@cache
def setting_fields() -> dict[str, FieldInfo]:
    """Return every setting by its whole name, as `chunk_tokens` and `aspects.levels`."""
    core = {name: field for name, field in Settings.model_fields.items() if name != "tables"}
    return core | {
        f"{table}.{name}": field
        for table, model in table_models().items()
        for name, field in model.model_fields.items()
    }


def short_name(name: str) -> str:
    """Return the shortest name of a setting, by its whole name."""
    return next((short for short, whole in SHORT.items() if whole == name), name)


def environment_variable(name: str) -> str:
    """Return the environment variable of a setting, by its whole name; '' if it has none.

    Those of the core and of the service have one, and those with a short name.
    """
    table, _, own = short_name(name).rpartition(".")
    if table not in ("", serving.TABLE):
        return ""
    return CONVENTIONAL.get(name) or PREFIX + (f"{table}__{own}" if table else own).upper()


def resolve_name(name: str) -> str:
    """Return the whole name of a setting, by either of its names; '' if there is none."""
    whole = SHORT.get(name, name)
    return whole if whole in setting_fields() else ""


def how_to_set(name: str) -> str:
    """Return how a setting is given, by a name that a flag or a variable of it might have.

    '' where no setting is called so, and for secrets.
    """
    words = re.split(r"[^a-z0-9]+", name.removeprefix(PREFIX).lower().lstrip("-"))
    found = [
        whole
        for whole in setting_fields()
        if words in (re.split(r"\W|_", whole), whole.rpartition(".")[2].split("_"))
        and whole not in SECRET
    ]
    if not found:
        return ""
    table, _, own = found[0].rpartition(".")
    under = f" under [{table}]" if table else ""
    given = f"--set {found[0]}=VALUE, or as {own} = VALUE{under} in {FILE}"
    if len(found) == 1:
        return f"{found[0]} is given by {given}."
    return f"Several tables have such a setting, {', '.join(found)}: give one by {given}."


def _read_table(name: str, values: Mapping[str, Any], origin: Mapping[str, str]) -> BaseModel:
    prefix = f"{name}."
    table = {
        path.removeprefix(prefix): value
        for path, value in values.items()
        if path.startswith(prefix)
    }
    try:
        return table_models()[name].model_validate(table)
    except ValidationError as error:
        raise SettingsError(_describe(error, origin, prefix)) from error


def _is_on(value: Any) -> bool:
    """Return whether a value of a file, a variable or a flag means yes, before it is checked."""
    return value is True or str(value).strip().lower() in ("true", "1", "on", "yes", "t", "y")


def _gather(
    flags: Mapping[str, Any], environment: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return all values that were given, and where each came from; the strongest source wins."""
    values: dict[str, Any] = {}
    origin: dict[str, str] = {}
    sources = (_read_files(environment), _read_environment(environment), _read_flags(flags))
    for name, value, place in itertools.chain(*sources):
        path = resolve_name(name) or _refuse_unknown(name, place)
        is_address = path in CONVENTIONAL and isinstance(value, str)
        # An address or a key that was copied often has a line's end or a space at its own end.
        values[path], origin[path] = value.strip() if is_address else value, place
    return values, origin


def _preset_settings(preset: str) -> Iterator[tuple[str, Any]]:
    """Yield the settings of a preset by their whole names; refuse names that no setting has."""
    for name, value in presets().get(preset, {}).items():
        yield resolve_name(name) or _refuse_unknown(name, f"{name} (preset {preset!r})"), value


Values = Iterator[tuple[str, Any, str]]
"""Names, values, and where they come from."""


def user_file() -> Path:
    """Return the path of the user's own file of settings, which may set everything."""
    return Path(platformdirs.user_config_dir("fabula", appauthor=False)) / FILE


def _read_files(environment: Mapping[str, str]) -> Values:
    yield from _read_file(user_file())
    if "FABULA_CONFIG" in environment:
        file = Path(environment["FABULA_CONFIG"])
        if not file.is_file():
            raise SettingsError(f"FABULA_CONFIG names {file}, which is not a file.")
        yield from _read_file(file)
    else:
        yield from _read_working_folder(Path(FILE))


def _read_working_folder(file: Path) -> Values:
    if file.is_file() and user_file().is_file() and file.samefile(user_file()):
        return
    for name, value, place in _read_file(file):
        whole = resolve_name(name)
        turns_on = whole in OFF_ONLY and _is_on(value)
        if turns_on or (whole and _is_protected(whole)):
            flag = "" if whole in SECRET else f"give --set {whole}=VALUE"
            variable = environment_variable(whole)
            ways = filter(None, (variable and f"set {variable}", flag, "write the line to"))
            raise SettingsError(
                f"{place} is not taken from the working folder, whose files may be a stranger's. "
                f"Instead, {', or '.join(ways)} {user_file()}. If you trust all of this file, name "
                f"it: FABULA_CONFIG={file}."
            )
        yield name, value, place


def _is_protected(name: str) -> bool:
    """Return whether the working folder's file may not hold a setting, by its whole name."""
    is_listed = any(fnmatch.fnmatchcase(name, pattern) for pattern in OWN)
    return is_listed or _holds_path(setting_fields()[name].annotation)


def _holds_path(annotation: Any) -> bool:
    is_path = isinstance(annotation, type) and issubclass(annotation, PurePath)
    return is_path or any(map(_holds_path, typing.get_args(annotation)))


def _read_file(file: Path) -> Values:
    for key, value in _read_toml(file).items():
        if not isinstance(value, dict) or key == "collections":
            yield key, value, f"{file}: {key}"
            continue
        for name, inner in value.items():
            yield f"{key}.{name}", inner, f"{file}: {key}.{name}"


def _read_environment(environment: Mapping[str, str]) -> Values:
    for name, conventional in CONVENTIONAL.items():
        if environment.get(conventional):
            yield name, environment[conventional], conventional
    by_variable = {environment_variable(name): name for name in setting_fields()}
    for place, value in environment.items():
        if place.startswith(PREFIX) and place != "FABULA_CONFIG":
            yield by_variable.get(place, place.removeprefix(PREFIX).lower()), value, place


def _read_flags(flags: Mapping[str, Any]) -> Values:
    for name, value in flags.items():
        if value is not None:
            yield name, value, name if "." in name else f"--{name.replace('_', '-')}"


def _refuse_unknown(name: str, place: str) -> NoReturn:
    known = [*setting_fields(), *SHORT]
    if place.startswith(PREFIX):
        name, known = place, [environment_variable(path) for path in setting_fields()]
    hint = how_to_set(name) or did_you_mean(name, known, "See `fabula settings` for all names.")
    raise SettingsError(f"There is no setting {place}. {hint}")


def _read_toml(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError) as error:
        raise SettingsError(f"{file} can't be read as TOML: {error}.") from error


def _describe(error: ValidationError, origin: Mapping[str, str], prefix: str = "") -> str:
    """Return what is wrong with which setting, and where it was given; `prefix` is its table's."""
    problems = []
    for detail in error.errors(include_url=False):
        name = f"{prefix}{detail['loc'][0]}" if detail["loc"] else prefix.rstrip(".")
        value = detail["input"]
        text = quote_name(value) if isinstance(value, str) else repr(value)
        text = "(not shown)" if name in SECRET else text
        fault = detail["msg"].removeprefix("Value error, ").lower()
        problems.append(f"{origin.get(name, name)} = {text}: {fault}")
    return "; ".join(problems) + "."
