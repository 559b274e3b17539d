"""No settings of whoever runs the tests, for one test or for what the tests of a file share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from database import empty, name_server
from endpoint import Endpoint
from fabula.config.settings import CONVENTIONAL, PREFIX
from fabula.server import Address


def isolate(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let the environment have no setting but that Fabula's files are in a folder, where we are."""
    for name in list(os.environ):
        if name.startswith(PREFIX) or name in CONVENTIONAL.values():
            patch.delenv(name)
    patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    patch.setenv("FABULA_HOME", str(folder / "home"))
    patch.setenv("FABULA_CACHE_FOLDER", str(folder / "cache"))
    # Seconds at each stop; tests/server/test_dumps.py is about them.
    patch.setenv("FABULA_DUMPS", "false")
    patch.chdir(folder)


def name_endpoint(patch: pytest.MonkeyPatch, endpoint: Endpoint) -> None:
    """Let the environment name a model endpoint of the tests, and cut chunks of 40 tokens."""
    patch.setenv("OPENAI_BASE_URL", endpoint.url)
    patch.setenv("OPENAI_API_KEY", "sk-test")
    patch.setenv("FABULA_CHUNK_TOKENS", "40")


@contextmanager
def shared_graph(address: Address, folder: Path) -> Iterator[pytest.MonkeyPatch]:
    """Let the environment name an empty graph while it is filled for all tests of a file.

    These may only read it, and none may ask for `store` or `graph_url`, which empty it.
    """
    with pytest.MonkeyPatch.context() as patch:
        isolate(patch, folder)
        name_server(patch, address)
        empty(address)
        yield patch
