"""Embedders that are no endpoint's: of this machine, and of other packages.

They are named with a prefix, as `fastembed:BAAI/bge-small-en-v1.5`. A package registers an embedder
as an entry point of the group `fabula.embedders`. The entry point's name is the prefix, and it is a
function of the model's name and the folder for models' files that returns an
`fabula.models.Embedder`. One whose `embed` takes no `kind` is given the texts alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from fabula.errors import BadReply, SettingsError
from fabula.models import Embedder, Embeddings, TextKind

GROUP = "fabula.embedders"
LOCAL = "fastembed"
"""Fabula's own, of the package fastembed."""


@cache
def _find_installed() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP) if entry.name != LOCAL}


def split_provider(model: str) -> tuple[str, str]:
    """Return what stands before an embedding model's name, and the rest; '' for an endpoint's.

    Names of servers have colons, too, as `nomic-embed-text:latest`: only a prefix that is installed
    counts.
    """
    provider, colon, name = model.partition(":")
    if colon and name and (provider == LOCAL or provider in _find_installed()):
        return provider, name
    return "", model


class ProvidedEmbedder:
    """An embedder of another package: its vectors are checked and scaled to unit length."""

    def __init__(self, embedder: Any, model: str) -> None:
        """Wrap an embedder.

        Args:
            embedder: The other package's. `batch` may be missing, and `kind` of `embed`.
            model: The name that the settings have for it.
        """
        self._embedder = embedder
        self.model = model
        self.batch = int(getattr(embedder, "batch", 64))
        self.is_free = bool(getattr(embedder, "is_free", False))
        self._takes_kind = "kind" in inspect.signature(embedder.embed).parameters

    def key_kind(self, kind: TextKind) -> str:
        """Return what the cache's key of a text has of its kind; see `cache.embedding_key`."""
        return kind if self._takes_kind else ""

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        """Return unit vectors, shape (texts, dimensions).

        Raises:
            BadReply: There is not one vector for each text, or one is zero.
        """
        # Settings import this module, and numpy takes longer to import than all that they need.
        import numpy as np

        told = {"kind": kind} if self._takes_kind else {}
        embeddings: Embeddings = self._embedder.embed(texts, **told)
        rows = np.asarray(embeddings.vectors, np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True) if rows.ndim == 2 else np.zeros(1)
        if len(rows) != len(texts) or not (np.isfinite(lengths).all() and lengths.all()):
            raise BadReply(f"{self.model} did not give one vector for each of {len(texts)} texts.")
        return Embeddings(
            np.asarray(rows / lengths, np.float32),
            embeddings.tokens,
            embeddings.faults,
            cut=embeddings.cut,
        )


def open_embedder(model: str, folder: Path) -> Embedder:
    """Return the embedder of a model whose name begins with a provider.

    Args:
        model: The name, as `fastembed:BAAI/bge-small-en-v1.5`.
        folder: The folder for models' files.

    Raises:
        SettingsError: The provider's package is missing, or can't be imported.
    """
    provider, name = split_provider(model)
    if provider == LOCAL:
        from fabula.models.local.embedder import LocalEmbedder

        return LocalEmbedder(name, folder)
    entry = _find_installed()[provider]
    try:
        return ProvidedEmbedder(entry.load()(name, folder), model)
    except ImportError as error:
        raise SettingsError(
            f"The embedder {provider!r} of {entry.value} can't be imported: {error}."
        ) from error
