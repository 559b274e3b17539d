"""DOCX: Word's headings, paragraphs and notes, as mammoth makes HTML of them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

from fabula.errors import LoadError
from fabula.load import html
from fabula.load.archive import Archive
from fabula.load.blocks import Block, Draft
from fabula.load.clean import one_line
from fabula.load.headings import confirm, stated_title
from fabula.load.markup import fact
from fabula.load.paratext import without_library
from fabula.load.stanzas import EMPTY, join_stanzas

_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
"""What Word writes before 2007, and around a document with a password."""
_FACTS = "docProps/core.xml"
_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='TOC Heading'] => !
p[style-name='Contents Heading'] => !
p[style-name^='toc '] => !
p[style-name^='Contents '] => !
p[style-name='table of figures'] => !
p[style-name^='index '] => !
"""
_NOTES = '<ol><li id="'
"""What begins mammoth's list of notes: no other list has an id."""
_BACK = re.compile(r"\s*↑$")


def read(data: bytes, source: str, limit: int) -> Draft:
    """A DOCX file's content. LoadError, naming `source`, if it is broken, protected, or would
    unpack to more than `limit` bytes, or to more than any book of its size.
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
    made = mammoth.convert_to_html(
        io.BytesIO(data),
        transform_document=mammoth.transforms.paragraph(_with_empty),
        style_map=_STYLES,
        include_embedded_style_map=False,
        external_file_access=False,
        convert_image=lambda image: [],
    ).value
    body, _, listed = made.partition(_NOTES)
    noted = _with_notes(html.page(body, source).blocks, _notes(listed, source))
    found = join_stanzas(without_library([*noted]))
    core = archive.tree(_FACTS) if _FACTS in archive.sizes else None
    stated = stated_title(found)
    title = stated if core is None else fact(core, "title") or stated
    return Draft(
        blocks=confirm(found, title),
        title=title,
        author="" if core is None else fact(core, "creator"),
        language="" if core is None else fact(core, "language"),
    )


def _with_empty(paragraph: Any) -> Any:
    """A paragraph of mammoth's, which leaves out those without text: they part stanzas."""
    from mammoth import documents, transforms

    texts = transforms.get_descendants_of_type(paragraph, documents.Text)
    if any(one.value.strip() for one in texts):
        return paragraph
    return paragraph.copy(children=[*paragraph.children, documents.run([documents.text(EMPTY)])])


def _notes(listed: str, source: str) -> dict[str, str]:
    """The notes' texts by their numbers."""
    notes = (html.page(f'<p id="{one}', source).blocks for one in listed.split('<li id="') if one)
    texts = (_BACK.sub("", "\n".join(block.text for block in blocks)) for blocks in notes)
    return {str(number): text for number, text in enumerate(texts, start=1) if text}


def _with_notes(blocks: tuple[Block, ...], notes: dict[str, str]) -> Iterator[Block]:
    """Each note after the block that calls it."""
    for block in blocks:
        yield block
        for number in re.findall(r"\[(\d+)\]", block.text):
            if note := notes.pop(number, ""):
                yield Block(f"[{number}] {note}")
    yield from (Block(f"[{number}] {one_line(note)}") for number, note in notes.items())
