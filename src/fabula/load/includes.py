"""Collect the files that a file of XML includes by XInclude, from its own folder.

Nothing is parsed here: the sandbox, which can't open files, puts them into their places.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from pathlib import Path
from urllib.parse import unquote

from fabula.errors import LoadError
from fabula.load.files import read_file

MAIN = "fabula-main-file"
"""The entry of a packed book that names its main file."""
MAX_FILES = 1000
_NAMESPACE = b"http://www.w3.org/2001/XInclude"
_INCLUDE = re.compile(rb"<(?:[\w.-]+:)?include\b[^<>]*?\bhref\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)')")
_SUFFIXES = (".tei", ".txt", ".xml")
_MAX_MAIN_BYTES = 1_000_000
"""A larger file in a folder is not looked through for what it includes."""
_MAX_TOTAL_BYTES = 50_000_000


def pack(path: Path, data: bytes, max_bytes: int) -> bytes:
    """Return the content of a file, or a zip of it and the files that it includes.

    Only files in the same folder, or those below it, are included: a text from elsewhere must not
    bring other files of this computer into a collection.
    """
    files = _collect(path, data, max_bytes)
    if len(files) == 1:
        return data
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(MAIN, path.name)
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _collect(path: Path, data: bytes, max_bytes: int) -> dict[str, bytes]:
    """The contents of a file and of those that it includes, by their names from its folder."""
    files = {path.name: data}
    if _NAMESPACE not in data:
        return files
    folder = path.resolve().parent
    budget = max_bytes - len(data)
    queue = [path.name]
    while queue and len(files) < MAX_FILES:
        base = queue.pop()
        for double, single in _INCLUDE.findall(files[base]):
            name = resolve(base, (double or single).decode("utf-8", "replace"))
            if name in files or not name.lower().endswith(_SUFFIXES):
                continue
            content = _read(folder, name, budget)
            if content is not None:
                files[name] = content
                budget -= len(content)
                queue.append(name)
    return files


def included_files(path: Path) -> set[Path]:
    """Return the files below a file's folder that it includes, if it is a small one.

    A file that includes itself, by itself or by others, is not among them.
    """
    try:
        if path.stat().st_size > _MAX_MAIN_BYTES:
            return set()
        data = path.read_bytes()
    except OSError:
        return set()
    names = [*_collect(path, data, _MAX_TOTAL_BYTES)][1:]
    return {path.parent / name for name in names} - {path}


def resolve(base: str, href: str) -> str:
    """Return the name of an included file, from the folder of the main file."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(href)))


def _read(folder: Path, name: str, budget: int) -> bytes | None:
    """The content of a file below a folder; None if it is elsewhere, too large or missing."""
    try:
        file = (folder / name).resolve()
        if not file.is_relative_to(folder) or budget <= 0:
            return None
        return read_file(file, name, budget)
    except (LoadError, OSError, ValueError):
        return None
