"""Embeddings computed on this machine: no key, no endpoint, and no network after the first use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.errors import BadReply
from fabula.models import Embeddings, TextKind
from fabula.models.local.loading import PROVIDER, load_embedding, require_fastembed
from fabula.text import tokens

if TYPE_CHECKING:
    from fabula.text.document import Vectors

TEXTS_AT_ONCE = 16
"""Texts in one run of the network. All are padded to the longest, so that more are slower."""
TASK_ADAPTERS = "jina-embeddings-v3"
"""A model with a network for questions and one for passages, between which fastembed chooses."""


class LocalEmbedder:
    """An `Embedder` that runs a model on this machine.

    The model is loaded when the first text is embedded. It gets the texts as they are: prefixes are
    put before them outside (`fabula.models.prefixes`), and fastembed is asked to add none.
    """

    batch = 64
    is_free = True
    """Nothing is paid for, so that nothing is counted or cached."""

    def __init__(self, name: str, folder: Path) -> None:
        """Name a model.

        Args:
            name: A name that fastembed knows, or that of a folder within `folder`.
            folder: The folder of all models.

        Raises:
            SettingsError: fastembed is not installed.
        """
        require_fastembed(name)
        self.model = f"{PROVIDER}:{name}"
        self._name, self._folder = name, folder

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        """Return unit vectors, shape (texts, dimensions); `cut` has what the model did not read.

        Raises:
            SettingsError: There is no such model.
            ModelError: It can't be downloaded or loaded.
        """
        model = load_embedding(self._name, self._folder)
        # Lone surrogates, as in a shell's arguments, are no text to a tokenizer.
        readable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        rows: Iterable[Any]
        if self._name.lower().endswith(TASK_ADAPTERS):
            run = model.query_embed if kind == "query" else model.passage_embed
            rows = run(readable, batch_size=TEXTS_AT_ONCE)
        else:
            rows = model.embed(readable, batch_size=TEXTS_AT_ONCE)
        vectors = _unit_rows(np.asarray(list(rows), np.float32), self.model)
        kept = zip(texts, _cut_texts(model.model, readable), strict=True)
        return Embeddings(vectors, cut={text: count for text, count in kept if count})


def _unit_rows(rows: Vectors, model: str) -> Vectors:
    """Scale rows to unit length. Raises BadReply for one that has no direction."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and lengths.all()):
        raise BadReply(f"{model} gave a vector that is zero or not finite: see its files.")
    return np.asarray(rows / lengths, np.float32)


def _cut_texts(network: Any, texts: Sequence[str]) -> list[int]:
    """Return how many tokens of each text were read, by our own count; 0 if it was read whole."""
    # The model's tokenizer cuts a longer text without a word; static models have none.
    tokenizer = getattr(network, "tokenizer", None)
    if tokenizer is None:
        return [0] * len(texts)
    return [
        tokens.count(text[: max(end for _, end in encoding.offsets)]) if encoding.overflowing else 0
        for text, encoding in zip(texts, tokenizer.encode_batch(list(texts)), strict=True)
    ]
