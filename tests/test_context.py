"""The context: whole sentences, each once, within the budget, numbered as they are cited."""

from __future__ import annotations

from fabula import tokens
from fabula.answer import citations, shown
from fabula.context import fill
from fabula.model import Hit


def hit(name: str, text: str, language: str = "") -> Hit:
    return Hit(
        name, "chunk", "d", "T", language, "", "", 0, 0, len(text), text, tokens.count(text), 0.5
    )


def test_passages_are_numbered_in_the_order_of_the_hits() -> None:
    context = fill([hit("b", "One."), hit("a", "Two.")], 100)
    assert [(passage.number, passage.hit.id) for passage in context] == [(1, "b"), (2, "a")]


def test_no_sentence_comes_twice() -> None:
    summary = hit("s", "Scrooge is cold. Marley was dead.")
    chunk = hit("c", "Marley was  dead.\nThere is no doubt.")
    context = fill([summary, chunk], 100)
    assert [passage.text for passage in context] == [
        "Scrooge is cold. Marley was dead.",
        "There is no doubt.",
    ]


def test_a_hit_that_adds_nothing_has_no_number() -> None:
    context = fill([hit("a", "Same."), hit("b", "Same."), hit("c", "Other.")], 100)
    assert [(passage.number, passage.hit.id) for passage in context] == [(1, "a"), (2, "c")]


def test_the_budget_ends_the_context_at_a_sentence() -> None:
    long = " ".join(f"Sentence number {number} is here." for number in range(50))
    context = fill([hit("a", long), hit("b", "Never reached.")], 40)
    assert len(context) == 1
    assert context[0].text.endswith("here.")
    assert 30 <= tokens.count(context[0].text) <= 40


def test_no_hits_make_no_context() -> None:
    assert fill([], 100) == []


def test_citations_are_read_in_all_common_forms() -> None:
    assert citations("So it is [2]. And [1, 3]; also [2][4].", 4) == (2, 1, 3, 4)


def test_a_number_that_no_passage_has_is_no_citation() -> None:
    assert citations("In [1843] and [0] and [5].", 4) == ()


def test_a_first_sentence_over_the_budget_is_cut_rather_than_lost() -> None:
    [passage] = fill([hit("a", "word " * 100)], 16)
    assert passage.text.startswith("word word")
    assert tokens.count(passage.text) <= 16


def test_sentences_end_where_the_documents_language_ends_them() -> None:
    # In English a sentence would end after "bzw." and "3."; and none would end with a ";".
    german = hit("a", "Er kam bzw. Anna kam am 3. Mai nach Wien. Dann ging er.", "de")
    [passage] = fill([german], tokens.count("Er kam bzw. Anna kam am 3. Mai nach Wien. ") + 1)
    assert passage.text == "Er kam bzw. Anna kam am 3. Mai nach Wien."
    greek = [hit("a", "Τι είναι αυτό; Ένα σπίτι.", "el"), hit("b", "Πού; Ένα σπίτι.", "el")]
    assert [passage.text for passage in fill(greek, 100)] == ["Τι είναι αυτό; Ένα σπίτι.", "Πού;"]


def test_a_note_of_the_book_is_no_citation_when_it_is_quoted() -> None:
    passage = "Old Marley[3] was dead [1, 2] as a door-nail [sic]."
    assert shown(passage) == "Old Marley(3) was dead (1, 2) as a door-nail [sic]."
    assert citations(f"He was: “{shown(passage)}” [2]", 3) == (2,)
