"""Read a book in several files: each file is a section, and its headings are below it."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from fabula.load.archive import Archive
from fabula.load.blocks import Block, Draft
from fabula.load.clean import fold_heading
from fabula.load.locators import without_marks
from fabula.load.readers import reader

_ORDER = re.compile(r"^\d{1,4}\s*[-_.)]*\s*(?=\D)")
"""The number before a file's name, by which the files are sorted."""


def read(data: bytes, source: str, limit: int) -> Draft:
    """Read the files that `Manuscript.open` has packed.

    Raises:
        LoadError: A file can't be read; the message names it.
    """
    archive = Archive(io.BytesIO(data), source, limit, "folder")
    drafts: list[tuple[str, Draft]] = []
    for entry in sorted(archive.sizes):
        path = PurePosixPath(entry)
        read_part = reader(path.suffix.lower())
        drafts.append((path.stem, read_part(archive.read(entry), f"{source}/{path.name}", limit)))

    def first(field: str) -> str:
        return next((value for _, draft in drafts if (value := getattr(draft, field))), "")

    left_out: Counter[str] = Counter()
    for _, draft in drafts:
        left_out.update(draft.left_out)
    return Draft(
        blocks=tuple(block for name, draft in drafts for block in _section(name, draft)),
        title=archive.comment,
        author=first("author"),
        language=first("language"),
        published=first("published"),
        left_out=left_out,
        warnings=tuple(warning for _, draft in drafts for warning in draft.warnings),
    )


def _section(name: str, draft: Draft) -> Iterator[Block]:
    """The blocks of a file; the first begins a section, if it is no heading of its own."""
    title = draft.title or _ORDER.sub("", name) or name
    for index, block in enumerate(draft.blocks):
        if index == 0:
            printed = fold_heading(without_marks(block.text)) == fold_heading(title)
            is_heading = bool(block.heading) and not printed
            yield replace(block, heading=block.heading if is_heading else title, level=1)
        else:
            yield replace(block, level=block.level + 1 if block.heading else 0)
