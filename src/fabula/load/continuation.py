"""A document that goes on: the text of another file after its own, as a serial grows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from fabula.errors import LoadError
from fabula.load.document import fingerprint
from fabula.load.source import DocumentSource
from fabula.text.document import Document, Section


def continue_source(
    source: DocumentSource, read_known: Callable[[], Document], failed: str = ""
) -> DocumentSource:
    """Return the source of a document as it will be once it is continued with another source.

    Args:
        source: The text that comes after it.
        read_known: Reads the document as the graph has it.
        failed: The source before this one, if it failed: then this one must not come in its place.
    """
    # The document may have to be read again; standard input or an address can't be.
    read_added = cache(source.read)

    def read() -> Document:
        if failed:
            raise LoadError(f"{source.name} was not appended, as {failed} comes before it.")
        return continue_document(read_known(), read_added())

    return DocumentSource(source.name, read)


def continue_document(document: Document, added: Document) -> Document:
    """Return a document with the text of another one after its own; every place in it stays.

    Of the other's metadata its warnings and counts are kept, and the fields that the document does
    not state. Where its text begins without a heading, and the document has some, its title is the
    heading.

    The same text of the same source once more changes nothing, so that a stopped series of texts
    can be started again from its beginning.
    """
    if added.source in document.appended and added.text in document.text:
        return document
    start = len(document.text) + 2
    sections = [replace(section, start=start + section.start) for section in added.sections]
    if document.sections and not (added.sections and added.sections[0].start == 0):
        sections.insert(0, Section(added.title, start, document.sections[-1].level))
    text = f"{document.text}\n\n{added.text}"
    every = (*document.sections, *sections)
    moved = (replace(locator, start=start + locator.start) for locator in added.locators)
    locators = (*document.locators, *moved)
    facts = (document.title, document.author, document.language)
    return replace(
        document,
        text=text,
        sections=every,
        locators=locators,
        sha256=fingerprint(text, every, facts, locators),
        left_out=Counter(document.left_out) + Counter(added.left_out),
        warnings=tuple(dict.fromkeys((*document.warnings, *added.warnings))),
        appended=(*document.appended, added.source),
        metadata={**added.metadata, **document.metadata},
    )
