"""Who is whom across documents: likely pairs, groups, a model's verdicts, decisions of persons."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from itertools import combinations

import pytest

from cases import for_each
from fabula.errors import BadReply, SettingsError
from fabula.graph import Part
from fabula.graph.decisions import Decision
from fabula.graph.method import Known, PartReader
from fabula.graphs.entities.decided_pairs import DecidedPairs, read_decided_pairs
from fabula.graphs.entities.names import name_key
from fabula.graphs.entities.pairs import MAX_WHY_CHARACTERS, read_pairs
from fabula_graphs.identities.build import decided_pairs
from fabula_graphs.identities.candidates import ComparedEntity, find_candidates
from fabula_graphs.identities.confirm import Pair
from fabula_graphs.identities.grouping import MODEL, NAMES, PERSON, Groups, IdentityDecision
from fabula_graphs.identities.mapping import Verdict, nodes_and_edges, read_verdicts
from fabula_graphs.identities.misspelling import misspelt_by
from fabula_graphs.identities.options import Options


def named(
    document: str, name: str, *also: str, type: str = "person", mentions: int = 9
) -> ComparedEntity:
    id = f"{document}/{name_key(name)}"
    says = f"{name} is in {document}."
    names = (name, *also)
    return ComparedEntity(
        id, document, document.upper(), name, name_key(name), names, type, says, mentions, f"{id}/1"
    )


def why(*everyone: ComparedEntity) -> dict[tuple[str, ...], str]:
    return {
        tuple(sorted(entity.id for entity in it.members)): it.why
        for it in find_candidates(everyone)
    }


def offline(everyone: Sequence[ComparedEntity], decisions: DecidedPairs | None = None) -> Groups:
    groups = Groups(everyone, decisions or DecidedPairs())
    for alike, first, second in list(groups.open_pairs(find_candidates(everyone))):
        if alike.is_sure:
            groups.decide(IdentityDecision(first, second, True, NAMES, alike.why))
    return groups


def sets(groups: Groups) -> set[frozenset[str]]:
    return {frozenset(entity.id for entity in group) for group in groups.groups() if len(group) > 1}


def test_equal_names_of_different_documents_are_alike_whatever_their_titles() -> None:
    assert why(named("a", "Mr. Fagin"), named("b", "Fagin")) == {
        ("a/fagin", "b/fagin"): "equal names"
    }
    assert why(named("a", "Fagin"), named("a", "Oliver")) == {}


@for_each(
    ("name", "other", "what"),
    [
        ("Rodion Raskolnikov", "Rodion Raskolnikow", "spelling"),
        ("Micawber", "Mickawber", "spelling"),
        ("E. Scrooge", "Ebenezer Scrooge", "initial"),
        ("Scrooge", "Ebenezer Scrooge", "family name"),
        ("Ebenezer", "Ebenezer Scrooge", "first name"),
    ],
)
def test_likely_names_say_why(name: str, other: str, what: str) -> None:
    [found] = find_candidates([named("a", name), named("b", other)])
    assert found.why == what


@for_each(
    ("name", "other"), [("Ivan", "Ian"), ("Anna Holt", "Bella Holt"), ("Mary Ann", "Mary Jane")]
)
def test_other_names_are_not_alike(name: str, other: str) -> None:
    assert find_candidates([named("a", name), named("b", other)]) == []


@for_each(
    ("name", "other"),
    [
        ("Wetherby", "Wetherbu"),
        ("Wetherby", "Wehterby"),
        ("Wetherby", "Wetherrby"),
        ("Wetherby", "Wethrby"),
        ("Weatherby", "Weetherbi"),
        ("Weatherby", "Waetherbby"),
        ("Weatherbys", "Weahterbsy"),
    ],
)
def test_a_letter_or_two_of_a_long_word_may_differ(name: str, other: str) -> None:
    assert why(named("a", name), named("b", other)) == {
        (f"a/{name_key(name)}", f"b/{name_key(other)}"): "spelling"
    }


def test_names_that_only_begin_alike_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = random.Random(0)
    words = ["S" + "".join(letters.choices("aeiourstlnmkd", k=8)) for _ in range(1_000)]
    compared: list[tuple[str, str]] = []

    def counting(name: str, other: str) -> int:
        compared.append((name, other))
        return misspelt_by(name, other)

    monkeypatch.setattr("fabula_graphs.identities.candidates.misspelt_by", counting)
    everyone = [named(document, word) for document, word in zip("ab" * 500, words, strict=True)]
    find_candidates([*everyone, named("a", "Sigurdsen"), named("b", "Sigurdson")])
    assert ("sigurdsen", "sigurdson") in compared
    assert len(compared) < 5_000, "of half a million"


@for_each(
    ("name", "other", "letters"),
    [
        ("scroogge", "scrooge", 1),
        ("wtason", "watson", 1),
        ("ian", "ivan", 0),
        ("catherine", "katherine", 1),
        ("cratchits", "cratchit", 0),
        ("henry holmes", "harvy holmes", 0),
        ("agent 18", "agent 19", 0),
    ],
)
def test_a_misspelling_differs_by_a_letter_or_two(name: str, other: str, letters: int) -> None:
    assert misspelt_by(name, other) == letters


def test_another_name_that_one_document_has_is_alike() -> None:
    found = why(named("a", "Charles Dickens", "Boz"), named("b", "Boz"))
    assert found == {("a/charles dickens", "b/boz"): "another name"}


def test_a_family_name_that_several_bear_is_no_ones() -> None:
    everyone = [named("a", "Baskerville"), named("b", "Henry Baskerville")]
    assert len(find_candidates(everyone)) == 1
    assert find_candidates([*everyone, named("c", "Hugo Baskerville")]) == []


def test_names_that_one_document_takes_for_two_are_two() -> None:
    both = [named("a", "Marianne Holt"), named("a", "Mariannes Holt"), named("b", "Marianne Holt")]
    assert set(why(*both).values()) == {"equal names"}


def test_a_man_and_a_woman_or_a_place_are_never_one() -> None:
    assert not sets(offline([named("a", "Mr. Holt"), named("b", "Mrs. Holt")]))
    assert not sets(offline([named("a", "Lincoln"), named("b", "Lincoln", type="place")]))
    assert sets(offline([named("a", "Mr. Holt"), named("b", "Holt")]))


def test_offline_spelling_alone_joins_other_names_and_only_long_ones() -> None:
    everyone = [
        named("a", "Raskolnikov"),
        named("b", "Raskolnikow"),
        named("a", "Helena"),
        named("b", "Helene"),
        named("a", "Scrooge"),
        named("b", "Ebenezer Scrooge"),
    ]
    assert sets(offline(everyone)) == {frozenset(("a/raskolnikov", "b/raskolnikow"))}


def test_a_group_has_one_of_each_document() -> None:
    everyone = [
        named("a", "Micawbers Holt"),
        named("b", "Micawber Holt"),
        named("c", "Micawber Holt"),
        named("c", "Micawbers Hold"),
    ]
    for group in offline(everyone).groups():
        assert len({entity.document for entity in group}) == len(group)


def test_the_order_of_entities_does_not_matter() -> None:
    names = ("Anna Holt", "Anna Hold", "Micawber", "Mickawber", "Boz")
    everyone = [
        named(document, name) for document in "abcd" for name in names[: ord(document) - 95]
    ]
    expected = sets(offline(everyone))
    assert expected
    for seed in range(5):
        shuffled = random.Random(seed).sample(everyone, len(everyone))
        assert sets(offline(shuffled)) == expected


def test_what_a_person_keeps_apart_or_joins_wins() -> None:
    everyone = [named(document, "John") for document in "abc"] + [named("d", "Boz")]
    apart = offline(everyone, read_decided_pairs(["a/john = b/john"], ["Boz = c/john"]))
    assert sets(apart) == {frozenset(("a/john", "c/john", "d/boz"))}
    none = offline(everyone, read_decided_pairs(["John = John"], []))
    assert sets(none) == set()
    assert {decision.by for decision in none.decided} == {PERSON}
    both = offline(everyone, read_decided_pairs(["John = Boz"], ["John = Boz"]))
    assert not any("d/boz" in group for group in sets(both))


def test_who_has_both_names_that_are_kept_apart_is_meant_by_their_own() -> None:
    everyone = [
        named("a", "Jacob Marley"),
        named("b", "Jacob Marley", "Jacob"),
        named("c", "Jacob"),
    ]
    groups = offline(everyone, read_decided_pairs(["Jacob Marley = Jacob"], []))
    assert sets(groups) == {frozenset(("a/jacob marley", "b/jacob marley"))}


def test_of_two_decisions_on_the_same_names_the_later_counts() -> None:
    def read_nothing(graph: str, document: str) -> Part:
        raise AssertionError(graph, document)

    def pairs(kind: str, *kinds: str) -> list[tuple[str, str]]:
        decisions = tuple(
            Decision(number, "entities", of_kind, ("John", "Mr. Smith"))
            for number, of_kind in enumerate(kinds, 1)
        )
        return decided_pairs(PartReader("c", (), read_nothing, decisions=decisions), kind)

    assert pairs("merge", "merge") == [("John", "Mr. Smith")]
    assert pairs("merge", "merge", "split") == []
    assert pairs("split", "merge", "split") == [("John", "Mr. Smith")]
    assert pairs("split", "merge", "split", "merge") == []


def test_a_model_is_asked_of_each_namesake_once_and_of_those_left_again() -> None:
    everyone = [named(document, "John", mentions=9 - n) for n, document in enumerate("abcdef")]
    alike = find_candidates(everyone)
    truth = {"a": 1, "b": 1, "c": 2, "d": 2, "e": 3, "f": 3}
    groups = Groups(everyone, DecidedPairs())
    rounds = []
    verdicts: dict[str, list[Verdict]] = {}
    while pairs := list(groups.open_pairs(alike)):
        rounds.append(len(pairs))
        for _, first, second in pairs:
            same = truth[first.document] == truth[second.document]
            verdicts.setdefault(first.id, []).append((Pair(first, second).digest, same, "why"))
            groups.decide(IdentityDecision(first, second, same, MODEL, "why"))
    assert rounds == [5, 3, 1]
    assert sets(groups) == {
        frozenset(f"{document}/john" for document in pair) for pair in ("ab", "cd", "ef")
    }
    nodes, edges = nodes_and_edges("novels", groups.groups(), groups.decided, verdicts)
    assert [node.label for node in nodes] == ["Identity"] * 3
    apart = [edge for edge in edges if edge.type == "APART"]
    assert len(apart) == 3
    known = read_verdicts(Known(nodes=tuple(nodes), edges=tuple(edges)))
    assert len(known) == sum(rounds)
    for first, second in combinations(everyone, 2):
        if (digest := Pair(first, second).digest) in known:
            assert known[digest] == (truth[first.document] == truth[second.document], "why")


def test_an_identity_says_who_why_and_rests_on_its_members() -> None:
    groups = offline([named("a", "Fagin", mentions=3), named("b", "Mr. Fagin", mentions=5)])
    [node], edges = nodes_and_edges("novels", groups.groups(), groups.decided, {})
    assert node.properties["name"] == "Mr. Fagin"
    assert node.properties["members"] == ["b/fagin", "a/fagin"]
    assert (node.properties["by"], node.properties["why"]) == ("names", "equal names")
    assert node.properties["score"] == 1.0
    assert set(node.sources) == {"a/fagin/1", "b/fagin/1"}
    assert {(edge.type, edge.end) for edge in edges} == {("SAME", "a/fagin"), ("SAME", "b/fagin")}
    [brought] = [edge for edge in edges if "by" in edge.properties]
    assert brought.end == "a/fagin"


def reply(*verdicts: tuple[int, object], **more: object) -> str:
    pairs = [{"number": number, "same": same, "why": "so", **more} for number, same in verdicts]
    return json.dumps({"pairs": pairs})


def test_a_reply_says_something_of_each_pair() -> None:
    assert read_pairs(reply((2, False), (1, True)), 2) == [(True, "so"), (False, "so")]
    [(_, long)] = read_pairs(reply((1, True), why="x " * 10_000), 1)
    assert len(long) == MAX_WHY_CHARACTERS
    for wrong, what in (
        (reply((1, True)), "said of the pairs 2"),
        (reply((1, True), (2, True), (3, True)), "Pair 3 is none of the 2"),
        (reply((1, "perhaps"), (2, True)), "Expected"),
        ("I can't tell.", "Expected"),
    ):
        with pytest.raises(BadReply, match=what):
            read_pairs(wrong, 2)


def test_a_pair_is_known_again_by_what_is_told_of_it_alone() -> None:
    first, second = named("a", "John", mentions=1), named("b", "John", mentions=2)
    assert Pair(first, second).digest == Pair(second, first).digest
    assert Pair(named("a", "John", mentions=7), second).digest == Pair(first, second).digest
    assert Pair(named("a", "John", "Johnny"), second).digest != Pair(first, second).digest


def test_decisions_that_are_none_are_refused_in_words() -> None:
    assert Options(keep_apart="a = b; c = d").keep_apart == ("a = b", "c = d")
    with pytest.raises(SettingsError, match="keep_apart: 'John'"):
        read_decided_pairs(["John"], [])
