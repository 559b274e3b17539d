"""Chunks tile the text, end at sentence ends, and never cross a heading."""

from __future__ import annotations

from fabula.text.chunk import split
from fabula.text.document import Document, Section

PARAGRAPH = "The old man sat by the sea. He waited for the boat. It did not come that night. "


def document(text: str, *sections: Section) -> Document:
    return Document("d", "default", "a.txt", "A", "", "en", text, sections, "0" * 64)


def test_chunks_end_at_sentence_ends_and_are_filled() -> None:
    chunks = split(document(PARAGRAPH * 40), 100)
    assert all(chunk.text.rstrip().endswith(".") for chunk in chunks)
    longest_sentence = 10
    assert all(chunk.tokens > 100 - longest_sentence for chunk in chunks[:-1])


def test_no_chunk_crosses_a_heading() -> None:
    text = "Before.\n\nCHAPTER I\n\nFirst words.\n\nCHAPTER II\n\nSecond words."
    one, two = text.index("CHAPTER I\n"), text.index("CHAPTER II")
    chunks = split(document(text, Section("CHAPTER I", one), Section("CHAPTER II", two)), 200)
    assert [(chunk.section, chunk.start) for chunk in chunks] == [
        ("", 0),
        ("CHAPTER I", one),
        ("CHAPTER II", two),
    ]


def test_a_sentence_over_the_limit_is_cut_at_a_space() -> None:
    chunks = split(document("never " * 200 + "ends."), 50)
    assert len(chunks) > 3
    assert all(chunk.text.endswith((" ", ".")) for chunk in chunks)


def test_the_white_space_after_a_chunk_is_within_its_limit() -> None:
    limit = 32
    verse = " ".join(["mill"] * limit)
    chunks = split(document("\n\n".join([verse] * 4)), limit)
    assert max(chunk.tokens for chunk in chunks) <= limit


def test_a_combining_mark_stays_with_its_letter() -> None:
    chunks = split(document("e\u0301" * 2000), 64)
    assert all(chunk.text.startswith("e") for chunk in chunks)


def test_equal_texts_have_ids_of_their_own() -> None:
    chunks = split(document("Again and again.\n\n" * 200), 16)
    assert len({chunk.id for chunk in chunks}) == len(chunks) > 20


def test_an_edit_leaves_the_ids_of_other_sections_alone() -> None:
    def ids(first: str) -> dict[str, str]:
        text = f"# One\n\n{first}\n\n# Two\n\n{PARAGRAPH * 20}"
        second = text.index("# Two")
        made = split(document(text, Section("One", 0), Section("Two", second)), 64)
        return {chunk.id: chunk.section for chunk in made}

    before, after = ids(PARAGRAPH), ids(PARAGRAPH + "Then it came.")
    kept = before.keys() & after.keys()
    assert {before[id] for id in before.keys() - kept} == {"One"}
