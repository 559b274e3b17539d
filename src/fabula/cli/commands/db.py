"""`fabula db`: the private Neo4j, by hand."""

from __future__ import annotations

import sys
import time
import urllib.request
import webbrowser
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabula.cli.shared.help import Group
from fabula.cli.shared.opening import shown, started
from fabula.cli.shared.options import settings_flags
from fabula.config.connect import private_server
from fabula.config.settings import Settings
from fabula.errors import ServerError

if TYPE_CHECKING:
    from fabula.server import Address, PrivateServer, Status

PAUSE = 0.5
"""Seconds between two looks at a log that is followed."""
PAGE_SECONDS = 60.0
"""The first page that a fresh server is asked for takes long on a busy machine."""

OWN = settings_flags("home", "neo4j_heap", "neo4j_page_cache", "dumps")


@click.group("db", cls=Group)
def command() -> None:
    """Start, stop, look at and back up Fabula's own Neo4j; compact any."""


@command.command(examples=("db start",))
@OWN
def start(settings: Settings) -> None:
    """Start the server; the first start fetches it (190 MB)."""
    _mention_other(settings)
    with shown() as report:
        address = private_server(settings).mend(report)
    click.echo(f"Neo4j runs at {address.uri}; look at it with `fabula db browse`.")


@command.command(examples=("db stop", "db stop --yes"))
@click.option("--yes", is_flag=True, help="do not ask, though others use the server")
@OWN
def stop(settings: Settings, yes: bool) -> None:
    """Stop the server; its data stays."""
    _mention_other(settings)
    server = private_server(settings)
    _confirm_stop(server, yes, "It is stopped, and they fail until it is started again.")
    with shown() as report:
        ran = server.stop(report)
    click.echo("Neo4j is stopped." if ran else "Neo4j was not running.")


@command.command(examples=("db status",))
@OWN
def status(settings: Settings) -> None:
    """Say whether the server runs, where, and what it takes up."""
    _mention_other(settings)
    server = private_server(settings)
    click.echo("\n".join(_lines(server.status(), settings.home, server.dumps())))


@command.command(examples=("db browse --open",))
@click.option("--open", "open_it", is_flag=True, help="open the page in the web browser")
@OWN
def browse(settings: Settings, open_it: bool) -> None:
    """Say where Neo4j Browser is and how to log in.

    The address fills in the server and the user; the password is yours to paste.
    """
    _mention_other(settings)
    address = started(settings)
    _check_page(address)
    click.echo(f"Neo4j Browser  {address.page}")
    click.echo(f"Connect to     {address.uri}")
    click.echo(f"User           {address.username}")
    click.echo(f"Password       {address.password}")
    if open_it and not webbrowser.open(address.page):
        click.echo("No web browser could be opened here: paste the address into one.", err=True)


@command.command(examples=("db logs --lines 200", "db logs --follow"))
@click.option("--lines", default=50, type=click.IntRange(1), help="how many [50]")
@click.option("--follow", is_flag=True, help="go on until Ctrl-C")
@OWN
def logs(settings: Settings, lines: int, follow: bool) -> None:
    """Print the end of the server's log."""
    _mention_other(settings)
    file = private_server(settings).log_file
    if not file.is_file():
        raise ServerError(f"There is no log yet: {file} comes with the first `fabula db start`.")
    with file.open(encoding="utf-8", errors="replace") as log:
        for line in deque(log, maxlen=lines):
            click.echo(line, nl=False)
        while follow:
            line = log.readline()
            if line:
                click.echo(line, nl=False)
            else:
                time.sleep(PAUSE)


@command.command(examples=("db destroy", "db destroy --programs --with-dumps --yes"))
@click.option("--yes", is_flag=True, help="do not ask")
@click.option("--programs", is_flag=True, help="delete what was fetched, too")
@click.option("--with-dumps", is_flag=True, help="delete the dumps that were kept, too")
@OWN
def destroy(settings: Settings, yes: bool, programs: bool, with_dumps: bool) -> None:
    """Stop the server and delete its data and password.

    The dumps that Fabula has kept stay unless --with-dumps is given; `fabula db restore` puts the
    newest one back.
    """
    _mention_other(settings)
    server = private_server(settings)
    kept = server.dumps()
    if not yes:
        _mention_users(server)
        which = f"the {len(kept)} dumps" if len(kept) > 1 else "the one dump"
        also = "there is no dump of them" if not kept else f"{which} in {kept[0].parent} stay"
        if kept and with_dumps:
            also = f"and {which} in {kept[0].parent}"
        elif len(kept) == 1:
            also += "s"
        click.confirm(f"Delete all graphs in {settings.home} ({also})?", abort=True)
    with shown() as report:
        server.destroy(programs=programs, dumps=with_dumps, report=report)
    click.echo(f"The private Neo4j's data in {settings.home} is deleted.")
    if kept and not with_dumps:
        click.echo(
            f"{len(kept)} of its dumps stay in {kept[0].parent}: `fabula db restore` puts the "
            "newest back, `fabula db destroy --with-dumps` deletes them."
        )


@command.command(examples=("db dump backup.dump",))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="overwrite FILE")
@click.option("--yes", is_flag=True, help="do not ask, though others use the server")
@OWN
def dump(settings: Settings, file: Path, force: bool, yes: bool) -> None:
    """Write all graphs to FILE, in Neo4j's own dump format.

    The server is stopped meanwhile, and started again if it ran. Passwords are not in FILE.
    """
    _mention_other(settings)
    server = private_server(settings)
    server.refuse_unwritable(file, overwrite=force)
    _confirm_stop(server, yes, "It is stopped for the dump and started again: they fail meanwhile.")
    with shown() as report:
        server.dump(file, overwrite=force, report=report)
    click.echo(f"All graphs are in {file} ({file.stat().st_size / 1e6:.1f} MB).")


@command.command(examples=("db load backup.dump",))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="do not ask")
@OWN
def load(settings: Settings, file: Path, yes: bool) -> None:
    """Replace all graphs by those in FILE, which `fabula db dump` wrote.

    The password stays as it is. With a file that can't be loaded, nothing changes; that is tried
    by another server first.
    """
    _mention_other(settings)
    server = private_server(settings)
    if not yes:
        _mention_users(server)
        click.confirm(f"Replace all graphs in {settings.home} by those in {file}?", abort=True)
    with shown() as report:
        server.load(file, report=report)
    click.echo(f"The graphs of {file} have taken the place of all others.")


@command.command(examples=("db restore",))
@click.option("--yes", is_flag=True, help="do not ask")
@OWN
def restore(settings: Settings, yes: bool) -> None:
    """Replace all graphs by those of the newest dump that was kept.

    Fabula keeps the last three by itself, at most one a day; `fabula db status` says where, and
    `fabula db load` takes any of them. What is there now is lost: dump it first if it opens.
    """
    _mention_other(settings)
    server = private_server(settings)
    kept = server.dumps()
    if not kept:
        raise ServerError(f"No dump was kept in {settings.home} yet.")
    if not yes:
        _mention_users(server)
        size = f"{kept[0].stat().st_size / 1e6:.1f} MB"
        click.confirm(
            f"Replace all graphs in {settings.home} by those in {kept[0]} ({size})?", abort=True
        )
    with shown() as report:
        server.load(kept[0], report=report)
    click.echo(f"The graphs of {kept[0]} have taken the place of all others.")


@command.command(examples=("db compact",))
@settings_flags("home", "neo4j_uri", "neo4j_username", "neo4j_database", "neo4j_heap")
def compact(settings: Settings) -> None:
    """Make the vector indexes anew, in few segments; on any server, once it holds a library.

    Questions are answered all the while, documents are taken in again when it has ended. If it is
    stopped, the same command goes on. Fabula's own server merges its segments by itself.
    """
    from fabula.app import App
    from fabula.cli.shared.progress import Watching

    with shown() as report, App(settings, report=report) as app, Watching() as listener:
        spaces = app.compact(listener.begin("compact"))
    for space in spaces:
        click.echo(f"compacted  {space.collection}: {space.index}")
    if not spaces:
        click.echo("Nothing has been ingested yet, so there is nothing to compact.")


def _mention_users(server: PrivateServer) -> list[str]:
    """Say which other processes use the server, and return them."""
    users = server.find_users()
    if users:
        click.echo(f"The private Neo4j is in use by {', '.join(users)}.", err=True)
    return users


def _confirm_stop(server: PrivateServer, yes: bool, effect: str) -> None:
    """Ask before the server is stopped while others use it.

    Raises:
        ServerError: Others use it, and there is nobody to ask.

    """
    if yes or not (users := _mention_users(server)):
        return
    if not sys.stdin.isatty():
        raise ServerError(
            f"The server was left as it is, since {len(users)} other "
            f"{'process uses' if len(users) == 1 else 'processes use'} it. Give --yes to stop it "
            "all the same."
        )
    click.confirm(f"{effect} Go on?", abort=True)


def _mention_other(settings: Settings) -> None:
    if settings.neo4j_uri:
        click.echo(
            f"Fabula uses the server at {settings.neo4j_uri} (NEO4J_URI); `fabula db` is about "
            "the private one alone.",
            err=True,
        )


def _lines(status: Status, home: Path, dumps: Sequence[Path]) -> list[str]:
    found = [f"State     {status.state}" + (f" (process {status.pid})" if status.pid else "")]
    if status.state == "broken":
        found.append("Database  it stopped at an error, or can't be opened: `fabula db start` says")
    if status.address is not None:
        found += [f"Bolt      {status.address.uri}", f"Browser   {status.address.browser}"]
    found.append(f"Version   Neo4j Community {status.version}")
    if status.pid:
        found.append(f"Memory    {status.memory / 1e6:.0f} MB")
    found.append(f"Disk      {status.data / 1e6:.0f} MB of data and logs")
    found.append(f"Programs  {status.programs / 1e6:.0f} MB")
    found.append(f"Folder    {home}")
    found += [f"Dump      {dump} ({dump.stat().st_size / 1e6:.1f} MB)" for dump in dumps]
    return found


def _check_page(address: Address) -> None:
    try:
        with urllib.request.urlopen(address.browser, timeout=PAGE_SECONDS) as page:
            page.read(1)
    except OSError as error:
        raise ServerError(
            f"The Neo4j Browser page {address.browser} does not answer ({error}). Restart the "
            "server with `fabula db stop` and `fabula db start`."
        ) from error
