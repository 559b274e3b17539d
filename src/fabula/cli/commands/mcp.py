"""`fabula mcp`: connect an assistant on this machine, over standard input and output."""

from __future__ import annotations

from pathlib import Path

import click

from fabula.cli.commands.serve import explain_missing_extra
from fabula.cli.shared.help import Command
from fabula.cli.shared.options import BUILDING, GRAPH, settings_flags
from fabula.cli.shared.server_progress import show_server_progress
from fabula.config.settings import Settings
from fabula.graph.explore import COLLECTION, query_names, shipped_query
from fabula.jobs.callers import PERSON
from fabula.version import __version__

SKILL = Path(__file__).with_name("skill.md")


def write_skill() -> str:
    """Return the skill for coding assistants, with the queries that are installed."""
    queries = []
    for query in map(shipped_query, query_names()):
        names = [each.name for each in query.parameters if each.name != COLLECTION]
        queries.append(f"- `{query.name}` ({', '.join(names)}): {query.purpose}")
    text = SKILL.read_text(encoding="utf-8").replace("__VERSION__", __version__)
    return text.replace("__QUERIES__", "\n".join(queries))


@click.command("mcp", cls=Command, examples=("mcp", "mcp --model offline", "mcp --skill"))
@click.option("--skill", is_flag=True, help="print a SKILL.md for coding assistants instead")
@settings_flags(*GRAPH, *BUILDING)
def command(settings: Settings, skill: bool) -> None:
    """Serve tools for an assistant by the Model Context Protocol, over standard input and output.

    The assistant starts this: give it the command `fabula mcp`. It may do what you may: read, ask
    and add texts. `fabula serve` has the same over HTTP, at /mcp. A coding assistant that writes
    Cypher itself learns of the graph by --skill: save it as fabula-graph-skill/SKILL.md.
    """
    if skill:
        click.echo(write_skill(), nl=False)
        return
    with explain_missing_extra():
        import anyio

        from fabula.library import App
        from fabula.service.mcp import make_mcp
        from fabula.service.state import ServiceState

    async def run_server(app: App) -> None:
        state = ServiceState(app)
        # Leave the jobs of others to the service, which has its own settings, key and uploads.
        async with state.open(takes_others=False):
            await make_mcp(state, PERSON).run_stdio_async()

    with show_server_progress() as report, App(settings, report=report) as app:
        anyio.run(run_server, app)
