"""`fabula cache`: the cached replies of models, which save paying twice."""

from __future__ import annotations

import click

from fabula.cli.shared.help import Group
from fabula.cli.shared.options import settings_flags
from fabula.config.settings import Settings
from fabula.errors import FabulaError
from fabula.models.cache import CacheInfo, ResponseCache

CACHE_FLAGS = settings_flags("cache_folder")


@click.group("cache", cls=Group)
def command() -> None:
    """Show or delete the cached replies of models.

    The folder may be deleted unless batches are under way (`fabula batches`): replies that are not
    cached are paid for again.
    """


@command.command(examples=("cache info",))
@CACHE_FLAGS
def info(settings: Settings) -> None:
    """Show what is cached, for which models, and where."""
    click.echo("\n".join(_lines(ResponseCache(settings.cache_folder).info())))


@command.command(examples=("cache clear",))
@click.option("--yes", is_flag=True, help="do not ask for confirmation")
@CACHE_FLAGS
def clear(settings: Settings, yes: bool) -> None:
    """Delete all cached replies; graphs stay."""
    cache = ResponseCache(settings.cache_folder)
    info = cache.info()
    if not info.bytes:
        click.echo(f"There is nothing in {info.path}.")
        return
    if not yes:
        click.confirm(f"Delete {_describe(info)} in {info.path}?", abort=True)
    try:
        cache.clear()
    except OSError as error:
        raise FabulaError(f"{info.path} can't be deleted ({error}): delete it by hand.") from error
    click.echo(f"{_describe(info)} deleted.")


def _describe(info: CacheInfo) -> str:
    return f"{info.replies:,} replies and {info.vectors:,} embeddings ({info.bytes / 1e6:.1f} MB)"


def _lines(info: CacheInfo) -> list[str]:
    return [
        f"Replies     {info.replies:,}",
        f"Embeddings  {info.vectors:,}",
        f"Disk        {info.bytes / 1e6:.1f} MB",
        f"File        {info.path}",
        *(f"Model       {model}: {rows:,}" for model, rows in info.models.items()),
    ]
