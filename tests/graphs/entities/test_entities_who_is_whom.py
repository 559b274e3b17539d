"""Who is whom where names alone mislead: things, families, sexes, short forms, peoples.

The pairs are of novels, or of the kinds of fault that gold annotations showed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cases import for_each
from fabula.graphs.entities.decided_pairs import DecidedPairs
from fabula.graphs.entities.forenames import forename_sex, is_short_for
from fabula.graphs.entities.merge import resolve_mentions
from fabula.graphs.entities.resolve import read_name
from fabula.graphs.entities.values import Entity, Extraction, Mention

CHUNK = 1_000
"""Characters from one chunk to the next."""


def mention(name: str, chunk: int = 0, times: int = 1, type: str = "person") -> Mention:
    place = chunk * CHUNK
    starts = tuple(place + 7 * time for time in range(times))
    return Mention(f"c{chunk}", place, name, {name: starts}, type, f"{name} is said of.")


def cast_of(mentions: Sequence[Mention], language: str = "en") -> Sequence[Entity]:
    """The entities of some mentions."""
    extraction = Extraction(tuple(mentions), ())
    return (
        resolve_mentions(extraction, language=language, decisions=DecidedPairs())
        .merge("d")
        .entities
    )


def groups_of(
    mentions: Sequence[Mention], *, language: str = "en"
) -> set[tuple[str, frozenset[str]]]:
    """Each entity by its head, and all its names."""
    return {(entity.name, frozenset(entity.names)) for entity in cast_of(mentions, language)}


def types_of(mentions: Sequence[Mention]) -> list[str]:
    """The types of all entities."""
    return sorted(entity.type for entity in cast_of(mentions))


def groups(*heads_and_names: str) -> set[tuple[str, frozenset[str]]]:
    """Entities by their names, of which the first is the head."""
    split = [names.split(", ") for names in heads_and_names]
    return {(names[0], frozenset(names)) for names in split}


def in_order(names: Mapping[str, int]) -> list[Mention]:
    """Persons as often as their names say, each first in a chunk of its own."""
    return [mention(name, at, times) for at, (name, times) in enumerate(names.items())]


@for_each(
    ("person", "thing", "type"),
    [
        ("Hope", "hope", "idea"),
        ("Faith", "faith", "idea"),
        ("Pearl", "the pearl", "object"),
        ("General Grant", "the grant", "object"),
        ("Miss Summer", "summer", "time"),
        ("Father Christmas", "Christmas", "time"),
        ("Mother Nature", "Nature", "idea"),
    ],
)
def test_a_person_and_a_thing_of_one_spelling_are_two(person: str, thing: str, type: str) -> None:
    found = groups_of([mention(person, 0, 9), mention(thing, 1, 9, type)])
    assert found == groups(person, thing)


def test_a_person_and_a_thing_of_one_word_with_a_capital_are_two_where_both_are_common() -> None:
    people = [mention("May", at) for at in range(3)]
    months = [mention("May", at, type="time") for at in range(10, 13)]
    assert types_of([*people, *months]) == ["person", "time"]
    assert types_of([*people, *months[:2]]) == ["person"], "twice may be a slip"


@for_each(
    ("names", "expected"),
    [
        (
            {"Mr. Bennet": 20, "Bennet": 2, "Jane Bennet": 9, "Miss Elizabeth Bennet": 3},
            groups("Mr. Bennet, Bennet", "Jane Bennet", "Miss Elizabeth Bennet"),
        ),
        (
            {"Miss Bennet": 9, "Jane Bennet": 9, "Elizabeth Bennet": 9},
            groups("Miss Bennet", "Jane Bennet", "Elizabeth Bennet"),
        ),
        (
            {"Winnie": 17, "Winnie Verloc": 2, "Mr Verloc": 14, "Verloc": 1},
            groups("Winnie, Winnie Verloc", "Mr Verloc, Verloc"),
        ),
        (
            {"Katharine Hilbery": 1, "Katharine": 14, "Mr. Hilbery": 3},
            groups("Katharine, Katharine Hilbery", "Mr. Hilbery"),
        ),
        (
            {"Joe Gargery": 5, "Mrs. Joe Gargery": 2},
            groups("Joe Gargery", "Mrs. Joe Gargery"),
        ),
        (
            {"General Shaw": 2, "Mrs. Shaw": 6, "her aunt Shaw": 1},
            groups("General Shaw", "Mrs. Shaw, her aunt Shaw"),
        ),
        (
            {"Becky Sharp": 2, "Miss Sharp": 3},
            groups("Miss Sharp, Becky Sharp"),
        ),
        (
            {"Ebenezer Scrooge": 2, "Scrooge": 300, "Mr. Scrooge": 20},
            groups("Scrooge, Ebenezer Scrooge, Mr. Scrooge"),
        ),
        (
            {"Mrs. Reed": 9, "Georgiana Reed": 2, "John Reed": 4, "Master Reed": 1},
            groups("Mrs. Reed", "Georgiana Reed", "John Reed, Master Reed"),
        ),
        (
            {"Mrs. Munt": 71, "Munt": 1},
            groups("Mrs. Munt, Munt"),
        ),
    ],
)
def test_a_family_name_is_whose_sex_and_title_fit(
    names: Mapping[str, int], expected: set[tuple[str, frozenset[str]]]
) -> None:
    assert groups_of(in_order(names)) == expected


def test_three_nicholases_are_three() -> None:
    names = {"Prince Nicholas": 5, "Count Nicholas": 9, "Emperor Nicholas": 4}
    assert groups_of(in_order(names)) == groups(*names)
    rostov = {"Nicholas Rostov": 9, "Count Nicholas": 3, "Emperor Nicholas": 2}
    assert groups_of(in_order(rostov)) == groups(
        "Nicholas Rostov, Count Nicholas", "Emperor Nicholas"
    )


def test_napoleon_is_one_emperor_and_alexander_another() -> None:
    names = {"Napoleon": 30, "Napoleon Bonaparte": 6, "Emperor Napoleon": 4, "Emperor Alexander": 9}
    assert groups_of(in_order(names)) == groups(
        "Napoleon, Napoleon Bonaparte, Emperor Napoleon", "Emperor Alexander"
    )


@for_each(
    "names",
    [
        {"Jekyll": 68, "Henry Jekyll": 29, "Harry Jekyll": 5, "Dr. Jekyll": 20},
        {"Sir Danvers Carew": 1, "Sir Danvers": 9},
        {"Elizabeth Bennet": 9, "Elizabeth": 90, "Lizzy": 40, "Dearest Lizzy": 1},
        {"Gabriel Oak": 2, "Gabriel": 7, "Farmer Oak": 1, "Mr. Oak": 1, "Oak": 9},
        {"Natásha": 90, "Natasha": 2},
        {"Miss Jemima": 8, "Jemima": 3, "poor Jemima": 1, "good-natured Miss Jemima Pinkerton": 2},
    ],
)
def test_one_person_under_all_his_names(names: Mapping[str, int]) -> None:
    [(_, found)] = groups_of(in_order(names))
    assert found == names.keys()


def test_who_is_called_by_one_word_is_called_so_though_a_fuller_name_is_printed() -> None:
    names = {"Natásha": 1_090, "Natásha Rostóva": 9, "Natálya Ilyníchna": 2}
    [entity] = [entity for entity in cast_of(in_order(names)) if entity.name == "Natásha"]
    assert list(entity.names)[:2] == ["Natásha", "Natásha Rostóva"], "the full name is beside it"
    assert entity.key == "natásha rostóva", "and tells her from other Natashas"


def test_who_is_described_by_somebody_is_not_he() -> None:
    names = {"Nautilus": 9, "the captain of the Nautilus": 3}
    assert len(groups_of(in_order(names))) == 2


@for_each(
    ("names", "expected"),
    [
        (
            {"Tom Buchanan": 21, "Tom Buchanans": 1, "Tom": 172},
            groups("Tom, Tom Buchanan", "Tom Buchanans"),
        ),
        (
            {"Tom Buchanan": 21, "Tom Pinch": 9, "Tom": 172},
            groups("Tom Buchanan", "Tom Pinch", "Tom"),
        ),
        (
            {"Charles Wilcox": 221, "Paul Wilcox": 9, "Mr. Wilcox": 171},
            groups("Charles Wilcox", "Paul Wilcox", "Mr. Wilcox"),
        ),
    ],
)
def test_a_bare_name_is_that_of_who_is_named_far_more_often(
    names: Mapping[str, int], expected: set[tuple[str, frozenset[str]]]
) -> None:
    assert groups_of(in_order(names)) == expected


def test_a_short_form_is_whose_only_forename_it_may_be() -> None:
    two = {"Elizabeth Bennet": 9, "Elizabeth Elliot": 9, "Lizzy": 5}
    assert ("Lizzy", frozenset(["Lizzy"])) in groups_of(in_order(two))
    assert groups_of(in_order({"Elizabeth Bennet": 9, "Lizzy": 5})) == groups(
        "Elizabeth Bennet, Lizzy"
    )


@for_each(
    ("language", "forms", "head"),
    [
        ("pl", {"Jacka": 6, "Jackowi": 4, "Jacek": 2}, "Jacek"),
        ("pl", {"Maćka": 14, "Maćkiem": 3, "Maciek": 2}, "Maciek"),
        ("pl", {"Moskala": 14, "Moskalem": 4, "Moskal": 9}, "Moskal"),
        ("pl", {"Soplicowie": 18, "Soplicowem": 3, "Soplicowo": 5}, "Soplicowo"),
        ("pl", {"Zosia": 34, "Zosię": 20, "Zofia": 2, "Zofio": 3}, "Zosia"),
        ("pl", {"Roberta": 9, "Robert": 3}, "Robert"),
        ("ru", {"Андрея": 9, "Андрею": 9, "Андрей": 3}, "Андрей"),
        ("cs", {"Švejka": 9, "Švejkovi": 5, "Švejk": 4}, "Švejk"),
        ("la", {"Caesarem": 9, "Caesaris": 9, "Caesar": 3}, "Caesar"),
        ("la", {"Ciceronis": 9, "Ciceronem": 9, "Cicero": 3}, "Cicero"),
    ],
)
def test_the_head_of_case_forms_is_the_nominative(
    language: str, forms: Mapping[str, int], head: str
) -> None:
    assert groups_of(in_order(forms), language=language) == {(head, frozenset(forms))}


def test_forenames_say_a_sex_where_it_is_sure() -> None:
    sexes = {
        name: forename_sex(name, "en") for name in ("Gabriel", "Natásha", "Kitty", "Evelyn", "Oak")
    }
    assert sexes == {"Gabriel": "m", "Natásha": "f", "Kitty": "f", "Evelyn": "", "Oak": ""}
    assert is_short_for("Harry", "Henry")
    assert is_short_for("Kitty", "Kate"), "both stand for Catherine"
    assert not is_short_for("Henry", "Henry")
    assert not is_short_for("Jane", "Joan")


@for_each(
    ("name", "rest"),
    [
        ("good-natured Miss Jemima Pinkerton", "Miss Jemima Pinkerton"),
        ("her cousin Edith", "cousin Edith"),
        ("Dearest Meg", "Meg"),
        ("Margaret dear", "Margaret"),
        ("the White Rabbit", "the White Rabbit"),
        ("the Duke of York", "the Duke of York"),
        ("the wife of Bath", "the wife of Bath"),
        ("the captain", "the captain"),
    ],
)
def test_words_before_a_name_are_no_part_of_it(name: str, rest: str) -> None:
    assert read_name(name).bare == rest


def test_doubtful_pairs_are_asked_about_and_joined_if_confirmed() -> None:
    pair = ("Mrs. Hilbery", "Katharine Hilbery")
    names = {"Katharine Hilbery": 5, "Mrs. Hilbery": 6, "Ann Dale": 4, "Mrs. Dale": 9}
    read = resolve_mentions(
        Extraction(tuple(in_order(names)), ()),
        language="en",
        decisions=DecidedPairs(),
    )
    doubtful = [(first.name, second.name) for first, second in read.resolution.doubtful]
    assert doubtful == [pair], "Ann Dale has fewer than five"
    found = read.confirm([pair]).merge("d")
    [joined] = [entity for entity in found.entities if len(entity.names) > 1]
    assert joined.merged_by == {"Katharine Hilbery": "model"}
    apart_read = resolve_mentions(
        Extraction(tuple(in_order(names)), ()),
        language="en",
        decisions=DecidedPairs(keep_apart=(pair,)),
    )
    apart = apart_read.confirm([pair]).merge("d")
    assert len(apart.entities) == 4, "what a person decides is stronger than a model"
