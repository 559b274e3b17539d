"""What a question asks for, by its words."""

from __future__ import annotations

from cases import for_each
from fabula.ask.question_form import Asks, content_terms, find_verb_forms, read_form


@for_each(
    ("question", "asks", "subject"),
    [
        ("Who is Poole?", Asks.DEFINITION, "Poole"),
        ("who was Mr. Hyde", Asks.DEFINITION, "Hyde"),
        ("What is the White Sphinx?", Asks.DEFINITION, "White Sphinx"),
        ("Who are the Eloi in the novel?", Asks.DEFINITION, "Eloi"),
        ("What is the Ghost of Christmas Past like?", Asks.DEFINITION, "Ghost of Christmas Past"),
        ("Who is Stapleton's wife?", Asks.OTHER, ""),
        ("Who killed Carew?", Asks.OTHER, ""),
        ("What is the plot of the story?", Asks.OTHER, ""),
        ("What was the fly afraid of?", Asks.OTHER, ""),
        ("When did Marley die?", Asks.TIME, ""),
        ("When Marley had died, who wept?", Asks.OTHER, ""),
        ("In what year was it written?", Asks.TIME, ""),
        ("How many daughters has he?", Asks.NUMBER, ""),
        ("Where does he live?", Asks.OTHER, ""),
        ("How does the story end?", Asks.ENDING, ""),
        ("What is the ending of the book?", Asks.ENDING, ""),
        ("What happens at the end of the world?", Asks.OTHER, ""),
        ("", Asks.OTHER, ""),
    ],
)
def test_the_form_of_a_question(question: str, asks: Asks, subject: str) -> None:
    form = read_form(question)
    assert (form.asks, form.subject) == (asks, subject)


@for_each(
    ("question", "sentence", "other"),
    [
        ("Who is Poole?", "The butler, Poole, came in.", "Poole ran away."),
        ("Who is Hyde?", "It was a man of the name of Hyde.", "In the face of Hyde he saw it."),
        ("Who is Fred?", "Fred, Scrooge's nephew, laughed.", "“Fred!” he cried."),
        ("Who are the Eloi?", "The Eloi were a frail people.", "I saw Eloi among the flowers."),
        ("Who is Poole?", "“Poole, my butler, has his orders.”", "The door was by Poole a wall."),
        ("Who are the Eloi?", "These Eloi were mere fatted cattle.", "Eloi were there."),
        ("Who are the Eloi?", "He spoke of the ‘Eloi,’ the beautiful race.", "The Eloi ran."),
        ("Who is Brom Bones?", "He had the nickname of BROM BONES.", "They saw Brom Bones."),
        ("When did it stop?", "It stopped on Monday.", "It stopped in the hall."),
        ("To what year?", "It was the year Eight Hundred and Two Thousand.", "He came in snow."),
    ],
)
def test_a_sentence_of_the_form_is_preferred(question: str, sentence: str, other: str) -> None:
    form = read_form(question)
    assert form.rate(sentence) > form.rate(other)


def test_words_about_books_are_no_content() -> None:
    assert content_terms("What is the moral of the story?") == set()
    assert content_terms("What did the sexton dig?") == {"sexton", "dig"}


def test_other_forms_of_the_verbs_of_a_question() -> None:
    forms = find_verb_forms("What did Mr. Hide and the Morlocks eat?", ["Hide", "Morlocks"])
    assert forms == {"ate": "eat", "eaten": "eat"}
    assert find_verb_forms("Why did Dr. Lanyon die?", ["Lanyon"])["dead"] == "die"
