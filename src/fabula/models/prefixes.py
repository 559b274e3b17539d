"""What embedding models want before a text, by its kind, and the name of what they make of it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from fabula.models import Embedder, Embeddings, TextKind

SHIPPED = Path(__file__).with_name("prefixes.toml")
_RECORDED = re.compile(r'(?s)(.+) \+ ("(?:[^"\\]|\\.)*")')
"""A model's name with a prefix, as `space_name` writes it."""
_TAG = re.compile(r":[\w.-]+$")
"""The tag of a server, as in `nomic-embed-text:latest`."""


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What is put before a question and before a passage; '' for nothing."""

    query: str = ""
    passage: str = ""

    def before(self, kind: TextKind) -> str:
        """Return the prefix of a kind of text."""
        return self.query if kind == "query" else self.passage


NO_PREFIXES = Prefixes()


class _Family(BaseModel):
    model_config = ConfigDict(extra="forbid")

    names: list[str]
    query: str = ""
    passage: str = ""
    source: str = Field(min_length=1)


@cache
def _families() -> tuple[tuple[re.Pattern[str], Prefixes], ...]:
    """The families of `prefixes.toml` in order: what finds a name of each, and its prefixes."""
    tables = tomllib.loads(SHIPPED.read_text(encoding="utf-8"))
    families = [_Family.model_validate(table) for table in tables.values()]
    return tuple(
        (re.compile("|".join(family.names)), Prefixes(family.query, family.passage))
        for family in families
    )


def known_prefixes(model: str) -> Prefixes:
    """Return the prefixes that a model's makers name; none for a model that is not known.

    Args:
        model: The model's name as a server, a hub or a file has it: `nomic-embed-text:latest`,
            `BAAI/bge-base-en-v1.5`, `hf.co/Qwen/Qwen3-Embedding-0.6B-GGUF:Q8_0`.
    """
    name = _TAG.sub("", model.lower()).replace("_", "-")
    for pattern, prefixes in _families():
        if pattern.search(name):
            return prefixes
    return NO_PREFIXES


def space_name(model: str, passage_prefix: str) -> str:
    """Return the name of an embedding space, which a collection records.

    Vectors of passages with and without a prefix can't be compared, as little as those of two
    models: so the prefix is a part of the name, as in `nomic-embed-text + "search_document: "`. A
    question's prefix is none: it may change at any time.
    """
    if not passage_prefix:
        return model
    return f"{model} + {json.dumps(passage_prefix, ensure_ascii=False)}"


def split_space_name(name: str) -> tuple[str, str]:
    """Return the model and the passages' prefix of the name of an embedding space."""
    recorded = _RECORDED.fullmatch(name)
    return (recorded[1], json.loads(recorded[2])) if recorded else (name, "")


def prefixes_of_space(name: str, configured: Prefixes) -> Prefixes:
    """Return the prefixes to use in an existing embedding space.

    Its passages keep the prefix that they were embedded with. A question gets the configured one,
    unless the passages lack the prefix of their model: then a bare question is nearest to what the
    collection was searched with until now.

    Args:
        name: The name of the space.
        configured: The prefixes that the settings have for its model.
    """
    _, passage = split_space_name(name)
    lacks_prefix = not passage and configured.passage
    return Prefixes("" if lacks_prefix else configured.query, passage)


class PrefixingEmbedder:
    """An embedder that puts its model's prefixes before texts. It stands around the cache.

    Its `model` is the name of the embedding space; calls and vectors are counted and cached under
    the model's own name, and the prefix is a part of the text that is the cache's key.
    """

    def __init__(self, embedder: Embedder, prefixes: Prefixes) -> None:
        self._embedder, self._prefixes = embedder, prefixes
        self.model = space_name(embedder.model, prefixes.passage)

    @property
    def batch(self) -> int:
        """The number of texts to send at once."""
        return self._embedder.batch

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        """Return one vector for each text, embedded after the prefix of its kind."""
        prefix = self._prefixes.before(kind)
        if not prefix:
            return self._embedder.embed(texts, kind)
        embeddings = self._embedder.embed([prefix + text for text in texts], kind)
        return replace(embeddings, cut=_without_prefix(embeddings.cut, prefix))


def _without_prefix(cut: Mapping[str, int], prefix: str) -> dict[str, int]:
    """Texts that were cut, by the text as the caller has it."""
    return {text.removeprefix(prefix): length for text, length in cut.items()}
