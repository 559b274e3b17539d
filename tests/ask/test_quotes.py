"""What is said where no model answers: the closest passages, whole, and what in them matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from fabula.ask.answer import Answer, find_citations
from fabula.ask.context import fill_with_sentences
from fabula.ask.quotes import (
    MAX_QUOTES,
    find_names,
    quote_cited,
    quote_closest,
    write_quotes,
)
from fabula.cli.shared.quotes import on_screen
from fabula.export.markdown import markdown
from fabula.graph.hits import Hit, Passage, Quote, describe_place
from fabula.models import NO_ANSWER
from hits import hit

MILL = (
    "The village of Harrow lay in a narrow valley.\n\nSnow covered the roofs and the churchyard.\n",
    "Old Martha Quill kept the mill. She trusted nobody, and counted her coins twice each night.\n",
    "A stranger knocked at the mill. She refused him, but he showed her Edmund's silver watch.\n",
    "The wheel was repaired. The watch lay in the iron chest, and Martha wept until morning.\n",
    "The hand was Edmund's: he was alive, and the stranger had stolen the watch in prison.\n",
    "In spring the river rose. Greed, she thought, had cost her one son already.\n",
)
BOOK = "\n".join(MILL)


def hits(texts: Sequence[str] = MILL, language: str = "en") -> list[Hit]:
    starts = [BOOK.find(text) for text in texts]
    return [
        replace(hit(f"c{number}", text, language, start=start), title="Harrow")
        for number, (text, start) in enumerate(zip(texts, starts, strict=True))
    ]


def ask(question: str, texts: Sequence[str] = MILL, language: str = "en") -> list[Quote]:
    found = hits(texts, language)
    return quote_closest(question, fill_with_sentences(question, found, 1000))


def test_the_closest_passage_comes_first_and_whole() -> None:
    first = ask("Who had stolen the watch in prison?")[0]
    assert first.hit.text == MILL[4]
    assert BOOK[first.hit.start : first.hit.end] == MILL[4]


@pytest.mark.parametrize(
    ("question", "printed"),
    [
        ("Where did Natasha dance?", "Natásha danced at the hunting lodge."),
        ("Where did Natásha dance?", "Natasha danced at the hunting lodge."),
        ("Why did the officer sleep?", "The oﬃcer slept in the mill."),
        ("What did the sexton dig?", "The ſexton dug behind the mill."),
    ],
)
def test_a_sentence_matches_however_its_words_are_printed(question: str, printed: str) -> None:
    others = ["The river rose in the spring. Nobody slept.\n", "A cart stood by the wall.\n"]
    first = ask(question, [*others, f"Snow lay on the roofs. {printed}\n"])[0]
    assert [first.hit.text[a:b] for a, b in first.matches] == [printed]


def test_the_sentences_that_match_are_told_by_their_places() -> None:
    quotes = ask("Who showed her the silver watch?")
    matching = [quote.hit.text[a:b] for quote in quotes for a, b in quote.matches]
    assert "She refused him, but he showed her Edmund's silver watch." in matching
    assert "A stranger knocked at the mill." not in matching


def test_a_quotes_number_is_its_passages_in_the_context() -> None:
    question = "Who showed her the silver watch?"
    context = fill_with_sentences(question, hits(), 1000)
    by_number = {passage.number: passage.hit.id for passage in context}
    assert all(
        by_number[quote.number] == quote.hit.id for quote in quote_closest(question, context)
    )


def test_the_text_of_an_answer_is_its_quotes_and_cites_them() -> None:
    quotes = ask("Who showed her the silver watch?")
    text = "".join(reply.text for reply in write_quotes(quotes))
    assert [part.rsplit(" [", 1)[0] for part in text.split("]\n\n")] == [
        quote.hit.text.strip() for quote in quotes
    ]
    assert find_citations(text, len(MILL)) == tuple(quote.number for quote in quotes)


def test_quotes_are_no_more_than_a_screen_holds() -> None:
    many = [f"On night {n} Martha counted coins at the mill." for n in range(30)]
    assert len(ask("How many coins did Martha count?", many)) == MAX_QUOTES


def test_a_passage_with_more_of_the_questions_words_is_closer() -> None:
    first, second = ask("Was the silver watch of Edmund stolen?")[:2]
    assert {first.hit.text, second.hit.text} == {MILL[2], MILL[4]}


def test_passages_without_a_word_of_the_question_are_left_out_where_others_have_one() -> None:
    assert [quote.hit.text for quote in ask("Was it greed?")] == [MILL[5]]


@pytest.mark.parametrize(
    "question", ["What does Captain Nemo build?", "Who is Ahab's harpooner Queequeg?"]
)
def test_what_no_passage_names_has_no_answer(question: str) -> None:
    assert ask(question) == []
    assert [reply.text for reply in write_quotes([])] == [NO_ANSWER]


@pytest.mark.parametrize("question", ["?", "🤷", "What is the plot of the story?"])
def test_a_question_without_a_word_of_the_book_has_its_best_passages_and_no_match(
    question: str,
) -> None:
    quotes = ask(question)
    assert quotes
    assert all(quote.matches == () for quote in quotes)


def test_a_question_in_another_language_is_answered_from_a_text_in_it() -> None:
    texts = ["Stary młynarz Jakub mieszkał nad rzeką. Zimą łowił ryby i sprzedawał je we wsi."]
    [quote] = ask("Gdzie mieszkał młynarz Jakub?", texts, "pl")
    assert quote.matches == ((0, len("Stary młynarz Jakub mieszkał nad rzeką.")),)
    assert ask("Gdzie mieszkał kapitan Nemo?", texts, "pl") == []


def test_an_empty_context_has_no_quotes() -> None:
    assert quote_closest("Who kept the mill?", []) == []


def test_names_are_capitals_inside_a_sentence_and_numbers() -> None:
    assert find_names("When did Bob Cratchit and I leave in 1843?") == ["Bob", "Cratchit", "1843"]


def test_where_all_nouns_have_capitals_a_noun_is_no_name() -> None:
    """ "Wer ist der Mörder?" once had no answer, as no passage has the word."""
    texts = ["Der Müller fand die Leiche am Fluss.", "Boris hatte sie mit dem Messer erstochen."]
    for question in ("Wer ist der Mörder?", "wer ist der mörder?"):
        quotes = ask(question, texts, "de")
        assert {quote.number for quote in quotes} == {1, 2}
    assert ask("Wer kam im Jahr 1899 an?", texts, "de") == []
    assert ask("Who met Napoleon there?", texts, "en") == []
    assert find_names("Wer ist der Mörder von 1843?", "de") == ["1843"]


# On a screen


def test_a_screen_shows_whole_passages_as_many_as_it_holds() -> None:
    quotes = ask("Who had stolen the watch in prison?")
    shown = on_screen(quotes, 80, 24)
    assert [text.plain for _, text in shown] == [quote.hit.text.strip() for quote in quotes]
    [(head, text)] = on_screen(quotes, 40, 9)
    assert text.plain == quotes[0].hit.text.strip()
    assert head.plain.startswith(f"[{quotes[0].number}] Harrow")
    assert len(on_screen(quotes, 20, 1)) == 1, "the closest is shown whatever its length"


def test_what_matches_is_bold() -> None:
    quotes = ask("Who showed her the silver watch?")
    _, text = on_screen(quotes, 80, 24)[0]
    [span] = text.spans
    assert span.style == "bold"
    assert text.plain[span.start : span.end] == (
        "She refused him, but he showed her Edmund's silver watch."
    )


def answered(text: str, context: Sequence[Passage]) -> list[Quote]:
    hits_of = tuple(passage.hit for passage in context)
    cited = find_citations(text, len(context))
    return quote_cited(Answer("Who?", text, hits_of, tuple(context), cited))


def whole(texts: Sequence[str] = MILL) -> list[Passage]:
    return [
        Passage(number, hit, hit.text, ((0, len(hit.text)),))
        for number, hit in enumerate(hits(texts), start=1)
    ]


def quoted(quote: Quote) -> list[str]:
    return [quote.hit.text[start:end] for start, end in quote.matches]


def test_a_citation_quotes_the_sentence_that_bears_what_cites_it() -> None:
    second, fourth = answered(
        "Martha wept until the morning [4]. She was distrustful, and trusted nobody at all [2].",
        whole(),
    )
    assert (second.number, fourth.number) == (2, 4)
    assert quoted(second) == ["She trusted nobody, and counted her coins twice each night."]
    assert quoted(fourth) == ["The watch lay in the iron chest, and Martha wept until morning."]


def test_what_is_cited_twice_is_quoted_once_for_both() -> None:
    [quote] = answered("The watch was silver [3]. Edmund's watch [3].", whole())
    assert quoted(quote) == ["She refused him, but he showed her Edmund's silver watch."]


def test_only_what_the_answer_was_given_is_quoted() -> None:
    hit = hits()[1]
    start = hit.text.index("She trusted")
    given = Passage(1, hit, hit.text[start:], ((start, len(hit.text.rstrip())),))
    [quote] = answered("Old Martha Quill kept the mill [1].", [given])
    assert quoted(quote) == ["She trusted nobody, and counted her coins twice each night."]


def test_an_answer_that_cites_nothing_quotes_nothing() -> None:
    assert answered("The passages do not answer this question.", whole()) == []


# As Markdown


def test_citations_are_footnotes_with_their_sentences() -> None:
    context = tuple(whole())
    text = "Martha wept until the morning [4], and trusted *nobody* [2, 4]."
    hits_of = tuple(passage.hit for passage in context)
    told = markdown(
        Answer("Who\nwept?", text, hits_of, context, find_citations(text, len(context)))
    )
    notes = {
        number: f"characters {(start := BOOK.index(said))}-{start + len(said)}: “{said}”"
        for number, said in (
            (2, "She trusted nobody, and counted her coins twice each night."),
            (4, "The watch lay in the iron chest, and Martha wept until morning."),
        )
    }
    assert told.splitlines() == [
        "# Who wept?",
        "",
        "Martha wept until the morning [^4], and trusted *nobody* [^2][^4].",
        "",
        *(f"[^{number}]: Harrow · chunk · {note}" for number, note in notes.items()),
    ]


def test_the_closest_passages_are_quotations_in_which_nothing_is_markdown() -> None:
    texts = ["The *watch* was <b>silver</b>.\n\n# It lay [3] in the chest.\n"]
    quotes = tuple(ask("Where was the watch?", texts))
    told = markdown(Answer("Where?", "", (), (), (), quotes=quotes))
    assert told.splitlines()[2:] == [
        r"> The \*watch\* was \<b\>silver\</b\>.",
        ">",
        r"> \# It lay \[3\] in the chest.",
        ">",
        f"> — {describe_place(quotes[0].hit)}",
    ]
