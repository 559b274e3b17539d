"""Static embeddings that ship with wordllama: no key, no network, thousands of texts a second."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.models import Embeddings

if TYPE_CHECKING:
    from fabula.text.document import Vector

DIMENSIONS = 256
LONGEST = 20_000
"""Characters of a text that are read; model endpoints stop at about as many."""
SLICE = 64
"""Texts tokenised at once, so that a batch of long ones stays within 200 MB."""


class StaticEmbedder:
    """An `Embedder`: the mean of a text's token vectors, of unit length.

    The weights are read when the first text is embedded, once, whichever thread comes first.
    """

    model = f"wordllama-{DIMENSIONS}"
    batch = 1024

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: Any = None

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Unit rows, shape (texts, 256); no endpoint counts tokens, so they are 0."""
        model = self._model()
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        for start in range(0, len(texts), SLICE):
            heads = [_head(text) for text in texts[start : start + SLICE]]
            encoded = model.tokenizer.encode_batch_fast(heads, add_special_tokens=False)
            for row, (text, tokens) in enumerate(zip(heads, encoded, strict=True), start):
                vectors[row] = _unit(model.embedding[tokens.ids], text)
        return Embeddings(vectors)

    def _model(self) -> Any:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load()
            return self._loaded


def _load() -> Any:
    with _logging_untouched():
        import wordllama
    model = wordllama.WordLlama.load(
        dim=DIMENSIONS, cache_dir=Path(wordllama.__file__).parent, disable_download=True
    )
    # wordllama pads each batch to its longest text; a mean of each text alone needs none.
    model.tokenizer.no_padding()
    return model


@contextmanager
def _logging_untouched() -> Iterator[None]:
    """Takes back the `logging.basicConfig` that wordllama's import calls: it is the program's."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        for handler in set(root.handlers) - set(handlers):
            root.removeHandler(handler)
        root.setLevel(level)


def _head(text: str) -> str:
    """What is read of a text; half a surrogate pair, as from a shell's arguments, is a '?'."""
    return text[:LONGEST].encode("utf-8", "replace").decode("utf-8")


def _unit(tokens: Any, text: str) -> Vector:
    """The mean of token vectors (tokens, 256), or a vector of the text's hash where there is none.

    Neo4j's index leaves zero vectors out without a word.
    """
    if len(tokens):
        mean = tokens.mean(axis=0)
        length = np.linalg.norm(mean)
        if length > 0:
            return np.asarray(mean / length, np.float32)
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:8], "big")
    drawn = np.random.default_rng(seed).standard_normal(DIMENSIONS)
    return np.asarray(drawn / np.linalg.norm(drawn), np.float32)
