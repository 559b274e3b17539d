"""Read UIMA CAS as XMI (OASIS UIMA 1.0, section 7.1) or JSON, which INCEpTION exports.

A file has the text that was annotated, as one or several subjects of analysis (sofas), and feature
structures: those with a `begin` and an `end`, in UTF-16 units, are annotations, and the others link
them. Their names and values are enough to read them, so that no type system is needed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabula.errors import LoadError
from fabula.export.annotation_formats import AnnotationFormat, Tell, ignore
from fabula.graph.annotations import TAG, Annotation
from fabula.load.xml_tree import parse
from fabula.text.document import Document
from fabula.text.units import UTF16
from fabula_scholar.exchange.token_files import ToolText

XMI_ID = "{http://www.omg.org/XMI}id"
SOFA = "uima.cas.Sofa"
ANALYSES = (
    *("uima.", ".segmentation.type.", ".lexmorph.type.", ".syntax.type.", ".metadata.type."),
)
"""Parts of the names of types by which a program describes each token. They are left out."""
LABELS = ("value", "label", "identifier", "referenceType", "category")
"""Features that say what an annotation is; else the name of its type does."""
PLACES = ("sofa", "begin", "end", "next", "first")


@dataclass(frozen=True, slots=True)
class _Structure:
    """A feature structure, its values as text; those that name others as lists of ids."""

    id: str
    type: str
    values: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.type.rpartition(".")[2]

    @property
    def span(self) -> tuple[int, int] | None:
        begin, end = (self.values.get(name, "") for name in ("begin", "end"))
        is_place = begin.isdecimal() and end.isdecimal() and int(begin) < int(end)
        return (int(begin), int(end)) if is_place else None


def read_uima(
    files: Mapping[str, bytes], document: Document, tell: Tell = ignore
) -> Sequence[Annotation]:
    """Read UIMA CAS files as annotations of a document; chains become groups.

    Raises:
        LoadError: A file is neither the XMI nor the JSON of a CAS.
    """
    annotations: list[Annotation] = []
    for name, data in files.items():
        if name.lower().endswith("typesystem.xml"):
            continue
        is_json = data.lstrip(b"\xef\xbb\xbf \r\n").startswith(b"{")
        structures = list((_read_json if is_json else _read_xmi)(data, name, tell))
        texts = {
            each.id: ToolText(each.values["sofaString"], UTF16, document)
            for each in structures
            if each.type == SOFA and each.values.get("sofaString")
        }
        if not texts:
            raise LoadError(f"{name} has no text of UIMA (sofaString).")
        annotations += _make_annotations(structures, texts, name, tell)
    return annotations


def _read_xmi(data: bytes, name: str, tell: Tell) -> Iterator[_Structure]:
    root = parse(
        data,
        lambda reason: LoadError(f"{name} can't be read as XML: {reason}."),
        lambda what: tell(f"{name} {what}."),
    )
    for element in root:
        space, _, local = element.tag.removeprefix("{").rpartition("}")
        package = space.removeprefix("http:///").removesuffix(".ecore").replace("/", ".")
        lists: dict[str, list[str]] = {}
        for child in element:
            lists.setdefault(child.tag, []).append(child.text or "")
        values = {key: ", ".join(texts) for key, texts in lists.items()} | element.attrib
        yield _Structure(values.pop(XMI_ID, ""), f"{package}.{local}", values)


def _read_json(data: bytes, name: str, tell: Tell) -> Iterator[_Structure]:
    try:
        structures = json.loads(data)["%FEATURE_STRUCTURES"]
        for each in structures if isinstance(structures, list) else structures.values():
            values = {
                key.lstrip("@"): _write_value(value)
                for key, value in each.items()
                if not key.startswith(("%", "^"))
            }
            elements = map(_write_value, each.get("%ELEMENTS", ()))
            yield _Structure(
                str(each["%ID"]), each["%TYPE"], values | {"elements": " ".join(elements)}
            )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LoadError(f"{name} is not the JSON of a UIMA CAS: {error!r}.") from error


def _write_value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def _make_annotations(
    structures: Sequence[_Structure], texts: Mapping[str, ToolText], name: str, tell: Tell
) -> Iterator[Annotation]:
    by_id = {each.id: each for each in structures}
    groups = dict(_find_chains(by_id))
    left_out: Counter[str] = Counter()
    for each in structures:
        text, span = texts.get(each.values.get("sofa", "")), each.span
        if text is None or span is None:
            continue
        if any(part in each.type for part in ANALYSES):
            left_out[each.name] += 1
            continue
        values = {
            key: value
            for key, said in each.values.items()
            if key not in PLACES
            for key, value in _resolve(key, said, by_id, texts)
            if value
        }
        label = next((values[key] for key in LABELS if key in values), each.name)
        yield Annotation(
            text.quote(*span),
            TAG,
            label,
            id=each.id,
            group=groups.get(each.id, ""),
            properties={"layer": each.name, **values},
        )
    if left_out:
        counts = ", ".join(f"{count:,} {kind}" for kind, count in left_out.most_common())
        tell(f"{name}: what describes each token is left out ({counts}).")


def _find_chains(by_id: Mapping[str, _Structure]) -> Iterator[tuple[str, str]]:
    """Yield the ids of annotations that follow each other in a chain, and that of the chain."""
    seen: set[str] = set()
    for chain in by_id.values():
        link = chain.values.get("first", "")
        while link in by_id and link not in seen:
            seen.add(link)
            yield link, f"chain-{chain.id}"
            link = by_id[link].values.get("next", "")


def _resolve(
    key: str, value: str, by_id: Mapping[str, _Structure], texts: Mapping[str, ToolText]
) -> Iterator[tuple[str, str]]:
    """Yield a value by its name; of what names other annotations their words, by their roles."""
    named = [by_id.get(id) for id in value.split()]
    if key in ("Governor", "Dependent", "source", "target"):
        yield key, ", ".join(filter(None, (_words(each, texts) for each in named)))
    elif named and all(each is not None and "target" in each.values for each in named):
        for link in filter(None, named):
            words = _words(by_id.get(link.values["target"]), texts)
            yield link.values.get("role", "") or key, words
    elif len(named) == 1 and named[0] and named[0].values.get("elements"):
        yield from _resolve(key, named[0].values["elements"], by_id, texts)
    else:
        yield key, value


def _words(structure: _Structure | None, texts: Mapping[str, ToolText]) -> str:
    text = texts.get(structure.values.get("sofa", "")) if structure else None
    return text.words(*structure.span) if text and structure and structure.span else ""


FORMAT = AnnotationFormat(
    "uima",
    "UIMA CAS as XMI or JSON, which INCEpTION exports",
    (".xmi", ".cas.json", "typesystem.xml"),
    None,
    read_uima,
)
