"""Six patterns find few facts without a model, and those that were judged by hand are right."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import fabula
from cases import for_each
from fabula.graph.parts import part_of
from fabula.graphs.entities import GRAPH as ENTITIES
from fabula.graphs.facts.rules import match, state_by_rules
from fabula.load import load
from fabula.text.chunk import split
from scripted import Models, Says, built, entity, made_chunks, told
from stated_facts import Model, cast_of, facts_of, texts

JUDGED = Path(__file__).parents[2] / "data" / "facts"
CAROL = Path(fabula.__file__).parent / "texts" / "a-christmas-carol.txt"


def found(sentence: str, *names: str) -> list[tuple[str, str, str]]:
    places = []
    for name in names:
        at = -1
        while (at := sentence.find(name, at + 1)) >= 0:
            places.append((at, name, name))
    return [(one[1], how, other[1]) for one, how, other in match(sentence, sorted(places))]


@pytest.mark.parametrize(
    ("sentence", "how"),
    [
        ("There came Ann, the eldest daughter of Zoe, and sat.", "daughter of"),
        ("There came Ann, Zoe's sister; he sat.", "sister of"),
        ("There came Zoe’s brother, Ann; he sat.", "brother of"),
        ("There came Zoe's dear friend Ann to supper.", "friend of"),
        ("Ann was the servant of Zoe.", "servant of"),
        ("Ann married Zoe in May.", "married"),
    ],
)
def test_each_pattern_finds_who_is_what_to_whom(sentence: str, how: str) -> None:
    assert found(sentence, "Ann", "Zoe") == [("Ann", how, "Zoe")]


@for_each(
    "sentence",
    [
        "There came his daughter Ann, and Zoe sat.",
        "Ann was the servant of Zoe's aunt.",
        "Ann was not the servant of Zoe.",
        "When he met Ann, Zoe's wife was ill.",
        "We saw Zoe's brother, Ann, and a dog.",
        "Ann married Zoe's cousin.",
        "We saw Ann, Zoe's brother, and a dog.",
        "Ann and the son of a friend saw Zoe.",
        "You know that Ann was the servant of Zoe?",
        "Do you remember, Ann, Zoe's brother?",
        "If Ann was the servant of Zoe, he knew.",
        "Neither Bob nor Ann married Zoe in May.",
        "We saw neither Ann, Zoe's brother, nor a dog.",
    ],
)
def test_what_is_said_of_others_is_no_fact(sentence: str) -> None:
    assert found(sentence, "Ann", "Zoe") == []


def test_what_a_condition_tells_by_the_way_is_a_fact() -> None:
    sentence = "If Ann, the servant of Zoe, comes, who will be glad? Zoe will."
    assert found(sentence.partition("who")[0], "Ann", "Zoe") == [("Ann", "servant of", "Zoe")]


def test_rules_read_english_alone_and_keep_the_sentence() -> None:
    chunks = made_chunks(
        "There came Ann Hale, the\ndaughter of Zoe Hale, and sat. ", "Zoe Hale slept. "
    )
    cast = cast_of(
        chunks,
        {"There": {"entities": [entity("Ann Hale", 1), entity("Zoe Hale", 1)], "relations": []}},
    )
    made = facts_of(Model(), chunks, cast, offline=True)
    assert texts(made) == ["Zoe Hale is a parent of Ann Hale"]
    told = made.nodes[0].properties
    assert (told["by"], told["proof"]) == (
        "rules",
        "There came Ann Hale, the daughter of Zoe Hale, and sat.",
    )
    assert state_by_rules(chunks, cast, "pl") == []


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("They told Peter the father of Mary was dead.", ("Peter", "Mary")),
        ("He showed Scrooge the brother of Marley.", ("Scrooge", "Marley")),
        ("Father Brown married Anna to Peter.", ("Father Brown", "Anna", "Peter")),
    ],
)
def test_what_only_looks_like_a_pattern_is_no_fact(sentence: str, names: tuple[str, ...]) -> None:
    assert found(sentence, *names) == []


def judged(book: str) -> list[dict[str, str]]:
    """What was found in a book, with a person's verdict."""
    with (JUDGED / f"{book}.tsv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


@pytest.mark.parametrize("book", ["carol", "cornwall", "hound"])
def test_what_was_found_in_books_and_judged_right_is_still_found(book: str) -> None:
    """Four facts in three books: too few to tell a precision."""
    right = [row for row in judged(book) if row["verdict"] == "right"]
    assert right
    for row in right:
        told = (row["subject"], row["predicate"], row["object"])
        assert told in found(row["sentence"], row["subject"], row["object"]), row


def test_all_that_is_found_in_the_carol_was_judged_right() -> None:
    document = load(CAROL, "default", 10**7)
    chunks = split(document, 200)
    made, _ = built(chunks, Models(Says(str), offline=True))
    cast = part_of(ENTITIES, told(chunks), made, {}, {})
    stated = state_by_rules(chunks, cast, document.language)
    facts = {(one.subject, one.predicate, one.object, one.proof) for one in stated}
    right = {
        (row["subject"], row["predicate"], row["object"], row["sentence"])
        for row in judged("carol")
        if row["verdict"] == "right"
    }
    assert facts == right, "judge what is new, and add it to the list"
