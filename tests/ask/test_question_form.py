"""What a question asks for, by its words."""

from __future__ import annotations

import time

from cases import for_each
from fabula.ask.question_form import (
    Asks,
    content_terms,
    final_verb,
    find_other_words,
    find_verb_forms,
    noun_uses,
    read_form,
    without_titles,
)


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
        ("When did Marley die?", Asks.TIME, ""),
        ("In what year was it written?", Asks.TIME, ""),
        ("Where does he live?", Asks.PLACE, ""),
        ("Why did Lanyon die?", Asks.REASON, ""),
        ("How many daughters has he?", Asks.NUMBER, ""),
        ("What happened to Weena?", Asks.FATE, "Weena"),
        ("How did Sir Charles die?", Asks.FATE, "Charles"),
        ("What is the relation between Dr. Jekyll and Mr. Hyde?", Asks.RELATION, ""),
        ("How is Fred related to Scrooge?", Asks.RELATION, ""),
        ("What is Estella to Miss Havisham?", Asks.RELATION, ""),
        ("What is the relationship of Fred to Scrooge?", Asks.RELATION, ""),
        ("What is the difference between plot and theme?", Asks.OTHER, ""),
        ("What does Jekyll's will say?", Asks.CONTENT, ""),
        ("What was written on the note?", Asks.CONTENT, ""),
        ("What does Pip say?", Asks.OTHER, ""),
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
        (
            "What is the White Sphinx?",
            "It was in shape something like a winged sphinx.",
            "By the White Sphinx were the heads of men.",
        ),
        (
            "What is the relation between Jekyll and Hyde?",
            "Jekyll had more than a father’s interest; Hyde had more than a son’s indifference.",
            "Jekyll saw Hyde at the door.",
        ),
        (
            "What is the relation between Jekyll and Hyde?",
            "Jekyll saw Hyde at the door.",
            "Jekyll had a friend.",
        ),
        ("What does the will say?", "The will provided for him.", "The will lay in the safe."),
        ("To what year?", "It was the year Eight Hundred and Two Thousand.", "He came in 30 days."),
        ("When did it stop?", "It stopped on Monday.", "It stopped in the hall."),
        ("Why did he go?", "He went, for he was afraid.", "He went for a walk."),
    ],
)
def test_a_sentence_of_the_form_is_preferred(question: str, sentence: str, other: str) -> None:
    form = read_form(question)
    assert form.rate(sentence) > form.rate(other)


@for_each(
    ("text", "nouns"),
    [
        ("the strange clauses of the will", ["will"]),
        ("What does Jekyll’s will say?", ["will"]),
        ("Will you dine? He will, and that’s will power.", []),
        ("with all his might, he might", ["might"]),
        ("", []),
    ],
)
def test_function_words_that_are_nouns(text: str, nouns: list[str]) -> None:
    assert list(noun_uses(text)) == nouns


def test_words_about_books_are_no_content() -> None:
    assert content_terms("What is the moral of the story?") == set()
    assert content_terms("What did the sexton dig?") == {"sexton", "dig"}
    assert final_verb("What did the sexton dig?") == {"dig"}
    assert final_verb("What is bitcoin?") == set()


def test_what_stands_for_a_word_of_a_question() -> None:
    forms = find_verb_forms("What did Mr. Hide and the Morlocks eat?", ["Hide", "Morlocks"])
    assert forms == {"ate": "eat", "eaten": "eat"}
    others = find_other_words("What did Mr. Hide and the Morlocks eat?", ["Hide", "Morlocks"])
    assert {others[word] for word in ("meat", "fed", "dine")} == {"eat"}
    assert "conceal" not in others  # it stands for the verb "hide"
    assert find_verb_forms("Why did Dr. Lanyon die?", ["Lanyon"])["dead"] == "die"
    killed = find_other_words("Who killed Carew, and with what weapon?", ["Carew"])
    assert (killed["murder"], killed["cane"]) == ("kill", "weapon")
    assert find_other_words("Was it murder, or did he kill himself?", []).get("murder") is None


def test_titles_before_names_say_nothing_of_whom_it_asks() -> None:
    assert without_titles("Who is Mr. Hyde to Dr Jekyll?") == "Who is Hyde to Jekyll?"
    assert without_titles("Who was the lady of the house?") == "Who was the lady of the house?"


def test_a_long_question_of_many_nouns_is_read_at_once() -> None:
    question = "Is it the " + "will " * 10_000
    began = time.process_time()
    assert list(noun_uses(question)) == ["will", "will"]
    assert time.process_time() - began < 5
