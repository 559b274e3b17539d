"""What is quoted: marks of many styles, dashes, what is carried on, and what nobody says."""

from __future__ import annotations

from pathlib import Path

from cases import for_each
from fabula.load import load
from fabula.text.document import Chunk, Document
from fabula_graphs.speech.plays import find_speeches
from fabula_graphs.speech.quotations import find_quotations
from fabula_graphs.speech.words import words_of


def quoted(text: str, language: str = "en", depth: int = 0) -> list[str]:
    found = find_quotations(text, words_of(language))
    return [text[q.start : q.end] for q in found if q.depth == depth]


@for_each(
    ("language", "text", "expected"),
    [
        ("en", 'He said, "Come in." Nobody came.', ['"Come in."']),
        ("en", "“Come in,” he said. “Sit down.”", ["“Come in,”", "“Sit down.”"]),
        ("en", "‘Come in,’ he said. ‘Don’t sit.’", ["‘Come in,’", "‘Don’t sit.’"]),
        ("de", "„Komm herein“, sagte er.", ["„Komm herein“"]),
        ("de", "‚Komm herein!‘ rief er.", ["‚Komm herein!‘"]),
        ("de", "»Komm herein«, sagte er. »Setz dich.«", ["»Komm herein«", "»Setz dich.«"]),
        ("fr", "« Entrez », dit-il.", ["« Entrez »"]),
        ("pl", "„Wejdź”, rzekł Jan.", ["„Wejdź”"]),
        ("ru", "«Войдите», — сказал он.", ["«Войдите»"]),
        ("cs", "„Pojďte dál,“ řekl Jan.", ["„Pojďte dál,“"]),
        ("sv", "”Kom in”, sade han.", ["”Kom in”"]),
        ("ja", "「お入り」と彼は言った。", ["「お入り」"]),
    ],
)
def test_marks_of_many_styles(language: str, text: str, expected: list[str]) -> None:
    assert quoted(text, language) == expected


@for_each(
    ("language", "text", "expected"),
    [
        ("pl", "— Tak — rzekł Jan. — Chodź.", ["— Tak", "— Chodź."]),
        ("ru", "— Да, — сказал Иван. — Пойдём.", ["— Да,", "— Пойдём."]),
        ("es", "—Sí —dijo Juan—. Vamos.", ["—Sí", "—. Vamos."]),
        ("fr", "— Oui, dit Jean.", ["— Oui,"]),
        ("fr", "— Oui, dit Jean, je viens.", ["— Oui,", "je viens."]),
        ("pl", "— Tak, sam — ja i ty — pójdziemy.", ["— Tak, sam — ja i ty — pójdziemy."]),
    ],
)
def test_dialogues_with_dashes(language: str, text: str, expected: list[str]) -> None:
    assert quoted(text, language) == expected


def test_a_dash_in_an_english_list_is_no_dialogue() -> None:
    assert quoted("- milk\n\n- bread\n\n- eggs") == []


@for_each(
    "text",
    [
        "It was the boys’ house, and Tom’s dog. ’Twas late.",
        "It was the boys' house, and Tom's dog. 'Twas late, an' dark.",
        "They called it “the house,” and loved it.",
        "The ship was the “Halcyon” of Bristol.",
        "A bottle marked ‘poison’ stood there.",
    ],
)
def test_apostrophes_names_and_words_are_not_quoted(text: str) -> None:
    assert quoted(text) == []


def test_an_apostrophe_inside_does_not_end_a_quotation() -> None:
    assert quoted("‘The boys’ house is ours,’ said Tom.") == ["‘The boys’ house is ours,’"]


def test_quotations_inside_of_others_have_a_depth() -> None:
    text = "“He said, ‘Come in,’ and I came,” said Tom."
    assert quoted(text) == ["“He said, ‘Come in,’ and I came,”"]
    assert quoted(text, depth=1) == ["‘Come in,’"]


def test_what_a_paragraph_leaves_open_the_next_one_carries_on() -> None:
    text = "“I was born in York.\n\n“My father was a sailor.”\n\n“Indeed,” said Tom."
    found = find_quotations(text, words_of("en"))
    assert [text[q.start : q.end] for q in found] == [
        "“I was born in York.",
        "“My father was a sailor.”",
        "“Indeed,”",
    ]
    assert [q.continues for q in found] == [False, True, False]
    assert found[0].turn == found[1].turn != found[2].turn


def test_a_mark_that_was_forgotten_ends_with_its_paragraph() -> None:
    text = '"Come in, said Tom.\n\nHe sat down.\n\n"Thank you," said Meg.'
    assert quoted(text) == ['"Come in, said Tom.', '"Thank you,"']


def test_a_play_has_a_speech_for_each_label() -> None:
    text = (
        "ACT I\n\nANNA.\nGood day, sir.\n\nTOM.\nGood day.\nAnd who are you?\n\nANNA.\nAnna.\n\n"
        "TOM.\nOh.\n\nANNA.\nYes.\n\nTOM.\nWell."
    )
    chunk = Chunk("c", 0, "", 0, len(text), text, 0)
    document = Document("d", "c", "play.txt", "", "", "en", text, (), "")
    found = find_speeches(document, [chunk])
    assert [(q.label, text[q.start : q.end]) for q in found[:2]] == [
        ("ANNA", "Good day, sir."),
        ("TOM", "Good day.\nAnd who are you?"),
    ]
    assert len(found) == 6
    assert all(text.startswith(q.label, q.label_start) for q in found)


def test_names_that_the_file_marks_are_speakers_however_few(tmp_path: Path) -> None:
    file = tmp_path / "talk.srt"
    file.write_text(
        "1\n00:00:01,000 --> 00:00:02,000\nMEG: Who kept it?\n\n"
        "2\n00:00:05,000 --> 00:00:06,000\nThe bell rang.\n\n"
        "3\n00:00:09,000 --> 00:00:10,000\nTOM GRAY: I did.\n"
    )
    document = load(file, "c", 1_000_000)
    chunk = Chunk("c", 0, "", 0, len(document.text), document.text, 0)
    found = find_speeches(document, [chunk])
    assert [(q.label, document.text[q.start : q.end]) for q in found] == [
        ("MEG", "Who kept it?"),
        ("TOM GRAY", "I did."),
    ]
