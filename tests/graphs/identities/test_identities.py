"""Who is whom across documents: likely pairs, groups, a model's verdicts, decisions of persons."""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Sequence
from itertools import combinations

import pytest

from fabula.errors import BadReply, SettingsError
from fabula.graph.method import Known
from fabula.graphs.entities.decisions import Decisions, key, read_decisions
from fabula.graphs.entities.resolve import misspelt_by
from fabula.graphs.identities.border import Verdict, nodes_and_edges, verdicts_of
from fabula.graphs.identities.grouping import MODEL, NAMES, PERSON, Decision, Groups
from fabula.graphs.identities.judge import LONGEST_WHY, Pair, read_pairs
from fabula.graphs.identities.knobs import Knobs
from fabula.graphs.identities.likely import Named, find_alike


def named(document: str, name: str, *also: str, type: str = "person", mentions: int = 9) -> Named:
    id = f"{document}/{key(name)}"
    says = f"{name} is in {document}."
    names = (name, *also)
    return Named(
        id, document, document.upper(), name, key(name), names, type, says, mentions, f"{id}/1"
    )


def why(*everyone: Named) -> dict[tuple[str, ...], str]:
    return {tuple(sorted(one.id for one in it.members)): it.why for it in find_alike(everyone)}


def offline(everyone: Sequence[Named], decisions: Decisions | None = None) -> Groups:
    groups = Groups(everyone, decisions or Decisions())
    for alike, one, other in list(groups.open_pairs(find_alike(everyone))):
        if alike.is_sure:
            groups.decide(Decision(one, other, True, NAMES, alike.why))
    return groups


def sets(groups: Groups) -> set[frozenset[str]]:
    return {frozenset(one.id for one in group) for group in groups.groups() if len(group) > 1}


def test_equal_names_of_different_documents_are_alike_whatever_their_titles() -> None:
    assert why(named("a", "Mr. Fagin"), named("b", "Fagin")) == {
        ("a/fagin", "b/fagin"): "equal names"
    }
    assert why(named("a", "Fagin"), named("a", "Oliver")) == {}


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        ("Rodion Raskolnikov", "Rodion Raskolnikow", "spelling"),
        ("Micawber", "Mickawber", "spelling"),
        ("E. Scrooge", "Ebenezer Scrooge", "initial"),
        ("Scrooge", "Ebenezer Scrooge", "family name"),
        ("Ebenezer", "Ebenezer Scrooge", "first name"),
    ],
)
def test_likely_names_say_why(one: str, other: str, what: str) -> None:
    [found] = find_alike([named("a", one), named("b", other)])
    assert found.why == what


@pytest.mark.parametrize(
    ("one", "other"), [("Ivan", "Ian"), ("Anna Holt", "Bella Holt"), ("Mary Ann", "Mary Jane")]
)
def test_other_names_are_not_alike(one: str, other: str) -> None:
    assert find_alike([named("a", one), named("b", other)]) == []


@pytest.mark.parametrize(
    ("one", "other"),
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
def test_a_letter_or_two_of_a_long_word_may_differ(one: str, other: str) -> None:
    assert why(named("a", one), named("b", other)) == {
        (f"a/{key(one)}", f"b/{key(other)}"): "spelling"
    }


def test_names_that_only_begin_alike_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = random.Random(0)
    words = ["S" + "".join(letters.choices("aeiourstlnmkd", k=8)) for _ in range(1_000)]
    compared: list[tuple[str, str]] = []

    def counting(one: str, other: str, ordinary: Collection[str]) -> int:
        compared.append((one, other))
        return misspelt_by(one, other, ordinary)

    monkeypatch.setattr("fabula.graphs.identities.likely.misspelt_by", counting)
    everyone = [named(document, word) for document, word in zip("ab" * 500, words, strict=True)]
    find_alike([*everyone, named("a", "Sigurdsen"), named("b", "Sigurdson")])
    assert ("sigurdsen", "sigurdson") in compared
    assert len(compared) < 5_000, "of half a million"


def test_another_name_that_one_document_has_is_alike() -> None:
    found = why(named("a", "Charles Dickens", "Boz"), named("b", "Boz"))
    assert found == {("a/charles dickens", "b/boz"): "another name"}


def test_a_family_name_that_several_bear_is_no_ones() -> None:
    everyone = [named("a", "Baskerville"), named("b", "Henry Baskerville")]
    assert len(find_alike(everyone)) == 1
    assert find_alike([*everyone, named("c", "Hugo Baskerville")]) == []


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
        assert len({one.document for one in group}) == len(group)


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
    apart = offline(everyone, read_decisions(["a/john = b/john"], ["Boz = c/john"]))
    assert sets(apart) == {frozenset(("a/john", "c/john", "d/boz"))}
    none = offline(everyone, read_decisions(["John = John"], []))
    assert sets(none) == set()
    assert {one.by for one in none.decided} == {PERSON}
    both = offline(everyone, read_decisions(["John = Boz"], ["John = Boz"]))
    assert not any("d/boz" in group for group in sets(both))


def test_a_model_is_asked_of_each_namesake_once_and_of_those_left_again() -> None:
    everyone = [named(document, "John", mentions=9 - n) for n, document in enumerate("abcdef")]
    alike = find_alike(everyone)
    truth = {"a": 1, "b": 1, "c": 2, "d": 2, "e": 3, "f": 3}
    groups = Groups(everyone, Decisions())
    rounds = []
    said: dict[str, list[Verdict]] = {}
    while pairs := list(groups.open_pairs(alike)):
        rounds.append(len(pairs))
        for _, one, other in pairs:
            same = truth[one.document] == truth[other.document]
            said.setdefault(one.id, []).append((Pair(one, other).digest, same, "told"))
            groups.decide(Decision(one, other, same, MODEL, "told"))
    assert rounds == [5, 3, 1]
    assert sets(groups) == {frozenset(f"{one}/john" for one in pair) for pair in ("ab", "cd", "ef")}
    nodes, edges = nodes_and_edges("novels", groups.groups(), groups.decided, said)
    assert [node.label for node in nodes] == ["Identity"] * 3
    apart = [edge for edge in edges if edge.type == "APART"]
    assert len(apart) == 3
    told = verdicts_of(Known(nodes=tuple(nodes), edges=tuple(edges)))
    assert len(told) == sum(rounds)
    for one, other in combinations(everyone, 2):
        if (digest := Pair(one, other).digest) in told:
            assert told[digest] == (truth[one.document] == truth[other.document], "told")


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
    assert len(long) == LONGEST_WHY
    for wrong, what in (
        (reply((1, True)), "said of the pairs 2"),
        (reply((1, True), (2, True), (3, True)), "Pair 3 is none of the 2"),
        (reply((1, "perhaps"), (2, True)), "Expected"),
        ("I can't tell.", "Expected"),
    ):
        with pytest.raises(BadReply, match=what):
            read_pairs(wrong, 2)


def test_a_pair_is_known_again_by_what_is_told_of_it_alone() -> None:
    one, other = named("a", "John", mentions=1), named("b", "John", mentions=2)
    assert Pair(one, other).digest == Pair(other, one).digest
    assert Pair(named("a", "John", mentions=7), other).digest == Pair(one, other).digest
    assert Pair(named("a", "John", "Johnny"), other).digest != Pair(one, other).digest


def test_decisions_that_are_none_are_refused_in_words() -> None:
    assert Knobs(keep_apart="a = b; c = d").keep_apart == ("a = b", "c = d")
    with pytest.raises(SettingsError, match="keep_apart: 'John'"):
        read_decisions(["John"], [])
