"""An ontology says which facts there may be, and a file that is none is refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from cases import for_each
from fabula.errors import SettingsError
from fabula_graphs.facts.checking import (
    ITSELF,
    UNFIT,
    UNRELATED,
    UNTYPED,
    Checked,
    CheckRules,
    check,
)
from fabula_graphs.facts.entities import NamedEntities, NamedEntity
from fabula_graphs.facts.ontology import Ontology, read_ontology
from fabula_graphs.facts.values import FactStatement

HAND = """
[classes]
thing = []
agent = ["thing"]
person = ["agent"]
place = ["thing"]
vehicle = ["thing"]
house = ["place"]
houseboat = ["house", "vehicle"]
beast = ["agent"]

[relations.lives_in]
from = ["agent"]
to = ["place"]
aliases = ["lives in", "dwells in"]

[relations.steers]
from = ["person"]
to = ["vehicle"]

[relations.owns]
from = ["agent"]
to = ["thing"]
inverse = "owned_by"

[relations.owned_by]
aliases = ["belongs to"]

[relations.sibling_of]
from = ["person"]
to = ["person"]
symmetric = true

[relations.related_to]
from = ["thing"]
to = ["thing"]
"""
"""Of 8 classes and 6 relations."""
NOBODY = NamedEntities()


@pytest.fixture
def ontology(tmp_path: Path) -> Ontology:
    return written(tmp_path, HAND)


def written(folder: Path, text: str) -> Ontology:
    file = folder / "hand.toml"
    file.write_text(text, encoding="utf-8")
    return read_ontology(str(file))


def said(subject: str, predicate: str, object: str, *types: str, chunk: str = "c") -> FactStatement:
    subject_type, object_type = types
    return FactStatement(chunk, 0, subject, predicate, object, subject_type, object_type)


def checked(
    ontology: Ontology,
    *statements: FactStatement,
    cast: NamedEntities = NOBODY,
    strict: bool = False,
) -> Checked:
    return check("d", statements, cast, ontology, CheckRules(strict=strict))


def told(found: Checked) -> list[tuple[str, str, str]]:
    return sorted((fact.subject.name, fact.predicate, fact.object.name) for fact in found.facts)


# Checking


def test_a_class_is_all_that_it_is_under_by_every_way(ontology: Ontology) -> None:
    assert ontology.above["houseboat"] == {"houseboat", "house", "place", "vehicle", "thing"}
    found = checked(
        ontology,
        said("Ann", "lives in", "the Ark", "person", "houseboat"),
        said("Ann", "steers", "the Ark", "person", "houseboat"),
        said("Ann", "steers", "the Manor", "person", "house"),
    )
    assert told(found) == [("Ann", "lives_in", "the Ark"), ("Ann", "steers", "the Ark")]
    assert [one.object for one in found.left_out[UNFIT]] == ["the Manor"]


def test_an_inverse_is_turned_round(ontology: Ontology) -> None:
    found = checked(ontology, said("the Ark", "belongs to", "Ann", "houseboat", "person"))
    assert told(found) == [("Ann", "owns", "the Ark")]
    assert found.turned == 1


def test_what_is_no_fact_in_either_direction_is_left_out(ontology: Ontology) -> None:
    found = checked(ontology, said("Ann", "belongs to", "the Ark", "person", "houseboat"))
    assert told(found) == []
    assert set(found.left_out) == {UNFIT}


def test_a_symmetric_fact_is_one_with_the_smaller_end_first(ontology: Ontology) -> None:
    pair = [
        said("Zoe", "sibling of", "Ann", "person", "person"),
        said("Ann", "is the sibling of", "Zoe", "person", "person", chunk="e"),
    ]
    for order in (pair, pair[::-1]):
        found = checked(ontology, *order)
        assert told(found) == [("Ann", "sibling_of", "Zoe")]
        assert {statement.chunk for statement in found.facts[0].statements} == {"c", "e"}


def test_one_of_several_types_is_enough(ontology: Ontology) -> None:
    cast = NamedEntities(
        (
            NamedEntity("1", "Polly", {"Polly": 1}, "person"),
            NamedEntity("2", "Ark", {"Ark": 1}, "odd"),
        )
    )
    found = checked(ontology, said("Polly", "steers", "Ark", "beast", "vehicle"), cast=cast)
    assert told(found) == [("Polly", "steers", "Ark")]
    assert found.facts[0].subject.types == ("beast", "person")
    without = checked(ontology, said("Polly", "steers", "Ark", "beast", "vehicle"))
    assert set(without.left_out) == {UNFIT}


def test_why_a_statement_is_left_out_is_told(ontology: Ontology) -> None:
    statements = [
        said("Ann", "hums at", "Zoe", "person", "person"),
        said("Ann", "steers", "it", "person", ""),
        said("Ann", "sibling of", "ann", "person", "person"),
    ]
    strict = checked(ontology, *statements, strict=True)
    assert {why: len(some) for why, some in strict.left_out.items()} == {
        UNRELATED: 1,
        UNTYPED: 1,
        ITSELF: 1,
    }
    lenient = checked(ontology, *statements)
    assert told(lenient) == [("Ann", "related_to", "Zoe")]


def test_two_of_one_name_are_told_apart_by_what_was_chosen(ontology: Ontology) -> None:
    cast = NamedEntities(tuple(NamedEntity(id, "John", {"John": 3}, "person") for id in ("1", "2")))
    statement = said("John", "lives in", "Rye", "person", "place")
    other = FactStatement(
        "e",
        9,
        "John",
        "lives in",
        "Rye",
        "person",
        "place",
        choices=("2", None, None),
    )
    found = checked(ontology, statement, other, cast=cast)
    assert sorted(fact.subject.entity for fact in found.facts) == ["1", "2"]


# Files


def test_the_narrative_ontology_is_as_it_is_said_to_be() -> None:
    narrative = read_ontology("narrative")
    assert len(narrative.classes) == 19
    assert narrative.above["family"] == {"family", "group", "agent", "thing"}
    assert narrative.relation_of("is the eldest son of") == "child_of"
    assert narrative.check(["person"], "child_of", ["person"]) == "parent_of"
    assert narrative.check(["person"], "employs", ["person"]) == "serves"
    assert narrative.check(["animal"], "lives_in", ["settlement"]) == "lives_in"
    assert narrative.check(["place"], "lives_in", ["person"]) == ""
    aliases = [alias for value in narrative.relations.values() for alias in value.aliases]
    assert len(aliases) == len(set(aliases))


@for_each(
    ("wrong", "right", "why"),
    [
        (
            'agent = ["thing"]',
            'agent = ["houseboat", "beast"]',
            "in a circle: 'agent'",
        ),
        ('house = ["place"]', 'house = ["plaice"]', "'plaice', which is none of its classes. Did"),
        ('to = ["vehicle"]', 'to = ["ship"]', "of 'ship', which is none of its classes"),
        ('inverse = "owned_by"', 'inverse = "had_by"', "inverse 'had_by' of 'owns' is not listed"),
        ('to = ["vehicle"]', "", "'steers' needs both `from` and `to`"),
        ('inverse = "owned_by"', "", "'owned_by' needs `from` and `to`, or an inverse"),
        ('from = ["person"]\nto = ["person"]', 'from = ["person"]\nto = ["place"]', "symmetric"),
        ("symmetric = true", 'symmetric = "yes"', "relations.sibling_of.symmetric"),
        ("[relations.steers]", "[relations.steers]\nkind = 1", "there is no such key"),
        ("[classes]", "[classes", "can't be read as TOML"),
        (
            'aliases = ["belongs to"]',
            'from = ["agent"]\nto = ["thing"]',
            "'owns' and its inverse 'owned_by' have different classes",
        ),
        (
            "[relations.steers]",
            '[relations.steers]\ninverse = "owned_by"',
            "'owned_by' is the inverse of both",
        ),
        (
            'aliases = ["belongs to"]',
            'aliases = ["is dwells in"]',
            "'is dwells in' stands for both 'lives_in' and 'owned_by'",
        ),
        (
            'aliases = ["belongs to"]',
            'aliases = ["steers"]',
            "'steers' stands for both 'steers' and 'owned_by'",
        ),
        ("[relations.steers]", '[relations."_"]', "the relation '_' has no letter in its name"),
    ],
)
def test_a_file_that_is_no_ontology_is_refused_in_words(
    tmp_path: Path, wrong: str, right: str, why: str
) -> None:
    assert wrong in HAND
    with pytest.raises(SettingsError) as raised:
        written(tmp_path, HAND.replace(wrong, right))
    assert why in str(raised.value)
    assert "hand.toml" in str(raised.value)
