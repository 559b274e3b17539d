"""Find the files of an EPUB that its package names in another way than the zip does."""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Iterable
from urllib.parse import unquote, urldefrag

_CONTAINER = "meta-inf/container.xml"


def container_folder(names: Iterable[str]) -> str:
    """Return the folder in a zip that holds the book, as 'Title/'; '' if it is the zip itself."""
    folders = [
        name[: -len(_CONTAINER)]
        for name in names
        if name.replace("\\", "/").lower().endswith(_CONTAINER) and not name.startswith("__MACOSX")
    ]
    return min(folders, key=len, default="")


class ArchiveNames:
    """The names of a zip's files.

    Args:
        names: The names.
        folder: The folder that holds the book, which is the root of its absolute addresses.
    """

    def __init__(self, names: Iterable[str], folder: str = "") -> None:
        self._folder = folder
        self._exact: dict[str, str] = {}
        self._folded: dict[str, str] = {}
        by_file: dict[str, list[str]] = {}
        for name in names:
            if name.startswith("__MACOSX"):
                continue
            self._exact.setdefault(name, name)
            self._folded.setdefault(_fold(name), name)
            if (decoded := _decode_again(name)) != name:
                self._folded.setdefault(_fold(decoded), name)
            by_file.setdefault(posixpath.basename(_fold(name)), []).append(name)
        self._by_file = {file: found[0] for file, found in by_file.items() if len(found) == 1}

    def find(self, base: str, address: str, *, is_exact: bool = False) -> str:
        """Return the name in the zip of the file that an address leads to; '' if it is not there.

        It may be escaped or not, be absolute, begin at the wrong folder, and have other slashes,
        another case or another form of Unicode than the zip. A file of the same name in another
        folder is taken if it is the only one.

        Args:
            base: The name of the file that has the address; '' for the book's own folder.
            address: The address.
            is_exact: Whether a file in another folder is none.
        """
        path = urldefrag(address.strip()).url.replace("\\", "/")
        if not path:
            return ""
        folder = posixpath.dirname(base) if base else self._folder.rstrip("/")
        for written in dict.fromkeys((unquote(path), path, unquote(address.strip()))):
            relative = written.lstrip("/")
            is_absolute = written.startswith("/")
            folders = (self._folder, folder) if is_absolute else (folder, self._folder, "")
            for start in dict.fromkeys(folders):
                name = _normal(posixpath.join(start, relative))
                if found := self._exact.get(name) or self._folded.get(_fold(name)):
                    return found
        if is_exact:
            return ""
        return self._by_file.get(posixpath.basename(_fold(unquote(path))), "")


def _normal(path: str) -> str:
    """A path without `.` and `..`; one that leads out of the zip begins at its root."""
    normal = posixpath.normpath(path)
    while normal.startswith("../"):
        normal = normal[3:]
    return normal


def _fold(name: str) -> str:
    path = _normal(name.replace("\\", "/")).lstrip("/")
    return unicodedata.normalize("NFC", path.casefold())


def _decode_again(name: str) -> str:
    """A name in UTF-8 that the zip does not mark as such, so that it was read as cp437."""
    try:
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name
