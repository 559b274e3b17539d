"""Write a document as TEI P5 with what is marked in it.

Persons and places are in `standOff` as `listPerson` and `listPlace` (TEI Guidelines, 16.10, 13.3);
in the text their names are `persName` and `placeName` with `ref`, and what is said is `said` with
`who` (3.3.3). Other annotations are `seg` with `ana`, and `standOff` has what is said of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.sax.saxutils import escape, quoteattr

from fabula.export.annotated_text import AnnotatedText
from fabula.export.annotation_formats import AnnotationFormat
from fabula.graph.annotations import ENTITY, QUOTATION, Annotation
from fabula.models.clean import clean_text
from fabula.text.names import source_name
from fabula_scholar.exchange.tei_marks import read_tei

_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_LISTS = {
    "person": ("listPerson", "person", "persName"),
    "place": ("listPlace", "place", "placeName"),
}
_OTHERS = ("list", "item", "name")


@dataclass(frozen=True, slots=True)
class _Mark:
    start: int
    end: int
    opening: str
    name: str


def write_tei(text: AnnotatedText, what: Sequence[str]) -> Mapping[str, str]:
    """Return the document as one file. Spans that cross another one are left out, and counted."""
    every = [a for a in text.annotations(what) if a.start >= 0 and a.end > a.start]
    things = _things(every)
    marks, crossing = _nest_marks([_mark(a, things, n) for n, a in enumerate(every)])
    document = text.document
    title, author = escape(document.title), escape(document.author)
    language = f" xml:lang={quoteattr(document.language)}" if document.language else ""
    left_out = f"; {crossing:,} marks that cross others are left out" if crossing else ""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<TEI xmlns="http://www.tei-c.org/ns/1.0"{language}><teiHeader><fileDesc>',
        f"<titleStmt><title>{title}</title><author>{author}</author></titleStmt>",
        "<publicationStmt><p>Written by Fabula.</p></publicationStmt>",
        f"<sourceDesc><p>{escape(source_name(document.source))}{left_out}</p></sourceDesc>",
        "</fileDesc></teiHeader><standOff>",
        *_lists(things),
        *_spans(every),
        '</standOff><text xml:id="text"><body>',
        *_body(text, marks),
        "</body></text></TEI>",
    ]
    return {".tei.xml": clean_text("\n".join(lines)) + "\n"}


def _things(every: Sequence[Annotation]) -> dict[str, tuple[str, str]]:
    """The type and the name of all that mentions mean, and of who speaks, by their groups."""
    speakers = {
        a.group: ("person", a.label or a.group) for a in every if a.kind == QUOTATION and a.group
    }
    return speakers | {
        a.group or a.id: (a.properties.get("type", "").lower(), a.label or a.quote.exact)
        for a in every
        if a.kind == ENTITY
    }


def _xml_id(group: str) -> str:
    return "e." + "".join(
        letter if letter.isascii() and letter.isalnum() else f".{ord(letter):x}."
        for letter in group
    )


def _lists(things: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    types = dict.fromkeys((*_LISTS, *sorted({kind for kind, _ in things.values()})))
    for type in types:
        outer, inner, name = _LISTS.get(type, _OTHERS)
        of_type = {group: label for group, (kind, label) in things.items() if kind == type}
        if of_type:
            is_other = type and type not in _LISTS
            yield f"<{outer}{f' type={quoteattr(type)}' if is_other else ''}>"
            for group, label in of_type.items():
                shown = escape(" ".join(label.split()))
                yield f'<{inner} xml:id="{_xml_id(group)}"><{name}>{shown}</{name}></{inner}>'
            yield f"</{outer}>"


def _spans(every: Sequence[Annotation]) -> Iterator[str]:
    """What is said of other annotations: an `annotation` of each, by its id."""
    others = [(n, a) for n, a in enumerate(every) if a.kind not in (ENTITY, QUOTATION)]
    if others:
        yield "<listAnnotation>"
        for number, annotation in others:
            label = f"<label>{escape(annotation.label)}</label>" if annotation.label else ""
            said = ". ".join(filter(None, (label, escape(annotation.body))))
            by = f"<respStmt><resp>by</resp><name>{escape(annotation.creator)}</name></respStmt>"
            yield (
                f'<annotation xml:id="a.{number}" target="#text">'
                f"{by if annotation.creator else ''}"
                f"<note type={quoteattr(annotation.kind)}>{said}</note></annotation>"
            )
        yield "</listAnnotation>"


def _mark(annotation: Annotation, things: Mapping[str, tuple[str, str]], number: int) -> _Mark:
    start, end = annotation.start, annotation.end
    if annotation.kind == ENTITY:
        group = annotation.group or annotation.id
        _, _, name = _LISTS.get(things[group][0], _OTHERS)
        return _Mark(start, end, f'<{name} ref="#{_xml_id(group)}">', name)
    if annotation.kind == QUOTATION:
        who = f' who="#{_xml_id(annotation.group)}"' if annotation.group in things else ""
        return _Mark(start, end, f"<said{who}>", "said")
    return _Mark(start, end, f'<seg ana="#a.{number}">', "seg")


def _nest_marks(marks: Sequence[_Mark]) -> tuple[list[_Mark], int]:
    """Return the marks, outer ones first, without those that cross one before, and their number."""
    kept: list[_Mark] = []
    open_marks: list[_Mark] = []
    crossing = 0
    for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
        while open_marks and open_marks[-1].end <= mark.start:
            open_marks.pop()
        if open_marks and mark.end > open_marks[-1].end:
            crossing += 1
            continue
        kept.append(mark)
        open_marks.append(mark)
    return kept, crossing


def _body(text: AnnotatedText, marks: Sequence[_Mark]) -> Iterator[str]:
    """Yield a `div` for each section, with its heading and paragraphs."""
    whole = text.document.text
    sections = [s for s in text.document.sections if s.start < len(whole)]
    bounds = [0, *(section.start for section in sections), len(whole)]
    titles = ["", *(section.title for section in sections)]
    # Marks are in the order of the text: those that a paragraph may have are a few of them.
    following = 0
    inside: list[_Mark] = []
    for title, (start, end) in zip(titles, pairwise(bounds), strict=True):
        if whole[start:end].strip():
            yield "<div>"
            is_first = bool(title)
            for first, last in _paragraphs(whole, start, end):
                name = "head" if is_first else "p"
                is_first = False
                inside = [mark for mark in inside if mark.end > first]
                while following < len(marks) and marks[following].start < last:
                    inside.append(marks[following])
                    following += 1
                yield f"<{name}>{''.join(_inline(whole, first, last, inside))}</{name}>"
            yield "</div>"


def _paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for match in _PARAGRAPH.finditer(text, start, end):
        if text[at : match.start()].strip():
            yield at, match.start()
        at = match.end()
    if text[at:end].strip():
        yield at, end


def _inline(text: str, start: int, end: int, marks: Sequence[_Mark]) -> Iterator[str]:
    """Yield the text of a paragraph; a mark that goes beyond it is written in each of its parts."""
    open_marks: list[_Mark] = []
    at = start
    for mark in marks:
        if mark.end <= start or mark.start >= end:
            continue
        begin = max(start, mark.start)
        while open_marks and min(open_marks[-1].end, end) <= begin:
            last = open_marks.pop()
            yield escape(text[at : min(last.end, end)]) + f"</{last.name}>"
            at = min(last.end, end)
        yield escape(text[at:begin]) + mark.opening
        at = begin
        open_marks.append(mark)
    while open_marks:
        last = open_marks.pop()
        yield escape(text[at : min(last.end, end)]) + f"</{last.name}>"
        at = min(last.end, end)
    yield escape(text[at:end])


FORMAT = AnnotationFormat(
    "tei",
    "the text as TEI with standOff, listPerson, listPlace and said",
    (".tei.xml", ".tei", ".xml"),
    write_tei,
    read_tei,
    "application/tei+xml",
)
