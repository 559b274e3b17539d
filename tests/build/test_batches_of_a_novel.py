"""A novel by batches, with the settings that a user has: how many batches, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from batch_runs import AT_ONCE, GRAPHS, ingest
from endpoint import Endpoint
from fabula.models.prices import Price, cost
from fabula.models.usage import Usage
from fabula.store import Store
from novels import novel

pytestmark = pytest.mark.long

CHAT, EMBEDDINGS = Price(0.4, 1.6, 0.1), Price(0.02, 0.0)
"""US dollars for a million tokens, as those of small models are."""


@pytest.fixture
def endpoint(graph_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with Endpoint() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("FABULA_CHUNK_TOKENS", "60")
        yield server


def test_a_novel_takes_twelve_batches_at_most_at_half_the_price(
    endpoint: Endpoint, store: Store, tmp_path: Path
) -> None:
    book = tmp_path / "novel.txt"
    book.write_text(novel())
    [outcome] = ingest(book, batch=AT_ONCE, graphs=GRAPHS)
    assert outcome.status == "added", outcome.error
    assert 1 <= len(endpoint.batches.sizes) <= 12
    assert max(endpoint.batches.paid.values()) == 1
    models = outcome.usage.models
    prices = {name: EMBEDDINGS if "embedding" in name else CHAT for name in models}
    live = {
        name: Usage(used.calls, used.prompt_tokens, used.completion_tokens)
        for name, used in models.items()
    }
    assert cost(prices, models).known <= 0.52 * cost(prices, live).known
