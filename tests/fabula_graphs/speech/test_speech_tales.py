"""Who speaks in told stories: tales with tellers, narrators, and 235 quotations of four books.

The speakers of `tests/data/tales` were written down by hand, from the books alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from cases import for_each
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import OFFLINE, STATIC, Settings
from fabula.graph.installed import graphs
from fabula.graph.recipes import with_bases
from fabula.load import read_text
from fabula.models.counted import Meter
from fabula_bench.building import build_parts
from fabula_graphs.speech.persons import Persons
from fabula_graphs.speech.quotations import find_quotations
from fabula_graphs.speech.rules import SpeakerRules
from fabula_graphs.speech.values import SURE, Spoken
from fabula_graphs.speech.words import words_of

TALES = Path(__file__).parents[2] / "data" / "tales"
BOOKS = sorted(file.stem for file in TALES.glob("*.json"))
MIN_PRECISION, MIN_RECALL = 0.95, 0.6
CAST = {"Marlow": 5, "Kurtz": 9, "Holmes": 5, "Watson": 3}


def spoken(text: str, names: Mapping[str, int] = CAST) -> list[Spoken]:
    words = words_of("en")
    quotations = find_quotations(text, words)
    return SpeakerRules(text, quotations, words, Persons.of_names(names, words)).attribute()


def bare(name: str) -> str:
    return " ".join(name.casefold().split()).removeprefix("the ").removeprefix("a ")


def read_speakers(book: str) -> Iterator[tuple[bool, bool]]:
    """Yield for each annotated quotation whether its speaker is right, and whether it is sure."""
    settings = Settings(model=OFFLINE, embedding_model=STATIC)
    text = (TALES / f"{book}.txt").read_text(encoding="utf-8")
    gold = json.loads((TALES / f"{book}.json").read_text(encoding="utf-8"))
    document = read_text(text, source=book, collection="", title=book, language="en")
    assert document.text.strip() == text.strip()
    used = with_bases(graphs(), ["entities", "speech"])
    models = ModelFactory(settings)
    try:
        parts = build_parts(document, used, models, Meter())
    finally:
        models.close()
    found: dict[int, Mapping[str, Any]] = {
        node.properties["start"]: node.properties for node in parts["speech"].nodes
    }
    for start, words, speaker in gold["quotations"]:
        assert text.startswith(words, start)
        values = found.get(start, {"speaker": "", "printed": "", "doubtful": False})
        names = {bare(values["speaker"]), bare(values["printed"])} - {""}
        is_right = not names.isdisjoint(map(bare, gold["cast"].get(speaker, ())))
        yield is_right, bool(names) and not values["doubtful"]


def test_sure_speakers_of_four_books_are_right() -> None:
    rows = [row for book in BOOKS for row in read_speakers(book)]
    assert len(rows) >= 200
    sure = [is_right for is_right, is_sure in rows if is_sure]
    assert sum(sure) >= MIN_PRECISION * len(sure)
    assert sum(sure) >= MIN_RECALL * len(rows)


TALE = """“I knew him,” said Marlow. “Sit down.

“He was a remarkable man. ‘You, Kurtz,’ said the manager, ‘are a fool.’

“He laughed. ‘And you, Kurtz,’ said he, ‘will die.’

“So we went on.
"""
"""It goes on from paragraph to paragraph, and has not ended."""


def test_who_is_addressed_inside_a_tale_does_not_speak() -> None:
    quotations = spoken(
        f"“Now,” said Marlow.\n\n{TALE}\nII\n\n“The river was dark.\n\n“We slept.”\n"
    )
    outer = [one for one in quotations if not one.quotation.depth]
    assert {one.speaker for one in outer} == {"Marlow"}
    assert all(one.confidence >= SURE for one in outer)


def test_a_tale_goes_on_after_an_interruption() -> None:
    rest = "“The river was dark.\n\n“It was far.\n\n“We slept.”\n"
    quotations = spoken(f"{TALE.rstrip()}”\n\nHe was silent. The tide turned.\n\n{rest}")
    after = [one for one in quotations if one.quotation.start >= len(TALE)]
    assert [(one.speaker, one.rule) for one in after] == [("Marlow", "tale")] * 3


@for_each(
    ("text", "names"),
    [
        ("“Come, Watson!” cried Holmes.\n\n“Gladly,” said I.\n\n", ["Holmes", "Watson"]),
        ("“Come!” cried Holmes.\n\n“Gladly,” said I.\n\n", ["Holmes", "I"]),
    ],
)
def test_a_narrator_is_who_others_call(text: str, names: list[str]) -> None:
    quotations = spoken(text * 3)
    assert [one.speaker for one in quotations] == names * 3


def test_a_noun_that_speaks_is_a_person() -> None:
    [quotation] = spoken("“Come in,” said the Medical Man.")
    assert (quotation.speaker, quotation.is_doubtful) == ("the Medical Man", False)


@pytest.mark.parametrize("end", range(0, len(TALE), 3))
def test_a_text_may_end_anywhere(end: int) -> None:
    assert len(spoken(TALE[:end])) <= len(spoken(TALE))
