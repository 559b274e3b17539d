"""`fabula demo`: try Fabula on a story that comes with it."""

from __future__ import annotations

from importlib import resources

import click

from fabula.cli.commands.query import print_answer
from fabula.cli.shared.help import Command
from fabula.cli.shared.last_answer import keep_answer
from fabula.cli.shared.opening import open_collection
from fabula.cli.shared.options import BUILDING, GRAPH, settings_flags
from fabula.cli.shared.progress import BuildProgress
from fabula.cli.shared.screen import echo, notice_offline
from fabula.config.settings import Settings
from fabula.operations.documents import show_document

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
    """Build graphs of A Christmas Carol, show their outline, and ask a question.

    The story goes into its own collection, `demo`; `fabula remove-collection --collection demo`
    removes it again.
    """
    demo = settings.model_copy(update={"collection": COLLECTION})
    notice_offline(demo)
    with open_collection(demo) as fabula:
        with (
            resources.as_file(resources.files("fabula.texts") / STORY) as story,
            BuildProgress() as listener,
        ):
            [outcome] = fabula.ingest(story, listener=listener)
        if outcome.error:
            raise outcome.error
        echo(f"\n{show_document(fabula, outcome.document).to_text()}")
        click.echo(f"\n> {QUESTION}\n")
        stream = fabula.stream(QUESTION)
        print_answer(stream, show_context=False, is_offline=demo.offline)
        keep_answer(stream.answer, fabula)
    click.echo(_next_steps(settings))


def _next_steps(settings: Settings) -> str:
    place = "in Neo4j Browser at your server" if settings.neo4j_uri else "with `fabula db browse`"
    return f"""
See the graph {place}: paste

  MATCH path = (:Summary {{aspect: 'character'}})-[:SUMMARIZES*]->(:Chunk)
  RETURN path LIMIT 300

Ask a question:    fabula query --collection {COLLECTION} "Who is Tiny Tim?"
Open a citation:   fabula read 1
Ask several:       fabula chat --collection {COLLECTION}
Add your own book: fabula ingest BOOK
Remove the story:  fabula remove-collection --collection {COLLECTION}"""
