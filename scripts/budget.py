"""Hold each room to its budget of lines: `python scripts/budget.py`, a part of `make lint`.

Lines of code are counted: no blank lines, comments or docstrings. The table `tool.fabula.budget` of
pyproject.toml has the rooms, which are folders; a file belongs to the innermost one that it is in.
A budget is changed in a commit of its own, which says why.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath

ROOT = Path(__file__).parents[1]
SUFFIXES = (".py", ".js", ".cypher")
_NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}


def count_code(text: str, suffix: str) -> int:
    """Return how many lines of a file are code."""
    if suffix != ".py":
        lines = map(str.strip, text.splitlines())
        return sum(not line.startswith(("//", "/*", "*")) for line in lines if line)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    code = {
        line
        for token in tokens
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(code - _find_docstrings(ast.parse(text)))


def _find_docstrings(tree: ast.Module) -> set[int]:
    """Return the lines of all strings that are statements: of those that say what follows, too."""
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def count_rooms(files: Iterable[Path], rooms: Iterable[str]) -> Counter[str]:
    """Return the lines of code of each room; those of files without a room stand under ''."""
    innermost = sorted(rooms, key=len, reverse=True)
    counts = Counter(dict.fromkeys(innermost, 0))
    for file in files:
        path = file.relative_to(ROOT)
        room = next((room for room in innermost if path.is_relative_to(PurePath(room))), "")
        counts[room] += count_code(file.read_text(encoding="utf-8"), file.suffix)
    return counts


def find_faults(counts: Mapping[str, int], budget: Mapping[str, int]) -> list[str]:
    """Return in sentences which rooms have more lines than their budget, or no code at all."""
    faults = [
        f"{room} has {counts[room]:,} lines of code, {counts[room] - most:,} over its budget."
        for room, most in budget.items()
        if counts[room] > most
    ]
    faults += [f"{room} has a budget and no code." for room in budget if not counts[room]]
    if counts.get(""):
        faults.append(f"{counts['']:,} lines of code are in no room of tool.fabula.budget.")
    return faults


def main() -> None:
    """Print how much of its budget each room has used; end with 1 where one has more."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        budget = tomllib.load(file)["tool"]["fabula"]["budget"]
    files = [
        file
        for folder in ("src", "cypher")
        for file in (ROOT / folder).rglob("*")
        if file.suffix in SUFFIXES
    ]
    counts = count_rooms(files, budget)
    if "--table" in sys.argv:
        for room, most in budget.items():
            print(f"{counts[room]:7,} of {most:7,}  {room}")
    print(f"{sum(counts.values()):,} lines of code, of {sum(budget.values()):,}.")
    faults = find_faults(counts, budget)
    print(*faults, sep="\n", end="\n" if faults else "")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
