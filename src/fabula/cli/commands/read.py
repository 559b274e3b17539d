"""`fabula read`: a book's own text around a place, and what its graphs say of it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.last_answer import Citation, LastAnswer, recall
from fabula.cli.shared.opening import meant, opened
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import echo, print_json
from fabula.config.settings import Settings
from fabula.errors import NotFound
from fabula.graph.hits import place
from fabula.models.clean import clean_output

if TYPE_CHECKING:
    from fabula.app.reading import Lines, Reading

GAP = "[...]"
CITED = re.compile(r"\[(\d{1,6})\]")
NUMBER = re.compile(r"\d{1,6}")


@click.command(
    "read",
    cls=Command,
    examples=(
        "read 3",
        'read "A Christmas Carol" --at 4210-4380',
        'read "A Christmas Carol" --at "Stave Two"',
        'read "A Christmas Carol" --at 12 --json',
    ),
)
@click.argument("document")
@click.option(
    "--at",
    default="",
    metavar="PLACE",
    help="characters, as a citation names them; a chunk's number; a section's heading or a part "
    "of it; a passage's id; '[3]', a citation of the last answer [the beginning]",
)
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@settings_flags(*GRAPH)
def command(document: str, at: str, as_json: bool, settings: Settings) -> None:
    """Show the text of DOCUMENT (its id, title or file) around a place, which is lit.

    And what the graphs say of it: summaries and details. Of a summary or a detail, named by its
    id, the passages are shown that bear it.

    In the place of DOCUMENT a number alone, as 3 or '[3]', is a citation of the last answer, of
    `fabula query` or `fabula chat`, whatever collection that was of. After --at, 3 is a chunk.
    """
    if (number := _number(document, at)) and (found := _cited(number, document, at, settings)):
        last, citation = found
        with opened(settings) as fabula:
            cited = fabula.app.collection(last.collection)
            if citation.document != (cited.document(document).id if at else citation.document):
                raise NotFound(f"[{number}] of the last answer is not of {document!r}.")
            reading = cited.read(citation.document, citation.at)
        echo(f"[{number}] of the answer to {last.question!r}", err=True)
    else:
        with meant(settings) as fabula:
            reading = fabula.read(document, at)
    if as_json:
        print_json(_json(reading))
    else:
        show(reading)


def show(reading: Reading) -> None:
    """A reading, in the pager where there is a terminal."""
    text = "".join(_told(reading))
    # A pager is for people: what goes into a pipe or a file has no colours.
    click.echo_via_pager(text) if sys.stdout.isatty() else click.echo(click.unstyle(text), nl=False)


def _number(document: str, at: str) -> int:
    """The number of the citation that is meant, 0 for none."""
    named = CITED.fullmatch(at or document) or (not at and NUMBER.fullmatch(document))
    return int(named[0].strip("[]")) if named else 0


def _cited(
    number: int, document: str, at: str, settings: Settings
) -> tuple[LastAnswer, Citation] | None:
    """The citation of that number; None where a bare number must be the name of a document."""
    try:
        last = recall(settings.home)
        return last, last.citation(number)
    except NotFound as error:
        if at or not NUMBER.fullmatch(document):
            raise
        echo(f"{error} So {document} is looked for as a document.", err=True)
        return None


def _told(reading: Reading) -> Iterator[str]:
    if reading.of:
        yield clean_output(f"{place(reading.of)}\n{reading.of.text.strip()}\n\nIt rests on:\n\n")
    end = None
    for lines in reading.lines:
        if end not in (None, lines.start):
            yield f"{GAP}\n\n"
        yield f"{_heading(reading, lines)}\n\n{_lit(lines).strip()}\n\n"
        end = lines.end
    if reading.related:
        yield "The graphs say of it:\n\n"
        for hit in reading.related:
            yield clean_output(f"{place(hit)} · {hit.id}\n{hit.text.strip()}\n\n")


def _heading(reading: Reading, lines: Lines) -> str:
    where = f"characters {lines.start}-{lines.end}"
    parts = (reading.document.title, lines.section, where)
    return click.style(clean_output(" · ".join(part for part in parts if part)), dim=True)


def _lit(lines: Lines) -> str:
    pieces, end = [], 0
    for start, until in lines.lit:
        lit = clean_output(lines.text[start:until])
        pieces += [clean_output(lines.text[end:start]), click.style(lit, bold=True)]
        end = until
    return "".join([*pieces, clean_output(lines.text[end:])])


def _json(reading: Reading) -> dict[str, Any]:
    return {
        "id": reading.document.id,
        "title": reading.document.title,
        "of": asdict(reading.of) if reading.of else None,
        "text": [asdict(lines) | {"end": lines.end} for lines in reading.lines],
        "said": [asdict(hit) for hit in reading.related],
    }
