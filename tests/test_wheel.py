"""A wheel of this tree, installed in an empty environment elsewhere, does the whole job."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from fabula.queries import FOLDER

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    [built] = folder.glob("fabula-*.whl")
    return built


def pip(*arguments: str, python: Path = Path(sys.executable)) -> None:
    subprocess.run([python, "-m", "pip", "--quiet", *arguments], check=True)


def test_the_wheel_holds_all_that_is_not_code(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    statements = {
        f"fabula/cypher/{path.relative_to(FOLDER).as_posix()}" for path in FOLDER.rglob("*.cypher")
    }
    assert statements
    assert names >= statements | {
        "fabula/graphs/aspects/sets/narrative.toml",
        "fabula/graphs/aspects/prompts/summarise.txt",
        "fabula/prompts/answer.txt",
        "fabula/py.typed",
        "fabula/ranks/o200k_base.zlib",
        "fabula/server/artifacts.lock",
        "fabula/texts/a-christmas-carol.txt",
        "fabula/plot/passages.js",
        "fabula/experiments/suites/smoke.toml",
        "fabula/experiments/smoke/squality/dev.jsonl",
    }


def test_the_demo_runs_from_an_installed_wheel(wheel: Path, graph_url: str, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    binaries = tmp_path / "venv" / "bin"
    pip("install", str(wheel), python=binaries / "python")
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
    assert "[1] A Christmas Carol · STAVE" in run.stdout
    assert "fabula db browse" in run.stdout or "Neo4j Browser" in run.stdout
    assert list(elsewhere.iterdir()) == []
