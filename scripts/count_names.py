"""Count how the source is named and laid out: `python scripts/count_names.py [FOLDER]`.

With --participles it lists these functions. With --question it also counts the modules that a
question imports; the collection `demo` is asked, which `fabula demo` makes.

Private words are identifiers that say nothing of what they hold. The table in docs/contributing.md
has these counts as they were before and are now. Identifiers are counted as tokens: comments and
strings are not.
"""

from __future__ import annotations

import ast
import io
import keyword
import re
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

PRIVATE_WORDS = ("one", "told", "said", "asked", "kept")
ROLES = {"__init__", "build", "labels", "options", "mapping", "prompts", "modes", "page", "svg"}
"""Names of modules that each package of one shape has: there, a shared name says the role."""
NOT_PARTICIPLES = {"embed", "reembed", "need"}
IRREGULAR = {"found", "given", "held", "kept", "left", "made", "meant", "said", "shown", "told"}
QUESTION = """
import sys
from fabula.cli import main
main(["query", "Why does Scrooge change?", "--collection", "demo"], standalone_mode=False)
print(len(sys.modules))
"""


def main(root: Path) -> None:
    """Print all counts of the Python files below a folder."""
    files = sorted(root.rglob("*.py"))
    words: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    comments = total = 0
    classes: dict[str, list[Path]] = defaultdict(list)
    participles: list[str] = []
    for file in files:
        source = file.read_text(encoding="utf-8")
        words.update(_identifiers(source))
        count = source.count("\n")
        total += count
        lines[file.relative_to(root).parts[0]] += count
        comments += _count_comments(source)
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(file)
            if isinstance(node, ast.FunctionDef) and _is_participle(node):
                participles.append(f"{file.relative_to(root)}: {node.name}")
    modules = Counter(file.stem for file in files if file.stem not in ROLES)
    print(f"{len(files)} files, {total:,} lines, {100 * comments / total:.2f} comments a hundred")
    print("Private words:", sum(words[word] for word in PRIVATE_WORDS), dict(_some(words)))
    print("Participles as functions:", len(participles))
    repeated = list(_repeated(classes))
    print(f"Public classes in more than one file: {len(repeated)}:", *repeated)
    shared = [name for name, count in modules.items() if count > 1]
    print(f"Modules in more than one folder: {len(shared)}:", *shared)
    for package, count in lines.most_common():
        print(f"{count:8,}  {package}")
    if "--participles" in sys.argv:
        print(*participles, sep="\n")
    if "--question" in sys.argv:
        run = subprocess.run(
            [sys.executable, "-c", QUESTION], capture_output=True, text=True, check=False
        )
        if run.returncode:
            sys.exit(f"{run.stderr.strip().splitlines()[-1]}\n`fabula demo` makes the collection.")
        print("Modules that a question imports:", run.stdout.split()[-1])


def _some(words: Counter[str]) -> Iterator[tuple[str, int]]:
    return ((word, words[word]) for word in PRIVATE_WORDS)


def _identifiers(source: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
            yield token.string


def _count_comments(source: str) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return sum(token.type == tokenize.COMMENT for token in tokens)


def _is_participle(node: ast.FunctionDef) -> bool:
    """Tell whether a function that is no property is called by a participle alone, as `placed`."""
    if any("property" in ast.unparse(decorator) for decorator in node.decorator_list):
        return False
    name = node.name.strip("_")
    is_regular = name not in NOT_PARTICIPLES and re.fullmatch(r"[a-z]{3,}ed", name)
    return name in IRREGULAR or bool(is_regular)


def _repeated(classes: dict[str, list[Path]]) -> Iterator[str]:
    for name, files in sorted(classes.items()):
        if len(set(files)) > 1:
            yield f"{name} ({len(set(files))})"


if __name__ == "__main__":
    arguments = [word for word in sys.argv[1:] if not word.startswith("--")]
    main(Path(arguments[0]) if arguments else Path(__file__).parents[1] / "src" / "fabula")
