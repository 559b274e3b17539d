"""Strangers' annotations are read and anchored in a process of their own, within limits."""

from __future__ import annotations

import threading
import time

import pytest

from fabula.errors import LoadError, Stopped
from fabula.export.annotation_sandbox import MAX_ANNOTATIONS, read_and_anchor
from fabula.load import load
from fabula.load.sandbox import ReadLimits
from fabula.models.stop import Stop
from fabula.text.document import Document
from quoted import CAROL, edited, quote_many, quoted

FORMAT = "webannotation"


@pytest.fixture(scope="module")
def carol() -> Document:
    return load(CAROL, "default", 10**7)


def test_a_quotation_is_found_as_it_stands_and_with_changed_words(carol: Document) -> None:
    text = carol.text
    spans = [(5_000, 5_080), (9_000, 9_400), (20_000, 40_000)]
    exact, near, long = (text[start:end] for start, end in spans)
    found = read_and_anchor(
        {"a": quoted([exact, edited(near, 0.1), edited(long, 0.25)])}, FORMAT, carol, "a.jsonld"
    )
    anchors = [item.anchor for item in found.items]
    assert found.untried == found.moved == 0
    for anchor, (start, end) in zip(anchors, spans, strict=True):
        assert anchor is not None
        assert abs(anchor.start - start) < 40
        assert abs(anchor.end - end) < 40


def test_what_takes_too_long_or_too_much_is_refused_in_words(carol: Document) -> None:
    absent = {
        "a": quoted([f"the {number} of nothing is {number * 7} here" for number in range(20_000)])
    }
    with pytest.raises(LoadError, match=r"^a\.jsonld takes more than 1 seconds to read"):
        read_and_anchor(absent, FORMAT, carol, "a.jsonld", ReadLimits(seconds=1))
    with pytest.raises(LoadError, match=r"^a\.jsonld takes more than 0\.0 GB of memory"):
        read_and_anchor(absent, FORMAT, carol, "a.jsonld", ReadLimits(memory=1_000_000))
    many = {"a": quoted(["x"] * (MAX_ANNOTATIONS + 1))}
    with pytest.raises(LoadError, match=r"has 250,001 annotations, and at most 250,000 are read"):
        read_and_anchor(many, FORMAT, carol, "a.jsonld")


def test_a_long_search_tells_how_far_it_is_and_ends_when_it_is_stopped(carol: Document) -> None:
    stop = Stop()
    reports: list[tuple[int, int]] = []

    def report(done: int, known: int) -> None:
        reports.append((done, known))
        if done:
            stop.set()

    files = {"a": quote_many(carol.text, 5_000)}
    with pytest.raises(Stopped):
        read_and_anchor(files, FORMAT, carol, "a", report=report, stop=stop)
    assert reports[0] == (0, 5_000)
    assert 0 < reports[-1][0] < 5_000
    # From another thread it is heard of while nothing is reported.
    stop = Stop()
    threading.Timer(0.5, stop.set).start()
    began = time.monotonic()
    with pytest.raises(Stopped):
        read_and_anchor(files, FORMAT, carol, "a", stop=stop)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("format", "content", "problem"),
    [
        (FORMAT, b"[" * 200_000, "is nested too deeply"),
        ("tei", b"<TEI>" + b"<p>" * 100_000 + b"</p>" * 100_000 + b"</TEI>", "annotations"),
        (FORMAT, b"[]", "has no annotations"),
    ],
)
def test_what_can_not_be_read_is_told(
    carol: Document, format: str, content: bytes, problem: str
) -> None:
    with pytest.raises(LoadError, match=problem):
        read_and_anchor({"a": content}, format, carol, "a")
