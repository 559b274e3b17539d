"""`fabula gateway`: one limit, one budget and one cache for the models of many programs."""

from __future__ import annotations

import click
from pydantic import ValidationError

from fabula.cli.shared.help import Command, CommandWithActions
from fabula.cli.shared.options import settings_flags
from fabula.config.gateway import TABLE, GatewaySettings
from fabula.config.settings import Settings
from fabula.errors import SettingsError, first_problem

ENDPOINT = ("home", "base_url", "model", "concurrency", "timeout", "cache_folder", "prices")
SPENDING = ("max_calls", "max_tokens")


@click.command("make", cls=Command, examples=("gateway keys make cluster",))
@click.argument("name")
@settings_flags("home")
def make(name: str, settings: Settings) -> None:
    """Make a key for NAME and print it; it is not shown again."""
    from fabula.cli.commands.serve import explain_missing_extra

    with explain_missing_extra():
        from fabula.service.gateway.gateway_keys import GatewayKeys
    id, key = GatewayKeys(settings.home).make(name)
    click.echo(key)
    click.echo(
        f"It is shown only this once. To revoke it: fabula gateway keys revoke {id}", err=True
    )


@click.command("revoke", cls=Command, examples=("gateway keys revoke 5f3a9c01d2",))
@click.argument("id")
@settings_flags("home")
def revoke(id: str, settings: Settings) -> None:
    """Revoke the key ID at once."""
    from fabula.cli.commands.serve import explain_missing_extra

    with explain_missing_extra():
        from fabula.service.gateway.gateway_keys import GatewayKeys
    GatewayKeys(settings.home).revoke(id)
    click.echo(f"Key {id} is revoked.")


@click.command(
    "keys",
    cls=CommandWithActions,
    actions=(make, revoke),
    examples=("gateway keys", "gateway keys make cluster", "gateway keys revoke 5f3a9c01d2"),
)
@settings_flags("home")
def keys(settings: Settings) -> None:
    """List the keys of the gateway's clients: ids, names, and when they were made.

    A file in FABULA_HOME has their hashes. Changes apply to a running gateway at once.
    """
    from fabula.cli.commands.serve import explain_missing_extra

    with explain_missing_extra():
        from fabula.service.gateway.gateway_keys import GatewayKeys
    all_keys = GatewayKeys(settings.home).list()
    if not all_keys:
        click.echo("There is no key yet: `fabula gateway keys make NAME`.", err=True)
    for key in all_keys:
        click.echo(f"{key.id} · {key.name} · {key.made[:10]}")


@click.command(
    "gateway",
    cls=CommandWithActions,
    actions=(keys,),
    examples=("gateway", "gateway --port 9001 --max-tokens 1000000", "gateway keys make cluster"),
)
@click.option("--host", help="address to listen at [127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="port to listen at [8041]")
@settings_flags(*ENDPOINT, *SPENDING)
def command(host: str | None, port: int | None, settings: Settings) -> None:
    """Stand between many programs and a model endpoint, until Ctrl-C.

    Programs behind it, of several processes or machines, share one learned rate limit, one budget
    and one cache of replies; the endpoint's key stays here. Fabula goes through it with
    FABULA_GATEWAY_URL; any other program with the same address, and /v1, as its OpenAI base URL.
    Programs on other machines need a key of `fabula gateway keys make`. All other options are
    settings in the table `gateway`: `fabula settings` lists them.
    """
    from fabula.cli.commands.serve import explain_missing_extra

    with explain_missing_extra():
        from fabula.service.gateway import run_gateway
        from fabula.service.observe.exporting import begin_log
    begin_log(settings.table("serve"))
    run_gateway(_with_address(settings, host, port), lambda url: click.echo(f"Gateway: {url}"))


def _with_address(settings: Settings, host: str | None, port: int | None) -> Settings:
    """Return the settings with the host and the port of the command line."""
    values = settings.table(TABLE).model_dump()
    values |= {} if host is None else {"host": host}
    values |= {} if port is None else {"port": port}
    try:
        gateway = GatewaySettings.model_validate(values)
    except ValidationError as error:
        raise SettingsError(f"{first_problem(error)}.") from error
    return settings.model_copy(update={"tables": settings.tables | {TABLE: gateway}})
