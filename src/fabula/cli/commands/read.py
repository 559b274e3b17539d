"""`fabula read`: show the text around a place, and what the graphs say about it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.last_answer import Citation, LastAnswer, recall_answer
from fabula.cli.shared.opening import open_collection, open_for_reading
from fabula.cli.shared.options import GRAPH, settings_flags, until_flag
from fabula.cli.shared.screen import echo, print_json
from fabula.config.settings import Settings
from fabula.errors import NotFound
from fabula.graph.hits import Hit, describe_place, shown_fields
from fabula.models.clean import clean_output
from fabula.text.locator import name_labels

if TYPE_CHECKING:
    from fabula.library.reading import Lines, Reading

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
    help="characters, as in a citation; the number of a chunk; the heading of a section, a part of "
    "it, or its path, as 'BOOK NINE CHAPTER XI'; a printed page, as 'p. 113', or lines, as "
    "'ll. 340-352'; the id of a passage; '[3]', a citation of the last answer [the beginning]",
)
@until_flag
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@settings_flags(*GRAPH)
def command(document: str, at: str, until: str, as_json: bool, settings: Settings) -> None:
    """Show the text of DOCUMENT (its id, title or file) around a place, which is highlighted.

    Below it are the summaries and details that cover the place. For the id of a summary or a
    detail, the passages that support it are shown.

    A number instead of DOCUMENT, as 3 or '[3]', is a citation of the last answer of `fabula query`
    or `fabula chat`, in whatever collection that was. After --at, 3 is a chunk.
    """
    if (number := _citation_number(document, at)) and (
        match := _find_citation(number, document, at, settings)
    ):
        last, citation = match
        with open_collection(settings) as fabula:
            collection = fabula.app.collection(citation.collection or last.collection)
            if at and citation.document != collection.document(document).id:
                raise NotFound(f"[{number}] of the last answer is not in {document!r}.")
            read = collection.as_read(citation.document, until or last.until)
            reading = read.read(citation.document, citation.at)
        echo(f"[{number}] of the answer to {last.question!r}", err=True)
    else:
        with open_for_reading(settings) as fabula:
            reading = fabula.as_read(document, until).read(document, at)
    if as_json:
        print_json(_json(reading))
    else:
        show(reading)


def show(reading: Reading) -> None:
    """Print a text, with a pager at a terminal."""
    text = "".join(_format(reading))
    # A pipe or a file gets no colours.
    click.echo_via_pager(text) if sys.stdout.isatty() else click.echo(click.unstyle(text), nl=False)


def _citation_number(document: str, at: str) -> int:
    """Return the number of the citation that the arguments mean, or 0."""
    match = CITED.fullmatch(at or document) or (not at and NUMBER.fullmatch(document))
    return int(match[0].strip("[]")) if match else 0


def _find_citation(
    number: int, document: str, at: str, settings: Settings
) -> tuple[LastAnswer, Citation] | None:
    """Return the citation of a number, or None if the number must be the name of a document."""
    try:
        last = recall_answer(settings.home)
        return last, last.citation(number)
    except NotFound as error:
        if at or not NUMBER.fullmatch(document):
            raise
        echo(f"{error} Looking for a document named {document} instead.", err=True)
        return None


def _format(reading: Reading) -> Iterator[str]:
    if reading.of:
        yield clean_output(
            f"{describe_place(reading.of)}\n{reading.of.text.strip()}\n\nIt rests on:\n\n"
        )
    end = None
    for lines in reading.lines:
        if end not in (None, lines.start):
            yield f"{GAP}\n\n"
        yield f"{_heading(reading, lines)}\n\n{_highlight(lines).strip()}\n\n"
        end = lines.end
    if reading.related:
        mark = " · extract" if reading.document.is_extracted else ""
        yield "The graphs say of it:\n\n"
        for hits in _by_text(reading.related):
            for hit in hits:
                yield clean_output(f"{describe_place(hit)}{mark} · {hit.id}\n")
            yield clean_output(f"{hits[0].text.strip()}\n\n")


def _by_text(related: Sequence[Hit]) -> list[list[Hit]]:
    """Return summaries and details, those of the same text together, as it is shown once."""
    groups: dict[str, list[Hit]] = {}
    for hit in related:
        groups.setdefault(" ".join(hit.text.split()), []).append(hit)
    return list(groups.values())


def _heading(reading: Reading, lines: Lines) -> str:
    where = f"characters {lines.start}-{lines.end}"
    labels = (name_labels("page", lines.pages), name_labels("line", lines.lines))
    parts = (reading.document.title, lines.section, *labels, where)
    return click.style(clean_output(" · ".join(part for part in parts if part)), dim=True)


def _highlight(lines: Lines) -> str:
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
        "of": shown_fields(reading.of) if reading.of else None,
        "text": [asdict(lines) | {"end": lines.end} for lines in reading.lines],
        "said": [shown_fields(hit) for hit in reading.related],
    }
