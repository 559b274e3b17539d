"""A wheel of this tree, installed in an empty environment elsewhere, does the whole job."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from fabula.graph.queries import FOLDER

pytestmark = [pytest.mark.long, pytest.mark.slow]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    [built] = folder.glob("fabula-*.whl")
    return built


def pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--quiet", *arguments], check=True)


def bring_what_it_requires(packages: Path) -> None:
    """Links what the wheel in `packages` requires, and no more, out of the tests' environment.

    A real install of that takes a minute, and depends on an index.
    """
    [wheel] = packages.glob("fabula-*.dist-info")
    waiting = required(metadata.Distribution.at(wheel))
    seen: set[str] = set()
    while waiting:
        requirement = waiting.pop()
        distribution = metadata.distribution(requirement.name)
        for extra in {"", *requirement.extras}:
            if (name := f"{distribution.name}[{extra}]") not in seen:
                seen.add(name)
                waiting += required(distribution, extra)
        for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(str(distribution.locate_file(top)))


def required(distribution: metadata.Distribution, extra: str = "") -> list[Requirement]:
    """What a distribution requires here, with `extra`."""
    found = [Requirement(line) for line in distribution.requires or ()]
    return [
        requirement
        for requirement in found
        if not requirement.marker or requirement.marker.evaluate({"extra": extra})
    ]


def test_the_wheel_holds_all_that_is_not_code(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    statements = {
        f"fabula/cypher/{path.relative_to(FOLDER).as_posix()}" for path in FOLDER.rglob("*.cypher")
    }
    assert statements
    assert names >= statements | {
        "fabula/graphs/aspects/sets/narrative.toml",
        "fabula/graphs/aspects/prompts/summarise.txt",
        "fabula/graphs/entities/types/narrative.toml",
        "fabula/graphs/entities/prompts/extract.txt",
        "fabula/models/prompts/answer.txt",
        "fabula/py.typed",
        "fabula/text/ranks/o200k_base.zlib",
        "fabula/server/artifacts.lock",
        "fabula/texts/a-christmas-carol.txt",
        "fabula_scholar/pictures/trees/trees.js",
        "fabula_bench/suites/smoke.toml",
        "fabula_bench/smoke/squality/dev.jsonl",
    }


def test_the_demo_runs_from_an_installed_wheel(wheel: Path, graph_url: str, tmp_path: Path) -> None:
    venv = [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")]
    subprocess.run(venv, check=True)
    binaries = tmp_path / "venv" / "bin"
    pip("--python", str(binaries / "python"), "install", "--no-deps", str(wheel))
    [packages] = tmp_path.glob("venv/lib/python*/site-packages")
    bring_what_it_requires(packages)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = subprocess.run(
        [binaries / "fabula", "demo"],
        cwd=elsewhere,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "A Christmas Carol: 2" in run.stdout
    assert "irony and symbol" in run.stdout
    assert re.search(r"^\[\d+\] A Christmas Carol · STAVE", run.stdout, re.MULTILINE)
    assert "fabula db browse" in run.stdout or "Neo4j Browser" in run.stdout
    assert list(elsewhere.iterdir()) == []
