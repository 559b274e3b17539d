"""Follow-ups without a model: they stay in the document that is talked about, and say so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cases import for_each
from database import server_variables
from fabula.ask.follow_up import (
    SEVERAL_DOCUMENTS,
    UNKNOWN_PRONOUN,
    describe_follow_up,
    document_of_follow_up,
)
from fabula.ask.scope import AskedTurn, QuestionScope
from fabula.cli import main
from fabula.config.settings import OFFLINE, STATIC
from fabula.library.collection import Collection
from fabula.models import Turn
from fabula.models.offline.guide import refers_back
from fabula.server import Address
from offline import offline_app
from stories import CONVICT

GARDEN = """Title: The Garden
Language: en

Weena gathered flowers in the garden. Weena was drowned in the river, and Weena's friend wept. He
buried the flowers of Weena by the river. Then he went away from the river and the garden.

What happened then is not told. Something happened to her friend. He said that he had come from far.
"""
STAYS = "Offline, a follow-up is asked of the document that the last answer is from: The Garden."


@for_each(
    ("question", "expected"),
    [
        ("And then?", True),
        ("Why?", True),
        ("What happened to her?", True),
        ("And what did Bob do?", True),
        ("But why did Scrooge change?", True),
        ("What about the garden?", True),
        ("What happened then?", True),
        ("Where is it?", True),
        ("Why did they leave the house?", True),
        ("Who is Weena?", False),
        ("What does Scrooge say about it?", False),
        ("Why does Scrooge change?", False),
        ("Who killed the Stolnik?", False),
        ("Why does the sun move across the sky?", False),
        ("Und dann?", False),  # of which language two words are, is not known
        ("Wer ist die Frau im Garten?", False),
    ],
)
def test_a_question_refers_back_by_its_words(question: str, expected: bool) -> None:
    assert refers_back(question) is expected


def test_the_document_is_that_of_the_last_answer() -> None:
    turn = Turn("Who is Weena?", "...")
    garden, both = AskedTurn(turn, documents=("g",)), AskedTurn(turn, documents=("c", "g"))
    asked_turn = AskedTurn(turn, QuestionScope("c"), ("g",))
    question = "What happened to her?"
    assert document_of_follow_up(question, []) is None
    assert document_of_follow_up("Who is Pip?", [garden]) is None
    assert document_of_follow_up(question, [garden]) == "g"
    assert document_of_follow_up(question, [asked_turn]) == "c"
    assert document_of_follow_up(question, [garden, both]) == ""
    assert document_of_follow_up(question, [both, garden]) == "g"


def test_what_cannot_be_known_is_said() -> None:
    assert describe_follow_up("Who is Pip?", "Who is Pip?", None, "") == ""
    assert describe_follow_up("Who is she?", "Who is Weena?", None, "") == ""
    assert describe_follow_up("Who is she?", "Who is she?", None, "") == UNKNOWN_PRONOUN
    assert describe_follow_up("Who is she?", "Who is Weena?", "", "") == SEVERAL_DOCUMENTS
    both = describe_follow_up("Who is she?", "Who is she?", "g", "The Garden")
    assert both.startswith(STAYS)
    assert both.endswith(UNKNOWN_PRONOUN)


@pytest.fixture(scope="module")
def books(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    folder = tmp_path_factory.mktemp("follow")
    with offline_app(address, home=folder) as app:
        books = app.collection("books")
        for name, text in (("convict", CONVICT), ("garden", GARDEN)):
            (folder / f"{name}.txt").write_text(text)
            [outcome] = books.ingest(folder / f"{name}.txt", graphs=())
            assert outcome.error is None
        yield books


def titles(stream: Any) -> set[str]:
    """The titles of the documents that an answer quotes."""
    return {quote.hit.title for quote in stream.answer.quotes}


def test_a_follow_up_stays_in_the_document_of_the_answer(books: Collection) -> None:
    talk = books.chat()
    first = talk.stream("Who is Weena?")
    assert titles(first) == {"The Garden"}
    assert first.note == ""
    second = talk.stream("And what did he do then?")
    assert titles(second) == {"The Garden"}
    assert second.sought == "And what did Weena do then?", "the name is kept as before"
    assert second.note.startswith(STAYS)
    assert second.scope == QuestionScope(books.document("The Garden").id)
    third = talk.stream("And then?")
    assert titles(third) == {"The Garden"}
    fresh = talk.stream("Who met the stranger on the marsh?")
    assert fresh.note == ""
    assert "The Convict" in titles(fresh)


def test_a_document_that_the_reader_names_is_kept_without_a_word(books: Collection) -> None:
    talk = books.chat(document="The Convict")
    talk.ask("Who met the stranger?")
    stream = talk.stream("And what did Pip do then?")
    assert titles(stream) == {"The Convict"}
    assert stream.note == ""
    talk.options.clear()
    stream = talk.stream("And what did he do then?")
    assert titles(stream) == {"The Convict"}, "the last question was filtered to it"
    assert "The Convict" in stream.note
    other = talk.stream("And what happened to Weena then?", document="The Garden")
    assert titles(other) == {"The Garden"}


def test_after_an_answer_from_several_documents_it_cannot_be_known(books: Collection) -> None:
    talk = books.chat()
    first = talk.stream("Who went away, came to London and was by the river and the marsh?")
    assert len(titles(first)) == 2
    stream = talk.stream("And what happened then?")
    assert stream.note == SEVERAL_DOCUMENTS
    assert stream.scope.document == ""


def test_a_place_is_kept_with_its_document(books: Collection) -> None:
    talk = books.chat()
    talk.ask("Who is Weena?")
    stream = talk.stream("And what did he do then?", document="The Convict", until="Part One")
    assert titles(stream) == {"The Convict"}
    assert "The Garden" not in stream.note
    assert stream.sought == "And what did he do then?", "Weena is of an answer about everything"


def test_the_chat_says_which_document_it_stays_in(
    books: Collection, address: Address, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in {
        **server_variables(address),
        "FABULA_MODEL": OFFLINE,
        "FABULA_EMBEDDING_MODEL": STATIC,
        "FABULA_COLLECTION": books.name,
    }.items():
        monkeypatch.setenv(name, value)
    typed = "Who is Weena?\nWhat happened to her?\nWho met the stranger?\n"
    result = CliRunner().invoke(main, ["chat"], input=typed, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert "Understood as: What happened to Weena?" in result.stderr
    assert result.stderr.count(STAYS) == 1
