"""What is marked in a document, as a file."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.app.annotating import read_annotated
from fabula.app.collection import Collection
from fabula.export.annotation_formats import find_format, pack_files, write_annotations
from fabula.graph.entries import Entry


def export_layers(
    collection: Collection, entry: Entry, format: str, what: Sequence[str], stem: str
) -> tuple[str | bytes, str, str]:
    """Return what is marked in a document: the content, its media type and the end of its name.

    A format of several files is a zip of these, each named by `stem` and its own end.

    Raises:
        NotFound: Nothing is marked.

    """
    found = find_format(format)
    files = write_annotations(read_annotated(collection.store, entry), found, what)
    if len(files) > 1:
        return pack_files(files, stem), "application/zip", f".{found.name}.zip"
    [(end, content)] = files.items()
    return content, found.media, end
