"""Write and read W3C Web Annotations (https://www.w3.org/TR/annotation-model/) as JSON-LD.

Each annotation has one target with two selectors that describe the same words: a
TextPositionSelector (section 4.2.5), in characters of the document's cleaned text, that is, in code
points, from 0, its end excluded; and a TextQuoteSelector (section 4.2.4).

What is read may be an annotation, a list of them, an AnnotationPage or AnnotationCollection, or
what the API of Hypothesis returns (`rows`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote, unquote

from fabula.errors import LoadError
from fabula.export.annotated_text import AnnotatedText
from fabula.export.annotation_formats import AnnotationFormat, Files, Tell, ignore
from fabula.graph.annotations import (
    CITATION,
    ENTITY,
    EVENT,
    HIGHLIGHT,
    NOTE,
    QUOTATION,
    TAG,
    Annotation,
    convert_places,
)
from fabula.text.anchoring import TextQuote
from fabula.text.document import Document
from fabula.text.units import UTF16, UnitPlaces

CONTEXT = "http://www.w3.org/ns/anno.jsonld"
MOTIVATIONS = {
    ENTITY: "identifying",
    QUOTATION: "identifying",
    EVENT: "describing",
    NOTE: "commenting",
    HIGHLIGHT: "highlighting",
    CITATION: "linking",
    TAG: "tagging",
}
"""What the annotations of each kind are for (section 3.3.5); any other kind is a tag."""
DOCUMENT_URN, GROUP_URN, ITEM_URN = (
    *("urn:fabula:document:", "urn:fabula:group:", "urn:fabula:annotation:"),
)
LABEL, COMMENT, KIND, GROUP, MORE = (
    *("tagging", "commenting", "classifying", "identifying", "describing"),
)
"""The purposes of bodies: the tag, what is said, the kind, what it means, and anything else."""
MAX_ITEMS = 1_000_000
"""Annotations of a file that are read."""


def collection_json(document: Document, annotations: Sequence[Annotation]) -> dict[str, Any]:
    """Return annotations of a document as an AnnotationCollection with a single page."""
    name = f"{DOCUMENT_URN}{document.id}:annotations"
    return {
        "@context": CONTEXT,
        "id": name,
        "type": "AnnotationCollection",
        "label": document.title,
        "total": len(annotations),
        "first": {
            "id": f"{name}:1",
            "type": "AnnotationPage",
            "partOf": name,
            "startIndex": 0,
            "items": [annotation_json(document, annotation) for annotation in annotations],
        },
    }


def annotation_json(document: Document, annotation: Annotation) -> dict[str, Any]:
    """Return an annotation of a document as JSON-LD, without its context."""
    return annotation_of(document.id, document.language, annotation)


def annotation_of(document: str, language: str, annotation: Annotation) -> dict[str, Any]:
    """Return an annotation as `annotation_json` does, given the id and language of the document."""
    selectors: list[dict[str, Any]] = []
    found = annotation.quote
    if found.start >= 0:
        selectors.append({"type": "TextPositionSelector", "start": found.start, "end": found.end})
    if found.exact:
        around = {"exact": found.exact, "prefix": found.prefix, "suffix": found.suffix}
        selectors.append({"type": "TextQuoteSelector", **{k: v for k, v in around.items() if v}})
    source = {"id": f"{DOCUMENT_URN}{document}", "type": "Text", "format": "text/plain"}
    if language:
        source["language"] = language
    written: dict[str, Any] = {
        "id": f"{ITEM_URN}{document}:{quote(annotation.id, safe='')}",
        "type": "Annotation",
        "motivation": MOTIVATIONS.get(annotation.kind, "tagging"),
    }
    if annotation.created:
        written["created"] = annotation.created
    if annotation.creator:
        written["creator"] = {"type": "Person", "name": annotation.creator}
    return {
        **written,
        "body": list(_bodies(annotation)),
        "target": {"source": source, "selector": selectors},
    }


def _bodies(annotation: Annotation) -> Iterator[dict[str, Any]]:
    texts = {LABEL: annotation.label, COMMENT: annotation.body, KIND: annotation.kind}
    for purpose, value in texts.items():
        if value:
            yield {"type": "TextualBody", "purpose": purpose, "value": value}
    if annotation.group:
        yield {
            "type": "SpecificResource",
            "purpose": GROUP,
            "source": f"{GROUP_URN}{quote(annotation.group, safe='')}",
        }
    if annotation.properties:
        yield {
            "type": "TextualBody",
            "purpose": MORE,
            "format": "application/json",
            "value": json.dumps(dict(annotation.properties), ensure_ascii=False, sort_keys=True),
        }


def read_annotations(data: bytes, source: str, document: str = "") -> list[Annotation]:
    """Read annotations from JSON-LD.

    Args:
        data: The content of the file.
        source: What messages call it.
        document: The id of the document that they are for. A file of several documents, as the
            citations of an answer, gives those of this one, if it has any.

    Raises:
        LoadError: It is no JSON, or has no annotations.
    """
    try:
        content = json.loads(data)
    except RecursionError as error:
        raise LoadError(f"{source} is nested too deeply to be read.") from error
    except ValueError as error:
        raise LoadError(f"{source} is not JSON: {error}.") from error
    try:
        items = list(_items(content))
        ours = f"{DOCUMENT_URN}{document}"
        only = ours if any(ours in map(_source, _targets(item)) for item in items) else ""
        annotations = [read for item in items for read in _read(item, only)]
    except RecursionError as error:
        raise LoadError(f"{source} is nested too deeply.") from error
    if not annotations:
        raise LoadError(
            f"{source} has no annotations: Web Annotations have the type Annotation, or stand in "
            "the items of an AnnotationPage."
        )
    if len(annotations) > MAX_ITEMS:
        raise LoadError(f"{source} has {len(annotations):,} annotations; {MAX_ITEMS:,} are read.")
    return annotations


def _items(content: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(content, list):
        for each in content:
            yield from _items(each)
    elif isinstance(content, Mapping):
        types = content.get("type", content.get("@type", ""))
        if "Annotation" in (types if isinstance(types, list) else [types]) or "target" in content:
            yield content
        else:
            # A collection's page, a page's items, or what Hypothesis returns.
            for name in ("first", "items", "rows"):
                if name in content:
                    yield from _items(content[name])


def _targets(item: Mapping[str, Any]) -> list[str | Mapping[str, Any]]:
    target = item.get("target")
    targets = target if isinstance(target, list) else [target]
    return [each for each in targets if each and isinstance(each, str | Mapping)]


def _source(target: str | Mapping[str, Any]) -> str:
    source = target.get("source", "") if isinstance(target, Mapping) else target
    return _text(source.get("id") if isinstance(source, Mapping) else source)


def _read(item: Mapping[str, Any], only: str) -> Iterator[Annotation]:
    """Yield an annotation for each target; with `only`, none for other documents of Fabula."""
    id = _item_id(_text(item.get("id")))
    named = [
        each
        for each in _targets(item)
        if not only or not (s := _source(each)).startswith(DOCUMENT_URN) or s == only
    ]
    for number, each in enumerate(named):
        # One without words or a place is kept, without a place.
        found = _read_one(item, [*_selectors(each)])
        # Several targets have one group, unless the annotation has one of its own.
        if len(named) > 1:
            found = replace(found, id=f"{id}-{number}" if id else "", group=found.group or id)
        yield found


def _read_one(item: Mapping[str, Any], selectors: Sequence[Mapping[str, Any]]) -> Annotation:
    place = next((s for s in selectors if s.get("type") == "TextPositionSelector"), {})
    words = next((s for s in selectors if s.get("type") == "TextQuoteSelector"), {})
    start, end = _number(place.get("start")), _number(place.get("end"))
    found = TextQuote(
        _text(words.get("exact")),
        _text(words.get("prefix")),
        _text(words.get("suffix")),
        *((start, end) if 0 <= start < end else (-1, -1)),
    )
    values = _body_values(item)
    listed = item.get("tags")
    tags = [v for v in listed if isinstance(v, str)] if isinstance(listed, list) else []
    body = values[COMMENT] or _text(item.get("text"))
    label = values[LABEL] or ", ".join(tags)
    properties = _properties(values[MORE])
    return Annotation(
        found,
        values[KIND] or _kind(item, label, body),
        label,
        body,
        id=_item_id(_text(item.get("id"))),
        group=values[GROUP],
        creator=_creator(item.get("creator")) or _text(item.get("user")),
        created=_text(item.get("created")),
        properties=properties,
    )


def _selectors(target: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the selectors of a target, and of all of several, with those that refine them."""
    if isinstance(target, list):
        for each in target:
            yield from _selectors(each)
    elif isinstance(target, Mapping):
        found = target.get("selector", [])
        for selector in found if isinstance(found, list) else [found]:
            if isinstance(selector, Mapping):
                yield selector
                refined = selector.get("refinedBy")
                if isinstance(refined, Mapping):
                    yield refined


def _body_values(item: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of an annotation's bodies by their purposes."""
    values = dict.fromkeys((LABEL, COMMENT, KIND, GROUP, MORE), "")
    if isinstance(item.get("bodyValue"), str):
        values[COMMENT] = item["bodyValue"]
    bodies = item.get("body", [])
    for body in bodies if isinstance(bodies, list) else [bodies]:
        if isinstance(body, str):
            values[GROUP] = values[GROUP] or body
            continue
        if not isinstance(body, Mapping):
            continue
        purpose = _text(body.get("purpose"))
        value = _text(body.get("value"))
        if not value and purpose == GROUP:
            value = unquote(_text(body.get("source")).removeprefix(GROUP_URN))
        if not value:
            continue
        if purpose == MORE and body.get("format") != "application/json":
            purpose = COMMENT
        name = purpose if purpose in values else COMMENT
        values[name] = (
            f"{values[name]}, {value}"
            if values[name] and name == LABEL
            else (f"{values[name]}\n\n{value}" if values[name] and name == COMMENT else value)
        )
    return values


def _kind(item: Mapping[str, Any], label: str, body: str) -> str:
    motivation = item.get("motivation", "")
    first = motivation[0] if isinstance(motivation, list) and motivation else motivation
    known: Iterable[tuple[str, str]] = ((m, kind) for kind, m in MOTIVATIONS.items())
    by_motivation = {"commenting": NOTE, "highlighting": HIGHLIGHT, "linking": CITATION}
    if isinstance(first, str) and first in by_motivation:
        return by_motivation[first]
    if isinstance(first, str) and first and first not in {name for name, _ in known}:
        return first
    return TAG if label else NOTE if body else HIGHLIGHT


def _item_id(id: str) -> str:
    """Return the id of an annotation of ours without the name that it was written with."""
    if not id.startswith(ITEM_URN):
        return id
    return unquote(id.removeprefix(ITEM_URN).partition(":")[2])


def _creator(creator: Any) -> str:
    if isinstance(creator, list):
        return ", ".join(filter(None, map(_creator, creator)))
    if isinstance(creator, Mapping):
        return _text(creator.get("name")) or _text(creator.get("nickname") or creator.get("id"))
    return _text(creator)


def _properties(written: str) -> dict[str, str]:
    if not written:
        return {}
    try:
        values = json.loads(written)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(values, dict):
        return {}
    return {str(name): str(value) for name, value in values.items()}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _write_file(text: AnnotatedText, what: Sequence[str]) -> Mapping[str, str]:
    return _write_collection(text.document, text.annotations(what))


def _write_utf16(text: AnnotatedText, what: Sequence[str]) -> Mapping[str, str]:
    places = UnitPlaces(text.document.text, UTF16)
    annotations = text.annotations(what)
    return _write_collection(
        text.document, [convert_places(each, places, to_units=True) for each in annotations]
    )


def _write_collection(document: Document, annotations: Sequence[Annotation]) -> Mapping[str, str]:
    content = collection_json(document, annotations)
    return {".jsonld": json.dumps(content, ensure_ascii=False, indent=1) + "\n"}


def _read_files(files: Files, document: Document, tell: Tell = ignore) -> Sequence[Annotation]:
    return [
        annotation
        for name, data in files.items()
        for annotation in read_annotations(data, name, document.id)
    ]


def _read_utf16(files: Files, document: Document, tell: Tell = ignore) -> Sequence[Annotation]:
    places = UnitPlaces(document.text, UTF16)
    return [convert_places(each, places) for each in _read_files(files, document, tell)]


FORMAT = AnnotationFormat(
    "webannotation",
    "W3C Web Annotations as JSON-LD; what Hypothesis exports is read, too",
    (".jsonld", ".json"),
    _write_file,
    _read_files,
    "application/ld+json",
)
FORMAT_UTF16 = AnnotationFormat(
    "webannotation-utf16",
    "the same with positions in UTF-16 units, as programs in a browser count",
    (".utf16.jsonld",),
    _write_utf16,
    _read_utf16,
    "application/ld+json",
)
