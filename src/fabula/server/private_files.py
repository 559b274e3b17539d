"""Folders and files that only this user may open, whatever the umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Container
from pathlib import Path
from typing import BinaryIO

from fabula.errors import ServerError

GROUP_AND_OTHERS = stat.S_IRWXG | stat.S_IRWXO
UNUSABLE_CHARACTERS = '%;!?*#"' + ("\\" if os.name == "posix" else "")
"""Neo4j's web server takes some of these for parts of an address, together with others."""
ADVICE = "choose a folder of its own with FABULA_HOME"


def make_private(folder: Path) -> None:
    """Makes `folder`, which only this user may enter, also where it was there before."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if stat.S_IMODE(folder.stat().st_mode) != 0o700:
        folder.chmod(0o700)


def make_home(folder: Path, own: Container[str]) -> None:
    """Makes the private server's folder, in which it makes only the files named in `own`.

    Raises ServerError for a path that Neo4j can't take, and for a folder that can't be kept for
    this user alone: another's, or one that holds other things and that others may change.
    """
    for one in str(folder):
        if not one.isprintable() or one in UNUSABLE_CHARACTERS:
            raise ServerError(
                f"The private Neo4j does not start in a folder with {one!r} in its path, as "
                f"{str(folder)!r}: {ADVICE}."
            )
    if os.name != "posix" or not folder.exists():
        make_private(folder)
        return
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise ServerError(f"{folder} is another user's: {ADVICE}.")
    if all(path.name in own for path in folder.iterdir()):
        make_private(folder)
    elif status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ServerError(f"{folder} holds other things, and others may change it: {ADVICE}.")


def open_private(file: Path) -> BinaryIO:
    """`file`, made anew for this user alone, to be written."""
    file.unlink(missing_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    if os.name == "posix":
        os.fchmod(descriptor, 0o600)
    return os.fdopen(descriptor, "wb")


def write_private(file: Path, text: str) -> None:
    """Replaces `file` at once; only this user may read it."""
    part = file.with_name(f".{file.name}.{os.getpid()}")
    with open_private(part) as stream:
        stream.write((text + "\n").encode())
        stream.flush()
        os.fsync(stream.fileno())  # else a power cut may leave the new name with nothing in it
    part.replace(file)
