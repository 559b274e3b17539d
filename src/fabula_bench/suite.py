"""Read a suite: which systems answer which questions, and what is measured; a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from fabula.config.settings import SHORT, Preset, setting_fields
from fabula.errors import NotFound, SettingsError, did_you_mean, first_problem
from fabula_bench.data import usual_part
from fabula_bench.data.subsets import Only

Ask = Literal["answer", "choose", "retrieve", "build"]
"""What is asked for: an answer, one of the options, only a context, or nothing but the graphs."""

Scope = Literal["document", "collection"]
"""Where a question is asked: within its text, or in one collection of all texts."""
RUNNING = (
    *("home", "neo4j_uri", "neo4j_username", "neo4j_password", "neo4j_database", "neo4j_heap"),
    *("neo4j_page_cache", "collection", "preset", "api_key", "keyring", "base_url", "concurrency"),
    *("timeout", "attempts", "cache", "cache_folder", "cache_max_gb", "prices", "max_calls"),
    *("max_tokens", "embedding_batch", "batch_min_tokens", "batch_min_calls", "max_file_mb"),
    "history_tokens",
)
"""Settings about where and how a run is made; they change no result, and no suite has them."""
MODELS = ("model", "aspect_model", "embedding_model", "rerank_model")
"""Settings that a suite may set for all its systems, and flags may override."""
METHOD = tuple(name for name in setting_fields() if name not in (*RUNNING, *MODELS))
"""Settings of a system by their full names; they come from the suite, not from the environment."""
OWN = (*METHOD, *SHORT)
"""Those names, and the short ones of some of them, as `levels`."""


def _flat(settings: Any) -> Any:
    """Return settings by their full names: TOML reads `aspects.levels = 3` as a nested table."""
    if not isinstance(settings, dict):
        return settings
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{key}": nested for key, nested in value.items()}
        else:
            flat[name] = value
    return flat


OwnSettings = Annotated[dict[str, Any], BeforeValidator(_flat)]
"""Settings of systems by names that are OWN."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DataPart(_Part):
    """`set` and `part` name the data; its files are in `folder` unless the one who runs it says so.

    `shipped`: the few texts that come with Fabula. `hard`: only questions of the hard subset.
    `only`: of the texts those of Project Gutenberg (`gutenberg`), as the aspect graph's publication
    took them. `scope`: each question is asked within its text, or in one collection of all texts.
    `by`: a field of the texts' metadata, such as genre: results are also shown for each value.
    """

    set: str
    part: str
    folder: str = ""
    shipped: bool = False
    hard: bool = False
    only: Only = ""
    scope: Scope = "document"
    by: str = ""


@dataclass(frozen=True, slots=True)
class DataOverrides:
    """What a run takes of other data than its suite says; None leaves it to the suite."""

    set: str | None = None
    part: str | None = None
    hard: bool | None = None
    only: Only | None = None

    def apply(self, suite: Suite) -> Suite:
        """Return a suite with these overrides of its data.

        Another data set comes with its usual part and all of its questions; neither it nor another
        part is among the few texts that are shipped.

        Raises:
            SettingsError: The data set has no usual part, as one's own.
            DataError: There is no such data set.
        """
        part = suite.data
        if self.set is not None and self.set != part.set:
            usual = self.part or usual_part(self.set)
            if not usual:
                raise SettingsError(f"Name the part of the data set {self.set}, with --part.")
            part = DataPart(set=self.set, part=usual, scope=part.scope)
        elif self.part is not None and self.part != part.part:
            part = part.model_copy(update={"part": self.part, "shipped": False})
        changes = {"hard": self.hard, "only": self.only}
        chosen = {name: value for name, value in changes.items() if value is not None}
        return suite.model_copy(update={"data": part.model_copy(update=chosen)})

    @property
    def words(self) -> tuple[str, ...]:
        """What is overridden, for the name of a folder."""
        names = {None: "", True: "hard", False: "all-questions"}
        return tuple(
            word for word in (self.set, self.part, names[self.hard], self.only or "") if word
        )


class SystemPart(_Part):
    """A system: a preset and what differs from it, and which passages it may find.

    `aspects`: of the summaries only those of these aspects; chunks and details as ever. `where`: a
    condition on the metadata of texts, which a question in one collection of all is restricted by.
    """

    preset: Preset = "fabula"
    settings: OwnSettings = {}
    aspects: tuple[str, ...] = ()
    kinds: tuple[Literal["chunk", "summary", "detail"], ...] = ()
    where: str = ""


class SweepPart(_Part):
    """A setting that is varied, for the named systems or for all.

    `settings` in place of `setting` are several that always have the same value, as the lengths of
    chunks and of summaries.
    """

    setting: str = ""
    settings: tuple[str, ...] = ()
    values: tuple[bool | int | float | str, ...] = Field(min_length=2)
    systems: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _has_an_axis(self) -> SweepPart:
        """Raises ValueError unless one setting is named, or several."""
        if bool(self.setting) == bool(self.settings):
            raise ValueError("a sweep has either `setting` or `settings`")
        if len(self.settings) == 1:
            raise ValueError("`settings` are several: name a single one as `setting`")
        return self

    @property
    def axis(self) -> tuple[str, ...]:
        """The settings that are varied."""
        return self.settings or (self.setting,)

    @property
    def label(self) -> str:
        """The name of what is varied, in names of systems and on axes."""
        return " and ".join(self.axis)


class LimitsPart(_Part):
    """The maximum numbers of texts and questions."""

    texts: int | None = Field(None, ge=1)
    questions: int | None = Field(None, ge=1)


class Suite(_Part):
    """A suite as its file says it; the first system is the baseline of the others.

    `settings` are common to all systems, and stronger than their presets, except for `graphs`: a
    preset that names graphs keeps its own.
    """

    name: str = Field(pattern=r"^[\w-]+$")
    purpose: str = Field(min_length=1)
    ask: Ask
    data: DataPart
    metrics: tuple[str, ...] = Field(min_length=1)
    systems: dict[str, SystemPart] = Field(min_length=1)
    settings: OwnSettings = {}
    models: dict[str, str] = {}
    sweep: SweepPart | None = None
    limits: LimitsPart = LimitsPart(texts=None, questions=None)
    seed: int = Field(0, ge=0)

    @model_validator(mode="after")
    def _names_what_is_there(self) -> Suite:
        """Raises ValueError for a setting, a model or a system that isn't there."""
        _refuse_unknown(self.models, MODELS, "models.")
        _refuse_unknown(self.settings, OWN, "settings.")
        for name, system in self.systems.items():
            _refuse_unknown(system.settings, OWN, f"systems.{name}.settings.")
        if self.sweep:
            _refuse_unknown(self.sweep.axis, OWN, "sweep.setting = ")
            _refuse_unknown(
                self.sweep.systems, list(self.systems), "sweep.systems: ", what="system"
            )
        return self


def shipped_suites() -> tuple[str, ...]:
    """Return the names of the suites that come with Fabula."""
    files = (entry.name for entry in (resources.files(__package__) / "suites").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml")))


def read_suite(name_or_path: str) -> Suite:
    """Return a shipped suite by its name, or one in a TOML file.

    Raises:
        NotFound: There is no such suite and no such file.
        SettingsError: The file is not a valid suite; the message names the file and the key.
    """
    text = _text(name_or_path)
    try:
        return Suite.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{name_or_path} can't be read as TOML: {error}.") from error
    except ValidationError as error:
        raise SettingsError(f"{name_or_path} is not a suite: {first_problem(error)}.") from error


def _text(name_or_path: str) -> str:
    if name_or_path in shipped_suites():
        file = resources.files(__package__) / "suites" / f"{name_or_path}.toml"
        return file.read_text(encoding="utf-8")
    path = Path(name_or_path)
    if not path.is_file():
        hint = did_you_mean(name_or_path, shipped_suites(), "See `fabula bench list`.")
        raise NotFound(f"There is no suite {name_or_path!r}, and no such file. {hint}")
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{name_or_path} can't be read: {error}.") from error


def _refuse_unknown(
    used: Iterable[str], known: Iterable[str], place: str, what: str = "setting of a system"
) -> None:
    known = list(known)
    for name in used:
        if name in known:
            continue
        if name in setting_fields():
            raise ValueError(f"{place}{name} belongs elsewhere: to a flag or the environment")
        raise ValueError(f"{place}{name} is not a {what}. {did_you_mean(name, known)}".rstrip(" ."))
