"""Vectors that were asked for at once in a run by batches."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from fabula.models import Embeddings
from fabula.models.batch_store import BatchStore
from fabula.models.batched import KEPT_KEY, save_live_vectors


def test_what_was_cut_is_saved_with_its_vector(tmp_path: Path) -> None:
    def embed(texts: Sequence[str]) -> Embeddings:
        return Embeddings(np.eye(2, dtype=np.float32), 9, cut={"long": 5})

    with closing(BatchStore(tmp_path)) as store:
        save_live_vectors(store, "e", ["a", "b"], ["long", "short"], "m", embed)
        answers = [store.answer(id) for id in ("a", "b")]
    assert [answer and answer.body.get(KEPT_KEY) for answer in answers] == [5, None]
