"""What stands in the way of a release, and that it is named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_release.py"
CHANGELOG = "# Changelog\n\n## 1.2.0 (2026-11-26)\n\n- Something.\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository that can be released as 1.2.0."""
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "fabula"\nversion = "1.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    (tmp_path / "CITATION.cff").write_text("title: Fabula\nversion: 1.2.0\n")
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def git(tree: Path, *words: str) -> None:
    author = ("-c", "user.name=Anna", "-c", "user.email=anna@example.org")
    subprocess.run(["git", *author, *words], cwd=tree, check=True, capture_output=True)


def commit(tree: Path) -> None:
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", "A change")


def check(tree: Path) -> tuple[int, str]:
    """Return the exit code of the check, and what it printed."""
    command = [sys.executable, str(SCRIPT), str(tree)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_tree_that_can_be_released_is_told_its_tag(tree: Path) -> None:
    assert check(tree) == (0, "fabula 1.2.0 can be released: git tag v1.2.0\n")
    git(tree, "tag", "v1.2.0")
    assert check(tree)[0] == 0, "the tag of this very commit is no obstacle"


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        ("CHANGELOG.md", "1.2.0 (2026-11-26)", "Unreleased", "begins with 'Unreleased'"),
        ("CHANGELOG.md", "1.2.0 (2026-11-26)", "1.1.0 (2026-11-26)", "begins with '1.1.0"),
        ("CHANGELOG.md", "\n- Something.\n", "", "says nothing of 1.2.0"),
        ("CITATION.cff", "1.2.0", "1.1.0", "CITATION.cff names another version"),
        ("pyproject.toml", "1.2.0", "1.2", "1.2 is no semantic version"),
    ],
    ids=["not dated", "another version", "empty", "citation", "not semantic"],
)
def test_what_is_not_ready_is_named(
    tree: Path, file: str, old: str, new: str, problem: str
) -> None:
    path = tree / file
    path.write_text(path.read_text().replace(old, new))
    commit(tree)
    code, printed = check(tree)
    assert code == 1
    assert problem in printed


def test_a_change_that_is_not_committed_is_named(tree: Path) -> None:
    (tree / "CHANGELOG.md").write_text(CHANGELOG + "- More.\n")
    code, printed = check(tree)
    assert code == 1
    assert "M CHANGELOG.md" in printed


def test_a_tag_of_another_commit_is_named(tree: Path) -> None:
    git(tree, "tag", "v1.2.0")
    (tree / "more").write_text("more")
    commit(tree)
    code, printed = check(tree)
    assert code == 1
    assert "v1.2.0 is the tag of another commit" in printed
