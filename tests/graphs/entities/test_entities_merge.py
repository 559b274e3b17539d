"""Who is who: names of one person are one entity, names of two are not, and each merge says why."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from cases import for_each
from fabula.errors import SettingsError
from fabula.graphs.entities.decided_pairs import DecidedPairs, read_decided_pairs
from fabula.graphs.entities.merge import resolve_mentions
from fabula.graphs.entities.names import name_key
from fabula.graphs.entities.values import Entities, Entity, Extraction, Mention, RelationMention

CHUNK = 1_000
"""Characters from one chunk to the next."""


def mention(
    name: str, chunk: int = 0, times: int = 1, type: str = "person", aliases: Iterable[str] = ()
) -> Mention:
    place = chunk * CHUNK
    starts = tuple(place + 7 * time for time in range(times))
    return Mention(f"c{chunk}", place, name, {name: starts}, type, "", tuple(aliases))


def tie(source: str, target: str, chunk: int = 0, strength: int = 0) -> RelationMention:
    statement = f"{source} and {target}"
    return RelationMention(f"c{chunk}", chunk * CHUNK, source, target, statement, (), strength)


def cast(
    mentions: Iterable[Mention],
    ties: Iterable[RelationMention] = (),
    *,
    language: str = "en",
    decisions: DecidedPairs | None = None,
) -> Entities:
    extraction = Extraction(tuple(mentions), tuple(ties))
    return resolve_mentions(
        extraction, language=language, decisions=decisions or DecidedPairs()
    ).merge("d")


def named(found: Entities) -> set[frozenset[str]]:
    return {frozenset(entity.names) for entity in found.entities}


def groups(*names: str) -> set[frozenset[str]]:
    """Names by ", " are of one entity."""
    return {frozenset(names_of_one.split(", ")) for names_of_one in names}


def the(name: str, found: Entities) -> Entity:
    [entity] = [entity for entity in found.entities if name in entity.names]
    return entity


@for_each(
    ("name", "expected"),
    [
        ("Mr. Holmes", "holmes"),
        ("HOLMES", "holmes"),
        ("“Holmes’s”", "holmes"),
        ("the Cratchits", "cratchits"),
        ("The Lady", "lady"),
        ("Miss", "miss"),
        ("J.  Smith", "j smith"),
        ("pana Tadeusza", "tadeusza"),
        ("князь Андрей", "андрей"),
        ("ﬁnn", "finn"),
    ],
)
def test_names_are_compared_without_title_article_case_and_possessive(
    name: str, expected: str
) -> None:
    assert name_key(name) == expected


def test_holmes_is_one_man_under_all_his_names() -> None:
    found = cast(
        [
            mention("Sherlock Holmes", 0, 3),
            mention("Mr. Holmes", 1),
            mention("Holmes", 2, 20),
            mention("Sherlock", 3),
            mention("Mr. Sherlock Holmes", 4),
        ]
    )
    [holmes] = found.entities
    assert (holmes.name, holmes.key, holmes.type) == (
        "Holmes",
        "sherlock holmes",
        "person",
    ), "he is called so, and his key is his full name's"
    assert list(holmes.names)[:2] == ["Holmes", "Sherlock Holmes"]
    assert holmes.names["Holmes"] == 20
    assert holmes.merged_by == {
        "Sherlock Holmes": "family",
        "Mr. Holmes": "title",
        "Sherlock": "first",
        "Mr. Sherlock Holmes": "title",
    }


def test_a_part_of_a_long_name_is_short_for_it() -> None:
    found = cast(
        [
            mention("Родион Романович Раскольников", 0, 1),
            mention("Родион Романович", 1, 9),
            mention("Раскольников", 2, 50),
            mention("Родион", 3, 2),
        ],
        language="ru",
    )
    [entity] = found.entities
    assert entity.name == "Раскольников"
    assert entity.merged_by == {
        "Родион Романович Раскольников": "family",
        "Родион Романович": "first",
        "Родион": "first",
    }


def test_a_fuller_name_that_is_printed_once_introduces_somebody_or_is_a_byword() -> None:
    assert len(cast([mention("Cal Emmett", 0), mention("Cal", 1, 17)]).entities) == 1
    assert len(cast([mention("Joe", 0, 4), mention("Joe Miller", 1)]).entities) == 2
    assert len(cast([mention("Joe", 0, 4), mention("Joe Miller", 1, 2)]).entities) == 1
    assert len(cast([mention("Fielding", 0, 17), mention("Cyril Fielding", 1)]).entities) == 1


def test_who_is_called_by_what_he_is_joins_the_only_one_who_is() -> None:
    rabbit = [mention("the White Rabbit", 0, 9), mention("the Rabbit", 1, 9)]
    [entity] = cast(rabbit).entities
    assert entity.merged_by == {"the Rabbit": "family"}
    assert len(cast([*rabbit, mention("the Black Rabbit", 2, 9)]).entities) == 3
    ghosts = [mention("Marley's Ghost", 0, 9), mention("the Ghost", 1, 9)]
    assert len(cast(ghosts).entities) == 2


def test_a_family_name_of_several_is_given_to_who_is_named_nearby() -> None:
    found = cast(
        [
            *(mention("Charles Baskerville", at, 2) for at in range(3)),
            *(mention("Sir Henry", at, 3) for at in range(20, 26)),
            mention("Henry Baskerville", 20, 2),
            mention("Baskerville", 1),
            mention("Baskerville", 23),
            mention("Baskerville", 90),
        ]
    )
    charles, henry = the("Charles Baskerville", found), the("Henry Baskerville", found)
    assert [mention.chunk for mention in charles.mentions if mention.name == "Baskerville"] == [
        "c1"
    ]
    assert [mention.chunk for mention in henry.mentions if mention.name == "Baskerville"] == ["c23"]
    assert henry.merged_by == {"Henry Baskerville": "first", "Baskerville": "family"}
    [neither] = [entity for entity in found.entities if entity.key == "baskerville"]
    assert [mention.chunk for mention in neither.mentions] == ["c90"]


def test_a_family_is_nobody_in_it() -> None:
    found = cast(
        [
            mention("Bob Cratchit", 0, 9),
            mention("Cratchit", 1, 2),
            mention("Mrs. Cratchit", 2, 5),
            mention("Martha Cratchit", 3, 2),
            mention("the Cratchits", 4, 1),
        ]
    )
    assert the("the Cratchits", found).type == "group"
    assert frozenset(["the Cratchits"]) in named(found)
    assert frozenset(["Mrs. Cratchit"]) in named(found)
    assert the("Martha Cratchit", found).id != the("Bob Cratchit", found).id


def test_mr_and_miss_and_mrs_stapleton_are_three() -> None:
    forms = {"Mr. Stapleton": 4, "Miss Stapleton": 9, "Mrs. Stapleton": 2, "Stapleton": 30}
    found = cast(mention(name, at, times) for at, (name, times) in enumerate(forms.items()))
    assert named(found) == groups("Stapleton, Mr. Stapleton", "Miss Stapleton", "Mrs. Stapleton")
    assert (
        len({entity.id for entity in found.entities})
        == len({entity.key for entity in found.entities})
        == 3
    )


def test_a_family_name_is_not_his_wifes() -> None:
    apart = cast([mention("Barrymore", 0, 30), mention("Mrs. Barrymore", 1, 5)])
    assert len(apart.entities) == 2
    assert len(cast([mention("Alice", 0, 90), mention("Miss Alice", 1)]).entities) == 1


@for_each(
    ("language", "forms"),
    [
        ("pl", ["Tadeusz", "Tadeusza", "Tadeuszowi"]),
        ("pl", ["Telimena", "Telimeny", "Telimenę"]),
        ("pl", ["Wojski", "Wojskiego", "Wojskiemu"]),
        ("ru", ["Раскольников", "Раскольникова", "Раскольникову", "Раскольниковым"]),
        ("ru", ["Анна Каренина", "Анны Карениной", "Анне Карениной"]),
    ],
)
def test_case_forms_are_one_name(language: str, forms: list[str]) -> None:
    found = cast((mention(name, at, 30 - at) for at, name in enumerate(forms)), language=language)
    [entity] = found.entities
    assert entity.name == forms[0]
    assert entity.merged_by == dict.fromkeys(forms[1:], "inflection")
    english = cast(mention(name, at, 9) for at, name in enumerate(forms))
    assert len(english.entities) == len(forms), "English has no such endings"


def test_cyrillic_names_stay_apart() -> None:
    found = cast([mention(name, 0, 9) for name in ("Иван", "Пётр", "Марья")], language="ru")
    assert len(found.entities) == 3
    assert len(cast([mention("Наташа"), mention("наташа")], language="ru").entities) == 1


@for_each("names", [("Ivan", "Ian"), ("Marion", "Marian"), ("Boris", "Borys")])
def test_two_frequent_names_are_two_however_alike(names: tuple[str, str]) -> None:
    assert len(cast(mention(name, 0, 40) for name in names).entities) == 2


def test_an_alias_is_one_that_only_one_entity_has() -> None:
    found = cast(
        [
            mention("Ebenezer Scrooge", 0, 9, aliases=["the miser"]),
            mention("the miser", 1),
            mention("Jacob Marley", 2, 9, aliases=["the Ghost"]),
            mention("Spirit of the Past", 3, 9, aliases=["the Ghost"]),
            mention("the Ghost", 4),
        ]
    )
    assert the("the miser", found).merged_by == {"the miser": "alias"}
    assert frozenset(["the Ghost"]) in named(found)


def test_another_printed_form_of_a_mention_is_its_alias() -> None:
    both = Mention("c0", 0, "Ebenezer Scrooge", {"Scrooge": (3,), "the miser": (9,)}, "person")
    [entity] = cast([both]).entities
    assert entity.names == {"Ebenezer Scrooge": 0, "Scrooge": 1, "the miser": 1}
    assert entity.merged_by == {"Scrooge": "family", "the miser": "alias"}


def test_what_a_person_keeps_apart_wins() -> None:
    mentions = [
        mention("Sherlock Holmes", 0, 9, aliases=["Holmes"]),
        mention("Holmes", 1, 9),
        mention("Mr. Holmes", 2, 9),
    ]
    decisions = DecidedPairs(
        keep_apart=(("Holmes", "Sherlock Holmes"), ("Mr. Holmes", "Holmes")),
        join=(("Holmes", "Sherlock Holmes"),),
    )
    assert len(cast(mentions).entities) == 1
    found = cast(mentions, decisions=decisions)
    assert the("Holmes", found).names == {"Holmes": 9}
    within = Mention(
        "c3", 3, "Sherlock Holmes", {"Sherlock Holmes": (3,), "Holmes": (9,)}, "person"
    )
    found = cast([within], decisions=decisions)
    assert named(found) == groups("Sherlock Holmes", "Holmes")


def test_a_person_joins_what_nothing_else_would() -> None:
    mentions = [
        mention("Stapleton", 0, 9),
        mention("Rodger Baskerville", 1),
        mention("Vandeleur", 2),
    ]
    decisions = DecidedPairs(
        join=(("Stapleton", "Rodger Baskerville"), ("Vandeleur", "Rodger Baskerville"))
    )
    [entity] = cast(mentions, decisions=decisions).entities
    assert entity.name == "Stapleton"
    assert set(entity.merged_by.values()) == {"person"}


def test_decisions_are_of_names_without_articles_and_capitals() -> None:
    mentions = [mention("Spirit", 0, 9), mention("Ghost of Christmas Past", 1, 3)]
    decisions = DecidedPairs(join=(("the spirit", "the Ghost of Christmas Past"),))
    assert len(cast(mentions).entities) == 2
    assert len(cast(mentions, decisions=decisions).entities) == 1


def test_decisions_are_read_as_pairs() -> None:
    read = read_decided_pairs(["Holmes = Mr. Holmes"], ["A=B"])
    assert read == DecidedPairs((("Holmes", "Mr. Holmes"),), (("A", "B"),))
    with pytest.raises(SettingsError, match="keep_apart: 'Holmes' is not a pair of names"):
        read_decided_pairs(["Holmes"], [])


def test_a_name_of_a_person_and_of_a_place_is_two() -> None:
    people = [mention("Florence", at) for at in range(3)]
    places = [mention("Florence", at, type="place") for at in range(10, 14)]
    found = cast([*people, *places, mention("Florence", 20, type="idea")])
    assert {entity.type: len(entity.mentions) for entity in found.entities} == {
        "person": 3,
        "place": 5,
    }
    assert {entity.key for entity in found.entities} == {"florence", "florence (person)"}
    [entity] = cast([*people[:2], *places]).entities
    assert entity.type == "place", "twice may be a slip"


def test_a_name_with_two_types_is_one_entity() -> None:
    # Microsoft's code has a row for each, and joins communities by title.
    found = cast([mention("Spirit", 0), mention("Spirit", 1), mention("Spirit", 2, type="idea")])
    [entity] = found.entities
    assert (entity.type, len(entity.mentions)) == ("person", 3)


def test_relations_add_up_over_chunks_and_have_no_direction() -> None:
    mentions = [mention(name, at) for name in ("Watson", "Holmes") for at in (0, 1)]
    ties = [
        tie("Watson", "Holmes", 0, strength=3),
        tie("Holmes", "Watson", 1, strength=4),
        tie("Holmes", "Watson", 1, strength=4),
        tie("Holmes", "Moriarty", 1),
    ]
    found = cast(mentions, ties)
    [relation] = found.relations
    assert (relation.source, relation.target) == tuple(
        sorted(entity.id for entity in found.entities)
    )
    assert len(relation.mentions) == 2
    assert sum(relation.forward) == 1


def test_what_ties_someone_to_himself_is_no_relation() -> None:
    mentions = [mention("Sherlock Holmes", 0, 5), mention("Holmes", 0, 5)]
    assert cast(mentions, [tie("Sherlock Holmes", "Holmes")]).relations == ()


def test_the_order_of_records_does_not_matter() -> None:
    draw = random.Random(0)
    names = ["Sherlock Holmes", "Holmes", "Mr. Holmes", "Mrs. Holmes", "Sir Charles", "Sir Henry",
             "Henry Baskerville", "Charles Baskerville", "Baskerville", "Holmse", "Watson",
             "Watsno", "Dr. Watson", "Florence"]  # fmt: skip
    mentions = [
        mention(draw.choice(names), draw.randrange(60), draw.randrange(1, 4),
                draw.choice(["person", "person", "place", "idea"]), draw.sample(names, 1))
        for _ in range(200)
    ]  # fmt: skip
    pairs = [draw.sample(names, 2) for _ in range(200)]
    ties = [tie(first, second, draw.randrange(60)) for first, second in pairs]
    decisions = DecidedPairs(keep_apart=(("Holmes", "Mrs. Holmes"),), join=(("Watson", "Holmes"),))
    expected = cast(mentions, ties, decisions=decisions)
    for _ in range(20):
        draw.shuffle(mentions)
        draw.shuffle(ties)
        assert cast(mentions, ties, decisions=decisions) == expected
    merged_mentions = [mention for entity in expected.entities for mention in entity.mentions]
    assert sorted(map(repr, merged_mentions)) == sorted({repr(mention) for mention in mentions}), (
        "all, once"
    )
    assert len({entity.id for entity in expected.entities}) == len(expected.entities)
    merged = [
        set(entity.merged_by) == set(entity.names) - {entity.name} for entity in expected.entities
    ]
    assert all(merged), "each form but the first is explained"


def test_nothing_is_a_cast_of_nobody() -> None:
    assert cast([]) == Entities()
