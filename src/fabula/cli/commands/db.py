"""`fabula db`: manage the private Neo4j."""

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
from fabula.cli.shared.options import SERVER, settings_flags
from fabula.cli.shared.screen import echo
from fabula.cli.shared.server_progress import show_server_progress
from fabula.config.connect import private_server
from fabula.config.settings import Settings
from fabula.errors import ServerError
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.server import Address
    from fabula.server.private import PrivateServer, ServerStatus

POLL_SECONDS = 0.5
"""How often `logs --follow` looks for new lines."""
PAGE_SECONDS = 60.0
"""How long the first page of a new server may take; it is slow on a busy machine."""

RESTORED = "It was paused when the graphs were restored from a dump: resume or cancel it."
"""The problem of jobs that had not ended when a dump was made."""

FOLDER = settings_flags("home")


@click.group("db", cls=Group)
def command() -> None:
    """Start, stop, inspect and back up Fabula's own Neo4j."""


@command.command(examples=("db start",))
@settings_flags("home", *SERVER)
def start(settings: Settings) -> None:
    """Start the server; the first start downloads it (190 MB)."""
    server = _open(settings)
    with show_server_progress() as report:
        address = server.repair(report)
    click.echo(f"Neo4j runs at {address.uri}; `fabula db browse` shows its web page.")


@command.command(examples=("db stop", "db stop --yes"))
@click.option("--yes", is_flag=True, help="do not ask, even if others use the server")
@FOLDER
def stop(settings: Settings, yes: bool) -> None:
    """Stop the server; its data stays."""
    server = _open(settings)
    _confirm_stop(server, yes, "If it is stopped, their requests fail until it is started again.")
    with show_server_progress() as report:
        was_running = server.stop(report)
    click.echo("Neo4j is stopped." if was_running else "Neo4j was not running.")


@command.command(examples=("db status",))
@FOLDER
def status(settings: Settings) -> None:
    """Show whether the server runs, where, and how much space it uses."""
    server = _open(settings)
    click.echo("\n".join(_describe_status(server.status(), settings.home, server.list_dumps())))


@command.command(examples=("db browse --open",))
@click.option("--open", "open_it", is_flag=True, help="open the page in the web browser")
@FOLDER
def browse(settings: Settings, open_it: bool) -> None:
    """Show where Neo4j Browser is and how to log in.

    The address fills in the server and the user; paste the password.
    """
    server = _open(settings)
    with show_server_progress() as report:
        address = server.start(report)
    _check_page(address)
    click.echo(f"Neo4j Browser  {address.page}")
    click.echo(f"Connect to     {address.uri}")
    click.echo(f"User           {address.username}")
    click.echo(f"Password       {address.password}")
    if open_it and not webbrowser.open(address.page):
        click.echo("No web browser could be opened here: paste the address into one.", err=True)


@command.command(examples=("db logs --lines 200", "db logs --follow"))
@click.option("--lines", default=50, type=click.IntRange(1), help="how many lines [50]")
@click.option("--follow", is_flag=True, help="print new lines until Ctrl-C")
@FOLDER
def logs(settings: Settings, lines: int, follow: bool) -> None:
    """Print the end of the server's log."""
    file = _open(settings).log_file
    if not file.is_file():
        raise ServerError(f"There is no log yet: the first `fabula db start` creates {file}.")
    with file.open(encoding="utf-8", errors="replace") as log:
        for line in deque(log, maxlen=lines):
            click.echo(line, nl=False)
        while follow:
            line = log.readline()
            if line:
                click.echo(line, nl=False)
            else:
                time.sleep(POLL_SECONDS)


@command.command(examples=("db destroy", "db destroy --programs --with-dumps --yes"))
@click.option("--yes", is_flag=True, help="do not ask for confirmation")
@click.option("--programs", is_flag=True, help="also delete the downloaded programs")
@click.option("--with-dumps", is_flag=True, help="also delete the dumps")
@FOLDER
def destroy(settings: Settings, yes: bool, programs: bool, with_dumps: bool) -> None:
    """Stop the server and delete its data and password.

    Dumps that Fabula made stay unless --with-dumps is given; `fabula db restore` restores the
    newest one.
    """
    server = _open(settings)
    dumps = server.list_dumps()
    if not yes:
        _mention_users(server)
        note = _describe_dumps(dumps, with_dumps)
        click.confirm(f"Delete all graphs in {settings.home} ({note})?", abort=True)
    with show_server_progress() as report:
        server.destroy(programs=programs, dumps=with_dumps, report=report)
    click.echo(f"The data of the private Neo4j in {settings.home} is deleted.")
    if dumps and not with_dumps:
        click.echo(
            f"{len(dumps)} of its dumps stay in {dumps[0].parent}: `fabula db restore` restores "
            "the newest, `fabula db destroy --with-dumps` deletes them."
        )


@command.command(examples=("db dump backup.dump",))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="overwrite FILE")
@click.option("--yes", is_flag=True, help="do not ask, even if others use the server")
@FOLDER
def dump(settings: Settings, file: Path, force: bool, yes: bool) -> None:
    """Write all graphs to FILE, in Neo4j's dump format.

    The server is stopped for this, and started again if it was running. FILE has no passwords.
    Collections that tables [collections.NAME] put into another graph are not in it.
    """
    server = _open(settings)
    server.refuse_unwritable(file, overwrite=force)
    _confirm_stop(
        server,
        yes,
        "It is stopped for the dump and then started again; meanwhile their requests fail.",
    )
    with show_server_progress() as report:
        server.dump(file, overwrite=force, report=report)
    click.echo(f"All graphs are in {file} ({file.stat().st_size / 1e6:.1f} MB).")
    if settings.collections:
        echo(f"Not in it: {', '.join(settings.collections)}; see [collections].", err=True)


@command.command(examples=("db load backup.dump",))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="do not ask for confirmation")
@FOLDER
def load(settings: Settings, file: Path, yes: bool) -> None:
    """Replace all graphs by those in FILE, which `fabula db dump` wrote.

    The password stays the same. A file that can't be loaded changes nothing: it is first loaded
    into a second server. Jobs of the service that had not ended in it are paused: `fabula jobs`.
    """
    _load(settings, _open(settings), file, yes=yes)


@command.command(examples=("db restore",))
@click.option("--yes", is_flag=True, help="do not ask for confirmation")
@FOLDER
def restore(settings: Settings, yes: bool) -> None:
    """Replace all graphs by those of the newest dump.

    Fabula makes a dump at most once a day and keeps the last three; `fabula db status` shows where,
    and `fabula db load` loads any of them. The present graphs are lost: dump them first if they
    can still be opened. Jobs of the service that had not ended in the dump are paused: `fabula
    jobs`.
    """
    server = _open(settings)
    dumps = server.list_dumps()
    if not dumps:
        raise ServerError(f"There is no dump in {settings.home} yet.")
    _load(settings, server, dumps[0], yes=yes)


def _load(settings: Settings, server: PrivateServer, file: Path, *, yes: bool) -> None:
    """Replace all graphs by those of a file, with their jobs paused, and say so; ask before."""
    from fabula.graph.queries import read_statement
    from fabula.server.trial import Edit

    if not yes:
        _mention_users(server)
        click.confirm(f"Replace all graphs in {settings.home} by those in {file}?", abort=True)
    # In the file's graphs before they are in place: a running service would take the jobs up.
    pause = Edit(read_statement("jobs/save_paused"), {"problem": RESTORED})
    with show_server_progress() as report:
        paused = server.load(file, edit=pause, report=report)
    click.echo(f"All graphs were replaced by those of {file}.")
    if paused:
        are = "it is" if paused == 1 else "they are"
        click.echo(
            f"{count_noun(paused, 'job')} of the service would go on, and may have ended since: "
            f"{are} paused. `fabula jobs` lists the jobs, `fabula jobs resume` lets those that are "
            "paused go on, and `fabula jobs cancel` drops them."
        )


def _describe_dumps(dumps: Sequence[Path], with_dumps: bool) -> str:
    """Say what happens to the dumps when the graphs are deleted."""
    if not dumps:
        return "there is no dump of them"
    is_one = len(dumps) == 1
    which = "the one dump" if is_one else f"the {len(dumps)} dumps"
    where = f"{which} in {dumps[0].parent}"
    return f"and {where}" if with_dumps else f"{where} {'stays' if is_one else 'stay'}"


def _mention_users(server: PrivateServer) -> list[str]:
    """Say which other processes use the server, and return them."""
    users = server.find_users()
    if users:
        click.echo(f"The private Neo4j is in use by {', '.join(users)}.", err=True)
    return users


def _confirm_stop(server: PrivateServer, yes: bool, effect: str) -> None:
    """Ask before the server is stopped while others use it."""
    if yes or not (users := _mention_users(server)):
        return
    if not sys.stdin.isatty():
        raise ServerError(
            f"The server was left running, since {len(users)} other "
            f"{'process uses' if len(users) == 1 else 'processes use'} it. Give --yes to stop it "
            "nevertheless."
        )
    click.confirm(f"{effect} Continue?", abort=True)


def _open(settings: Settings) -> PrivateServer:
    """Return the private server; say so if Fabula uses another one."""
    if settings.neo4j_uri:
        click.echo(
            f"Fabula uses the server at {settings.neo4j_uri} (NEO4J_URI); `fabula db` manages only "
            "the private one.",
            err=True,
        )
    return private_server(settings)


def _describe_status(status: ServerStatus, home: Path, dumps: Sequence[Path]) -> list[str]:
    lines = [f"State     {status.state}" + (f" (process {status.pid})" if status.pid else "")]
    if status.state == "broken":
        lines.append(
            "Database  stopped by an error, or can't be opened: `fabula db start` shows why"
        )
    if status.address is not None:
        lines += [f"Bolt      {status.address.uri}", f"Browser   {status.address.browser}"]
    lines.append(f"Version   Neo4j Community {status.version}")
    if status.pid:
        lines.append(f"Memory    {status.memory / 1e6:.0f} MB")
    lines.append(f"Disk      {status.data / 1e6:.0f} MB of data and logs")
    lines.append(f"Programs  {status.programs / 1e6:.0f} MB")
    lines.append(f"Folder    {home}")
    lines += [f"Dump      {dump} ({dump.stat().st_size / 1e6:.1f} MB)" for dump in dumps]
    return lines


def _check_page(address: Address) -> None:
    try:
        with urllib.request.urlopen(address.browser, timeout=PAGE_SECONDS) as page:
            page.read(1)
    except OSError as error:
        raise ServerError(
            f"The Neo4j Browser page {address.browser} does not answer ({error}). Restart the "
            "server with `fabula db stop` and `fabula db start`."
        ) from error
