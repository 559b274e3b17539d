"""What the tests of the response cache keep: one request, some vectors, a process that writes."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np

from fabula.models import Chat, Embedder, Prompt, Reply
from fabula.models.cache import ReplyCache, ResponseCache, chat_key, embedding_key
from fabula.models.cached import CachedChat, CachedEmbedder
from fabula.models.counted import CountedChat, CountedEmbedder, Meter
from fabula.models.stop import Stop

ASKED = Prompt("Be brief.", "Who is dead?", 100, 0.5)
SAID = Reply("Marley.", 12, 3)
URL = "http://127.0.0.1:8000/v1"
KEY = chat_key(URL, "m", ASKED)


def rows(seed: int, count: int, dimensions: int = 64) -> dict[bytes, np.ndarray]:
    """As many vectors by their keys, the same for the same seed."""
    drawn = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    return {embedding_key(URL, "e", f"{seed} {n}"): row for n, row in enumerate(drawn)}


KEEPER = """
import sys
from pathlib import Path
import numpy as np
from fabula.models import Prompt, Reply
from fabula.models.cache import ResponseCache, chat_key, embedding_key
url = "http://127.0.0.1:8000/v1"
cache, name, count = ResponseCache(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3])
for n in range(count):
    key = chat_key(url, "m", Prompt("", f"{name} {n}", 1, 0))
    cache.save_reply(key, "m", Reply(f"{name} {n}"))
    keys = [embedding_key(url, "e", f"{name} {n} {row}") for row in range(16)]
    batch = {key: np.ones(64, np.float32) for key in keys}
    cache.save_vectors("e", batch)
    print(n, flush=True)
"""


def keeper(cache: ResponseCache, name: str, count: int) -> subprocess.Popen[str]:
    """A process that keeps replies as fast as it can, and prints the number of each."""
    command = [sys.executable, "-c", KEEPER, str(cache.info().path.parent), name, str(count)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    )


def cached_chat(
    chat: Chat,
    cache: ReplyCache,
    endpoint: str = URL,
    model: str = "m",
    meter: Meter | None = None,
    stop: Stop | None = None,
) -> CachedChat:
    """A chat with a cache before it, whose calls are counted as a service's are."""
    counted = CountedChat(chat, meter or Meter(), "answer", model)
    return CachedChat(lambda _: counted, cache, endpoint, model, stop)


def cached_embedder(
    embedder: Embedder,
    cache: ResponseCache,
    endpoint: str = URL,
    meter: Meter | None = None,
) -> CachedEmbedder:
    """An embedder with a cache before it, whose calls are counted."""
    counted = CountedEmbedder(embedder, meter or Meter(), "embeddings")
    return CachedEmbedder(counted, cache, endpoint)
