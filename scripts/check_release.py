"""Check that a tree can be released as the version it names: `check_release.py [FOLDER]`.

It prints everything that stands in the way, and ends with 1 then.
"""

from __future__ import annotations

import datetime
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

SEMANTIC = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)((a|b|rc)\d+)?")
"""Semantic Versioning's three numbers, and PEP 440's way to write a version before the release."""


def main(root: Path) -> int:
    """Print what stands in the way of a release, and return the exit code."""
    version = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    problems = [
        *check_version(root, version),
        *check_changelog(root, version),
        *check_files(root, version),
    ]
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"fabula {version} can be released: git tag v{version}")
    return bool(problems)


def check_version(root: Path, version: str) -> Iterator[str]:
    """Yield what is wrong with the version's name, and the tag that it has already."""
    if not SEMANTIC.fullmatch(version):
        yield f"{version} is no semantic version: MAJOR.MINOR.PATCH, or with a1, b1, rc1."
    tagged = git(root, "tag", "--list", f"v{version}")
    if tagged and git(root, "rev-parse", f"v{version}^{{commit}}") != git(
        root, "rev-parse", "HEAD"
    ):
        yield f"v{version} is the tag of another commit: raise the version in pyproject.toml."


def check_changelog(root: Path, version: str) -> Iterator[str]:
    """Yield what the changelog lacks: a section of this version on top, with its date and text."""
    text = (root / "CHANGELOG.md").read_text("utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    top = sections[0] if sections else ""
    heading, _, body = top.partition("\n")
    found = re.fullmatch(rf"{re.escape(version)} \((\d{{4}}-\d\d-\d\d)\)", heading.strip())
    if not found:
        yield (
            f"CHANGELOG.md begins with {heading.strip()!r}: its first section has to be "
            f"'## {version} ({datetime.date.today()})'."
        )
    elif not body.strip():
        yield f"CHANGELOG.md says nothing of {version}."


def check_files(root: Path, version: str) -> Iterator[str]:
    """Yield what is not committed, and what else names another version."""
    if changed := git(root, "status", "--porcelain"):
        yield f"Not committed:\n{changed}"
    citation = root / "CITATION.cff"
    if citation.exists() and not re.search(
        rf"^version: {re.escape(version)}$", citation.read_text("utf-8"), re.MULTILINE
    ):
        yield f"CITATION.cff names another version than {version}."


def git(root: Path, *words: str) -> str:
    """Return what git prints."""
    command = ["git", "-C", str(root), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1]))
