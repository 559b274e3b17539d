"""Read and anchor a file of annotations in a process of its own, with limits of time and memory.

A file may make its parser use all memory, and a quotation that is nearly in a book is compared with
much of it: neither may hold up the process that serves other people. `python -m
fabula.export.annotation_sandbox` is that process: it reads one request from standard input.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabula.errors import FabulaError, LoadError
from fabula.export.annotation_formats import Tell, find_format
from fabula.graph.annotations import (
    Annotation,
    PlacedAnnotation,
    anchor_annotations,
    convert_places,
)
from fabula.load import sandbox
from fabula.models.stop import Stop
from fabula.text.anchoring import Anchor
from fabula.text.document import Document
from fabula.text.nouns import count_noun
from fabula.text.phrases import SearchBudget
from fabula.text.units import CHARACTERS, UTF16, UnitPlaces, recognise_unit

LIMITS = sandbox.ReadLimits(seconds=55, memory=2_000_000_000)
MAX_ANNOTATIONS = 250_000
"""Of one file: the process that serves others holds them all. A novel has half as many words."""


@dataclass(frozen=True, slots=True)
class AnchoredFile:
    """The annotations of a file with their places in a document.

    Attributes:
        items: The annotations, completed by the text, and where they stand.
        moved: How many do not stand where the file says.
        untried: How many were not looked for, or not everywhere, as that would take too long.
        remarks: What is to be said of the files, in full sentences.
    """

    items: tuple[PlacedAnnotation, ...]
    moved: int
    untried: int
    remarks: tuple[str, ...]


def read_and_anchor(
    files: Mapping[str, bytes],
    format: str,
    document: Document,
    name: str,
    limits: sandbox.ReadLimits = LIMITS,
    report: sandbox.Report = sandbox.ignore,
    stop: Stop | None = None,
) -> AnchoredFile:
    """Read files of annotations, and find each annotation in the document that they are of.

    Args:
        files: The contents of the files by their names.
        format: The name of an `AnnotationFormat` that can be read.
        document: The document.
        name: What messages call the files.
        limits: The limits of time and memory.
        report: Receives how many annotations have been looked for, of how many.
        stop: Ends the process once it is set.

    Raises:
        LoadError: They have no annotations, or can't be read within the limits.
        Stopped: `stop` was set.
    """
    request = pickle.dumps((dict(files), format, document, name, limits))
    answer = json.loads(sandbox.run_once(__spec__.name, request, name, limits, report, stop))
    if "error" in answer:
        raise LoadError(answer["error"])
    items = tuple(
        PlacedAnnotation(Annotation.from_json(values), Anchor(*anchor) if anchor else None)
        for values, anchor in answer["items"]
    )
    return AnchoredFile(items, answer["moved"], answer["untried"], tuple(answer["remarks"]))


def _count_in_characters(
    text: str, annotations: Sequence[Annotation], tell: Tell
) -> Sequence[Annotation]:
    """Return annotations whose places count characters, whatever unit their file counts.

    The unit is recognised by the quotations that stand in it where the file says.
    """
    quotes = [annotation.quote for annotation in annotations]
    bare = sum(not quote.exact and quote.start >= 0 for quote in quotes)
    if bare:
        words = count_noun(bare, "annotation")
        tell(f"{words} with a position and no quotation: nothing but the position says of which.")
    unit = recognise_unit(text, quotes)
    if not unit and bare and UnitPlaces(text, UTF16).to_units(len(text)) != len(text):
        tell(
            "The positions were taken as characters, as no quotation says what they count. A "
            "program in a browser counts UTF-16 units: import its file as webannotation-utf16."
        )
    if unit in ("", CHARACTERS):
        return annotations
    tell(f"The file counts its positions in {unit}, as its quotations show.")
    places = UnitPlaces(text, unit)
    return [convert_places(annotation, places) for annotation in annotations]


def _answer(request: bytes, report: sandbox.Report) -> dict[str, object]:
    files, format, document, name, limits = pickle.loads(request)
    sandbox.confine(limits.memory, limits.seconds)
    remarks: list[str] = []
    try:
        read = find_format(format).read
        annotations = read(files, document, remarks.append)
        if not annotations:
            raise LoadError(f"{name} has no annotations.")
        if len(annotations) > MAX_ANNOTATIONS:
            raise LoadError(
                f"{name} has {len(annotations):,} annotations, and at most {MAX_ANNOTATIONS:,} are "
                "read from one file: import them in parts."
            )
        annotations = _count_in_characters(document.text, annotations, remarks.append)
        budget = SearchBudget()
        placed = anchor_annotations(document.text, annotations, budget, report)
    except FabulaError as error:
        return {"error": str(error)}
    except RecursionError:
        return {"error": f"{name} is nested too deeply to be read."}
    moved = sum(
        item.anchor is not None and before.start >= 0 and item.anchor.start != before.start
        for item, before in zip(placed, annotations, strict=True)
    )
    items = [
        (
            item.annotation.to_json(),
            item.anchor and (item.anchor.start, item.anchor.end, item.anchor.how),
        )
        for item in placed
    ]
    return {"items": items, "moved": moved, "untried": budget.untried, "remarks": remarks}


if __name__ == "__main__":
    sandbox.serve_once(lambda request, report: json.dumps(_answer(request, report)).encode())
