"""Static embeddings: unit vectors for any text, without a network and without a word."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from inspect import unwrap

import numpy as np
import pytest

from cases import for_each
from fabula.models.offline import StaticEmbedder
from fabula.models.offline import embedder as offline
from fabula.models.offline.embedder import DIMENSIONS, MAX_CHARACTERS


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test before has read the vectors."""
    monkeypatch.setattr(offline, "_load", unwrap(offline._load))


def test_each_text_gets_one_unit_row(embedder: StaticEmbedder) -> None:
    vectors = embedder.embed([f"The {n}th ghost rattled its chain." for n in range(150)]).vectors
    assert vectors.shape == (150, DIMENSIONS)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_no_tokens_are_counted(embedder: StaticEmbedder) -> None:
    assert embedder.embed(["A chain."]).tokens == 0


def test_texts_of_one_meaning_are_nearer_than_others(embedder: StaticEmbedder) -> None:
    dog, hound, bank = embedder.embed(
        ["The dog barked at the moor.", "A hound howled.", "The bank raised its interest rate."]
    ).vectors
    assert dog @ hound > dog @ bank


def test_a_text_has_the_same_vector_in_any_company(embedder: StaticEmbedder) -> None:
    alone = embedder.embed(["Marley was dead."]).vectors[0]
    company = embedder.embed(["A much longer sentence about fog. " * 20, "Marley was dead."])
    assert (company.vectors[1] == alone).all()


@for_each("text", ["", " ", "\n", "🤷", "⠿⠿", "\x00", "\ufffd", "\ud800", "…"])
def test_a_text_without_words_has_a_unit_vector_too(embedder: StaticEmbedder, text: str) -> None:
    [vector] = embedder.embed([text]).vectors
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert (StaticEmbedder().embed([text]).vectors[0] == vector).all()


def test_no_texts_give_no_rows(embedder: StaticEmbedder) -> None:
    assert embedder.embed([]).vectors.shape == (0, DIMENSIONS)


def test_a_text_is_read_up_to_a_limit(embedder: StaticEmbedder) -> None:
    long = "a" * MAX_CHARACTERS
    endless, cut = embedder.embed([long * 50, long]).vectors
    assert (endless == cut).all()


@pytest.mark.skipif(
    sys.version_info >= (3, 14),
    reason="the wordllama for Python 3.14 can't load its own files without a download",
)
def test_the_vectors_are_those_of_wordllama_itself_to_the_bit() -> None:
    program = (
        "import sys, pathlib, numpy as np, wordllama\n"
        "from fabula.models.offline import StaticEmbedder\n"
        "folder = pathlib.Path(wordllama.__file__).parent\n"
        "model = wordllama.WordLlama.load(dim=256, cache_dir=folder, disable_download=True)\n"
        "model.tokenizer.no_padding()\n"
        "texts = ['Marley was dead: to begin with.', 'Bah! Humbug!', 'Über Öl. 中文 🤷']\n"
        "for text, vector in zip(texts, StaticEmbedder().embed(texts).vectors):\n"
        "    ids = model.tokenizer.encode(text, add_special_tokens=False).ids\n"
        "    mean = model.embedding[ids].mean(axis=0)\n"
        "    unit = (mean / np.linalg.norm(mean)).astype(np.float32)\n"
        "    assert unit.tobytes() == vector.tobytes()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.usefixtures("unread")
def test_threads_that_come_first_together_load_one_model() -> None:
    embedder = StaticEmbedder()
    vectors: list[np.ndarray] = []

    def run() -> None:
        vectors.append(embedder.embed(["Bah! Humbug!"]).vectors)

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(vectors) == 6
    assert all((vector == vectors[0]).all() for vector in vectors)


@pytest.mark.usefixtures("unread")
def test_embedding_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert len(StaticEmbedder().embed(["No line, no key."]).vectors) == 1


def test_loading_prints_nothing_and_imports_no_web_client() -> None:
    program = (
        "import logging, sys\n"
        "from fabula.models.offline import StaticEmbedder\n"
        "StaticEmbedder().embed(['Marley was dead.'])\n"
        "root = logging.getLogger()\n"
        "assert (root.handlers, root.level) == ([], logging.WARNING)\n"
        "assert not {'wordllama', 'requests', 'huggingface_hub', 'httpx'} & set(sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert (run.stdout, run.stderr) == (b"", b"")


def test_the_module_alone_loads_no_model() -> None:
    program = (
        "import sys, fabula.models.offline as offline\n"
        "embedder = offline.StaticEmbedder()\n"
        "assert (embedder.model, embedder.batch) == ('wordllama-256', 1024)\n"
        "assert 'wordllama' not in sys.modules and 'tokenizers' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
