"""People correct who is whom: corrections are applied in their order, and each can be undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from cases import for_each
from fabula.errors import FabulaError, NotFound
from fabula.graph import Record
from fabula.graph.decisions import Decision, applicable_decisions
from fabula.graphs.entities.corrections import check, describe
from fabula.graphs.entities.decided_pairs import DecidedPairs
from fabula.graphs.entities.merge import resolve_mentions
from fabula.graphs.entities.values import Entities, Entity, Extraction, Mention, RelationMention

CHUNK = 1_000


def mention(
    names: str, chunk: int = 0, times: int = 1, aliases: Sequence[str] = (), type: str = "person"
) -> Mention:
    """A mention whose first name is the extraction's; all of "Kurtz|Hang Kurtz" are printed."""
    forms = names.split("|")
    places = {
        form: tuple(chunk * CHUNK + 100 * row + time for time in range(times))
        for row, form in enumerate(forms)
    }
    return Mention(
        f"c{chunk}", chunk * CHUNK, forms[0], places, type, f"{forms[0]} acts.", tuple(aliases)
    )


def decisions(*kinds_and_names: str) -> list[Decision]:
    """Corrections such as "rename: Hang Kurtz = Kurtz", numbered from 1."""
    made = []
    for number, line in enumerate(kinds_and_names, 1):
        kind, _, names = line.partition(": ")
        made.append(Decision(number, "entities", kind, tuple(names.split(" = "))))
    return made


def corrected(
    mentions: Sequence[Mention], *lines: str, ties: Sequence[RelationMention] = ()
) -> Entities:
    return resolve_mentions(
        Extraction(tuple(mentions), tuple(ties)),
        language="en",
        decisions=DecidedPairs(),
    ).merge("d", decisions(*lines))


def names(found: Entities) -> dict[str, list[str]]:
    return {entity.name: sorted(entity.names) for entity in found.entities}


def the(name: str, found: Entities) -> Entity:
    [entity] = [entity for entity in found.entities if entity.name == name]
    return entity


HEART = [
    mention("Hang Kurtz|Kurtz", 0, 2),
    mention("Hang Kurtz|Kurtz", 1, 3),
    mention("Marlow", 1),
    mention("Kurtz's Intended", 2),
]
CAROL = [
    mention("Scrooge|Fred", 0, aliases=["Fred"]),
    mention("Scrooge", 1, 3),
    mention("Bob Cratchit", 1),
    mention("Jacob Marley", 2),
    mention("Bob", 3),
]


def test_a_new_name_keeps_who_it_is_and_how_often_it_is_printed() -> None:
    before = corrected(HEART)
    after = corrected(HEART, "rename: Hang Kurtz = Mistah Kurtz")
    assert "Hang Kurtz" in names(before)
    kurtz = the("Mistah Kurtz", after)
    assert kurtz.id == the("Hang Kurtz", before).id
    assert kurtz.key == "mistah kurtz" or kurtz.key == "kurtz"
    assert kurtz.names == {"Mistah Kurtz": 0, "Hang Kurtz": 5, "Kurtz": 5}
    assert kurtz.merged_by["Hang Kurtz"] == "person"
    assert after.effects == {1: "applied"}


def test_the_new_name_may_be_one_that_is_printed() -> None:
    after = corrected(HEART, "rename: Hang Kurtz = Kurtz")
    kurtz = the("Kurtz", after)
    assert (kurtz.key, list(kurtz.names)) == ("kurtz", ["Kurtz", "Hang Kurtz"])
    assert kurtz.merged_by.keys() == {"Hang Kurtz"}
    assert len(after.entities) == len(corrected(HEART).entities)


def test_a_name_that_another_entity_has_is_not_given_in_a_build() -> None:
    after = corrected(HEART, "rename: Hang Kurtz = Marlow")
    assert after.effects == {1: "name is taken"}
    assert names(after) == names(corrected(HEART))


def test_merged_entities_have_the_name_of_the_first_and_all_names_mentions_and_ties() -> None:
    tie = RelationMention("c1", CHUNK, "Scrooge", "Bob Cratchit", "He pays him.", ("pay",), 4)
    before = corrected(CAROL, ties=[tie])
    after = corrected(CAROL, "merge: Jacob Marley = Scrooge", ties=[tie])
    marley = the("Jacob Marley", after)
    assert set(marley.names) == {"Jacob Marley", "Scrooge", "Fred"}
    assert marley.merged_by["Scrooge"] == "person"
    assert len(marley.mentions) == 3
    assert marley.id == the("Jacob Marley", before).id
    [relation] = after.relations
    assert {relation.source, relation.target} == {marley.id, the("Bob Cratchit", after).id}


def test_a_name_is_split_off_with_its_places_alone() -> None:
    after = corrected(CAROL, "split: Scrooge = Fred")
    fred, scrooge = the("Fred", after), the("Scrooge", after)
    assert (fred.names, scrooge.names) == ({"Fred": 1}, {"Scrooge": 4})
    assert [part.statement for part in fred.mentions] == [""], "what was said is of Scrooge"
    assert scrooge.id == the("Scrooge", corrected(CAROL)).id
    assert after.effects == {1: "applied"}


def test_a_name_that_is_split_off_joins_the_entity_that_has_it() -> None:
    after = corrected([*CAROL, mention("Fred", 4)], "split: Scrooge = Fred")
    assert the("Fred", after).names == {"Fred": 2}
    assert names(after)["Scrooge"] == ["Scrooge"]


def test_an_entity_whose_name_is_split_off_is_called_by_what_is_left() -> None:
    after = corrected(HEART, "split: Hang Kurtz = Hang Kurtz")
    assert the("Hang Kurtz", after).names == {"Hang Kurtz": 5}
    assert the("Kurtz", after).names == {"Kurtz": 5}
    statements = {part.statement for part in the("Hang Kurtz", after).mentions}
    assert statements == {"Hang Kurtz acts."}, "it was said of the name that the extraction gave"


def test_later_corrections_are_applied_to_what_earlier_ones_made() -> None:
    after = corrected(
        CAROL,
        "split: Scrooge = Fred",
        "rename: Fred = Fred Scrooge",
        "merge: Bob Cratchit = Fred Scrooge",
    )
    assert set(names(after)["Bob Cratchit"]) >= {"Fred", "Fred Scrooge", "Bob Cratchit"}
    assert after.effects == {1: "applied", 2: "applied", 3: "applied"}
    assert names(corrected(CAROL, "split: Scrooge = Fred", "merge: Scrooge = Fred")) == names(
        corrected(CAROL)
    )


def test_without_an_undone_one_the_others_are_applied_as_if_it_had_never_been() -> None:
    assert names(
        corrected(CAROL, "merge: Nobody = Scrooge", "rename: Scrooge = Ebenezer")
    ) == names(corrected(CAROL, "rename: Scrooge = Ebenezer"))
    later = corrected(CAROL, "rename: Fred Scrooge = Nephew", "merge: Scrooge = Fred")
    assert later.effects == {1: "no such entity", 2: "already so"}


def test_corrections_are_followed_however_the_method_joins_names() -> None:
    # A later version may find out by itself what a person had to say.
    apart = [mention("Kurtz", 0, 5), mention("Hang Kurtz", 1), mention("Marlow", 1)]
    assert corrected(apart, "merge: Kurtz = Hang Kurtz").effects[1] in ("applied", "already so")
    assert sorted(map(sorted, names(corrected(apart, "merge: Kurtz = Hang Kurtz")).values())) == [
        ["Hang Kurtz", "Kurtz"],
        ["Marlow"],
    ]


# Which parts follow a decision


def part(updated_at: str, *followed: int) -> Record:
    return Record({"decisions": [{"number": number} for number in followed]}, updated_at=updated_at)


def decision(**values: object) -> Decision:
    fields: dict[str, object] = {"number": 1, "graph": "entities", "kind": "rename"}
    fields |= {"names": ("A", "B"), "at": "2026-01-02T00:00:00Z"}
    return Decision(**{**fields, **values})  # type: ignore[arg-type]


@for_each(
    ("made", "record", "follows"),
    [
        (decision(documents=("d",)), part("2026-01-01T00:00:00Z"), True),
        (decision(documents=("e",)), part("2026-01-01T00:00:00Z"), False),
        (decision(documents=("e",)), part("2026-01-03T00:00:00.123456789Z"), True),
        (decision(documents=("e",)), part("2026-01-01T00:00:00Z", 1), True),
        (decision(documents=("e",)), None, True),
        (decision(document="e"), None, False),
        (decision(document="d"), None, True),
        (decision(documents=("d",), undone_at="2026-01-04T00:00:00Z"), None, False),
    ],
)
def test_a_part_follows_what_was_about_it_and_what_was_decided_before_it_was_made(
    made: Decision, record: Record | None, follows: bool
) -> None:
    assert bool(applicable_decisions([made], "d", record)) is follows


# What is checked before a decision is kept


def row(name: str, *others: str, document: str = "d", **more: str) -> Mapping[str, object]:
    fields = {"document": document, "title": f"Book {document}", "type": "person"}
    return {**fields, "key": name.lower(), "name": name, **more} | {
        "names": [name, *others],
        "counts": [1 for _ in (name, *others)],
    }


ROWS = [
    row("Hang Kurtz", "Kurtz"),
    row("Marlow"),
    row("Kurtz's Intended", "the Intended"),
    row("Kurtz", document="e"),
    row("Boz", document="f"),
]


def test_the_documents_that_a_correction_concerns_are_found() -> None:
    assert check("rename", ["Hang Kurtz", "Kurtz"], ROWS)[1] == ["d"]
    assert check("rename", ["Kurtz", "Mr. Kurtz"], ROWS)[1] == ["d", "e"]
    assert check("merge", ["Intended", "Marlow"], ROWS)[1] == ["d"], "articles do not count"
    assert check("split", ["hang kurtz", "Kurtz"], ROWS)[1] == ["d"]
    assert check("merge", ["Boz", "Marlow"], ROWS)[1] == [], "other documents' entities are joined"


def test_a_name_that_is_printed_nowhere_is_kept_as_one_that_is() -> None:
    rows = [{**row("Charlie", "Marlow"), "counts": [0, 5]}, row("Brierly")]
    assert check("merge", ["Brierly", "Charlie"], rows) == (("Brierly", "Marlow"), ["d"])
    assert check("rename", ["Charlie", "Charles"], rows) == (("Marlow", "Charles"), ["d"])
    shared = [*rows, row("Mrs. Marlow", "Marlow")]
    assert check("rename", ["Charlie", "Charles"], shared) == (("Charlie", "Charles"), ["d"])


@for_each(
    ("kind", "given", "message"),
    [
        ("rename", ["Marlow", "Hang Kurtz"], "merge them"),
        ("rename", ["Marlow", "Marlow"], "already"),
        ("rename", ["Marlow"], "needs names"),
        ("rename", ["Marlow", "A", "B"], "needs names"),
        ("merge", ["Hang Kurtz", "Kurtz"], "names of one entity already"),
        ("split", ["Marlow", "Marlow"], "besides another one"),
        ("split", ["Marlow", "Kurtz"], "besides another one"),
    ],
)
def test_a_correction_that_makes_no_sense_is_refused_and_says_why(
    kind: str, given: list[str], message: str
) -> None:
    rows = [row for row in ROWS if row["document"] == "d"]
    with pytest.raises(FabulaError, match=message):
        check(kind, given, rows)


def test_a_name_that_nothing_has_is_not_found() -> None:
    with pytest.raises(NotFound, match="'Nobody'"):
        check("rename", ["Nobody", "Somebody"], ROWS)


def test_a_name_of_several_is_refused_and_lists_them_with_their_keys() -> None:
    rows = [
        row("Florence"),
        row("Florence", key="florence (place)", type="place"),
        row("Sir Henry", "Baskerville"),
        row("Sir Charles", "Baskerville"),
    ]
    with pytest.raises(FabulaError, match=r"Sir Henry .* Sir Charles"):
        check("rename", ["Baskerville", "Hugo"], rows)
    assert check("rename", ["Florence (place)", "Firenze"], rows)[1] == ["d"]
    assert check("rename", ["Florence", "Flora"], rows)[1] == ["d"], "the one of this key"


def test_a_correction_is_said_in_words() -> None:
    said = map(describe, decisions("rename: A = B", "merge: A = B = C", "split: A = B = C"))
    assert list(said) == ["rename A to B", "merge A with B, C", "split B, C off A"]


def test_a_split_may_be_of_entities_in_different_documents() -> None:
    johns = [
        {**row("John"), "id": "1", "document": "d"},
        {**row("John"), "id": "2", "document": "e"},
    ]
    assert check("split", ["John", "John"], johns) == (("John", "John"), [])
    assert check("split", ["1", "2"], johns) == (("1", "2"), [])
    with pytest.raises(FabulaError, match="besides another one"):
        check("split", ["John", "John"], johns[:1])
    with pytest.raises(FabulaError, match="besides another one"):
        check("split", ["John", "Nobody"], johns)
    # Where a document has both names of one entity, it is split there.
    both = [{**row("John", "Jack"), "id": "3", "document": "f"}, *johns]
    assert check("split", ["John", "Jack"], both)[1] == ["f"]
