"""Models of this machine: a real embedding model (MiniLM) run by fastembed, without a network.

Skipped where the packages of `tests/support/minilm.py` are not installed.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import minilm
from fabula.config.embedding_space import name_space
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings
from fabula.errors import ModelError, SettingsError
from fabula.models.counted import Meter
from fabula.models.local import loading
from fabula.models.local.embedder import LocalEmbedder
from fabula.models.local.ranker import LocalRanker
from fabula.models.placeholders import DryRun
from fabula.models.prefixes import Prefixes, PrefixingEmbedder

TEXTS = [
    "Marley was dead: to begin with.",
    "Scrooge's partner had died seven years before.",
    "The goose was eaten by the whole family.",
    "Schöne Grüße aus London.",
]
# What sentence-transformers 6.2.0 makes of the same weights:
# SentenceTransformer(...).encode(TEXTS, normalize_embeddings=True), the first four numbers of each
# vector, and the cosines of all with the first.
HEADS = [
    [0.051644, 0.005765, -0.030402, 0.048041],
    [-0.007228, 0.035663, -0.006485, 0.059363],
    [0.01798, 0.068277, -0.026374, 0.095368],
    [-0.01192, 0.056426, -0.006544, -0.047323],
]
COSINES = [1.0, 0.373948, 0.288815, 0.050921]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fabula's folder with two models in it."""
    minilm.require_packages()
    folder = tmp_path_factory.mktemp("home")
    minilm.write_model(folder / "models" / "minilm")
    minilm.write_model(folder / "models" / "mine" / "ranker", ranks=True)
    return folder


def test_vectors_are_those_of_sentence_transformers(home: Path) -> None:
    """Mean pooling over the tokens of a text, not its fillings; then unit length."""
    embedder = LocalEmbedder("minilm", home / "models")
    assert embedder.model == "fastembed:minilm"
    vectors = embedder.embed(TEXTS).vectors
    assert vectors.dtype == np.float32
    assert vectors.shape == (4, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert np.allclose(vectors[:, :4], HEADS, atol=1e-5)
    assert np.allclose((vectors @ vectors.T)[0], COSINES, atol=1e-5)
    alone = np.vstack([embedder.embed([text]).vectors for text in TEXTS])
    assert np.allclose(alone, vectors, atol=1e-5)


def test_a_text_that_is_longer_than_the_model_reads_is_reported(home: Path) -> None:
    embedder = LocalEmbedder("minilm", home / "models")
    long = "The bell rang in the night. " * 60
    found = embedder.embed(["Short.", long])
    # 256 with the marks of its beginning and end; a sentence has 7.
    assert found.cut == {long: 254}
    [read] = embedder.embed([long[: len(long) // 60 * 36]]).vectors
    assert float(read @ found.vectors[1]) > 0.99


def test_prefixes_are_added_once_and_by_fabula(home: Path) -> None:
    """fastembed has a method for questions, which adds nothing here, and is not what is asked."""
    bare = LocalEmbedder("minilm", home / "models")
    prefixing = PrefixingEmbedder(bare, Prefixes("query: ", "passage: "))
    [query], [passage] = (
        prefixing.embed(["Who died?"], kind).vectors for kind in ("query", "passage")
    )
    [said] = bare.embed(["query: Who died?"], "query").vectors
    assert np.allclose(query, said, atol=1e-6)
    [passage_said] = bare.embed(["passage: Who died?"], "query").vectors
    assert np.allclose(passage, passage_said, atol=1e-6)
    assert not np.allclose(query, passage, atol=1e-3)
    network = loading.load_embedding("minilm", home / "models")
    [plain] = network.query_embed(["Who died?"])
    assert np.allclose(
        plain / np.linalg.norm(plain), bare.embed(["Who died?"]).vectors[0], atol=1e-6
    )


def test_a_surrogate_is_no_end(home: Path) -> None:
    assert LocalEmbedder("minilm", home / "models").embed(["a \ud800 b"]).vectors.shape == (1, 384)


def test_what_costs_nothing_is_neither_counted_nor_cached(home: Path, tmp_path: Path) -> None:
    settings = Settings(
        model="offline", embedding_model="fastembed:minilm", home=home, cache_folder=tmp_path
    )
    models, meter = ModelFactory(settings), Meter()
    embedder = models.counted_embedder(meter)
    assert embedder.model == name_space(settings) == "fastembed:minilm"
    embedder.embed(TEXTS)
    assert meter.usage() == {}
    assert not [*tmp_path.rglob("*.sqlite*")]


def test_a_dry_run_computes_nothing(tmp_path: Path) -> None:
    """The model's folder is empty: nothing is loaded, and nothing downloaded."""
    settings = Settings(
        model="offline", embedding_model="fastembed:BAAI/bge-small-en-v1.5", home=tmp_path
    )
    models, meter = ModelFactory(settings).view(dry_run=DryRun(384)), Meter()
    embedder = models.counted_embedder(meter)
    assert embedder.model == "fastembed:BAAI/bge-small-en-v1.5"
    assert embedder.embed(["Who?"], "query").vectors.shape == (1, 384)
    assert meter.usage() == {}


def test_passages_are_ranked_without_a_chat_model(home: Path, tmp_path: Path) -> None:
    settings = Settings(
        model="offline",
        embedding_model="fastembed:minilm",
        rerank_model="fastembed:mine/ranker",
        home=home,
    )
    question = "Who died?"
    scores = ModelFactory(settings).guide(Meter()).rank(question, TEXTS)
    assert len(scores) == 4
    ranker = LocalRanker("mine/ranker", home / "models")
    # Each text is read with the question, and by itself: the order of the others is nothing to it.
    assert np.allclose(ranker.rank(question, TEXTS[::-1])[::-1], scores, atol=1e-4)
    assert not np.allclose(ranker.rank("What was eaten?", TEXTS), scores, atol=1e-2)
    assert ranker.rank(question, []) == []


def test_without_a_ranking_model_the_offline_guide_says_what_helps() -> None:
    settings = Settings(model="offline", embedding_model="wordllama-256")
    with pytest.raises(SettingsError, match=r"FABULA_RERANK_MODEL.*fabula\[local-models\]"):
        ModelFactory(settings).guide(Meter()).rank("Who?", TEXTS)


@pytest.mark.parametrize("name", ["../models/minilm", "/models/minilm", "a/../../minilm"])
def test_a_name_never_leads_out_of_the_folder_of_models(home: Path, name: str) -> None:
    name = str(home / "models" / "minilm") if name.startswith("/") else name
    assert loading.find_folder(name, home / "models" / "mine") is None
    with pytest.raises(SettingsError, match="knows no model"):
        LocalEmbedder(name, home / "models" / "mine").embed(["a"])


def test_a_model_that_nobody_knows_is_refused_with_the_nearest_name(home: Path) -> None:
    with pytest.raises(SettingsError, match=r"Did you mean BAAI/bge-small-en-v1\.5"):
        LocalEmbedder("BAAI/bge-smal-en-v1.5", home / "models").embed(["a"])


def test_a_folder_that_does_not_say_how_it_pools_is_refused(home: Path, tmp_path: Path) -> None:
    """There is no guess: a wrong one would give vectors that find little, without an error."""
    shutil.copytree(home / "models" / "minilm", tmp_path / "minilm")
    pooling = tmp_path / "minilm" / "1_Pooling" / "config.json"
    pooling.write_text('{"pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": true}')
    with pytest.raises(SettingsError, match="asks for pooling by mean_tokens and max_tokens"):
        LocalEmbedder("minilm", tmp_path).embed(["a"])
    pooling.unlink()
    with pytest.raises(SettingsError, match="pooling_mode_cls_token"):
        LocalEmbedder("minilm", tmp_path).embed(["a"])


def test_a_model_that_can_not_be_fetched_says_where_to_put_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match=r"copy the model's files .* into .*bge-small-en-v1.5"):
        LocalEmbedder("BAAI/bge-small-en-v1.5", tmp_path).embed(["a"])


def test_a_broken_file_is_an_error_of_the_model(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home / "models" / "minilm", tmp_path / "broken")
    (tmp_path / "broken" / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(ModelError, match="broken can't be loaded"):
        LocalEmbedder("broken", tmp_path).embed(["a"])


def test_without_fastembed_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"pip install 'fabula\[local-models\]'"):
        LocalEmbedder("BAAI/bge-small-en-v1.5", tmp_path)


def test_a_missing_package_is_one_line_of_the_doctor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list of models is made all the same; the error comes where the model is called."""
    monkeypatch.setattr(loading, "find_spec", lambda name: None)
    models = ModelFactory(
        Settings(model="offline", embedding_model="fastembed:minilm", home=tmp_path)
    )
    [ask] = [ask for role, _, ask in models.roles() if role == "embedding model"]
    with pytest.raises(SettingsError, match="package fastembed, which is not installed"):
        ask()
