"""The context: whole sentences, each once, within the budget, numbered as they are cited."""

from __future__ import annotations

from dataclasses import replace

from fabula.ask.answer import escape_citations, find_citations
from fabula.ask.context import MAX_JOINED_TOKENS, fill_with_passages, fill_with_sentences
from fabula.graph.hits import Hit, Passage
from fabula.text import tokens
from hits import hit


def detail(name: str, text: str, score: float = 0.5) -> Hit:
    return replace(hit(name, text, score=score), kind="detail")


def in_a_row(*texts: str) -> list[Hit]:
    """Chunks that follow each other in one text, the first of them the best."""
    starts = [sum(map(len, texts[:one])) for one in range(len(texts))]
    return [
        hit(f"c{number}", text, "en", start=start, score=1 - number / 10)
        for number, (text, start) in enumerate(zip(texts, starts, strict=True))
    ]


def quoted(context: list[Passage]) -> list[str]:
    """What the spans of a context say that its passages are."""
    return [" ".join(one.hit.text[a:b] for a, b in one.spans) for one in context]


def test_passages_are_numbered_in_the_order_of_the_hits() -> None:
    context = fill_with_passages([hit("b", "One."), hit("a", "Two.")], 100)
    assert [(passage.number, passage.hit.id) for passage in context] == [(1, "b"), (2, "a")]


def test_no_sentence_comes_twice() -> None:
    summary = hit("s", "Scrooge is cold. Marley was dead.")
    chunk = hit("c", "Marley was  dead.\nThere is no doubt.")
    context = fill_with_passages([summary, chunk], 100)
    assert [passage.text for passage in context] == [
        "Scrooge is cold. Marley was dead.",
        "There is no doubt.",
    ]


def test_a_sentence_under_a_heading_is_the_same_one() -> None:
    chunk = hit("c", "Marley was dead. Scrooge knew it.")
    record = replace(hit("r", "Marley (person): Marley was dead. He was old."), kind="entity")
    summary = replace(hit("s", "Marley: Marley was dead."), kind="summary")
    texts = [passage.text for passage in fill_with_passages([chunk, record, summary], 100)]
    assert texts == ["Marley was dead. Scrooge knew it.", "He was old.", "Marley: Marley was dead."]
    texts = [passage.text for passage in fill_with_passages([record, chunk], 100)]
    assert texts == ["Marley (person): Marley was dead. He was old.", "Scrooge knew it."]


def test_a_hit_that_adds_nothing_has_no_number() -> None:
    context = fill_with_passages([hit("a", "Same."), hit("b", "Same."), hit("c", "Other.")], 100)
    assert [(passage.number, passage.hit.id) for passage in context] == [(1, "a"), (2, "c")]


def test_the_budget_ends_the_context_at_a_sentence() -> None:
    long = " ".join(f"Sentence number {number} is here." for number in range(50))
    context = fill_with_passages([hit("a", long), hit("b", "Never reached.")], 40)
    assert len(context) == 1
    assert context[0].text.endswith("here.")
    assert 30 <= tokens.count(context[0].text) <= 40


def test_no_hits_make_no_context() -> None:
    assert fill_with_passages([], 100) == []


def test_citations_are_read_in_all_common_forms() -> None:
    assert find_citations("So it is [2]. And [1, 3]; also [2][4].", 4) == (2, 1, 3, 4)


def test_a_number_that_no_passage_has_is_no_citation() -> None:
    assert find_citations("In [1843] and [0] and [5].", 4) == ()


def test_a_first_sentence_over_the_budget_is_cut_rather_than_lost() -> None:
    [passage] = fill_with_passages([hit("a", "word " * 100)], 16)
    assert passage.text.startswith("word word")
    assert tokens.count(passage.text) <= 16


def test_sentences_end_where_the_documents_language_ends_them() -> None:
    # In English a sentence would end after "bzw." and "3."; and none would end with a ";".
    german = hit("a", "Er kam bzw. Anna kam am 3. Mai nach Wien. Dann ging er.", "de")
    [passage] = fill_with_passages(
        [german], tokens.count("Er kam bzw. Anna kam am 3. Mai nach Wien. ") + 1
    )
    assert passage.text == "Er kam bzw. Anna kam am 3. Mai nach Wien."
    greek = [hit("a", "Τι είναι αυτό; Ένα σπίτι.", "el"), hit("b", "Πού; Ένα σπίτι.", "el")]
    assert [passage.text for passage in fill_with_passages(greek, 100)] == [
        "Τι είναι αυτό; Ένα σπίτι.",
        "Πού;",
    ]


def test_a_note_of_the_book_is_no_citation_when_it_is_quoted() -> None:
    passage = "Old Marley[3] was dead [1, 2] as a door-nail [sic]."
    assert escape_citations(passage) == "Old Marley(3) was dead (1, 2) as a door-nail [sic]."
    assert find_citations(f"He was: “{escape_citations(passage)}” [2]", 3) == (2,)


# Details and their chunks


def test_a_detail_brings_its_chunk_instead_of_standing_for_it() -> None:
    chunk = hit("c", "Old Martha kept the mill. She trusted nobody.")
    found = detail("d", "Martha; the mill", score=0.9)
    [passage] = fill_with_passages([found], 100, {"d": chunk})
    assert (passage.hit.id, passage.text) == ("c", chunk.text)
    [passage] = fill_with_sentences("Who kept the mill?", [found], 100, {"d": chunk})
    assert (passage.hit.id, passage.hit.score) == ("c", 0.9)


def test_a_detail_stands_for_its_chunk_where_that_has_no_room() -> None:
    chunk = hit("c", "Old Martha kept the mill by the frozen river, and trusted nobody. " * 3)
    context = fill_with_passages(
        [detail("d", "Martha; the mill"), hit("e", "Snow.")], 10, {"d": chunk}
    )
    assert [passage.text for passage in context] == ["Martha; the mill", "Snow."]


def test_two_details_of_a_chunk_bring_it_once() -> None:
    chunk = hit("c", "Old Martha kept the mill. She trusted nobody.")
    found = [detail("d", "Martha; the mill"), detail("e", "trusted nobody")]
    chunks = {"d": chunk, "e": chunk}
    assert [passage.hit.id for passage in fill_with_passages(found, 100, chunks)] == ["c"]
    assert [sentence.hit.id for sentence in fill_with_sentences("Who?", found, 100, chunks)] == [
        "c"
    ]


# The best sentences of many passages

MILL = (
    "Snow covered the roofs. Old Martha kept the mill. She counted her coins. Fog rose. ",
    "A stranger knocked. He showed her a silver watch. The wheel turned. ",
    "The village talked for weeks. Nobody saw the watch again. ",
)


def test_sentences_are_chosen_by_their_own_words_and_their_passages_score() -> None:
    found = in_a_row(*MILL)
    context = fill_with_sentences("Whose silver watch was it?", found, 22)
    text = " ".join(passage.text for passage in context)
    assert "He showed her a silver watch." in text
    assert "The village talked" not in text, "a worse passage, and none of the question's words"


def test_sentences_are_told_by_passage_in_the_order_of_the_text() -> None:
    found = list(reversed(in_a_row(*MILL)))
    context = fill_with_sentences("Whose silver watch was it?", found, 1000)
    assert [passage.text for passage in context] == [text.strip() for text in MILL]
    assert [passage.number for passage in context] == [1, 2, 3]


def test_a_gap_is_marked_and_what_follows_is_not_parted() -> None:
    text = "Martha had a mill. Fog rose over the black hills and the river. The mill was old."
    [passage] = fill_with_sentences("mill", [hit("c", text, "en")], 20)
    assert passage.text == "Martha had a mill. [...] The mill was old."
    [whole] = fill_with_sentences("mill", [hit("c", text, "en")], 100)
    assert whole.text == text


def test_a_passage_tells_which_stretches_of_its_hit_it_holds() -> None:
    found = in_a_row(*MILL)
    for context in (fill_with_passages(found, 25), fill_with_sentences("Whose watch?", found, 25)):
        assert quoted(context) == [passage.text.replace(" [...]", "") for passage in context]


def test_a_sentence_is_given_some_of_what_stands_beside_it_even_in_the_next_chunk() -> None:
    first, second, far = in_a_row(
        "Fog rose. Snow fell. ", "The silver watch was his. Bells rang. ", "Ice lay. Wind blew. "
    )
    level = [replace(one, score=0.5) for one in (first, second, far)]
    context = fill_with_sentences("Whose silver watch?", level, 19)
    assert [passage.text for passage in context] == [
        "Snow fell.",
        "The silver watch was his. Bells rang.",
    ]


def test_sentences_of_a_context_keep_to_its_budget_and_come_once() -> None:
    again = [hit("a", MILL[0], "en", score=0.2), *in_a_row(*MILL)]
    for budget in (16, 30, 60, 200):
        context = fill_with_sentences("Who kept the mill?", again, budget)
        assert sum(tokens.count(passage.text) for passage in context) <= budget
        text = " ".join(passage.text for passage in context)
        assert text.count("Old Martha kept the mill.") == 1


def test_of_a_chunk_and_a_summary_that_say_the_same_the_chunk_is_cited() -> None:
    summary = replace(hit("s", "Old Martha kept the mill."), kind="summary", level=1, score=0.9)
    context = fill_with_sentences("Who kept the mill?", [summary, hit("c", MILL[0], "en")], 100)
    assert [passage.hit.id for passage in context] == ["c"]


def test_texts_come_in_the_order_of_their_best_passages() -> None:
    one, other = hit("a", "The mill is old.", score=0.4), hit("b", "A mill burned.", score=0.9)
    found = [replace(other, document="other"), one]
    context = fill_with_sentences("mill", found, 100)
    assert [passage.hit.id for passage in context] == ["b", "a"]


def test_nothing_found_makes_no_sentences_and_an_endless_one_is_cut() -> None:
    assert fill_with_sentences("Who?", [], 100) == []
    [passage] = fill_with_sentences("Who?", [hit("a", "word " * 100)], 16)
    assert passage.text.startswith("word word")
    assert tokens.count(passage.text) <= 16


def test_a_question_without_words_takes_the_best_passages() -> None:
    context = fill_with_sentences("?!", in_a_row(*MILL), 30)
    assert context[0].hit.id == "c0"


# The order of the text


def test_passages_in_the_order_of_the_text_are_those_that_rank_best() -> None:
    first, second, third = (
        hit("a", "Alone at the start.", start=0, score=0.1),
        hit("b", "Alone in the middle.", start=500, score=0.9),
        hit("c", "Alone at the end.", start=900, score=0.5),
    )
    context = fill_with_passages([second, third, first], 12, order="text")
    assert [(passage.number, passage.hit.id) for passage in context] == [(1, "b"), (2, "c")]
    context = fill_with_passages([second, third, first], 100, order="text")
    assert [(passage.number, passage.hit.id) for passage in context] == [
        (1, "a"),
        (2, "b"),
        (3, "c"),
    ]


def test_documents_come_in_the_order_of_their_best_passages() -> None:
    late = hit("x", "The other book.", start=0, score=0.9)
    other = [replace(late, document="e")]
    book = [hit("b", "Later.", start=50, score=0.8), hit("a", "Before.", start=10, score=0.7)]
    context = fill_with_passages([*other, *book], 100, order="text")
    assert [passage.hit.id for passage in context] == ["x", "a", "b"]


def test_neighbours_are_one_passage_with_the_books_own_text() -> None:
    chunks = in_a_row("One is here. ", "Two is here. ", "Three is here. ", "Four is here. ")
    context = fill_with_passages([chunks[2], chunks[0], chunks[1]], 100, order="text")
    [passage] = context
    assert passage.text == "One is here. Two is here. Three is here."
    assert (passage.hit.start, passage.hit.end) == (0, chunks[2].end)
    assert (passage.hit.id, passage.hit.score) == ("c0", 1.0)
    assert passage.spans == ((0, len(passage.text)),)
    first, last = fill_with_passages([chunks[0], chunks[3]], 100, order="text")
    assert (first.text, last.text) == ("One is here.", "Four is here.")


def test_what_is_left_out_between_neighbours_is_marked() -> None:
    summary = replace(hit("s", "Two is here.", "en"), kind="summary", level=1, aspect="plot")
    chunks = in_a_row("One is here. Two is here. ", "Three is here.")
    context = fill_with_passages([summary, *chunks], 100, order="text")
    assert [passage.text for passage in context] == [
        "Two is here.",
        "One is here. [...] Three is here.",
    ]
    assert quoted(context)[1] == "One is here. Three is here."


def test_chunks_of_two_sections_stay_apart() -> None:
    one, two = in_a_row("The end of it. ", "The beginning of it.")
    apart = [replace(one, section="I"), replace(two, section="II")]
    assert len(fill_with_passages(apart, 100, order="text")) == 2


def test_a_passage_of_neighbours_is_no_longer_than_a_citation_should_be() -> None:
    chunks = in_a_row(*(f"Sentence {number} of the long book. " * 30 for number in range(8)))
    context = fill_with_passages(chunks, 5000, order="text")
    assert len(context) > 2
    assert all(passage.hit.tokens <= MAX_JOINED_TOKENS for passage in context)


def test_white_space_between_neighbours_is_no_gap() -> None:
    one = hit("a", "One is here.", "en", start=0, score=0.9)
    two = hit("b", "Two is here.", "en", start=14)
    [passage] = fill_with_passages([one, two], 100, order="text")
    assert passage.text == "One is here.\n\nTwo is here."
    assert passage.hit.text[14:] == "Two is here."


def test_records_come_before_the_text_and_a_summary_before_what_it_tells() -> None:
    record = replace(hit("r", "Scrooge (person): a miser.", score=0.2), kind="entity", start=5)
    chunk = hit("c", "Marley was dead.", start=0, score=0.9)
    summary = replace(hit("s", "A miser is changed.", score=0.3), kind="summary", level=2)
    context = fill_with_passages([chunk, summary, record], 100, order="text")
    assert [passage.hit.id for passage in context] == ["r", "s", "c"]


def test_a_chunk_in_the_place_of_its_detail_is_as_good_as_the_detail() -> None:
    found = detail("d", "Marley dead.", score=0.8)
    chunk = hit("c", "Marley was dead: to begin with.", score=0.0)
    [passage] = fill_with_passages([found], 100, {"d": chunk})
    assert (passage.hit.id, passage.hit.score) == ("c", 0.8)


def test_the_numbers_that_there_are_may_have_holes() -> None:
    assert find_citations("So [2]. Also [3, 7] and [9].", [2, 7]) == (2, 7)
    assert find_citations("So [2]. Also [3, 7].", 3) == (2, 3)
