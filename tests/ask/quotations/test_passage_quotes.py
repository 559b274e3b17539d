"""What is said where no model answers: the closest passages, whole, and what in them matches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from lxml import html
from markdown_it import MarkdownIt
from rich.console import Console

from cases import for_each
from fabula.ask.answer import Answer, find_citations
from fabula.ask.context import fill_with_sentences
from fabula.ask.quotations.passage_quotes import (
    MAX_QUOTES,
    find_names,
    quote_cited,
    rank_quotes,
    write_quotes,
)
from fabula.cli.shared.shown_quotes import SURROUNDING_LINES, on_screen
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


def quote_closest(
    question: str, passages: Sequence[Passage], added: Sequence[Hit] = ()
) -> list[Quote]:
    """Return the quotes that an answer shows."""
    return rank_quotes(question, passages, added)[:MAX_QUOTES]


def ask(question: str, texts: Sequence[str] = MILL, language: str = "en") -> list[Quote]:
    found = hits(texts, language)
    return quote_closest(question, fill_with_sentences(question, found, 1000))


def test_the_closest_passage_comes_first_and_whole() -> None:
    first = ask("Who had stolen the watch in prison?")[0]
    assert first.hit.text == MILL[4]
    assert BOOK[first.hit.start : first.hit.end] == MILL[4]


@for_each(
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


def test_quotes_are_numbered_as_they_are_shown() -> None:
    quotes = ask("Who showed her the silver watch?")
    assert [quote.number for quote in quotes] == [1, 2, 3]


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


@for_each("question", ["What does Captain Nemo build?", "Who is Ahab's harpooner Queequeg?"])
def test_what_no_passage_names_has_no_answer(question: str) -> None:
    assert ask(question) == []
    assert [reply.text for reply in write_quotes([])] == [NO_ANSWER]


@for_each("question", ["?", "🤷", "What is the plot of the story?"])
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


@for_each(
    ("question", "first"),
    [
        # A sentence that says who somebody is, however often others name him.
        ("Who is Poole?", "His old servant Poole opened the door."),
        ("When did the clock stop?", "The clock stopped at ten o'clock."),
    ],
)
def test_the_form_of_a_question_chooses_the_sentence(question: str, first: str) -> None:
    texts = [
        "“Poole, will Martha open?” said he, and Poole looked at Poole.\n",
        "The clock stopped. Edmund laughed.\n",
        "The clock stopped at ten o'clock. Snow fell.\n",
        "His old servant Poole opened the door. Snow fell.\n",
        "Edmund came home. He laughed.\n",
        "Edmund died at sea. The mill was sold.\n",
    ]
    found = [replace(hit, start=100 * n, end=100 * n + 99) for n, hit in enumerate(hits(texts))]
    quotes = quote_closest(question, fill_with_sentences(question, found, 1000))
    assert first in quotes[0].hit.text


def test_the_end_of_a_book_is_what_a_question_for_it_gets() -> None:
    found = hits()
    quotes = quote_closest(
        "How does the story end?", fill_with_sentences("end", found[:3], 1000), found[:3:-1]
    )
    assert [quote.hit.text for quote in quotes[:2]] == [MILL[5], MILL[4]]
    assert MILL[5][slice(*quotes[0].key)] == "Greed, she thought, had cost her one son already."


@for_each(
    "question",
    [
        "What is the price of bitcoin?",
        "what is the price of bitcoin",
        "Where is Mount Kilimanjaro?",
        "How do I install Python on Windows?",
        "What does photosynthesis produce?",
    ],
)
def test_a_question_about_something_else_has_no_answer(question: str) -> None:
    """ "What is the price of bitcoin?" was answered with passages, as if something were found."""
    assert ask(question, [*MILL, "The price of the mill on the mount was high.\n"]) == []


@for_each(
    "question",
    ["What did she count?", "Who is Martha?", "Is there a moral?"],
)
def test_a_question_in_other_words_than_the_books_is_answered(question: str) -> None:
    assert ask(question)


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


def test_a_screen_shows_whole_passages_where_it_holds_them() -> None:
    quotes = ask("Who had stolen the watch in prison?")
    shown = on_screen(quotes, 80, 24)
    assert [text.plain for _, text in shown] == [quote.hit.text.strip() for quote in quotes]
    assert shown[0][0].plain.startswith("[1] Harrow")


LONG = " ".join(f"On day {n} the mill stood still and nobody came to it at all." for n in range(9))


def test_three_passages_fit_on_24_lines_and_what_is_left_out_is_marked() -> None:
    """Of 25 passages one was shown, as the closest filled the screen."""
    texts = [f"{LONG} {n}: Martha hid the silver watch.\n\n{LONG}\n" for n in range(5)]
    quotes = ask("Where did Martha hide the silver watch?", texts)
    shown = on_screen(quotes, 80, 24 - SURROUNDING_LINES)
    assert len(shown) == 3
    assert [head.plain[:3] for head, _ in shown] == ["[1]", "[2]", "[3]"]
    ruler = Console(width=80)
    lines = sum(len(part.wrap(ruler, 80)) for pair in shown for part in pair) + len(shown)
    assert lines <= 24 - SURROUNDING_LINES
    for quote, (_, text) in zip(quotes, shown, strict=False):
        assert "Martha hid the silver watch." in text.plain
        assert text.plain.startswith("… ")
        assert text.plain.endswith("…")
        for piece in filter(None, re.split(r"\s?…\s?|\n", text.plain)):
            assert piece.strip() in " ".join(quote.hit.text.split())


def test_a_sentence_longer_than_its_lines_is_cut_at_a_word() -> None:
    clause = "and the stranger walked on through the snow, "
    texts = [f"{n} came, {clause * 12}and then Martha hid the watch, {clause * 12}." for n in "ab"]
    for _, text in on_screen(ask("Where did Martha hide the watch?", texts), 60, 8):
        assert "Martha hid the watch" in text.plain
        assert text.plain.startswith("…")
        assert text.plain.endswith(("…", "."))


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
        *(f"[^{number}]: Harrow · {note}" for number, note in notes.items()),
    ]


def test_the_closest_passages_are_quotations_in_which_nothing_is_markdown() -> None:
    texts = ["The *watch* was <b>silver</b>.\n\n# It lay [3] in the chest.\n"]
    quotes = tuple(ask("Where was the watch?", texts))
    text = markdown(Answer("Where?", "", (), (), (), quotes=quotes))
    assert text.splitlines()[2:] == [
        r"> The \*watch\* was \<b\>silver\</b\>.",
        ">",
        r"> \# It lay \[3\] in the chest.",
        ">",
        f"> — {describe_place(quotes[0].hit)}",
    ]


@for_each(
    "beginning",
    ["- Oui, dit-elle", "1. The watch", "12) The watch", "+ The watch", "&copy; the watch"],
)
def test_a_passage_that_begins_as_a_list_does_is_quoted_as_it_is_printed(beginning: str) -> None:
    quotes = tuple(ask("Where was the watch?", [f"{beginning} lay in the chest.\n"]))
    written = markdown(Answer("Where?", "", (), (), (), quotes=quotes))
    shown = html.fromstring(f"<div>{MarkdownIt().render(written)}</div>")
    first, _ = shown.xpath("//blockquote/p")
    assert first.text_content() == f"{beginning} lay in the chest."


def of_a_book(question: str, texts: Sequence[str], added: Sequence[int] = ()) -> list[str]:
    """Return the texts that are quoted for a question, of a book that consists of these."""
    starts = [sum(map(len, texts[:number])) for number in range(len(texts))]
    found = [
        replace(hit(f"c{number}", text, "en", start=start), score=0.5 - number / 100)
        for number, (text, start) in enumerate(zip(texts, starts, strict=True))
    ]
    context = [
        Passage(number, hit, hit.text, ((0, len(hit.text)),))
        for number, hit in enumerate(found, start=1)
        if number - 1 not in added
    ]
    quotes = quote_closest(question, context, [found[number] for number in added])
    return [quote.hit.text for quote in quotes]


def test_a_title_page_introduces_nobody() -> None:
    texts = (
        "The Strange Case of Dr. Jekyll and Mr. Hyde\n\nby Robert Louis Stevenson\n",
        "It was a man of the name of Hyde, said Enfield.\n",
        "Mr. Hyde shrank back with a hissing intake of the breath.\n",
    )
    assert of_a_book("Who is Hyde?", texts) == [texts[1], texts[2]]
    assert of_a_book("Who is Hyde?", texts[:1]) == [texts[0]]  # it is all that there is


def test_a_name_of_two_words_must_be_there_with_both() -> None:
    texts = tuple(f"The prisoner looked out of the tower, on day {n}.\n" for n in range(5))
    assert of_a_book("How tall is the Eiffel Tower?", texts) == []
    assert of_a_book("Who looked out of the White Tower on Day Four?", texts) == []
    assert of_a_book("Why did the prisoner look out of Old Tower?", texts)


def test_a_short_note_is_no_title_page() -> None:
    texts = ("The parcel of the miller is in the red barn.\n", "The miller slept.\n")
    assert of_a_book("Where is the parcel of the miller?", texts)[0] == texts[0]
    chinese = "宝玉在园中见了黛玉，便问她往哪里去。" * 5
    notes = [hit("a", chinese, "zh"), hit("b", "黛玉葬花。" * 20, "zh", start=len(chinese))]
    context = [Passage(n, each, each.text, ((0, 5),)) for n, each in enumerate(notes, 1)]
    assert quote_closest("宝玉问谁往哪里去？", context)[0].hit.text == chinese


def test_a_name_of_two_words_in_another_language_is_known_by_its_last() -> None:
    texts = tuple(f"M. Madeleine entra dans la ville, le jour {n}.\n" for n in range(5))
    found = [hit(f"c{n}", text, "fr", start=40 * n + 1) for n, text in enumerate(texts)]
    context = [Passage(n, each, each.text, ((0, 5),)) for n, each in enumerate(found, 1)]
    assert quote_closest("Que fait Monsieur Madeleine dans la ville ?", context)
