"""Folders and files that only this user may open, whatever the umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Container
from pathlib import Path
from typing import BinaryIO

from fabula.errors import ServerError

UNUSABLE_CHARACTERS = '%;!?*#"' + ("\\" if os.name == "posix" else "")
"""Characters in paths that Neo4j's web server takes for parts of an address."""
ADVICE = "choose a folder of its own with FABULA_HOME"


def make_private(folder: Path) -> None:
    """Make a folder that only this user may enter; an existing one is changed to that."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if stat.S_IMODE(folder.stat().st_mode) != 0o700:
        folder.chmod(0o700)


def make_home(folder: Path, own: Container[str]) -> None:
    """Make the folder of the private server.

    Args:
        folder: The folder.
        own: The names of the files and folders that Fabula makes in it.

    Raises:
        ServerError: Neo4j can't use such a path, the folder is another user's, or it holds other
            files and other users may change it.
    """
    for character in str(folder):
        if not character.isprintable() or character in UNUSABLE_CHARACTERS:
            raise ServerError(
                f"The private Neo4j does not start in a folder with {character!r} in its path, as "
                f"{str(folder)!r}: {ADVICE}."
            )
    if os.name != "posix" or not folder.exists():
        make_private(folder)
        return
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise ServerError(f"{folder} belongs to another user: {ADVICE}.")
    if all(path.name in own for path in folder.iterdir()):
        make_private(folder)
    elif status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ServerError(f"{folder} holds other files, and other users may change it: {ADVICE}.")


def open_private(file: Path) -> BinaryIO:
    """Open a new file for writing that only this user can read; an old one is deleted."""
    file.unlink(missing_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    if os.name == "posix":
        os.fchmod(descriptor, 0o600)
    return os.fdopen(descriptor, "wb")


def append_private(file: Path, text: str) -> None:
    """Add to a file's end in one step, which others may do at the same time."""
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def write_private(file: Path, text: str) -> None:
    """Replace a file in one step; only this user can read it."""
    part = file.with_name(f".{file.name}.{os.getpid()}")
    with open_private(part) as stream:
        stream.write((text + "\n").encode())
        stream.flush()
        os.fsync(stream.fileno())  # or a power cut may leave the new name with nothing in it
    part.replace(file)
