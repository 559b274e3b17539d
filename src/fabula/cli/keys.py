"""`fabula keys`: who may use the service, and for what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from fabula.cli.help import Group
from fabula.cli.options import GRAPH, settings_flags
from fabula.cli.starting import opened
from fabula.config.serving import TABLE
from fabula.config.settings import Settings

if TYPE_CHECKING:
    from fabula.service.core.keys import Keys
    from fabula.service.core.sessions import Sessions

OWN = settings_flags(*(name for name in GRAPH if name not in ("preset", "collection")))


@click.group("keys", cls=Group)
def command() -> None:
    """Make, list and revoke the keys of `fabula serve`.

    They are kept in the graph, as hashes, and hold at once in every service over it.
    """


@command.command(
    examples=(
        "keys make Ada",
        "keys make reader --role read --collection novels --tokens-a-day 200000",
        "keys make me --role admin --days 30",
    )
)
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice(["read", "write", "admin"]),
    default="read",
    show_default=True,
    help="what it may: ask and read; add and remove books, too; all",
)
@click.option("--collection", "collections", multiple=True, help="only this one; may be repeated")
@click.option("--days", type=click.IntRange(1, 3660), help="days until it expires")
@click.option("--tokens-a-day", type=click.IntRange(0), help="tokens of models in a day (UTC)")
@click.option("--tokens-a-month", type=click.IntRange(0), help="tokens in a month")
@click.option("--money-a-day", type=click.FloatRange(0), help="US dollars in a day")
@click.option("--money-a-month", type=click.FloatRange(0), help="US dollars in a month")
@OWN
def make(
    name: str,
    role: str,
    collections: tuple[str, ...],
    days: int | None,
    settings: Settings,
    **quotas: float | None,
) -> None:
    """Make a key for NAME, and print it, this once."""
    with _reached(settings) as (keys, _):
        from fabula.service.core.callers import ROLES
        from fabula.service.http.dependencies import Quotas

        [wanted] = [one for one in ROLES if one == role]
        id, key = keys.make(name, wanted, collections or None, days=days, quotas=Quotas.of(quotas))
    click.echo(key)
    click.echo(f"It is told this once. To revoke it: fabula keys revoke {id}", err=True)


@command.command("list", examples=("keys list",))
@OWN
def list_(settings: Settings) -> None:
    """List all keys: for whom, what they may, when they were used; never their secrets."""
    with _reached(settings) as (keys, _):
        found = keys.list()
    if not found:
        click.echo("There is no key yet: `fabula keys make NAME`.", err=True)
    for key in found:
        sees = "all collections" if key.collections is None else ", ".join(key.collections)
        given = key.quotas.limits().items()
        quotas = [f"{quota.replace('_', ' ')}: {most:,}" for quota, most in given]
        state = f"revoked {key.revoked[:10]}" if key.revoked else ""
        if not state and key.expires:
            state = f"expires {key.expires[:10]}"
        used = f"used {key.used[:10]}" if key.used else "never used"
        told = [key.id, key.name, key.role, sees, *quotas, used, state]
        click.echo(" · ".join(filter(None, told)))


@command.command(examples=("keys revoke 5f3a9c01d2",))
@click.argument("id")
@OWN
def revoke(id: str, settings: Settings) -> None:
    """Revoke the key ID at once, in every service; who signed in with it is signed out."""
    with _reached(settings) as (keys, _):
        keys.revoke(id)
    click.echo(f"Key {id} is revoked.")


@command.command(examples=("keys link", "keys link --url https://books.example.org"))
@click.option("--url", help="address of the service [that of the settings]")
@OWN
def link(url: str | None, settings: Settings) -> None:
    """Print a link that signs one browser in as the person at the machine, once."""
    serving = settings.table(TABLE)
    address = (url or serving.url or f"http://127.0.0.1:{serving.port}").rstrip("/")
    with _reached(settings) as (_, sessions):
        click.echo(f"{address}/enter?token={sessions.link()}")


@contextmanager
def _reached(settings: Settings) -> Iterator[tuple[Keys, Sessions]]:
    """The keys and the sessions of the settings' graph."""
    from fabula.cli.serve import needing_the_extra

    with needing_the_extra():
        from fabula.service.core.keys import Keys
        from fabula.service.core.sessions import Sessions
        from fabula.service.state import make_schema
    with opened(settings) as fabula:
        make_schema(fabula.store)
        keys = Keys(fabula.store)
        yield keys, Sessions(fabula.store, keys, settings.table(TABLE).session_days)
