"""Embedders of other packages, found by the entry points of `fabula.embedders`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.config.embedding_space import name_space
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings
from fabula.errors import BadReply
from fabula.models import Embeddings, providers
from fabula.models.counted import Meter
from fabula.models.providers import split_provider

SENT: list[tuple[str, str]] = []


class Old:
    """The signature of before there were kinds."""

    def __init__(self, name: str, folder: Path) -> None:
        self.model, self.batch = name, 4

    def embed(self, texts: Sequence[str]) -> Embeddings:
        SENT.extend(("", text) for text in texts)
        return Embeddings(np.full((len(texts), 2), 3, np.float32), tokens=7)


class New(Old):
    """Is told the kind, as an interface with `input_type` needs it."""

    def embed(self, texts: Sequence[str], kind: str = "passage") -> Embeddings:
        SENT.extend((kind, text) for text in texts)
        row = (1, 0) if kind == "query" else (0, 1)
        return Embeddings(np.array([row] * len(texts), np.float32), tokens=7)


class Wrong(Old):
    def embed(self, texts: Sequence[str]) -> Embeddings:
        return Embeddings(np.zeros((len(texts), 2), np.float32))


class _Entry:
    def __init__(self, name: str, made: type) -> None:
        self.name, self.value, self._made = name, f"{__name__}:{made.__name__}", made

    def load(self) -> type:
        return self._made


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    entries = [_Entry("old", Old), _Entry("new", New), _Entry("wrong", Wrong)]
    found = metadata.entry_points

    def entry_points(**wanted: Any) -> Any:
        return entries if wanted.get("group") == providers.GROUP else found(**wanted)

    monkeypatch.setattr(providers, "entry_points", entry_points)
    providers._find_installed.cache_clear()
    SENT.clear()
    yield
    providers._find_installed.cache_clear()


@contextmanager
def factory(model: str, folder: Path, **flags: Any) -> Iterator[ModelFactory]:
    settings = Settings(
        model="offline", embedding_model=model, cache_folder=folder, home=folder, **flags
    )
    with closing(ModelFactory(settings)) as models:
        yield models


def test_only_an_installed_provider_is_a_prefix() -> None:
    assert split_provider("old:embed-v4") == ("old", "embed-v4")
    assert split_provider("fastembed:BAAI/bge-small-en-v1.5") == (
        "fastembed",
        "BAAI/bge-small-en-v1.5",
    )
    assert split_provider("nomic-embed-text:latest") == ("", "nomic-embed-text:latest")
    assert split_provider("old:") == ("", "old:")


def test_an_embedder_with_the_old_signature_gets_texts_with_their_prefixes(tmp_path: Path) -> None:
    meter = Meter()
    with factory("old:e", tmp_path, embedding_query_prefix="ask: ") as models:
        embedder = models.counted_embedder(meter)
        assert embedder.model == name_space(models.settings) == "old:e"
        found = embedder.embed(["Who?"], "query").vectors
        assert np.allclose(found, [[0.5**0.5, 0.5**0.5]])
        embedder.embed(["A bell."], "passage")
        embedder.embed(["A bell."], "passage")
    assert SENT == [("", "ask: Who?"), ("", "A bell.")]
    # It may be paid for: it is counted and cached.
    usage = meter.usage()["embeddings"]
    assert (usage.calls, usage.prompt_tokens, usage.saved) == (2, 14, 1)
    assert set(usage.models) == {"old:e"}


def test_one_that_is_told_the_kind_has_a_vector_of_each_kind_in_the_cache(tmp_path: Path) -> None:
    with factory("new:e", tmp_path) as models:
        embedder = models.counted_embedder(Meter())
        for _ in range(2):
            assert embedder.embed(["A bell."], "query").vectors.tolist() == [[1, 0]]
            assert embedder.embed(["A bell."], "passage").vectors.tolist() == [[0, 1]]
    assert SENT == [("query", "A bell."), ("passage", "A bell.")]


def test_vectors_without_a_direction_are_refused(tmp_path: Path) -> None:
    refusal = "wrong:e did not give one vector for each of 1 texts"
    with factory("wrong:e", tmp_path) as models, pytest.raises(BadReply, match=refusal):
        models.embedder.embed(["A bell."])
