"""Write and read annotation collections in the TEI that CATMA imports and exports.

The format (version 5) is that of CATMA's own tools in Python (catma-py, by CATMA's authors). Tags
are `fsDecl` in an `fsdDecl` (a tagset); annotations are `fs` of a tag's type; in an `ab` of type
`catma`, a `ptr` to each stretch of the text stands in a `seg` that names its annotations. Places
are UTF-16 units of the text, as Java counts them, so a text with rare signs has to be counted anew.

CATMA's file has no text: its places are those of the document in CATMA. So the text is written
beside it, to be uploaded there, and what is read has to be of that text.
"""

from __future__ import annotations

import re
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape, quoteattr

from fabula.errors import LoadError
from fabula.export.annotated_text import AnnotatedText
from fabula.export.annotation_formats import AnnotationFormat, Tell, ignore
from fabula.graph.annotations import TAG, Annotation
from fabula.load.xml_tree import parse
from fabula.text.anchoring import QuoteReader, TextQuote
from fabula.text.document import Document
from fabula.text.units import UTF16, UnitPlaces

NAMESPACE = "http://www.tei-c.org/ns/1.0"
XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
_STRING = f"{{{NAMESPACE}}}string"
STRINGS = (_STRING, f"{{{NAMESPACE}}}vRange/{{{NAMESPACE}}}vColl/{_STRING}")
"""Where the values of a property stand in it. No search goes deeper: elements may be nested."""
SYSTEM = "catma_"
"""How the names of those properties begin that CATMA gives itself."""
NOTE, KIND, GROUP = "note", "kind", "group"
"""Properties that hold what an annotation has beside its tag."""
_TARGET = re.compile(r"#char=(\d{1,12}),(\d{1,12})\s*$")
_TIME = "2020-01-01T00:00:00.000+0000"
"""The version of tags, which CATMA wants as a time: always the same, so that files compare."""
_COLOR = "-16776961"


def write_catma(text: AnnotatedText, what: Sequence[str]) -> Mapping[str, str]:
    """Return the collection, and the text that it is of."""
    placed = [a for a in text.annotations(what) if a.start >= 0 and a.quote.exact]
    places = UnitPlaces(text.document.text, UTF16)
    tags = sorted({_tag_name(a) for a in placed})
    author = placed[0].creator if placed and placed[0].creator else "Fabula"
    title = escape(text.document.title)
    document = _uuid("document", text.document.id)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<TEI xml:lang="en" xmlns="{NAMESPACE}"><teiHeader><fileDesc>',
        f"<titleStmt><title>{title}</title><author>{escape(author)}</author></titleStmt>",
        f"<publicationStmt><publisher>{escape(author)}</publisher></publicationStmt>",
        f'<sourceDesc><p>{title}</p><ab><fs xml:id="CATMA_TECH_DESC"><f name="version">',
        "<string>5</string></f></fs></ab></sourceDesc></fileDesc><encodingDesc>",
        f'<fsdDecl xml:id="{_uuid("tagset", text.document.id)}" n="Fabula {_TIME}">',
        *map(_tag, tags),
        '</fsdDecl></encodingDesc></teiHeader><text><body><ab type="catma">',
        *_pointers(placed, places, document, len(text.document.text)),
        "</ab></body>",
        *(_annotation(a, author) for a in placed),
        "</text></TEI>",
    ]
    return {".catma.xml": "\n".join(lines) + "\n", ".txt": text.document.text}


def _uuid(*parts: str) -> str:
    named = uuid.uuid5(uuid.NAMESPACE_URL, "urn:fabula:" + "\x1f".join(parts))
    return f"CATMA_{str(named).upper()}"


def _tag_name(annotation: Annotation) -> str:
    return annotation.label or annotation.kind


def _tag(name: str) -> str:
    id = _uuid("tag", name)
    properties = "".join(
        f'<fDecl xml:id="{_uuid("property", name, each)}" name="{each}"><vRange><vColl/></vRange>'
        "</fDecl>"
        for each in (KIND, NOTE, GROUP)
    )
    described = f"<fsDescr>{escape(name)}</fsDescr>"
    return f'<fsDecl xml:id="{id}" n="{_TIME}" type="{id}">{described}{properties}</fsDecl>'


def _annotation_id(annotation: Annotation) -> str:
    return _uuid("annotation", annotation.kind, annotation.id, str(annotation.start))


def _annotation(annotation: Annotation, author: str) -> str:
    values = {
        "catma_markupauthor": annotation.creator or author,
        "catma_displaycolor": _COLOR,
        KIND: annotation.kind,
        NOTE: annotation.body,
        GROUP: annotation.group,
    }
    properties = "".join(
        f"<f name={quoteattr(name)}><string>{escape(value)}</string></f>"
        for name, value in values.items()
        if value
    )
    id = _annotation_id(annotation)
    return f'<fs xml:id="{id}" type="{_uuid("tag", _tag_name(annotation))}">{properties}</fs>'


def _pointers(
    placed: Sequence[Annotation], places: UnitPlaces, document: str, length: int
) -> Iterator[str]:
    """Yield a pointer for each stretch between places where annotations begin or end."""
    begins: dict[int, list[Annotation]] = defaultdict(list)
    ends: dict[int, list[Annotation]] = defaultdict(list)
    for annotation in placed:
        begins[annotation.start].append(annotation)
        ends[annotation.end].append(annotation)
    inside: dict[str, None] = {}
    for start, end in pairwise(sorted({0, length, *begins, *ends})):
        for annotation in ends[start]:
            inside.pop(_annotation_id(annotation), None)
        for annotation in begins[start]:
            inside[_annotation_id(annotation)] = None
        span = f"{places.to_units(start)},{places.to_units(end)}"
        pointer = f'<ptr target="catma://{document}#char={span}" type="inclusion"/>'
        if inside:
            names = " ".join(f"#{id}" for id in inside)
            yield f'<seg ana="{names}">{pointer}</seg>'
        else:
            yield pointer


def read_catma(
    files: Mapping[str, bytes], document: Document, tell: Tell = ignore
) -> Sequence[Annotation]:
    """Read CATMA's collections as annotations of a document; its text files are left out.

    An annotation of several stretches that do not touch becomes one for each, in a group.

    Raises:
        LoadError: A file is no XML, or not as CATMA writes it.
    """
    places = UnitPlaces(document.text, UTF16)
    quotes = QuoteReader(document.text)
    found: list[Annotation] = []
    for name, data in files.items():
        if name.lower().endswith(".txt"):
            continue
        root = parse(
            data,
            lambda reason, name=name: LoadError(f"{name} can't be read as XML: {reason}."),  # type: ignore[misc]
            lambda what, name=name: tell(f"{name} {what}."),  # type: ignore[misc]
        )
        found += _read_collection(root, name, document, places, quotes)
    return found


def _read_collection(
    root: Element, name: str, document: Document, places: UnitPlaces, quotes: QuoteReader
) -> Iterator[Annotation]:
    tags = {
        each.get(XML_ID, ""): (each.findtext(f"{{{NAMESPACE}}}fsDescr") or "").strip()
        for each in root.iter(f"{{{NAMESPACE}}}fsDecl")
    }
    spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for segment in root.iter(f"{{{NAMESPACE}}}seg"):
        for pointer in segment.findall(f"{{{NAMESPACE}}}ptr"):
            target = _TARGET.search(pointer.get("target", ""))
            if target is None:
                raise LoadError(f"{name} points to {pointer.get('target')!r}, which has no place.")
            span = places.to_character(int(target[1])), places.to_character(int(target[2]))
            for id in segment.get("ana", "").split():
                spans[id.removeprefix("#")].append(span)
    if not spans:
        raise LoadError(f"{name} has no annotations as CATMA writes them (<seg ana=...><ptr/>).")
    for element in root.iter(f"{{{NAMESPACE}}}fs"):
        id = element.get(XML_ID, "")
        values = _properties(element)
        kind = values.get(KIND, TAG)
        joined = _join(spans.get(id, []))
        for number, (start, end) in enumerate(joined):
            several = len(joined) > 1
            quote = (
                quotes.read(start, end)
                if end <= len(document.text)
                else TextQuote("", start=start, end=end)
            )
            yield Annotation(
                quote,
                kind,
                tags.get(element.get("type", ""), ""),
                values.get(NOTE, ""),
                id=f"{id}-{number}" if several else id,
                group=values.get(GROUP, "") or (id if several else ""),
                creator=values.get("catma_markupauthor", ""),
                created=values.get("catma_markuptimestamp", ""),
                properties={
                    key: value
                    for key, value in values.items()
                    if not key.startswith(SYSTEM) and key not in (KIND, NOTE, GROUP)
                },
            )


def _properties(element: Element) -> dict[str, str]:
    return {
        each.get("name", ""): ", ".join(
            (text.text or "").strip() for path in STRINGS for text in each.findall(path)
        )
        for each in element.findall(f"{{{NAMESPACE}}}f")
    }


def _join(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return stretches in order, those that touch as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        elif end > start:
            joined.append((start, end))
    return joined


FORMAT = AnnotationFormat(
    "catma",
    "an annotation collection of CATMA, with the text that it is of",
    (".catma.xml",),
    write_catma,
    read_catma,
)
