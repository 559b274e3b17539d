"""Writes docs/gallery.md: what a newcomer, a scholar, an analyst and an engineer see.

    python scripts/gallery.py BOOKS

runs every command of the page in an empty home, without a key, and keeps what it printed. BOOKS is
a folder of plain texts from Project Gutenberg: 11-0.txt (Alice) and 2852-0.txt (The Hound of the
Baskervilles). It takes some two minutes, and fetches the private Neo4j anew.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import fabula

PAGE = Path(__file__).parents[1] / "docs" / "gallery.md"
COLUMNS = "92"
BOOKS = ("11-0.txt", "2852-0.txt")
LINES = 48
"""Of a command's output that are kept."""
ENGINEER = """\
from fabula import Fabula

with Fabula(collection="novels") as novels:
    print(list(novels.documents()))
    answer = novels.query("What did the hound look like?", k=3)
    print(answer.quotes[0].hit.text)
    for row in novels.cypher("sections", document="Alice")[:3]:
        print(row)
"""
COUNT = (
    "fabula cypher -c novels -e 'MATCH (d:Document {collection: $collection}) "
    "RETURN d.title AS title, d.language AS language ORDER BY title'"
)
TEXT = """\
# Gallery

What Fabula prints, offline: no key was set, and no model asked. Every command of this page was run
by `scripts/gallery.py` in an empty home, and this is what it said; three dots stand for more. With
a key the same commands ask a model: summaries are written, and questions answered with citations.

## A newcomer

Two commands, a bare machine with Python.

{newcomer}

## A scholar

Has a folder of books, and wants to read what is cited.

{scholar}

`fabula plot Alice --out alice.html` draws the trees over the text, in one file that opens anywhere:

![A Christmas Carol as seven trees of summaries over the line of its chunks](images/plot.png)

With a graph of entities `--network` draws who is in a book and who meets whom, and with communities
`--communities` who belongs together: a number and a colour each, level by level, with their \
reports,
and for a question those that a mode went by ([communities.md](communities.md)).

![The people of A Christmas Carol in the numbers and colours of their communities, with those \
lit that a question found, and a list of all](images/communities.png)

With a discourse graph `--story` draws what happens, in the order told: a row for each who takes \
part
and for each place, with when it is, and how passages hang together; a table tells the same.

![The events of A Christmas Carol along its text in rows of people and places, with links of \
cause below them and a table beside them](images/story.png)

## An analyst

Asks the graph itself, by name or in Cypher, here or in Neo4j Browser ([browser.md](browser.md)).

{analyst}

![The plot tree of A Christmas Carol in Neo4j Browser](images/browser-tree.png)

## An engineer

```python
{engineer}```

```
{printed}
```

[notebook.ipynb](notebook.ipynb) goes on from there.
"""


class Shell:
    """Runs commands as they are typed, in an empty home, and keeps what they print."""

    def __init__(self, home: Path, folder: Path) -> None:
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("FABULA_", "OPENAI_", "NEO4J_", "XDG_"))
        }
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._environment = environment | {
            "HOME": str(home),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "PATH": programs,
            "COLUMNS": COLUMNS,
        }
        self._folder = folder

    def run(self, command: str, lines: int = LINES) -> str:
        """The command and its output as a block of code. Ends where it fails."""
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self._folder,
            env=self._environment,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            raise SystemExit(f"{command} failed:\n{done.stdout}")
        # What a terminal overwrites, and where this machine keeps its files.
        printed = re.sub(r"^Fetching Neo4j .*\n", "", done.stdout, flags=re.MULTILINE)
        package = str(Path(fabula.__file__).parent)
        printed = printed.replace(str(self._folder), "~").replace(package, "fabula")
        output = [line.rstrip() for line in printed.rstrip().splitlines()]
        more = ["..."] if len(output) > lines else []
        return "\n".join(["```", f"$ {command}", *output[:lines], *more, "```"])


def main(books: Path) -> None:
    """Write the page."""
    with tempfile.TemporaryDirectory() as temporary:
        home, folder = Path(temporary, "home"), Path(temporary, "work")
        novels = folder / "novels"
        for made in (home, novels):
            made.mkdir(parents=True)
        for name in BOOKS:
            shutil.copy(books / name, novels)
        (folder / "questions.txt").write_text("Who is the Cheshire Cat?\nWhy does it grin?\n")
        (folder / "engineer.py").write_text(ENGINEER)
        shell = Shell(home, folder)
        try:
            PAGE.write_text(_page(shell), encoding="utf-8")
        finally:
            shell.run("fabula db destroy --yes")


def _page(shell: Shell) -> str:
    visits = {
        "newcomer": [
            ("fabula demo", 40),
            ("fabula query Who is Tiny Tim?", 30),
            ("fabula read 4", 14),
            ("fabula list", 12),
        ],
        "scholar": [
            ("fabula ingest novels/ --collection novels", 12),
            ("fabula query -c novels Where does the Cheshire Cat tell Alice to go?", 24),
            ("fabula chat -c novels --document Alice < questions.txt", 30),
            ("fabula query -c novels --markdown What did the hound look like?", 24),
            ("fabula cite -c novels", 20),
        ],
        "analyst": [
            ("fabula cypher --list", LINES),
            ("fabula cypher names -c novels --param document=Hound", 14),
            ("fabula cypher sections -c novels --param document=Alice", 16),
            (COUNT, 8),
        ],
    }
    parts = {
        name: "\n\n".join(shell.run(command, lines) for command, lines in commands)
        for name, commands in visits.items()
    }
    printed = "\n".join(shell.run("python engineer.py", 30).splitlines()[2:-1])
    return TEXT.format(**parts, engineer=ENGINEER, printed=printed)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
