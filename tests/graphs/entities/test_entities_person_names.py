"""Names that are persons' by their forenames and titles, though nothing beside them says so."""

from __future__ import annotations

from cases import for_each
from fabula.graphs.entities.person_names import recognise_persons
from fabula.graphs.entities.values import Extraction, Mention


def types(*names: str, ordinary: frozenset[str] = frozenset(), place: str = "") -> dict[str, str]:
    mentions = [Mention("c", 0, name, {name: (0,)}, "name") for name in names]
    mentions += [Mention("d", 9, place, {place: (9,)}, "place")] if place else []
    done = recognise_persons(Extraction(tuple(mentions)), "en", ordinary)
    return {mention.name: mention.type for mention in done.mentions}


@for_each("name", ["Henry Bird", "Eliza", "Mrs. Billington", "John Milton", "Emil", "Thea"])
def test_a_forename_or_a_title_makes_a_person(name: str) -> None:
    assert types(name) == {name: "person"}


@for_each("name", ["Milton", "the Henry", "James Street", "Catholic", "Knights of the Royal Oak"])
def test_other_names_stay_names(name: str) -> None:
    assert types(name) == {name: "name"}


def test_a_word_that_the_text_also_prints_small_is_no_forename_alone() -> None:
    ordinary = frozenset({"grace"})
    assert types("Grace", "Grace Poole", ordinary=ordinary) == {
        "Grace": "name",
        "Grace Poole": "person",
    }


def test_a_name_that_is_a_place_elsewhere_stays() -> None:
    assert types("Florence", place="Florence") == {"Florence": "place"}
    mentions = (Mention("c", 0, "Eliza", {"Eliza": (0,)}, "place"),)
    assert recognise_persons(Extraction(mentions), "en", ()).mentions == mentions
