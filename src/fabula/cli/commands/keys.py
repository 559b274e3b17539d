"""`fabula keys`: manage the keys of the service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from fabula.cli.shared.help import Group
from fabula.cli.shared.opening import open_collection
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import print_json
from fabula.config.serving import TABLE
from fabula.config.settings import Settings
from fabula.text.names import quote_name

if TYPE_CHECKING:
    from fabula.service.core.keys import Keys
    from fabula.service.core.sessions import Sessions

GRAPH_FLAGS = settings_flags(*(name for name in GRAPH if name not in ("preset", "collection")))


@click.group("keys", cls=Group)
def command() -> None:
    """Make, list and revoke the keys of `fabula serve`.

    The graph stores their hashes. Changes apply at once to every service over this graph.
    """


@command.command(
    examples=(
        "keys make Ada",
        "keys make reader --role read --collection novels --tokens-a-day 200000",
        "keys make me --role admin --days 30",
        "keys make probe --json",
    )
)
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice(["read", "write", "admin"]),
    default="read",
    show_default=True,
    help="read: ask and read; write: also add and remove books; admin: everything",
)
@click.option(
    "--collection", "collections", multiple=True, help="only this collection; may be repeated"
)
@click.option("--days", type=click.IntRange(1, 3660), help="number of days until it expires")
@click.option("--tokens-a-day", type=click.IntRange(0), help="model tokens per day (UTC)")
@click.option("--tokens-a-month", type=click.IntRange(0), help="model tokens per month")
@click.option("--money-a-day", type=click.FloatRange(0), help="US dollars per day")
@click.option("--money-a-month", type=click.FloatRange(0), help="US dollars per month")
@click.option("--json", "as_json", is_flag=True, help="print id, key, role and collections as JSON")
@GRAPH_FLAGS
def make(
    name: str,
    role: str,
    collections: tuple[str, ...],
    days: int | None,
    as_json: bool,
    settings: Settings,
    **quotas: float | None,
) -> None:
    """Make a key for NAME and print it; it is not shown again."""
    with _open_keys(settings) as (keys, _):
        from fabula.jobs.callers import ROLES, Quotas

        # Narrows the type: click has checked the value.
        [checked_role] = [known for known in ROLES if known == role]
        id, key = keys.make(
            name, checked_role, collections or None, days=days, quotas=Quotas.of(quotas)
        )
        missing = keys.find_missing(collections)
    for collection in missing:
        click.echo(f"There is no collection {quote_name(collection)} yet.", err=True)
    if as_json:
        fields = {"id": id, "key": key, "name": name, "role": role}
        print_json(fields | {"collections": list(collections) or None, "missing": missing})
        return
    click.echo(key)
    click.echo(f"It is shown only this once. To revoke it: fabula keys revoke {id}", err=True)


@command.command("list", examples=("keys list",))
@GRAPH_FLAGS
def list_(settings: Settings) -> None:
    """List all keys: names, roles, limits and last use, but not the keys themselves."""
    with _open_keys(settings) as (keys, _):
        all_keys = keys.list()
    if not all_keys:
        click.echo("There is no key yet: `fabula keys make NAME`.", err=True)
    for key in all_keys:
        scope = "all collections" if key.collections is None else ", ".join(key.collections)
        limits = key.quotas.limits().items()
        quotas = [f"{quota.replace('_', ' ')}: {limit:,}" for quota, limit in limits]
        state = f"revoked {key.revoked[:10]}" if key.revoked else ""
        if not state and key.expires:
            state = f"expires {key.expires[:10]}"
        used = f"used {key.used[:10]}" if key.used else "never used"
        fields = [key.id, key.name, key.role, scope, *quotas, used, state]
        click.echo(" · ".join(filter(None, fields)))


@command.command(examples=("keys revoke 5f3a9c01d2",))
@click.argument("id")
@GRAPH_FLAGS
def revoke(id: str, settings: Settings) -> None:
    """Revoke the key ID at once, in every service; sessions that used it end."""
    with _open_keys(settings) as (keys, _):
        keys.revoke(id)
    click.echo(f"Key {id} is revoked.")


@command.command(examples=("keys link", "keys link --url https://books.example.org"))
@click.option("--url", help="address of the service [from the settings]")
@GRAPH_FLAGS
def link(url: str | None, settings: Settings) -> None:
    """Print a link that signs in one browser, once, as the user of this machine."""
    serving = settings.table(TABLE)
    address = (url or serving.url or f"http://127.0.0.1:{serving.port}").rstrip("/")
    with _open_keys(settings) as (_, sessions):
        click.echo(f"{address}/enter?token={sessions.link()}")


@contextmanager
def _open_keys(settings: Settings) -> Iterator[tuple[Keys, Sessions]]:
    """Open the keys and the sessions in the graph of the settings."""
    from fabula.cli.commands.serve import explain_missing_extra

    with explain_missing_extra():
        from fabula.service.core.keys import Keys
        from fabula.service.core.sessions import Sessions
        from fabula.service.state import make_schema
    with open_collection(settings) as fabula:
        store = fabula.app.connect()
        make_schema(store)
        keys = Keys(store)
        yield keys, Sessions(store, keys, settings.table(TABLE))
