"""Events and links without a model: what sentences say of who and when, and what joins chunks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cases import for_each
from fabula.graph.method import BuildText
from fabula.graphs.discourse.rules import events_by_rules, links_by_rules, opening
from fabula.graphs.discourse.senses import read_senses
from fabula.graphs.discourse.words import DiscourseWords, words_of
from scripted import made_chunks, told

ENGLISH = words_of("en")
# Names are what a text writes with a capital inside its sentences.
CAST = "They saw Anna with Captain Reed. Then said Anna that John Hale lived in Dunmore. "


def english() -> DiscourseWords:
    assert ENGLISH is not None
    return ENGLISH


def slots_of(sentence: str) -> dict[str, str]:
    """What is read of one sentence, in a text in which its people are known."""
    text = told(made_chunks(CAST * 3, sentence))
    found = [dict(one.slots) for one in events_by_rules(text) if one.chunk == text.chunks[1].id]
    return found[0] if found else {}


@for_each(
    ("begun", "sense"),
    [
        ("But he went.", "Comparison"),
        ("“But,” said Anna, “no.”", "Comparison"),
        ("Therefore he went.", "Contingency.Cause.Result"),
        ("So he went.", "Contingency.Cause.Result"),
        ("So, he went.", "Contingency.Cause.Result"),
        ("For he was ill.", "Contingency.Cause.Reason"),
        ("On the other hand he was ill.", "Comparison.Contrast"),
        ("Afterwards they slept.", "Temporal.Asynchronous.Precedence"),
        ("In the meantime they slept.", "Temporal"),
        ("For example, the mill.", "Expansion.Instantiation.Arg2-as-instance"),
        ("Instead she laughed.", "Expansion.Substitution.Arg2-as-subst"),
    ],
)
def test_what_a_chunk_begins_with_relates_it_to_the_one_before(begun: str, sense: str) -> None:
    found = opening(begun, english())
    assert found is not None
    assert found[0].sense == sense
    chunks = made_chunks("Anna came. ", begun)
    [link] = links_by_rules(chunks, "en", read_senses("pdtb3"))
    assert (link.arg1, link.arg2, link.sense) == (chunks[0].id, chunks[1].id, sense)
    assert (link.form, link.connective) == ("explicit", found[1])


@for_each(
    "begun",
    [
        "Because he was ill, he slept.",
        "When he came, they slept.",
        "So that he might sleep, they left.",
        "So great a man was rare.",
        "For the first time he slept.",
        "Instead of sleeping he wrote.",
        "Later than that nobody came.",
        "Indeed!",
        "While he slept they left.",
        "Butter was dear.",
        "CHAPTER II\n\nBut he went.",
        # A dotless i, as scans have it.
        "ıf he came, they slept.",
        "İn addition he slept.",
        "",
    ],
)
def test_what_has_both_arguments_in_its_sentence_or_none_gives_no_link(begun: str) -> None:
    assert opening(begun, english()) is None


def test_no_language_without_a_list_has_links_or_events() -> None:
    chunks = made_chunks("Anna came. ", "But Boris went to Dunmore on Monday.")
    assert links_by_rules(chunks, "pl", read_senses("pdtb3")) == []
    text = told(chunks)
    text = replace(text, document=replace(text.document, language="pl"))
    assert events_by_rules(text) == []


def test_links_are_of_the_set_that_is_asked_for() -> None:
    chunks = made_chunks("Anna came. ", "Therefore Boris went.")
    [link] = links_by_rules(chunks, "en", read_senses("pdtb2"))
    assert link.sense == "CONTIGENCY.Cause.result"


@for_each(
    ("sentence", "slots"),
    [
        ("On Monday Anna went to Dunmore.", {"who": "Anna", "when": "On Monday"}),
        ("On Monday Anna went to Dunmore.", {"predicate": "go", "where": "Dunmore"}),
        ("Anna refused because the light was out.", {"why": "the light was out"}),
        ("Anna stayed, for she was ill.", {"why": "she was ill"}),
        ("Anna wrote in order to warn them.", {"why": "to warn them", "predicate": "write"}),
        ("Anna slowly opened the door.", {"how": "slowly", "predicate": "opened"}),
        ("Anna won by keeping silent.", {"how": "by keeping silent", "predicate": "win"}),
        ("“I will not,” cried Anna that night.", {"who": "Anna", "when": "that night"}),
        ("Anna and John Hale met three days later.", {"who": "Anna and John Hale"}),
        ("Anna and John Hale met three days later.", {"when": "three days later"}),
        ("Anna came at ten o'clock.", {"when": "at ten o'clock"}),
        ("Anna came in the early morning.", {"when": "in the early morning"}),
        ("Anna died in 1843.", {"when": "in 1843"}),
    ],
)
def test_a_sentence_is_read(sentence: str, slots: dict[str, str]) -> None:
    assert slots.items() <= slots_of(sentence).items()


def test_whose_something_is_does_not_do_it() -> None:
    assert "who" not in slots_of("Anna's brother came on Monday.")


def test_a_month_that_is_another_word_is_no_time() -> None:
    assert "when" not in slots_of("Anna may have opened it slowly.")


def test_a_chunk_has_at_most_two_events_those_of_which_most_is_told() -> None:
    chunk = (
        "Anna slept. Anna opened the door on Monday. Anna cried. "
        "John Hale slowly went to Dunmore on Tuesday."
    )
    text = told(made_chunks(CAST * 3, chunk))
    events = [one for one in events_by_rules(text) if one.chunk == text.chunks[1].id]
    assert [one.slots["when"] for one in events] == ["on Monday", "on Tuesday"]
    assert [one.ordinal for one in events] == [0, 1]


def test_names_are_the_entities_where_the_document_has_them() -> None:
    from test_discourse_build import cast_of

    chunks = made_chunks("then the pilot slowly left the old tower.")
    cast = cast_of(chunks, pilot="person", tower="place")
    text = replace(told(chunks), below={"entities": cast})
    [event] = events_by_rules(text)
    assert event.slots["who"] == "pilot"
    assert isinstance(text, BuildText)


@pytest.mark.parametrize(
    "sentence",
    [
        # Names that are no subject of the verb that follows, or of none.
        "They thought of Anna and laid the watch aside.",
        "Anna, whom they saw, and a cart passed slowly.",
        "Anna was received slowly on Monday.",
        "The house near Dunmore lay slowly in the snow on Monday.",
        "They approached Anna slowly and left on Monday.",
        "Once the Palæontological staved slowly on Monday.",
    ],
)
def test_a_name_without_a_verb_of_its_own_does_nothing(sentence: str) -> None:
    """Of every tenth event of The Time Machine 9 of 20 were false, as "Tübingen lay"."""
    assert slots_of(sentence) == {}


def test_when_and_how_are_those_of_the_clause() -> None:
    slots = slots_of("Anna opened the door; on Monday they slowly left.")
    assert slots == {"who": "Anna", "predicate": "opened"}
