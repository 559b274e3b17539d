"""scripts/budget.py: a room that outgrows its budget is told."""

from __future__ import annotations

from pathlib import Path

import pytest

import budget
from budget import count_code, count_rooms, find_faults

MODULE = '''"""What the module is for,
in two lines."""

# A comment.
import os  # and one beside code


class Room:
    """A docstring."""

    lines: int = 0
    """What the field is."""

    def grow(self) -> str:
        return """a text
        that is code"""
'''


def test_blank_lines_comments_and_docstrings_are_no_code() -> None:
    assert count_code(MODULE, ".py") == 6
    assert count_code("/* what\n * it does */\n\n// why\nlet x = 1\n", ".js") == 1
    assert count_code("// A statement.\nMATCH (n)\nRETURN n\n", ".cypher") == 2


def test_a_file_counts_for_the_innermost_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "ROOT", tmp_path)
    for name in ("src/core/a.py", "src/core/graphs/b.py", "src/beside/c.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    files = sorted(tmp_path.rglob("*.py"))
    rooms = ["src/core", "src/core/graphs", "src/gone"]
    assert count_rooms(files, rooms) == {
        "src/core": 1,
        "src/core/graphs": 1,
        "src/gone": 0,
        "": 1,
    }


def test_what_is_over_its_budget_or_has_none_is_told() -> None:
    assert find_faults({"src/core": 10}, {"src/core": 10}) == []
    assert find_faults({"src/core": 12, "src/gone": 0, "": 7}, {"src/core": 10, "src/gone": 5}) == [
        "src/core has 12 lines of code, 2 over its budget.",
        "src/gone has a budget and no code.",
        "7 lines of code are in no room of tool.fabula.budget.",
    ]
