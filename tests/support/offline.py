"""Libraries that are built without a model, in an emptied graph of the tests' Neo4j."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from database import empty
from fabula.config.settings import OFFLINE, STATIC, Settings
from fabula.library import App
from fabula.server import Address
from served import server_of

WITHOUT_MODEL: dict[str, Any] = {"model": OFFLINE, "embedding_model": STATIC, "chunk_tokens": 40}


def offline_settings(address: Address, home: Path, **settings: Any) -> Settings:
    """Settings without a model, whose chunks are small, with others that are given."""
    return Settings.read(**server_of(address), home=home, **WITHOUT_MODEL | settings)


@contextmanager
def offline_app(address: Address, **settings: Any) -> Iterator[App]:
    """An App without a model, whose chunks are small, over a graph that was emptied."""
    empty(address)
    with App(Settings.read(**server_of(address), **WITHOUT_MODEL | settings)) as app:
        yield app
