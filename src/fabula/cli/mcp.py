"""`fabula mcp`: the graph for an assistant on this machine, over standard input and output."""

from __future__ import annotations

import click

from fabula.cli.help import Command
from fabula.cli.options import BUILDING, GRAPH, settings_flags
from fabula.cli.serve import needing_the_extra
from fabula.cli.starting import shown
from fabula.config.settings import Settings


@click.command("mcp", cls=Command, examples=("mcp", "mcp --model offline"))
@settings_flags(*GRAPH, *BUILDING)
def command(settings: Settings) -> None:
    """Serve an assistant's tools by the Model Context Protocol, over standard input and output.

    It is the assistant that starts this: give it the command `fabula mcp`. What it may do is what
    you may: read, ask, and add texts. Over HTTP the same is at /mcp of `fabula serve`.
    """
    with needing_the_extra():
        import anyio

        from fabula.app import App
        from fabula.service.http.dependencies import PERSON
        from fabula.service.mcp import make_mcp
        from fabula.service.state import House

    async def speak(app: App) -> None:
        house = House(app)
        # The jobs of others are the service's, which has its own settings, key and uploads.
        async with house.open(takes_others=False):
            await make_mcp(house, PERSON).run_stdio_async()

    with shown() as report, App(settings, report=report) as app:
        anyio.run(speak, app)
