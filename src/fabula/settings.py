"""Every knob, with its default: read from flags, then the environment, then `fabula.toml`."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Self

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from fabula.errors import SettingsError, did_you_mean

FILE = "fabula.toml"
PREFIX = "FABULA_"
PRESETS = Path(__file__).parent / "presets.toml"
OFFLINE = "offline"
STATIC = "wordllama-256"
"""The chat and the embedding model that need no endpoint."""
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
METHOD_SETTINGS = (
    "chunk_tokens",
    "aspects",
    "cluster_size",
    "cluster_tokens",
    "cluster_count",
    "cluster_reduction",
    "cluster_dimensions",
    "membership",
    "variance_floor",
    "detection_rounds",
    "summary_tokens",
    "levels",
    "details",
    "detail_tokens",
    "seed",
)
"""Settings that change the graph a document becomes, whatever the models are."""
CHAT_SETTINGS = (
    "model",
    "aspect_model",
    "temperature",
    "details_per_call",
    "aspects_with_summaries",
)
"""Settings that change what chat models write into it."""


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
    preset: Literal["fabula", "raptor", "naive"] = Field(
        "fabula", description="defaults of this method, or of a baseline in its own collection"
    )
    collection: str = Field("default", min_length=1, description="collection to work in")

    # Models
    api_key: SecretStr | None = Field(None, description="key of the model endpoint")
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

    # The method
    chunk_tokens: int = Field(200, ge=16, description="most tokens of a chunk")
    aspects: str = Field("narrative", description="aspect set: a shipped name or a TOML file")
    cluster_size: int = Field(8, ge=2, description="passages aimed at in a cluster")
    cluster_tokens: int = Field(3500, ge=64, description="most tokens of a cluster's text")
    cluster_count: Literal["size", "bic"] = Field(
        "size", description="how the number of clusters is chosen: by cluster_size, or by BIC"
    )
    cluster_reduction: Literal["pca", "umap"] = Field(
        "pca", description="how dimensions are reduced; umap needs the extra fabula[umap]"
    )
    cluster_dimensions: int = Field(32, ge=1, description="dimensions that are left to cluster in")
    membership: float = Field(
        0.1, gt=0, lt=1, description="a passage is in each cluster above this probability"
    )
    variance_floor: float = Field(
        1.0, gt=0, description="floor of the mixture's variance, in mean column variances"
    )
    detection_rounds: int = Field(
        2, ge=0, description="more rounds of detection while an aspect is missing"
    )
    summary_tokens: int = Field(200, ge=16, description="most tokens of a summary")
    levels: int = Field(5, ge=0, description="most levels of a summary tree; 0 for no tree")
    details: int = Field(2, ge=0, description="detail nodes a chunk")
    detail_tokens: int = Field(60, ge=8, description="most tokens of a detail")
    details_per_call: int = Field(
        4, ge=1, le=32, description="chunks whose details one call asks for; 1 is the method's own"
    )
    aspects_with_summaries: bool = Field(
        False,
        description="one call names a cluster's aspects and writes their summaries, where one "
        "model does both",
    )
    seed: int = Field(0, ge=0, description="seed of the clustering")

    # Asking
    mode: str = Field(
        "auto",
        description="way through the graph; auto is hybrid with static embeddings, else collapsed",
    )
    top_k: int = Field(5, ge=1, le=1000, description="passages retrieved")
    width: int = Field(5, ge=1, le=100, description="passages a traversal keeps or opens at once")
    depth: int = Field(6, ge=1, le=20, description="steps that top-down goes down")
    fusion: Literal["scores", "ranks"] = Field(
        "scores", description="what hybrid puts its two rankings together by"
    )
    rewrite: Literal["none", "queries", "answer"] = Field(
        "none", description="a model words the question in other ways, or makes an answer up"
    )
    rerank: bool = Field(False, description="a model ranks what was found")
    rerank_model: str | None = Field(
        None, description="model for the endpoint's /rerank; without one the chat model ranks"
    )
    diversity: float = Field(
        0.0, ge=0, le=1, description="how much likeness to better passages counts against one"
    )
    expand: Literal["none", "parents", "neighbours"] = Field(
        "none", description="what comes with each passage: the summaries above, or chunks beside"
    )
    context_tokens: int = Field(1700, ge=16, description="most tokens of an answer's context")

    @property
    def offline(self) -> bool:
        """Whether no chat model is used at all."""
        return self.model == OFFLINE

    @classmethod
    def read(cls, **flags: Any) -> Self:
        """Settings from `flags` (None is not given), the environment, `fabula.toml` and a preset.

        Without a key and a base URL the models are OFFLINE and STATIC. Raises SettingsError, which
        names the flag, variable or key that is wrong, and the nearest right one.
        """
        # A variable set to nothing is not set, as in `FABULA_HOME= fabula list`.
        environment = {name: value for name, value in os.environ.items() if value}
        given, origin = _gather(flags, environment)
        for name, value in _presets().get(given.get("preset", ""), {}).items():
            given.setdefault(name, value)
        if not given.get("api_key") and not given.get("base_url"):
            given.setdefault("model", OFFLINE)
            given.setdefault("embedding_model", STATIC)
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise SettingsError(_in_words(error, origin)) from error


def _presets() -> dict[str, dict[str, Any]]:
    return tomllib.loads(PRESETS.read_text(encoding="utf-8"))


def _gather(
    flags: Mapping[str, Any], environment: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """All values that were given, and where each came from; the strongest source wins."""
    known = Settings.model_fields
    given: dict[str, Any] = {}
    origin: dict[str, str] = {}

    def take(name: str, value: Any, place: str) -> None:
        given[name], origin[name] = value, place

    file = Path(environment.get("FABULA_CONFIG", FILE))
    if "FABULA_CONFIG" in environment and not file.is_file():
        raise SettingsError(f"FABULA_CONFIG names {file}, which is not a file.")
    for key, value in _read_toml(file).items():
        _check(key, known, f"{file}: {key}")
        take(key, value, f"{file}: {key}")
    for name, variable in CONVENTIONAL.items():
        if environment.get(variable):
            take(name, environment[variable], variable)
    for variable in environment:
        if variable.startswith(PREFIX) and variable != "FABULA_CONFIG":
            name = variable.removeprefix(PREFIX).lower()
            _check(name, known, variable, PREFIX)
            take(name, environment[variable], variable)
    for name, value in flags.items():
        _check(name, known, name)
        if value is not None:
            take(name, value, f"--{name.replace('_', '-')}")
    return given, origin


def _read_toml(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingsError(f"{file} can't be read as TOML: {error}.") from error


def _check(name: str, known: Iterable[str], place: str, prefix: str = "") -> None:
    names = list(known)
    if name in names:
        return
    if prefix:
        name, names = f"{prefix}{name.upper()}", [f"{prefix}{one.upper()}" for one in names]
    hint = did_you_mean(name, names, "See `fabula settings` for all names.")
    raise SettingsError(f"There is no setting {place}. {hint}")


def _in_words(error: ValidationError, origin: Mapping[str, str]) -> str:
    problems = []
    for one in error.errors(include_url=False):
        name = str(one["loc"][0])
        given = "(not shown)" if name in SECRET else repr(one["input"])
        problems.append(f"{origin.get(name, name)} = {given}: {one['msg'].lower()}")
    return "; ".join(problems) + "."
