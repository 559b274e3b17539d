"""`fabula demo`: the whole of Fabula on a story that comes with it."""

from __future__ import annotations

from importlib import resources

import click

from fabula.cli.commands.query import print_answer
from fabula.cli.commands.show import facts
from fabula.cli.shared.help import Command
from fabula.cli.shared.last_answer import LastAnswer, keep
from fabula.cli.shared.opening import opened
from fabula.cli.shared.options import BUILDING, GRAPH, settings_flags
from fabula.cli.shared.progress import Watching
from fabula.cli.shared.screen import notice_offline, outline, print_table
from fabula.config.settings import Settings

STORY = "a-christmas-carol.txt"
QUESTION = "What did Marley's ghost tell Scrooge about the chain he wears?"
COLLECTION = "demo"


@click.command(
    "demo",
    cls=Command,
    examples=("demo",),
)
@settings_flags(*(name for name in (*GRAPH, *BUILDING) if name != "collection"))
def command(settings: Settings) -> None:
    """Make a graph of A Christmas Carol, show its outline, and ask it a question.

    The story goes into a collection of its own, `demo`; `fabula remove --all --collection demo`
    takes it out again.
    """
    demo = settings.model_copy(update={"collection": COLLECTION})
    notice_offline(demo)
    with opened(demo) as fabula:
        with (
            resources.as_file(resources.files("fabula.texts") / STORY) as story,
            Watching() as listener,
        ):
            [outcome] = fabula.ingest(story, listener=listener)
        if outcome.error:
            raise outcome.error
        entry = fabula.document(outcome.document)
        click.echo()
        print_table(outline(entry, fabula.layers(entry.id)))
        click.echo(facts(entry, fabula.stale(entry), fabula.gaps(entry.id)))
        click.echo(f"\n> {QUESTION}\n")
        stream = fabula.stream(QUESTION)
        print_answer(stream, show_context=False)
        kept = keep(stream.answer, fabula)
    click.echo(_next_steps(settings, kept))


def _next_steps(settings: Settings, kept: LastAnswer) -> str:
    first = kept.citations[0].number if kept.citations else "N"
    place = "in Neo4j Browser at your server" if settings.neo4j_uri else "with `fabula db browse`"
    return f"""
Look at the graph {place}, and paste:

  MATCH path = (:Summary {{aspect: 'character'}})-[:SUMMARIZES*]->(:Chunk)
  RETURN path LIMIT 300

Ask it yourself:   fabula query --collection {COLLECTION} "Who is Tiny Tim?"
Open a citation:   fabula read {first}
Talk about it:     fabula chat --collection {COLLECTION}
Your own book:     fabula ingest BOOK
Take this one out: fabula remove --all --collection {COLLECTION}"""
