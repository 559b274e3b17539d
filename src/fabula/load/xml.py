"""Read books in XML: TEI, FictionBook or XHTML, by the name of the root element."""

from __future__ import annotations

from fabula.errors import LoadError
from fabula.load import fb2, html, tei
from fabula.load.blocks import Draft
from fabula.load.markup import local_name, parse

_TEI = ("TEI", "TEI.2", "teiCorpus")


def read(data: bytes, source: str, limit: int = 0) -> Draft:
    """Read an XML file. Raises LoadError if it is broken, or not a book."""
    root = parse(data, lambda reason: LoadError(f"{source} can't be read as XML: {reason}."))
    name = local_name(root)
    if name in _TEI:
        return tei.draft(root)
    if name == "FictionBook":
        return fb2.draft(root)
    if name == "html":
        return html.read(data, source)
    raise LoadError(
        f"{source} is XML, but not a book format that Fabula knows: its first element is "
        f"<{name[:40]}>. TEI begins with <TEI>, and FictionBook with <FictionBook>."
    )
