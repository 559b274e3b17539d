"""Find the tests of what a change touches: of its modules, and of the modules that import these.

A test file belongs to the modules that it imports, and to those that it is named after:
tests/jobs/test_queue.py belongs to `fabula.jobs.queue`.
"""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePath

import grimp

PACKAGES = ("fabula", "fabula_bench", "fabula_graphs", "fabula_scholar")
CORE = PACKAGES[0]
SOURCE, TESTS = Path("src"), Path("tests")
SHARED = (TESTS / "support", Path("scripts"))
"""Where tests find modules beside the package."""
OF_ALL = (".ci/versions.txt", "src/fabula/server/artifacts.lock", "tests/conftest.py")
"""Versions of others' packages and of Neo4j, and what all tests share."""
OF_DOCS = TESTS / "project"
"""What the documentation says is run there."""
CHANGE_AGE = "1 day ago"
"""What is older than this has landed: a clone does not say which of its commits are new."""


def find_changed_files(age: str = CHANGE_AGE) -> list[str]:
    """Return the files that differ from the newest commit of that age; all tests if none is known.

    A copy of the files without Git knows none.
    """
    base = _git("rev-list", "-1", f"--before={age}", "HEAD").strip()
    if not base:
        return [*map(str, TESTS.rglob("test_*.py"))]
    new = _git("ls-files", "--others", "--exclude-standard")
    return [*_git("diff", "--name-only", "--no-renames", base).splitlines(), *new.splitlines()]


def find_touched_tests(changed: Iterable[str]) -> list[str]:
    """Return the test files, as pytest names them, of the files that a change touches."""
    changed = [*changed]
    if set(changed).intersection(OF_ALL):
        return sorted(map(str, TESTS.rglob("test_*.py")))
    graph = _read_imports()
    modules = {module for name in changed for module in _modules_of(name, graph.modules)}
    importers = set[str]().union(
        *(graph.find_modules_that_directly_import(module) for module in modules)
    )
    docs = any(PurePath(name).is_relative_to("docs") or name == "README.md" for name in changed)
    shared = {
        PurePath(PurePath(name).relative_to(folder).parts[0]).stem
        for name in changed
        for folder in SHARED
        if PurePath(name).is_relative_to(folder)
    }
    return sorted(
        str(file)
        for file in TESTS.rglob("test_*.py")
        if str(file) in changed
        or any(_is_room_of(file, module) for module in modules)
        or any(_is_named_after(file, module) for module in importers)
        or _imports(file) & (modules | shared)
        or (docs and file.is_relative_to(OF_DOCS))
    )


@cache
def _read_imports() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES)


def _modules_of(name: str, modules: set[str]) -> Iterator[str]:
    """Yield the modules that a file of the source, or a file that a module reads, belongs to."""
    path = PurePath(name)
    if path.suffix == ".cypher":
        statement = f'"{path.parent.name}/{path.stem}"'
        for file in SOURCE.rglob("*.py"):
            if statement in file.read_text("utf-8"):
                yield _module(file)
    elif path.is_relative_to(SOURCE):
        module = _module(path)
        # A prompt, a template or a table is read by the package that it lies in.
        while path.suffix != ".py" and module not in modules:
            module = module.rpartition(".")[0]
        if module in modules:
            yield module


def _module(path: PurePath) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _is_room_of(file: Path, module: str) -> bool:
    """Return whether a test is named after a module, or after the package that it is in."""
    return _is_named_after(file, module) or _is_named_after(file, module.rpartition(".")[0])


def _is_named_after(file: Path, module: str) -> bool:
    package, room, *inner = [*module.split("."), ""]
    folder, *words = [*file.relative_to(TESTS).parts[:-1], *file.stem.split("_")[1:]]
    if package != CORE:  # its tests are in a folder of its name
        room = package
    name = inner[-2].split("_") if len(inner) > 1 else []
    if not name or folder != room:
        return False
    return any(words[start : start + len(name)] == name for start in range(len(words)))


@cache
def _imports(file: Path) -> frozenset[str]:
    """Return the modules that a test imports, and the names that it takes from them."""
    found = set[str]()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(found)


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=False).stdout
