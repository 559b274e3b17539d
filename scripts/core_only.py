"""Run the core's tests where the packages beside it are not there: `make core`.

`.venv-core` has the files of `.venv` by hard links, but its `fabula` is in a folder without the
others and their entry points. Left out are the tests of those packages, and those with the mark
`whole`, which need them.
"""

from __future__ import annotations

import configparser
import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
FULL, BARE = ROOT / ".venv", ROOT / ".venv-core"
BESIDE = ("fabula_bench", "fabula_graphs", "fabula_scholar")
_NAMES_ONE = re.compile(r"\b(?:from|import) (?:" + "|".join(BESIDE) + r")\b")
LEFT_OUT = ("project",)
"""Tests of the project as a whole."""


def make_environment(folder: Path) -> Path:
    """Make the environment anew, and return its Python.

    `folder` gets a link to the core, and its statements. It is outside of the project: the builder
    of the wheel follows links, and takes what it has seen by one for packed.
    """
    subprocess.run(["rm", "-rf", BARE], check=True)
    subprocess.run(["cp", "-al", FULL, BARE], check=True)
    (folder / "src").mkdir()
    (folder / "src" / "fabula").symlink_to(ROOT / "src" / "fabula")
    (folder / "cypher").mkdir()
    for room in (ROOT / "cypher").iterdir():
        if room.name not in BESIDE:
            shutil.copytree(room, folder / "cypher" / room.name)
    [packages] = BARE.glob("lib/python3*/site-packages")
    [paths] = packages.glob("*fabula*.pth")
    _replace(paths, f"{folder / 'src'}\n")
    [entries] = packages.glob("fabula-*.dist-info/entry_points.txt")
    _replace(entries, _leave_out_others(entries.read_text("utf-8")))
    return BARE / "bin" / "python"


def _replace(file: Path, text: str) -> None:
    """Replace a file; the one of the full environment, which it is a link to, stays."""
    file.unlink()
    file.write_text(text, encoding="utf-8")


def _leave_out_others(text: str) -> str:
    entries = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    entries.optionxform = str  # type: ignore[assignment,method-assign]
    entries.read_string(text)
    for group in entries.sections():
        for name, value in entries.items(group):
            if value.startswith(BESIDE):
                entries.remove_option(group, name)
    stream = io.StringIO()
    entries.write(stream)
    return stream.getvalue()


def find_tests() -> list[str]:
    """Return the test files that need none of the packages beside the core."""
    tests = ROOT / "tests"
    needing = {
        file.stem
        for file in (tests / "support").rglob("*.py")
        if _NAMES_ONE.search(file.read_text("utf-8"))
    }
    uses_needing = re.compile(rf"(?m)^(?:from|import) (?:{'|'.join(sorted(needing))})\b")
    return [
        str(file.relative_to(ROOT))
        for file in sorted(tests.rglob("test_*.py"))
        if file.relative_to(tests).parts[0] not in (*BESIDE, *LEFT_OUT)
        and not _NAMES_ONE.search(text := file.read_text("utf-8"))
        and not uses_needing.search(text)
    ]


def main() -> int:
    """Run the tests that need no server, and the journeys; return pytest's exit code."""
    chosen = ["-m", "not whole and not nightly and not alone and (journey or not server)"]
    together = ["--numprocesses", "2", "--dist", "loadfile"]
    with tempfile.TemporaryDirectory() as folder:
        python = make_environment(Path(folder))
        command = [str(python), "-m", "pytest", *chosen, *together, *sys.argv[1:], *find_tests()]
        return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
