"""W3C Web Annotations, as the Recommendation of 23 February 2017 has them, out and in."""

from __future__ import annotations

import json
import random

import pytest

from cases import for_each
from fabula.errors import BadValue, LoadError
from fabula.export.web_annotation import annotation_json, collection_json, read_annotations
from fabula.graph.annotations import (
    Annotation,
    LayerRecord,
    anchor_annotations,
    make_layer,
    place_annotations,
    text_digest,
)
from fabula.text.anchoring import TextQuote, quote_at
from fabula.text.document import Document

TEXT = "Marley was dead: to begin with. There is no doubt whatever about that. 𝔐arley was dead."


def document(text: str = TEXT) -> Document:
    return Document("d1", "books", "carol.txt", "Carol", "", "en", text, (), "0" * 16)


def note(start: int = 11, end: int = 15, text: str = TEXT) -> Annotation:
    return Annotation(
        quote_at(text, start, end),
        "note",
        "death",
        "He is dead.\n\nQuite.",
        id="a/1",
        group="g 1",
        creator="Ann",
        created="2026-11-26T10:00:00+00:00",
        properties={"certainty": "high"},
    )


def test_an_annotation_is_written_as_the_model_has_it() -> None:
    written = annotation_json(document(), note())
    assert written["type"] == "Annotation"
    assert written["motivation"] == "commenting"
    assert written["target"]["selector"] == [
        {"type": "TextPositionSelector", "start": 11, "end": 15},
        {
            "type": "TextQuoteSelector",
            "exact": "dead",
            "prefix": "Marley was ",
            "suffix": TEXT[15:47],
        },
    ]
    assert written["target"]["source"]["id"] == "urn:fabula:document:d1"
    assert written["body"][:2] == [
        {"type": "TextualBody", "purpose": "tagging", "value": "death"},
        {"type": "TextualBody", "purpose": "commenting", "value": "He is dead.\n\nQuite."},
    ]
    assert written["creator"] == {"type": "Person", "name": "Ann"}
    assert written["id"] == "urn:fabula:annotation:d1:a%2F1"


def test_what_is_written_is_read_back_whole() -> None:
    every = [note(), Annotation(quote_at(TEXT, 0, 6), "entity", "Marley", id="m")]
    collection = collection_json(document(), every)
    assert collection["@context"] == "http://www.w3.org/ns/anno.jsonld"
    assert (collection["type"], collection["total"]) == ("AnnotationCollection", 2)
    assert collection["first"]["type"] == "AnnotationPage"
    assert read_annotations(json.dumps(collection).encode(), "x") == every


# Examples 22 and 23 of the Recommendation, as it prints them, in one.
OF_THE_MODEL = """{
  "@context": "http://www.w3.org/ns/anno.jsonld",
  "id": "http://example.org/anno23",
  "type": "Annotation",
  "body": "http://example.org/comment1",
  "target": {
    "source": "http://example.org/page1",
    "selector": {
      "type": "TextQuoteSelector",
      "exact": "anotation",
      "prefix": "this is an ",
      "suffix": " that has some"
    }
  }
}"""
# A row as the API of Hypothesis (api/search) returns it.
OF_HYPOTHESIS = """{"total": 1, "rows": [{
  "id": "jRXQMLWxEfCdqBe6Yh2l3A", "created": "2025-10-30T17:02:11.183024+00:00",
  "user": "acct:reader@hypothes.is", "uri": "https://example.org/carol", "text": "First words.",
  "tags": ["death", "opening"], "group": "__world__",
  "target": [{"source": "https://example.org/carol", "selector": [
    {"type": "RangeSelector", "startContainer": "/p[1]", "endContainer": "/p[1]",
     "startOffset": 0, "endOffset": 15},
    {"type": "TextPositionSelector", "start": 4200, "end": 4215},
    {"type": "TextQuoteSelector", "exact": "Marley was dead", "prefix": "", "suffix": ": to begin"}
  ]}]}]}"""


def test_annotations_of_others_are_read() -> None:
    [of_model] = read_annotations(OF_THE_MODEL.encode(), "x")
    assert of_model.quote == TextQuote("anotation", "this is an ", " that has some")
    assert (of_model.id, of_model.group) == (
        "http://example.org/anno23",
        "http://example.org/comment1",
    )
    [row] = read_annotations(OF_HYPOTHESIS.encode(), "x")
    assert (row.label, row.body, row.creator) == (
        "death, opening",
        "First words.",
        "acct:reader@hypothes.is",
    )
    [placed] = anchor_annotations(TEXT, [row])
    assert placed.anchor is not None
    assert (placed.anchor.start, placed.anchor.end) == (0, 15)


@for_each("data", [b"", b"{", b"[]", b'{"type": "Annotation"}', b'{"items": [1]}'])
def test_a_file_without_annotations_is_refused(data: bytes) -> None:
    with pytest.raises(LoadError, match="x"):
        read_annotations(data, "x")


def test_each_target_is_an_annotation_and_one_without_words_is_kept() -> None:
    words = [{"selector": {"type": "TextQuoteSelector", "exact": each}} for each in ("a", "b")]
    item = {"type": "Annotation", "id": "x", "bodyValue": "Both.", "target": words, "tags": 5}
    page_note = {"id": "y", "target": [{"source": "http://a"}], "text": "Of the whole."}
    read = read_annotations(json.dumps([item, page_note]).encode(), "x")
    assert [(a.id, a.quote.exact, a.group, a.body) for a in read] == [
        ("x-0", "a", "x", "Both."),
        ("x-1", "b", "x", "Both."),
        ("y", "", "", "Of the whole."),
    ]


@for_each("depth", [200, 960, 5_000, 200_000])
def test_what_is_nested_deeply_is_refused(depth: int) -> None:
    for left, right in (("[", "]"), ('{"items":', "}"), ('{"target":[[],' + "[", "]]}")):
        with pytest.raises(LoadError, match=r"nested|JSON|no annotations"):
            read_annotations((left * depth + "1" + right * depth).encode(), "x")


def test_a_small_file_does_not_mark_more_than_memory_holds() -> None:
    text = "word " * 200_000
    every = [Annotation(TextQuote("", start=0, end=len(text)))] * 1_000
    with pytest.raises(BadValue, match="import them in parts"):
        anchor_annotations(text, every)


def test_five_thousand_annotations_come_back_on_the_same_characters() -> None:
    check_round_trip(5_000)


def check_round_trip(count: int) -> None:
    text = " ".join(f"{TEXT} {number}" for number in range(3_000))
    drawn = random.Random(36)
    starts = [drawn.randrange(len(text) - 40) for _ in range(count)]
    every = [
        Annotation(quote_at(text, start, start + 1 + start % 40), "tag", f"t{start % 7}", id=str(n))
        for n, start in enumerate(starts)
    ]
    data = json.dumps(collection_json(document(text), every)).encode()
    placed = anchor_annotations(text, read_annotations(data, "x"))
    layer = make_layer(
        LayerRecord("x", "d1", text=text_digest(text)), [item.annotation for item in placed]
    )
    again = {item.annotation.id: item for item in place_annotations(text, layer)}
    assert len(again) == count
    shifted = 0
    for annotation in every:
        anchor = again[annotation.id].anchor
        assert anchor is not None
        shifted += (anchor.start, anchor.end) != (annotation.start, annotation.end)
    assert shifted == 0
