"""Strangers' annotations are read and anchored in a process of their own, within limits."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

import fabula
from fabula.errors import LoadError
from fabula.export.annotation_sandbox import MAX_ANNOTATIONS, read_and_anchor
from fabula.load import load
from fabula.load.sandbox import ReadLimits
from fabula.text.document import Document

CAROL = Path(fabula.__file__).parent / "texts" / "a-christmas-carol.txt"
FORMAT = "webannotation"


@pytest.fixture(scope="module")
def carol() -> Document:
    return load(CAROL, "default", 10**7)


def edited(text: str, share: float) -> str:
    """A text in which a share of the letters is another one."""
    draw = random.Random(412)
    return "".join(
        draw.choice("etaoin") if letter.isalpha() and draw.random() < share else letter
        for letter in text
    )


def quoted(quotations: Sequence[str]) -> dict[str, bytes]:
    """A file of annotations, each of the first words like a quotation."""
    items = [
        {
            "type": "Annotation",
            "target": {"selector": {"type": "TextQuoteSelector", "exact": quote}},
        }
        for quote in quotations
    ]
    return {"a.jsonld": json.dumps(items).encode()}


def test_a_quotation_is_found_as_it_stands_and_with_changed_words(carol: Document) -> None:
    text = carol.text
    spans = [(5_000, 5_080), (9_000, 9_400), (20_000, 40_000)]
    exact, near, long = (text[start:end] for start, end in spans)
    found = read_and_anchor(
        quoted([exact, edited(near, 0.1), edited(long, 0.25)]), FORMAT, carol, "a.jsonld"
    )
    anchors = [item.anchor for item in found.items]
    assert found.untried == found.moved == 0
    for anchor, (start, end) in zip(anchors, spans, strict=True):
        assert anchor is not None
        assert abs(anchor.start - start) < 40
        assert abs(anchor.end - end) < 40


def test_what_takes_too_long_or_too_much_is_refused_in_words(carol: Document) -> None:
    absent = quoted([f"the {number} of nothing is {number * 7} here" for number in range(20_000)])
    with pytest.raises(LoadError, match=r"^a\.jsonld takes more than 1 seconds to read"):
        read_and_anchor(absent, FORMAT, carol, "a.jsonld", ReadLimits(seconds=1))
    with pytest.raises(LoadError, match=r"^a\.jsonld takes more than 0\.0 GB of memory"):
        read_and_anchor(absent, FORMAT, carol, "a.jsonld", ReadLimits(memory=1_000_000))
    many = quoted(["x"] * (MAX_ANNOTATIONS + 1))
    with pytest.raises(LoadError, match=r"has 250,001 annotations, and at most 250,000 are read"):
        read_and_anchor(many, FORMAT, carol, "a.jsonld")


@pytest.mark.parametrize(
    ("format", "content", "problem"),
    [
        (FORMAT, b"[" * 200_000, "is nested too deeply"),
        ("tei", b"<TEI>" + b"<p>" * 100_000 + b"</p>" * 100_000 + b"</TEI>", "annotations"),
        (FORMAT, b"[]", "has no annotations"),
        ("dracor", b"", "is only written"),
    ],
)
def test_what_can_not_be_read_is_told(
    carol: Document, format: str, content: bytes, problem: str
) -> None:
    with pytest.raises(LoadError, match=problem):
        read_and_anchor({"a": content}, format, carol, "a")
