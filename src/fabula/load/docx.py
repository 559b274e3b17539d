"""Read DOCX: Word's headings, paragraphs and notes, converted to HTML by mammoth."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from fabula.errors import LoadError
from fabula.load import html
from fabula.load.archive import Archive
from fabula.load.blocks import Block, Draft
from fabula.load.clean import one_line
from fabula.load.headings import confirm, stated_title
from fabula.load.markup import metadata
from fabula.load.paratext import remove_library_text
from fabula.load.stanzas import EMPTY, join_stanzas

_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
"""The beginning of files of Word before 2007, and of documents with a password."""
_METADATA_FILE = "docProps/core.xml"
_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='TOC Heading'] => !
p[style-name='Contents Heading'] => !
p[style-name^='toc '] => !
p[style-name^='Contents '] => !
p[style-name='table of figures'] => !
p[style-name^='index '] => !
"""
_NOTES_START = '<ol><li id="'
"""The start of mammoth's list of notes: no other list has an id."""
_BACK = re.compile(r"\s*↑$")


def read(data: bytes, source: str, limit: int) -> Draft:
    """Read a DOCX file.

    Raises:
        LoadError: It is broken, protected, or would unpack to more than `limit` bytes.

    """
    import mammoth

    if data.startswith(_OLD_OFFICE):
        raise LoadError(
            f"{source} is protected by a password, or an old Word document: save a copy as .docx "
            "without a password."
        )
    archive = Archive(io.BytesIO(data), source, limit, "DOCX")
    archive.check()
    archive.refuse_entities()
    converted = mammoth.convert_to_html(
        io.BytesIO(data),
        transform_document=mammoth.transforms.paragraph(_mark_empty),
        style_map=_STYLES,
        include_embedded_style_map=False,
        external_file_access=False,
        convert_image=lambda image: [],
    ).value
    body, _, notes_html = converted.partition(_NOTES_START)
    blocks_with_notes = _insert_notes(
        html.page(body, source).blocks, _read_notes(notes_html, source)
    )
    left_out: Counter[str] = Counter()
    blocks = join_stanzas(remove_library_text([*blocks_with_notes], left_out))
    core = archive.tree(_METADATA_FILE) if _METADATA_FILE in archive.sizes else None
    stated = stated_title(blocks)
    title = stated if core is None else metadata(core, "title") or stated
    return Draft(
        blocks=confirm(blocks, title),
        title=title,
        author="" if core is None else metadata(core, "creator"),
        language="" if core is None else metadata(core, "language"),
        left_out=left_out,
    )


def _mark_empty(paragraph: Any) -> Any:
    """Put a mark into empty paragraphs: mammoth leaves them out, but they separate stanzas."""
    from mammoth import documents, transforms

    texts = transforms.get_descendants_of_type(paragraph, documents.Text)
    if any(text.value.strip() for text in texts):
        return paragraph
    return paragraph.copy(children=[*paragraph.children, documents.run([documents.text(EMPTY)])])


def _read_notes(notes_html: str, source: str) -> dict[str, str]:
    """The texts of the notes by their numbers."""
    items = filter(None, notes_html.split('<li id="'))
    notes = (html.page(f'<p id="{item}', source).blocks for item in items)
    texts = (_BACK.sub("", "\n".join(block.text for block in blocks)) for blocks in notes)
    return {str(number): text for number, text in enumerate(texts, start=1) if text}


def _insert_notes(blocks: tuple[Block, ...], notes: dict[str, str]) -> Iterator[Block]:
    """Insert each note after the block that refers to it."""
    for block in blocks:
        yield block
        for number in re.findall(r"\[(\d+)\]", block.text):
            if note := notes.pop(number, ""):
                yield Block(f"[{number}] {note}")
    yield from (Block(f"[{number}] {one_line(note)}") for number, note in notes.items())
