"""`fabula cache`: the cached replies of models, which save paying twice."""

from __future__ import annotations

from contextlib import closing

import click

from fabula.cli.shared.help import Group
from fabula.cli.shared.options import settings_flags
from fabula.config.settings import Settings
from fabula.errors import FabulaError
from fabula.models.batch_store import BatchStore
from fabula.models.cache import CacheInfo, ResponseCache
from fabula.text.nouns import count_noun

CACHE_FLAGS = settings_flags("cache_folder")
INFO_FLAGS = settings_flags("cache_folder", "cache_max_gb")


@click.group("cache", cls=Group)
def command() -> None:
    """Show or delete the cached replies of models.

    The folder may be deleted unless batches are under way (`fabula batches`): replies that are not
    cached are paid for again.
    """


@command.command(examples=("cache info",))
@INFO_FLAGS
def info(settings: Settings) -> None:
    """Show what is cached, for which models, and where."""
    with closing(ResponseCache(settings.cache_folder)) as cache:
        click.echo("\n".join(_lines(cache.info(), settings.cache_max_gb)))


@command.command(examples=("cache clear", "cache clear --older-than 90"))
@click.option("--yes", is_flag=True, help="do not ask for confirmation")
@click.option(
    "--older-than",
    type=click.IntRange(1),
    metavar="DAYS",
    help="delete only what was cached more than this number of days ago",
)
@CACHE_FLAGS
def clear(settings: Settings, yes: bool, older_than: int | None) -> None:
    """Delete all cached replies, or those of a certain age; graphs stay."""
    cache = ResponseCache(settings.cache_folder)
    info = cache.info()
    if older_than is not None and info.bytes:
        older = f"what was cached more than {count_noun(older_than, 'day')} ago"
        if not yes:
            click.confirm(f"Delete {older} in {info.path}?", abort=True)
        rows = cache.delete_older(older_than)
        left = cache.info()
        cache.close()
        click.echo(f"{rows:,} replies and embeddings deleted; {_describe(left)} are left.")
        return
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


@command.command(examples=("cache trim", "cache trim --to 0.5"))
@click.option("--yes", is_flag=True, help="do not ask for confirmation")
@click.option("--to", type=click.FloatRange(min=0), metavar="GB", help="size [cache_max_gb]")
@INFO_FLAGS
def trim(settings: Settings, yes: bool, to: float | None) -> None:
    """Delete the oldest of what is cached until the rest fits into a size.

    Embeddings go first, then replies, as they cost more. Damaged files that were set aside go too,
    and what batches left more than 90 days ago; batches that are under way stay.
    """
    size = settings.cache_max_gb if to is None else to
    with closing(ResponseCache(settings.cache_folder)) as cache:
        before = cache.info()
        if not yes and before.bytes > size * 1e9:
            click.confirm(
                f"Delete the oldest of {_describe(before)} down to {size:g} GB?", abort=True
            )
        rows = cache.trim(size * 1e9)
        left = cache.info()
    with closing(BatchStore(settings.cache_folder)) as batches:
        batches.sweep()
        batches.shrink()
    click.echo(f"{rows:,} replies and embeddings deleted; {_describe(left)} are left.")


def _describe(info: CacheInfo) -> str:
    return f"{info.replies:,} replies and {info.vectors:,} embeddings ({info.bytes / 1e6:.1f} MB)"


def _lines(info: CacheInfo, max_gb: float) -> list[str]:
    return [
        f"Replies     {info.replies:,}",
        f"Embeddings  {info.vectors:,}",
        f"Disk        {info.bytes / 1e6:.1f} MB; limit {max_gb:g} GB (cache_max_gb)",
        f"File        {info.path}",
        *(f"Damaged     {file}, set aside" for file in info.damaged),
        *(f"Model       {model}: {rows:,}" for model, rows in info.models.items()),
    ]
