"""`fabula cache`: the replies that are kept, so that none is paid for twice."""

from __future__ import annotations

import click

from fabula.cli.shared.help import Group
from fabula.cli.shared.options import settings_flags
from fabula.config.settings import Settings
from fabula.errors import FabulaError
from fabula.models.cache import Info, ResponseCache

OWN = settings_flags("cache_folder")


@click.group("cache", cls=Group)
def command() -> None:
    """Look at the model replies that are kept, or delete them.

    The folder may be deleted at any time: what is not kept is asked and paid for again.
    """


@command.command(examples=("cache info",))
@OWN
def info(settings: Settings) -> None:
    """Say what is kept, of which models, and where."""
    click.echo("\n".join(_lines(ResponseCache(settings.cache_folder).info())))


@command.command(examples=("cache clear",))
@click.option("--yes", is_flag=True, help="do not ask")
@OWN
def clear(settings: Settings, yes: bool) -> None:
    """Delete all that is kept; graphs stay."""
    cache = ResponseCache(settings.cache_folder)
    found = cache.info()
    if not found.bytes:
        click.echo(f"There is nothing in {found.path}.")
        return
    if not yes:
        click.confirm(f"Delete {_held(found)} in {found.path}?", abort=True)
    try:
        cache.clear()
    except OSError as error:
        raise FabulaError(f"{found.path} can't be deleted ({error}): do so by hand.") from error
    click.echo(f"{_held(found)} deleted.")


def _held(info: Info) -> str:
    return f"{info.replies:,} replies and {info.vectors:,} embeddings ({info.bytes / 1e6:.1f} MB)"


def _lines(info: Info) -> list[str]:
    return [
        f"Replies     {info.replies:,}",
        f"Embeddings  {info.vectors:,}",
        f"Disk        {info.bytes / 1e6:.1f} MB",
        f"File        {info.path}",
        *(f"Model       {model}: {rows:,}" for model, rows in info.models.items()),
    ]
