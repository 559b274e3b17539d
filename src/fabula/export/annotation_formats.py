"""The formats in which annotations are exchanged with other programs, by their names."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from fabula.errors import LoadError, NotFound, SettingsError, did_you_mean
from fabula.export.annotated_text import AnnotatedText
from fabula.export.files import replace_file
from fabula.graph.annotations import Annotation
from fabula.graph.installed import load
from fabula.load.archive import Archive
from fabula.load.files import read_file
from fabula.packages import describe_missing
from fabula.text.document import Document
from fabula.text.names import quote_name

GROUP = "fabula.annotation_formats"
"""The group of entry points by which a package brings a format, Fabula's own as any other."""
Files = Mapping[str, bytes]
"""Files of one export, by their names."""
Tell = Callable[[str], None]
"""Receives what a reader has to say of a file, such as what it left out, in full sentences."""
MAX_PACKED_FILES = 100
"""Of a zip of annotations."""
_ZIP_BEGINS = (b"PK\x03\x04", b"PK\x05\x06")
MAX_NAMED = 5
"""Names that a message repeats."""


def ignore(remark: str) -> None:
    """Do nothing with a remark."""


@dataclass(frozen=True, slots=True)
class AnnotationFormat:
    """A format of annotations.

    Attributes:
        name: Its name.
        about: What it is, for lists.
        suffixes: The ends of its files' names, by which it is recognised; the first one is that of
            a file that is written.
        read: Reads annotations of a document from files by their names.
        write: Writes what is marked in a text, as files by the ends of their names; None if it is
            only read.
        media: The media type of a single file.
    """

    name: str
    about: str
    suffixes: tuple[str, ...]
    write: Callable[[AnnotatedText, Sequence[str]], Mapping[str, str]] | None
    read: Callable[[Files, Document, Tell], Sequence[Annotation]]
    media: str = "text/plain; charset=utf-8"


@cache
def annotation_formats() -> Mapping[str, AnnotationFormat]:
    """Return the formats by name, Fabula's own and those of other packages.

    Raises:
        SettingsError: A package's format can't be loaded.
    """
    return {entry.name: load(entry) for entry in sorted(entry_points(group=GROUP))}


def find_format(name: str, file: Path | None = None) -> AnnotationFormat:
    """Return the format of a name, or with '' the one that a file's name ends in.

    Raises:
        SettingsError: There is no such format.
    """
    known = annotation_formats()
    if name:
        if name not in known:
            hint = did_you_mean(name, known, f"There are: {', '.join(known)}.")
            raise SettingsError(
                f"There is no format of annotations {name!r}. {hint} {describe_missing()}".strip()
            )
        return known[name]
    lower = file.name.lower() if file else ""
    ends = {end: format for format in known.values() for end in format.suffixes}
    # The longest end decides: .catma.xml is not .xml.
    for end in sorted(ends, key=len, reverse=True):
        if lower.endswith(end):
            return ends[end]
    raise SettingsError(
        f"{file} does not end as any format of annotations does: give one of "
        f"{', '.join(known)} as --format."
    )


def read_annotation_files(
    paths: Sequence[Path], format: AnnotationFormat, max_bytes: int
) -> Mapping[str, bytes]:
    """Return the files of annotations by their names, those of zips without these.

    Args:
        paths: The files; those that belong together, as BookNLP's, in any order.
        format: Their format.
        max_bytes: The largest file that is read.

    Raises:
        LoadError: A file can't be read.
    """
    files: dict[str, bytes] = {}
    for path in paths:
        found = unpack_files(read_file(path, str(path), max_bytes), path.name, format, max_bytes)
        if same := files.keys() & found.keys():
            raise LoadError(
                f"Two of the files are named {quote_name(min(same))}: give another name to one."
            )
        files |= found
    return files


def unpack_files(
    data: bytes, name: str, format: AnnotationFormat, max_bytes: int
) -> Mapping[str, bytes]:
    """Return the files of a format in a zip; what is no zip is itself the only file.

    Nothing is written to a disk: folders in a zip are left out of the names of its files, and a
    path such as ../x names nothing but x.

    Args:
        data: A file, or a zip of files that belong together.
        name: What messages call it.
        format: The format; other files of a zip are left out.
        max_bytes: The most bytes that a zip may unpack to.

    Raises:
        LoadError: The zip is broken or unpacks to too much, has too many files, two of one name, or
            none of this format.
    """
    if not data.startswith(_ZIP_BEGINS):
        return {name: data}
    archive = Archive(io.BytesIO(data), name, max_bytes, "zip")
    archive.check()
    if len(archive.sizes) > MAX_PACKED_FILES:
        raise LoadError(
            f"{name} has {len(archive.sizes):,} files; annotations of a document have at most "
            f"{MAX_PACKED_FILES}."
        )
    # The end of a file that others wrote may be shorter, as that of a collection of CATMA.
    ends = {end for suffix in format.suffixes for end in (suffix, f".{suffix.rpartition('.')[2]}")}
    found: dict[str, bytes] = {}
    for packed in archive.sizes:
        *folders, file = packed.replace("\\", "/").split("/")
        # A Mac puts a file of its own beside each one.
        if file.startswith(".") or "__MACOSX" in folders or not file.lower().endswith(tuple(ends)):
            continue
        if file in found:
            raise LoadError(f"{name} has two files named {quote_name(file)}: zip one folder.")
        found[file] = archive.read(packed)
    if not found:
        raise LoadError(
            f"{name} has no file of {format.name}: their names end in {', '.join(format.suffixes)}."
        )
    return found


def write_annotations(
    text: AnnotatedText, format: AnnotationFormat, what: Sequence[str]
) -> Mapping[str, str]:
    """Return the files of what is marked in a text, by the ends of their names.

    Raises:
        NotFound: Nothing is marked.
        SettingsError: The format is only read.
    """
    if format.write is None:
        written = (each.name for each in annotation_formats().values() if each.write)
        raise SettingsError(
            f"Annotations in the format {format.name} are only read: export them in one of "
            f"{', '.join(written)}."
        )
    if not text.annotations(what):
        more = ", …" if len(what) > MAX_NAMED else ""
        named = ", ".join(map(quote_name, what[:MAX_NAMED]))
        of = f" ({named}{more})" if what else ""
        raise NotFound(
            f"Nothing is marked in {text.document.title}{of}: `fabula build entities` finds who "
            "and what it is about, and `fabula annotations import` brings what others marked."
        )
    return format.write(text, what)


def write_annotation_files(files: Mapping[str, str], out: Path) -> list[Path]:
    """Write files to a path: one file to it, several beside it with their own ends."""
    written = []
    for end, content in files.items():
        path = out if len(files) == 1 else out.with_name(f"{_stem(out)}{end}")
        with replace_file(path) as stream:
            stream.write(content)
        written.append(path)
    return written


def _stem(path: Path) -> str:
    suffixes = [end for format in annotation_formats().values() for end in format.suffixes]
    for end in sorted(suffixes, key=len, reverse=True):
        if path.name.lower().endswith(end):
            return path.name[: -len(end)]
    return path.name
