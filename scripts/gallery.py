"""Writes docs/gallery.md: what a newcomer, a scholar, an analyst and an engineer see.

    python scripts/gallery.py BOOKS

runs every command of the page in an empty home, without a key, and copies the output. BOOKS is a
folder of plain texts from Project Gutenberg: 11-0.txt (Alice) and 2852-0.txt (The Hound of the
Baskervilles). It takes about two minutes, and fetches the private Neo4j again.
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
"""How many lines of a command's output are shown."""
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

This page shows what Fabula prints offline, without a key and without a model. `scripts/gallery.py`
ran every command in an empty home; three dots mark where the output is cut. With a key the same
commands ask a model, which writes summaries and answers questions with citations.

## A newcomer

A first try on a machine that has only Python.

{newcomer}

## A scholar

A folder of books, and reading the passages that an answer cites.

{scholar}

`fabula plot Alice --out alice.html` draws the trees over the text, in one file for any browser:

![A Christmas Carol as seven trees of summaries over the line of its chunks](images/plot.png)

If a document has the graph `entities`, `--network` draws its entities and their relations. If it
has the graph `communities`, `--communities` draws the communities, level by level, with a number, a
colour and a report each, and marks the reports that a mode used for a question
([communities.md](communities.md)).

![The people of A Christmas Carol in the numbers and colours of their communities, those \
that a question found highlighted, and a list of all](images/communities.png)

If a document has the graph `discourse`, `--story` draws its events in text order, with a row for
each participant and each place, the times, and the relations between passages. A table lists the
same.

![The events of A Christmas Carol along its text in rows of people and places, with links of \
cause below them and a table beside them](images/story.png)

## An analyst

Queries of the graph, by name or in Cypher, on the command line or in Neo4j Browser
([browser.md](browser.md)).

{analyst}

![The plot tree of A Christmas Carol in Neo4j Browser](images/browser-tree.png)

## An engineer

```python
{engineer}```

```
{printed}
```

[notebook.ipynb](notebook.ipynb) has more examples.
"""


class Shell:
    """Runs commands as they are typed, in an empty home, and returns what they print."""

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
        # Lines that a terminal overwrites, and paths of this machine.
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
            ("fabula queries", LINES),
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
