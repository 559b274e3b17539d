"""docs/api.md and docs/assistants.md: their examples run, against a service that really listens."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fabula.server import Address
from offline import offline_app
from served import Served, served
from stories import WINTER

pytestmark = pytest.mark.journey

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "api.md"
ASSISTANTS = DOCS / "assistants.md"
ADDRESS = "http://127.0.0.1:8040"


@pytest.fixture(scope="module")
def it(address: Address) -> Iterator[Served]:
    with offline_app(address) as app:
        novels = app.collection("novels")
        novels.ingest_text(WINTER, source="winter.txt", title="Winter")
        novels.build("episodes")
        with served(app) as it:
            yield it


def examples(page: Path, language: str, it: Served, least: int) -> str:
    """A page's examples in a language, one after the other, at the service that listens."""
    found = re.findall(rf"(?ms)^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"))
    assert len(found) >= least
    return "\n".join(found).replace(ADDRESS, it.url).replace("fab_...", it.key("admin"))


def by_curl(told: str, folder: Path) -> str:
    """What the examples of a shell print. Fails where one of them does."""
    run = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", told.replace("curl -s", "curl --fail-with-body -s")],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, f"{run.stderr}\n{run.stdout[-2000:]}"
    return run.stdout


def test_the_examples_in_python_run(it: Served) -> None:
    names: dict[str, Any] = {"print": lambda *_: None}
    exec(compile(examples(PAGE, "python", it, 6), PAGE.name, "exec"), names)
    names["fabula"].close()


@pytest.mark.whole
def test_the_examples_by_curl_run(it: Served, tmp_path: Path) -> None:
    assert "event: answer" in by_curl(examples(PAGE, "sh", it, 6), tmp_path)
    assert (tmp_path / "book.jsonl").stat().st_size > 1000
    assert "<svg" in (tmp_path / "trees.svg").read_text(encoding="utf-8")


def test_the_examples_for_assistants_run(it: Served, tmp_path: Path) -> None:
    said: list[tuple[Any, ...]] = []
    names: dict[str, Any] = {"print": lambda *told: said.append(told)}
    exec(compile(examples(ASSISTANTS, "python", it, 2), ASSISTANTS.name, "exec"), names)
    assert any("Winter" in told[0] and told[1] < told[2] for told in said if len(told) == 4)
    assert (["fabula/novels"],) in said
    assert any("/c/novels/d/" in told[1] for told in said if len(told) == 2)
    streamed = by_curl(examples(ASSISTANTS, "sh", it, 1), tmp_path)
    assert streamed.rstrip().endswith("data: [DONE]")


def test_every_route_is_told_of(it: Served) -> None:
    """A route that nobody finds is none: its last word stands on the page."""
    page = PAGE.read_text(encoding="utf-8")
    mine = {
        *("collections", "documents", "passages", "asking", "conversations", "queries", "choices"),
    }
    # Told of in docs/jobs.md.
    jobs = ("build", "renew", "reembed")
    for path, methods in it.client().get("/openapi.json").json()["paths"].items():
        for method in methods.values():
            if mine.issuperset(method["tags"]) and not path.endswith(jobs):
                words = [part for part in path.split("/") if part and "{" not in part]
                assert words[-1] in page, path
