"""Tell what a book has told up to a place: `fabula recap`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.last_answer import keep_places
from fabula.cli.shared.opening import open_for_reading
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import print_json
from fabula.config.settings import Settings
from fabula.errors import NotFound
from fabula.models.clean import clean_output
from fabula.models.usage import Usage, sum_usage
from fabula.text.locator import name_labels
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.app.collection import Collection
    from fabula.app.recap import Recap
    from fabula.graph.entries import Entry
    from fabula.graphs.episodes.recap import RecapPart

EPISODES = "episodes"


@click.command(
    "recap",
    cls=Command,
    examples=(
        'recap "A Christmas Carol"',
        'recap "A Christmas Carol" --until "Stave Three"',
        'recap "A Christmas Carol" --until 40% --tokens 500',
        'recap "A Christmas Carol" --by chapter --json',
    ),
)
@click.argument("document")
@click.option(
    "--until",
    default="",
    metavar="PLACE",
    help="tell nothing that comes after this place: the end of a section or of a printed page, as "
    "`fabula read --at` names them; a share of the text, as 40%; a character, or the last of a "
    "range, as 120-340 [the end of the text]",
)
@click.option(
    "--by",
    type=click.Choice(["chapter"]),
    default=None,
    help="a paragraph for each chapter, or for each part of it where it is not read to its end",
)
@click.option("--level", type=click.IntRange(1), default=None, help="highest level of episodes")
@click.option(
    "--tokens",
    type=click.IntRange(1),
    default=None,
    help="maximum tokens of all paragraphs [1,500; any number with --by or --level]",
)
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@settings_flags(*GRAPH)
def command(
    document: str,
    until: str,
    by: str | None,
    level: int | None,
    tokens: int | None,
    as_json: bool,
    settings: Settings,
) -> None:
    """Tell what DOCUMENT (its id, title or file) tells up to a place, in order.

    Nothing that is told rests on text after the place. Each paragraph has a number, and `fabula
    read 3` shows the text that paragraph 3 rests on. `fabula build episodes` builds the graph that
    this reads.
    """
    with open_for_reading(settings) as fabula:
        entry = fabula.document(document)
        if EPISODES not in entry.graphs:
            raise _explain_missing(fabula, entry, settings)
        read = fabula.as_read(entry.id, until)
        recap = read.recap(entry.id, by=by or "", level=level or 0, tokens=tokens)
        places = [(part.number, entry.id, part.at) for part in recap.parts]
        asked = f"What does {entry.title} tell so far?"
        keep_places(asked, places, read)
    if as_json:
        print_json(_to_json(recap))
        return
    # Its texts are cleaned: cleaned again, the styles of headings would be left as "[1m".
    for line in _format(recap):
        click.echo(line)


def _explain_missing(fabula: Collection, entry: Entry, settings: Settings) -> NotFound:
    """Return the error for a document without episodes, with what it costs to build them."""
    outcomes = fabula.build(EPISODES, entry.id, dry=True)
    steps = sum_usage(outcome.steps for outcome in outcomes)
    total = sum(steps.values(), Usage())
    price = "asks no model"
    if total.calls:
        cost = settings.cost(steps)
        money = "at a price that is not known" if cost.money is None else f"for ${cost.money:.4f}"
        count = total.prompt_tokens + total.completion_tokens
        price = f"takes {count_noun(total.calls, 'call')} of a model, {count:,} tokens, {money}"
    return NotFound(
        f"{entry.title} has no episodes yet, of which a recap consists.",
        advice=f"Run `fabula build {EPISODES} {entry.id}`, which {price}.",
    )


def _format(recap: Recap) -> Iterator[str]:
    title = click.style(clean_output(recap.document.title), bold=True)
    yield f"{title}, up to character {recap.until:,}\n"
    if not recap.parts:
        yield "It tells nothing before this place."
        return
    for part in recap.parts:
        yield click.style(clean_output(_heading(part)), dim=True)
        yield f"{clean_output(part.text.strip())}\n"
    last = len(recap.parts)
    yield f"`fabula read {last}` shows the text that paragraph {last} rests on."


def _heading(part: RecapPart) -> str:
    labels = (name_labels("page", part.pages), name_labels("line", part.lines))
    where = f"characters {part.start}-{part.end}"
    names = (part.section, *labels, where, "extract" if part.is_extract else "")
    return f"[{part.number}] " + " · ".join(name for name in names if name)


def _to_json(recap: Recap) -> dict[str, Any]:
    return {
        "id": recap.document.id,
        "title": recap.document.title,
        "until": recap.until,
        "parts": [asdict(part) for part in recap.parts],
    }
