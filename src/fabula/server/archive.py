"""The private server's data as one file, in Neo4j's own dump format; the server stands still."""

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
from fabula.server.progress import Report
from fabula.server.state import MOVING, SCRATCH, Home
from fabula.server.trial import end_trial, refuse_unopenable

DATABASE = "neo4j"
STORES = (Path("data", "databases", DATABASE), Path("data", "transactions", DATABASE))
"""Where a database is, from Neo4j's home; passwords are in another one."""
UNRECOVERED = "Active logical log"
"""What Neo4j's admin tool says of a database whose server was killed."""

OLD = "old"
"""The server's former data, in such a folder."""


def has_data(home: Home) -> bool:
    """Whether a server ever ran there."""
    return (home.neo4j / STORES[0]).is_dir()


class Unrecovered(ServerError):
    """The server did not end cleanly: what is in its logs must be recovered by a start first."""


def dump(tool: AdminTool, home: Home, file: Path) -> None:
    """Writes the graph to `file`, which is there only once it is whole. Raises Unrecovered."""
    # Beside the file, so that it need only be renamed.
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
        raise _not_written(error, file) from error


def check(tool: AdminTool, home: Home) -> None:
    """Have Neo4j check the files of the graph; the server stands still.

    Raises:
        ServerError: It finds something wrong, or can't check.

    """
    with tempfile.TemporaryDirectory(dir=home.path, prefix=SCRATCH) as folder:
        tool.run(home.neo4j, "database", "check", DATABASE, f"--report-path={folder}")


@contextmanager
def unpack(tool: AdminTool, launcher: Launcher, file: Path, report: Report) -> Iterator[Home]:
    """A home within the launcher's that holds what `file` holds; deleted afterwards.

    Raises ServerError where `file` is no dump, no server opens it, or the disk is full.
    """
    home = launcher.home
    try:
        check_disk_space(home.path, file.stat().st_size)
        scratch = Home(Path(tempfile.mkdtemp(dir=home.path, prefix=SCRATCH)))
        make_private(scratch.neo4j)
    except OSError as error:
        raise write_error(error, home.path) from error
    try:
        _unpack(tool, replace(launcher, home=scratch), file, report)
        yield scratch
    finally:
        shutil.rmtree(scratch.path, ignore_errors=True)


def _unpack(tool: AdminTool, launcher: Launcher, file: Path, report: Report) -> None:
    try:
        with file.open("rb") as stream:
            home = launcher.home.neo4j
            tool.run(home, "database", "load", DATABASE, "--from-stdin", stdin=stream)
        refuse_unopenable(launcher, tool, report)
    except ServerError as error:
        raise ServerError(f"{file} could not be loaded: {error} The graph is as it was.") from error


def put_in_place(scratch: Home, home: Home) -> None:
    """Renames what was unpacked into the place of the server's data, which moves into `scratch`.

    A kill at any point leaves what `recover` makes the old graph of, or the new graph; where it
    fails, the old graph is back.
    """
    moving = scratch.path.with_name(scratch.path.name.replace(SCRATCH, MOVING, 1))
    try:
        make_private(home.neo4j)
        for store in STORES:
            # `recover` takes a store that is not in the folder any more for one that was moved.
            (scratch.neo4j / store).mkdir(parents=True, exist_ok=True)
            (scratch.path / OLD / store).parent.mkdir(parents=True, exist_ok=True)
            (home.neo4j / store).parent.mkdir(parents=True, exist_ok=True)
        scratch.path.rename(moving)
        for store in STORES:
            own = home.neo4j / store
            if own.is_dir():
                own.rename(moving / OLD / store)
            (Home(moving).neo4j / store).rename(own)
        # From here on the new graph is the graph.
        moving.rename(scratch.path)
    except BaseException as error:
        recover(home)
        if isinstance(error, OSError):
            raise write_error(error, home.path) from error
        raise


def recover(home: Home) -> None:
    """Makes the old graph whole again where a load ended among its renames.

    Deletes what loads that were killed left behind. Whoever calls it holds the home's lock. May
    itself be killed at any point.
    """
    try:
        for moving in home.path.glob(f"{MOVING}*"):
            for store in STORES:
                own, old, new = home.neo4j / store, moving / OLD / store, Home(moving).neo4j / store
                if own.is_dir() and not new.is_dir():
                    own.rename(new)
                if old.is_dir():
                    old.rename(own)
            # Under this name nothing in it is needed, so that it may be deleted bit by bit.
            moving.rename(moving.with_name(moving.name.replace(MOVING, SCRATCH, 1)))
    except OSError as error:
        raise write_error(error, home.path) from error
    for scratch in home.path.glob(f"{SCRATCH}*"):
        end_trial(Home(scratch))
        shutil.rmtree(scratch, ignore_errors=True)


def refuse_unreadable(file: Path) -> None:
    """Raises ServerError where `file` can't be a dump that is read."""
    cure = "Name a file that `fabula db dump` wrote."
    try:
        # Before it is opened: opening a pipe waits for somebody to write into it.
        if not stat.S_ISREG(file.stat().st_mode):
            raise ServerError(f"{file} is not an ordinary file. {cure}")
        with file.open("rb"):
            return
    except OSError as error:
        raise ServerError(f"{file} can't be read: {error.strerror}. {cure}") from error


def refuse_unwritable(file: Path, overwrite: bool) -> None:
    """Raises ServerError where `file` can't be written, or would be lost."""
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
        raise ServerError(f"{file} is there already: name another file, or give --force.")


def _not_written(error: OSError, file: Path) -> ServerError:
    why = "the disk is full" if error.errno in FULL_DISK_CODES else error.strerror or str(error)
    return ServerError(f"{file} can't be written: {why}. The graph is as it was.")
