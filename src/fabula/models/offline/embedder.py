"""Static embeddings of wordllama: no key, no network, thousands of texts a second.

The package is used for its files alone. Its import calls `logging.basicConfig`, and loads an HTTP
client and hundreds of modules that are not needed to look up vectors.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fabula.models import Embeddings, TextKind

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from fabula.text.document import Vector, Vectors

DIMENSIONS = 256
MAX_CHARACTERS = 20_000
"""How much of a text is read; models of endpoints stop at about as much."""
SLICE_TEXTS = 64
"""Texts that are tokenized at once, so that a batch of long ones stays within 200 MB."""


class _Model:
    """The tokenizer, and the vectors of its tokens: float16, shape (tokens, 256)."""

    def __init__(self, tokenizer: Tokenizer, halves: NDArray[np.float16]) -> None:
        self.tokenizer = tokenizer
        self.halves = halves

    @cached_property
    def vectors(self) -> Vectors:
        """The vectors as float32. This takes as long as a question: its few rows need no more."""
        return self.halves.astype(np.float32)


class StaticEmbedder:
    """An `Embedder` whose vectors are the means of a text's token vectors, scaled to unit length.

    The files are read when the first text is embedded, by whichever thread comes first.
    """

    model = f"wordllama-{DIMENSIONS}"
    batch = 1024

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: _Model | None = None

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        """Return unit vectors, shape (texts, 256), the same for any `kind`; tokens are 0."""
        del kind
        model = self._model()
        vectors = model.vectors if len(texts) > SLICE_TEXTS else model.halves
        rows = np.empty((len(texts), DIMENSIONS), np.float32)
        for start in range(0, len(texts), SLICE_TEXTS):
            heads = [_head(text) for text in texts[start : start + SLICE_TEXTS]]
            encodings = model.tokenizer.encode_batch_fast(heads, add_special_tokens=False)
            for row, (text, encoding) in enumerate(zip(heads, encodings, strict=True), start):
                rows[row] = _mean(vectors[encoding.ids].astype(np.float32, copy=False), text)
        return Embeddings(rows)

    def _model(self) -> _Model:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load()
            return self._loaded


def _load() -> _Model:
    """Read the tokenizer and the vectors from the files of the installed wordllama."""
    from safetensors import safe_open
    from tokenizers import Tokenizer

    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("wordllama is not installed: reinstall Fabula", name="wordllama")
    folder = Path(spec.origin).parent
    config = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
    weights = folder / "weights" / f"l2_supercat_{DIMENSIONS}.safetensors"
    with safe_open(weights, framework="numpy") as file:
        halves = file.get_tensor("embedding.weight")
    return _Model(Tokenizer.from_file(str(config)), halves)


def _head(text: str) -> str:
    """The part of a text that is read; lone surrogates, as in a shell's arguments, become '?'."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def _mean(tokens: Vectors, text: str) -> Vector:
    """The mean of token vectors, shape (tokens, 256), scaled to unit length."""
    if len(tokens):
        mean = tokens.mean(axis=0)
        length = np.linalg.norm(mean)
        if length > 0:
            return np.asarray(mean / length, np.float32)
    # Without tokens it is random: Neo4j's index would leave out a zero vector without an error.
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:8], "big")
    drawn = np.random.default_rng(seed).standard_normal(DIMENSIONS)
    return np.asarray(drawn / np.linalg.norm(drawn), np.float32)
