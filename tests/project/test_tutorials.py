"""The tutorials of docs/ do what they say: every command and script is run, offline.

What they print is compared with the pages. They share one graph, since each goes on from the first.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from neo4j import Driver, GraphDatabase

from database import empty, server_variables
from fabula.server import Address
from ports import free_port

# Runs a tutorial as its reader does: block by block, in one folder, with what each prints.
#
# A block of `console` has commands after `$ `, each with what it prints; `...` stands for
# anything, and a command without output has to succeed. A block of `python` is a script of its
# own, and a block of `text` after it is what it prints. `cypher` has to find rows. A comment before
# a block changes that:
#
#     <!-- file: NAME -->        the block is the content of a file
#     <!-- runs on -->           the command goes on until the end of the page
#     <!-- not run: REASON -->   nothing is run

BLOCK = re.compile(
    r"(?:^<!-- (?P<note>[^\n]*?) -->\n+)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S
)
LANGUAGES = {"console", "cypher", "json", "python", "text", "toml"}
PATIENCE = 240.0
"""Seconds for a command that takes a few: the machine may have other work."""


@dataclass(frozen=True)
class Block:
    """A block of code on a page, with the comment before it."""

    language: str
    text: str
    note: str = ""

    def commands(self) -> Iterator[tuple[str, str]]:
        """The commands of a console, each with what it prints."""
        for part in re.split(r"^\$ ", self.text, flags=re.M)[1:]:
            lines = part.splitlines(keepends=True)
            end = next(n for n, line in enumerate(lines) if not line.endswith("\\\n"))
            yield "".join(lines[: end + 1]).strip(), "".join(lines[end + 1 :])


def read_blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    return [
        Block(match["language"], match["text"], match["note"] or "")
        for match in BLOCK.finditer(page.read_text(encoding="utf-8"))
    ]


@dataclass
class Reader:
    """Somebody who follows tutorials: a folder, an environment, and a shell's variables."""

    folder: Path
    environment: Mapping[str, str]
    driver: Driver
    collection: str = "default"
    ports: dict[str, str] = field(default_factory=dict)
    running: list[subprocess.Popen[str]] = field(default_factory=list)
    held: ExitStack = field(default_factory=ExitStack)
    """The ports, which nobody else gets meanwhile."""

    def follow(self, page: Path) -> None:
        """Do what a page says. AssertionError where something prints what the page does not."""
        blocks = read_blocks(page)
        assert {block.language for block in blocks} <= LANGUAGES
        try:
            for number, block in enumerate(blocks):
                after = blocks[number + 1] if number + 1 < len(blocks) else None
                self._do(block, after)
        finally:
            self.stop()

    def stop(self) -> None:
        """End what runs on, the last first."""
        while self.running:
            process = self.running.pop()
            process.terminate()
            process.wait(PATIENCE)
        self.held.close()

    def _do(self, block: Block, after: Block | None) -> None:
        if block.note.startswith("not run: "):
            return
        if name := re.fullmatch(r"file: (\S+)", block.note):
            (self.folder / name[1]).write_text(self._ported(block.text), encoding="utf-8")
        elif block.language == "console":
            for command, printed in block.commands():
                if block.note == "runs on":
                    self._start(command, printed)
                else:
                    self._run(command, printed)
        elif block.language == "python":
            script = self.folder / "script.py"
            script.write_text(self._ported(block.text), encoding="utf-8")
            expected = after.text if after is not None and after.language == "text" else ""
            self._run(f"python {script}", expected)
        elif block.language == "cypher":
            rows = self.driver.execute_query(
                block.text,
                {"collection": self.collection},
                database_="neo4j",
            ).records
            assert rows, block.text

    def _run(self, command: str, printed: str) -> None:
        run = subprocess.run(
            ["bash", "-c", self._script(command)],
            cwd=self.folder,
            env={**self.environment},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert run.returncode == 0, f"$ {command}\n{run.stdout}{run.stderr}"
        # What is said on standard error, as the progress, may be left out.
        outputs = [run.stdout, run.stderr + run.stdout, run.stdout + run.stderr]
        assert not printed.strip() or any(matches(printed, output) for output in outputs), (
            f"$ {command}\nprints\n{run.stdout}{run.stderr}\nThe page has\n{printed}"
        )

    def _start(self, command: str, printed: str) -> None:
        log = self.folder / f"running{len(self.running)}.log"
        with log.open("w") as file:
            process = subprocess.Popen(
                ["bash", "-c", self._script(f"exec {command}")],
                cwd=self.folder,
                env={**self.environment},
                stdout=file,
                stderr=subprocess.STDOUT,
                text=True,
            )
        self.running.append(process)
        late = time.monotonic() + PATIENCE
        while not matches(self._ported(printed) + "...", log.read_text()):
            assert process.poll() is None and time.monotonic() < late, (
                f"$ {command}\n{log.read_text()}"
            )
            time.sleep(0.2)

    def _script(self, command: str) -> str:
        """A command in a shell that has the variables that earlier ones exported."""
        kept = self.folder / ".exported"
        return (
            f"[ -e {kept} ] && . {kept}\n{self._ported(command)}\n"
            f"code=$?; export -p > {kept}; exit $code"
        )

    def _ported(self, text: str) -> str:
        """A text with free ports in place of those of the page."""
        for port in re.findall(r"\b8(?:040|786|787)\b", text):
            if port not in self.ports:
                self.ports[port] = str(self.held.enter_context(free_port()))
        for port, free in self.ports.items():
            text = re.sub(rf"\b{port}\b", free, text)
        return text


def matches(expected: str, output: str) -> bool:
    """Whether an output is what a page has: `...` stands for anything, alone for lines or none."""
    pattern = re.escape(_tidy(expected)).replace(re.escape("..."), "...")
    pattern = re.sub(r"(?m)^\.\.\.(?:\\\n|\n)", "(?:.*\n)?", pattern).replace("...", ".*?")
    return re.fullmatch(pattern, _tidy(output), re.DOTALL) is not None


def _tidy(text: str) -> str:
    """A text without the spaces that fill columns."""
    return "".join(" ".join(line.split()) + "\n" for line in text.strip().splitlines())


def make_environment(home: Path, neo4j: Mapping[str, str]) -> dict[str, str]:
    """The environment of a reader: an empty home, the program on the path, the tests' Neo4j."""
    own = ("FABULA", "NEO4J", "OPENAI", "XDG")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    return kept | {
        "PATH": path,
        "HOME": str(home),
        "COLUMNS": "92",
        "PYTHONUNBUFFERED": "1",
        "FABULA_HOME": str(home / "fabula"),
        "FABULA_CACHE_FOLDER": str(home / "cache"),
        **neo4j,
    }


pytestmark = [pytest.mark.long, pytest.mark.slow]

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
PAGES = ("first-book", "scholar", "analyst", "engineer", "cluster")
NOT_RUN = {
    "first-book": ["installs from a package index"],
    "analyst": ["opens the reader's own browser", "is a command of Neo4j Browser"],
    "engineer": ["installs from a package index", "is what a program of the assistant's reads"],
    "cluster": ["installs from a package index"],
}
"""What no test runs, and why."""


@pytest.fixture(scope="module")
def reader(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    empty(address)
    folder = tmp_path_factory.mktemp("reader")
    neo4j = {
        **server_variables(address),
    }
    with GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        reader = Reader(folder, make_environment(folder, neo4j), driver, "demo")
        yield reader
        reader.stop()


@pytest.mark.parametrize("page", PAGES)
def test_a_tutorial_does_what_it_says(page: str, reader: Reader) -> None:
    reader.follow(TUTORIALS / f"{page}.md")


def test_every_tutorial_is_run_except_for_stated_blocks() -> None:
    assert {path.stem for path in TUTORIALS.glob("*.md")} == {"index", *PAGES}
    for page in PAGES:
        blocks = read_blocks(TUTORIALS / f"{page}.md")
        notes = [
            block.note.removeprefix("not run: ") for block in blocks if "not run" in block.note
        ]
        assert notes == NOT_RUN.get(page, []), page
        # A fence that the pattern of blocks does not find would not be run.
        assert 2 * len(blocks) == (TUTORIALS / f"{page}.md").read_text("utf-8").count("\n```")


def test_an_output_is_compared_but_for_its_dots() -> None:
    assert matches("added ... 3 chunks; ... s\n...", "added   The  Book: 3 chunks; 1.5 s\nmore\n")
    assert not matches("added ... 4 chunks; ... s", "added The Book: 3 chunks; 1.5 s")
    assert not matches("one", "one\ntwo")
