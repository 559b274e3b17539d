"""`fabula mcp`: connect an assistant on this machine, over standard input and output."""

from __future__ import annotations

import click

from fabula.cli.commands.serve import explain_missing_extra
from fabula.cli.shared.help import Command
from fabula.cli.shared.options import BUILDING, GRAPH, settings_flags
from fabula.cli.shared.server_progress import show_server_progress
from fabula.config.settings import Settings


@click.command("mcp", cls=Command, examples=("mcp", "mcp --model offline"))
@settings_flags(*GRAPH, *BUILDING)
def command(settings: Settings) -> None:
    """Serve tools for an assistant by the Model Context Protocol, over standard input and output.

    The assistant starts this: give it the command `fabula mcp`. It may do what you may: read, ask
    and add texts. `fabula serve` has the same over HTTP, at /mcp.
    """
    with explain_missing_extra():
        import anyio

        from fabula.library import App
        from fabula.service.http.dependencies import PERSON
        from fabula.service.mcp import make_mcp
        from fabula.service.state import ServiceState

    async def run_server(app: App) -> None:
        state = ServiceState(app)
        # Leave the jobs of others to the service, which has its own settings, key and uploads.
        async with state.open(takes_others=False):
            await make_mcp(state, PERSON).run_stdio_async()

    with show_server_progress() as report, App(settings, report=report) as app:
        anyio.run(run_server, app)
