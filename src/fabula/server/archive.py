"""Write and load the private server's data as a file in Neo4j's dump format.

The server has to be stopped meanwhile.
"""

from __future__ import annotations

import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from fabula.errors import ServerError
from fabula.server.admin import AdminTool
from fabula.server.disk_space import FULL_DISK_CODES, check_disk_space, write_error
from fabula.server.launch import Launcher
from fabula.server.private_files import make_private
from fabula.server.progress import ProgressReport
from fabula.server.state import MOVING, SCRATCH, Home
from fabula.server.trial import Edit, end_trial, open_graph

DATABASE = "neo4j"
STORES = (Path("data", "databases", DATABASE), Path("data", "transactions", DATABASE))
"""Where the database is, from Neo4j's home. Passwords are in another database."""
UNRECOVERED = "Active logical log"
"""What Neo4j's admin tool reports of a database whose server was killed."""

OLD = "old"
"""The folder of the server's previous data, in a folder of moving stores."""


def has_data(home: Home) -> bool:
    """Return whether a server ever ran in a home."""
    return (home.neo4j / STORES[0]).is_dir()


class Unrecovered(ServerError):
    """The server was killed: a start has to recover what is in its logs first."""


def dump(tool: AdminTool, home: Home, file: Path) -> None:
    """Write the graph to a file, which exists only once it is complete.

    Raises:
        ServerError: The file can't be written.
        Unrecovered: The server was killed.
    """
    # In a folder beside the file, so that it only has to be renamed.
    try:
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=f".{file.name}.") as folder:
            tool.run(home.neo4j, "database", "dump", DATABASE, f"--to-path={folder}")
            (Path(folder) / f"{DATABASE}.dump").replace(file)
    except ServerError as error:
        kind = Unrecovered if UNRECOVERED in str(error) else ServerError
        raise kind(
            f"The graph could not be dumped to {file}: {error} Nothing was changed."
        ) from error
    except OSError as error:
        raise _write_failure(error, file) from error


def check(tool: AdminTool, home: Home) -> None:
    """Have Neo4j check the files of the graph; the server has to be stopped.

    Raises:
        ServerError: It found something wrong, or could not check.
    """
    with tempfile.TemporaryDirectory(dir=home.path, prefix=SCRATCH) as folder:
        tool.run(home.neo4j, "database", "check", DATABASE, f"--report-path={folder}")


@contextmanager
def unpack(
    tool: AdminTool,
    launcher: Launcher,
    file: Path,
    report: ProgressReport,
    edit: Edit | None = None,
) -> Iterator[tuple[Home, int]]:
    """Unpack a dump into a home inside the launcher's home, which is deleted afterwards.

    Yields:
        The home, and what `edit` returned when it changed the graph.

    Raises:
        ServerError: The file is no dump, no server can open it, or the disk is full.
    """
    home = launcher.home
    try:
        check_disk_space(home.path, file.stat().st_size)
        scratch = Home(Path(tempfile.mkdtemp(dir=home.path, prefix=SCRATCH)))
        make_private(scratch.neo4j)
    except OSError as error:
        raise write_error(error, home.path) from error
    try:
        yield scratch, _unpack(tool, replace(launcher, home=scratch), file, report, edit)
    finally:
        shutil.rmtree(scratch.path, ignore_errors=True)


def _unpack(
    tool: AdminTool, launcher: Launcher, file: Path, report: ProgressReport, edit: Edit | None
) -> int:
    try:
        with file.open("rb") as stream:
            home = launcher.home.neo4j
            tool.run(home, "database", "load", DATABASE, "--from-stdin", stdin=stream)
        return open_graph(launcher, tool, report, edit)
    except ServerError as error:
        raise ServerError(f"{file} could not be loaded: {error} The graph is as it was.") from error


def put_in_place(scratch: Home, home: Home) -> None:
    """Replace the server's data by what was unpacked; the old data moves into `scratch`.

    Everything is done by renaming. After a kill at any point there is the new graph, or `recover`
    restores the old one. After an error the old graph is back.
    """
    moving = scratch.path.with_name(scratch.path.name.replace(SCRATCH, MOVING, 1))
    try:
        make_private(home.neo4j)
        for store in STORES:
            # `recover` assumes that a store which is not in the folder any more was moved.
            (scratch.neo4j / store).mkdir(parents=True, exist_ok=True)
            (scratch.path / OLD / store).parent.mkdir(parents=True, exist_ok=True)
            (home.neo4j / store).parent.mkdir(parents=True, exist_ok=True)
        scratch.path.rename(moving)
        for store in STORES:
            current = home.neo4j / store
            if current.is_dir():
                current.rename(moving / OLD / store)
            (Home(moving).neo4j / store).rename(current)
        # After this renaming the new graph counts.
        moving.rename(scratch.path)
    except BaseException as error:
        recover(home)
        if isinstance(error, OSError):
            raise write_error(error, home.path) from error
        raise


def recover(home: Home) -> None:
    """Restore the old graph if a load was killed while it renamed, and delete what it left.

    The caller holds the home's lock. This may be killed at any point as well.
    """
    try:
        for moving in home.path.glob(f"{MOVING}*"):
            for store in STORES:
                current, old = home.neo4j / store, moving / OLD / store
                new = Home(moving).neo4j / store
                if current.is_dir() and not new.is_dir():
                    current.rename(new)
                if old.is_dir():
                    old.rename(current)
            # Under its new name nothing in it is needed, so a kill during its deletion is harmless.
            moving.rename(moving.with_name(moving.name.replace(MOVING, SCRATCH, 1)))
    except OSError as error:
        raise write_error(error, home.path) from error
    for scratch in home.path.glob(f"{SCRATCH}*"):
        end_trial(Home(scratch))
        shutil.rmtree(scratch, ignore_errors=True)


def refuse_unreadable(file: Path) -> None:
    """Raise ServerError if a file can't be read as a dump."""
    cure = "Name a file that `fabula db dump` wrote."
    try:
        # Before it is opened, because opening a pipe waits for a writer.
        if not stat.S_ISREG(file.stat().st_mode):
            raise ServerError(f"{file} is not an ordinary file. {cure}")
        with file.open("rb"):
            return
    except OSError as error:
        raise ServerError(f"{file} can't be read: {error.strerror}. {cure}") from error


def refuse_unwritable(file: Path, overwrite: bool) -> None:
    """Raise ServerError if a file can't be written, or would be overwritten."""
    if not file.parent.is_dir():
        raise ServerError(f"There is no folder {file.parent}: make it, or name another file.")
    if file.is_dir():
        raise ServerError(f"{file} is a folder: name a file.")
    if file.is_symlink() or (file.exists() and not file.is_file()):
        kind = "a link" if file.is_symlink() else "a device or a pipe"
        raise ServerError(
            f"{file} is {kind}, and only an ordinary file is replaced: name another file."
        )
    if file.exists() and not overwrite:
        raise ServerError(f"{file} exists already: name another file, or give --force.")


def _write_failure(error: OSError, file: Path) -> ServerError:
    why = "the disk is full" if error.errno in FULL_DISK_CODES else error.strerror or str(error)
    return ServerError(f"{file} can't be written: {why}. The graph is as it was.")
