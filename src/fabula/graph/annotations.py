"""Annotations that people or other programs made of a document, kept beside its graphs.

A layer of annotations belongs to the document and not to a graph's part: it outlives rebuilds and
new versions of the text. Each annotation keeps its words and what is around them, by which it is
found again in an edited text (`fabula.text.anchoring`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, NamedTuple

from fabula.models.clean import clean_text
from fabula.text.anchoring import POSITION, Anchor, QuoteReader, TextQuote, anchor_quotes
from fabula.text.ids import digest
from fabula.text.phrases import SearchBudget
from fabula.text.units import UnitPlaces

NOTES = "notes"
"""The layer of what readers note themselves."""
ENTITY, QUOTATION, EVENT, NOTE, HIGHLIGHT, CITATION, TAG = (
    *("entity", "quotation", "event", "note", "highlight", "citation", "tag"),
)
"""What annotations are of: the `kind` may also be any other word."""
MAX_LAYER_CHARACTERS = 200
"""Of the name of a layer."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """Characters of a document that are marked, and what is said of them.

    Attributes:
        quote: The words, what is around them, and where they stood when they were imported.
        kind: What it is: ENTITY, QUOTATION, EVENT, NOTE, HIGHLIGHT, CITATION, TAG or any word.
        label: Its tag, the name of the entity, or the speaker; '' for none.
        body: What is said about the words, such as the text of a note.
        id: Its id in its file; '' is replaced by a hash of the rest.
        group: What it has in common with others, as all mentions of a person have; '' for nothing.
        creator: Who made it.
        created: When, as its file says it.
        properties: Anything else that its file says, by name.
    """

    quote: TextQuote
    kind: str = TAG
    label: str = ""
    body: str = ""
    id: str = ""
    group: str = ""
    creator: str = ""
    created: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def start(self) -> int:
        """The first character of its words; -1 if it is not known."""
        return self.quote.start

    @property
    def end(self) -> int:
        """The character after its words; -1 if it is not known."""
        return self.quote.end

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON holds it; what is empty is left out."""
        values = asdict(self)
        return {**values.pop("quote"), **{name: v for name, v in values.items() if v}}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Annotation:
        """Return the annotation that `to_json` has written."""
        names = {each.name for each in fields(TextQuote)}
        quote = TextQuote(**{name: values[name] for name in names})
        return cls(quote, **{name: v for name, v in values.items() if name not in names})


@dataclass(frozen=True, slots=True)
class LayerRecord:
    """What is known of a layer without its annotations.

    Attributes:
        name: Its name, unique in the document.
        document: The id of the document.
        source: The file that it was imported from; '' for notes of one's own.
        format: The format of that file.
        by: Who imported it.
        at: When, in ISO 8601; '' before it is kept.
        text: The `text_digest` of the text that its places are of.
        count: How many annotations it has.
        digest: A hash of all of them.
    """

    name: str
    document: str
    source: str = ""
    format: str = ""
    by: str = ""
    at: str = ""
    text: str = ""
    count: int = 0
    digest: str = ""


@dataclass(frozen=True, slots=True)
class AnnotationLayer:
    """A layer with its annotations, in the order of the text."""

    record: LayerRecord
    annotations: tuple[Annotation, ...]

    @property
    def name(self) -> str:
        """Its name."""
        return self.record.name


class PlacedAnnotation(NamedTuple):
    """An annotation, and where it stands in the document's present text; None for nowhere."""

    annotation: Annotation
    anchor: Anchor | None


def make_layer(record: LayerRecord, annotations: Iterable[Annotation]) -> AnnotationLayer:
    """Return a layer of annotations, each with an id, in text order, and its record filled."""
    named: dict[str, Annotation] = {}
    # A file may give one id to a hundred thousand: the search for a free one goes on where it was.
    numbers: dict[str, int] = {}
    for annotation in map(_clean, annotations):
        id = annotation.id or digest(10, "annotation", _canonical([annotation]))
        unique, number = id, numbers.get(id, 1)
        while unique in named:
            number += 1
            unique = f"{id}-{number}"
        numbers[id] = number
        named[unique] = replace(annotation, id=unique)
    ordered = tuple(sorted(named.values(), key=lambda a: (a.start, a.end, a.id)))
    hashed = hashlib.blake2b(_canonical(ordered).encode("utf-8", "surrogatepass"), digest_size=8)
    record = replace(record, count=len(ordered), digest=hashed.hexdigest())
    return AnnotationLayer(record, ordered)


def text_digest(text: str) -> str:
    """Return 16 hex digits of a document's text, by which a layer knows that it is unchanged."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def convert_places(
    annotation: Annotation, places: UnitPlaces, *, to_units: bool = False
) -> Annotation:
    """Return an annotation with its place in characters, or with `to_units` in units."""
    convert = places.to_units if to_units else places.to_character
    start, end = (convert(at) if at >= 0 else at for at in (annotation.start, annotation.end))
    return replace(annotation, quote=replace(annotation.quote, start=start, end=end))


def anchor_annotations(
    text: str,
    annotations: Sequence[Annotation],
    budget: SearchBudget | None = None,
    report: Callable[[int, int], None] = lambda done, known: None,
) -> list[PlacedAnnotation]:
    """Find imported annotations in a text, and complete what their file does not say of it.

    One whose words stand in the text gets the quotation and the context of the text itself. Others
    stay as they came. `budget` bounds the search, and counts those that are not looked for;
    `report` receives how many have been looked for, of how many.

    Raises:
        BadValue: They mark too many characters.
    """
    quotations = [annotation.quote for annotation in annotations]
    anchors = anchor_quotes(text, quotations, budget, report)
    quotes = QuoteReader(text)
    return [
        PlacedAnnotation(
            replace(annotation, quote=quotes.read(anchor.start, anchor.end))
            if anchor
            else annotation,
            anchor,
        )
        for annotation, anchor in zip(annotations, anchors, strict=True)
    ]


def place_annotations(text: str, layer: AnnotationLayer) -> list[PlacedAnnotation]:
    """Return the annotations of a layer with their places in a text, in the layer's order."""
    if layer.record.text == text_digest(text):
        # The same text: whatever stood in it still does.
        return [
            PlacedAnnotation(
                annotation,
                Anchor(annotation.start, annotation.end, POSITION)
                if _stands(annotation.quote, text)
                else None,
            )
            for annotation in layer.annotations
        ]
    anchors = anchor_quotes(text, [annotation.quote for annotation in layer.annotations])
    return [
        PlacedAnnotation(annotation, anchor)
        for annotation, anchor in zip(layer.annotations, anchors, strict=True)
    ]


def _stands(quote: TextQuote, text: str) -> bool:
    """Whether a quotation and what is around it stand in a text at its place."""
    whole = quote.prefix + quote.exact + quote.suffix
    is_place = 0 <= quote.start < quote.end <= len(text)
    return is_place and text.startswith(whole, quote.start - len(quote.prefix))


def _clean(annotation: Annotation) -> Annotation:
    """Return an annotation without characters that no database stores."""
    quote = annotation.quote
    return replace(
        annotation,
        quote=replace(
            quote,
            exact=clean_text(quote.exact),
            prefix=clean_text(quote.prefix),
            suffix=clean_text(quote.suffix),
        ),
        **{name: clean_text(getattr(annotation, name)) for name in _TEXTS},
        properties={clean_text(k): clean_text(v) for k, v in annotation.properties.items()},
    )


_TEXTS = ("kind", "label", "body", "id", "group", "creator", "created")


def _canonical(annotations: Sequence[Annotation]) -> str:
    rows = [annotation.to_json() for annotation in annotations]
    return json.dumps(rows, ensure_ascii=False, sort_keys=True)
