"""docs/api.md: each of its examples runs, against a service that really listens."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import connect, wipe
from fabula.app import App
from fabula.server import Address
from fabula.settings import STATIC
from served import Served, served, server_of
from stories import WINTER

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
ADDRESS = "http://127.0.0.1:8040"


@pytest.fixture(scope="module")
def it(address: Address) -> Iterator[Served]:
    with connect(address) as store:
        wipe(store)
    offline: dict[str, Any] = {"model": "offline", "embedding_model": STATIC, "chunk_tokens": 40}
    with App(**server_of(address), **offline) as app:
        app.collection("novels").ingest_text(WINTER, source="winter.txt", title="Winter")
        with served(app) as it:
            yield it


def blocks(language: str) -> str:
    found = re.findall(rf"(?ms)^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"))
    assert len(found) > 5
    return "\n".join(found)


def test_the_examples_in_python_run(it: Served) -> None:
    told = blocks("python").replace(ADDRESS, it.url).replace("fab_...", it.key("admin"))
    names: dict[str, Any] = {"print": lambda *_: None}
    exec(compile(told, PAGE.name, "exec"), names)
    names["fabula"].close()


def test_the_examples_by_curl_run(it: Served, tmp_path: Path) -> None:
    told = blocks("sh").replace(ADDRESS, it.url).replace("fab_...", it.key("admin"))
    failing = told.replace("curl -s", "curl --fail-with-body -s")
    run = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", failing],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, f"{run.stderr}\n{run.stdout[-2000:]}"
    assert "event: answer" in run.stdout
    assert (tmp_path / "book.jsonl").stat().st_size > 1000
    assert "<svg" in (tmp_path / "trees.svg").read_text(encoding="utf-8")


def test_every_route_is_told_of(it: Served) -> None:
    """A route that nobody finds is none: its last word stands on the page."""
    page = PAGE.read_text(encoding="utf-8")
    mine = {
        *("collections", "documents", "passages", "asking", "conversations", "queries", "choices"),
    }
    # Told of in docs/jobs.md.
    jobs = ("estimate", "build", "retry", "reembed")
    for path, methods in it.client().get("/openapi.json").json()["paths"].items():
        for one in methods.values():
            if mine.issuperset(one["tags"]) and not path.endswith(jobs):
                words = [part for part in path.split("/") if part and "{" not in part]
                assert words[-1] in page, path
