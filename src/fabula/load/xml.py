"""Books in XML: TEI, FictionBook or XHTML, by what their first element is."""

from __future__ import annotations

from fabula.errors import LoadError
from fabula.load import fb2, html, tei
from fabula.load.blocks import Draft
from fabula.load.markup import local, parse

_TEI = ("TEI", "TEI.2", "teiCorpus")


def read(data: bytes, source: str) -> Draft:
    """An XML file's content. LoadError, naming `source`, if it is damaged, or no book."""
    root = parse(data, lambda why: LoadError(f"{source} can't be read as XML: {why}."))
    name = local(root)
    if name in _TEI:
        return tei.draft(root)
    if name == "FictionBook":
        return fb2.draft(root)
    if name == "html":
        return html.read(data, source)
    raise LoadError(
        f"{source} is XML, but no book that Fabula knows: it begins with <{name[:40]}>, and TEI "
        "with <TEI>, FictionBook with <FictionBook>."
    )
