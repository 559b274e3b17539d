"""The private server's data as one file, in Neo4j's own dump format; the server stands still."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from fabula.errors import ServerError
from fabula.server.admin import AdminTool
from fabula.server.room import FULL, check_room, refused
from fabula.server.state import Home

DATABASE = "neo4j"
STORES = (Path("data", "databases", DATABASE), Path("data", "transactions", DATABASE))
"""Where a database is, from Neo4j's home; passwords are in another one."""


def has_data(home: Home) -> bool:
    """Whether a server ever ran there."""
    return (home.neo4j / STORES[0]).is_dir()


def dump(tool: AdminTool, home: Home, file: Path) -> None:
    """Writes the graph to `file`, which is there only once it is whole."""
    # Beside the file, so that it need only be renamed.
    try:
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=f".{file.name}.") as folder:
            tool.run(home.neo4j, "database", "dump", DATABASE, f"--to-path={folder}")
            (Path(folder) / f"{DATABASE}.dump").replace(file)
    except ServerError as error:
        raise ServerError(
            f"The graph could not be dumped to {file}: {error} Nothing was changed."
        ) from error
    except OSError as error:
        raise _not_written(error, file) from error


def unpack(tool: AdminTool, home: Home, file: Path) -> Path:
    """A folder that holds what `file` holds, as a Neo4j home; the server's own data is untouched.

    Raises ServerError where `file` is no dump, or the disk is full.
    """
    try:
        home.path.mkdir(parents=True, exist_ok=True)
        check_room(home.path, file.stat().st_size)
        folder = Path(tempfile.mkdtemp(dir=home.path, prefix="loading."))
    except OSError as error:
        raise refused(error, home.path) from error
    try:
        with file.open("rb") as stream:
            tool.run(folder, "database", "load", DATABASE, "--from-stdin", stdin=stream)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, ServerError):
            raise ServerError(
                f"{file} could not be loaded: {error} The graph is as it was."
            ) from error
        raise
    return folder


def put_in_place(folder: Path, home: Home) -> None:
    """Renames what was unpacked into the place of the server's data, and deletes the old.

    Where that fails, the old data is put back.
    """
    moved: list[tuple[Path, Path]] = []
    try:
        for store in STORES:
            own, old, new = home.neo4j / store, folder / "old" / store, folder / store
            for source, target in ((own, old), (new, own)):
                if source.is_dir():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    source.rename(target)
                    moved.append((source, target))
    except BaseException as error:
        for source, target in reversed(moved):
            target.rename(source)
        if isinstance(error, OSError):
            raise refused(error, home.path) from error
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def refuse_unreadable(file: Path) -> None:
    """Raises ServerError where `file` can't be a dump that is read."""
    try:
        with file.open("rb"):
            return
    except OSError as error:
        raise ServerError(
            f"{file} can't be read: {error.strerror}. Name a file that `fabula db dump` wrote."
        ) from error


def refuse_unwritable(file: Path, overwrite: bool) -> None:
    """Raises ServerError where `file` can't be written, or would be lost."""
    if not file.parent.is_dir():
        raise ServerError(f"There is no folder {file.parent}: make it, or name another file.")
    if file.is_dir():
        raise ServerError(f"{file} is a folder: name a file.")
    if file.exists() and not overwrite:
        raise ServerError(f"{file} is there already: name another file, or give --force.")


def _not_written(error: OSError, file: Path) -> ServerError:
    why = "the disk is full" if error.errno in FULL else error.strerror or str(error)
    return ServerError(f"{file} can't be written: {why}. The graph is as it was.")
