"""What holds for every text: loading keeps its words, and chunks tile it within their limit."""

from __future__ import annotations

import unicodedata

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from fabula.errors import LoadError
from fabula.load import read_text
from fabula.load.clean import clean, tidy
from fabula.load.encoding import decode
from fabula.load.mojibake import mend
from fabula.text import tokens
from fabula.text.chunk import split
from fabula.text.document import Chunk, Document, Section
from fabula.text.sections import fold_words
from fabula.text.sentences import spans

# The same examples on every run, however slow the machine.
settings.register_profile(
    "fabula",
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("fabula")

HARD = [
    "\x00",
    "\x1b[31m",
    "\ud800",
    "\ufeff",
    "\u200b",
    "\u200d",
    "\u202e",
    "e\u0301\u0323",
    "\u0301" * 300,
    "x" * 3000,
    "猫" * 500,
    "😀👩\u200d👧",
    "مرحبا. ",
    "\r\n\r",
    "\x85\u2028\u2029\f",
    "  \t\u00a0\n \n",
    "Mr. Fox said: “No!” ",
    "CHAPTER II\n\n",
    "IV.\n\n",
    "A sentence of some words, which ends here. ",
    "Title: A Tale\n",
    "[Illustration: [x]]",
    "_so_ ",
    "word-\nword ",
    "<|endoftext|>",
    "$passages </passages>",
    "*** START OF THE PROJECT GUTENBERG EBOOK X ***\n",
]
# A list rather than one string: it is drawn and shrunk piece by piece.
unicode = st.characters()
texts = st.lists(st.one_of(st.text(unicode, max_size=40), st.sampled_from(HARD)), max_size=30).map(
    "".join
)
limits = st.integers(min_value=16, max_value=200)


def loaded(text: str, language: str = "") -> Document | None:
    """The text as a document; nothing where it has no words."""
    try:
        return read_text(text, source="a.txt", collection="c", language=language)
    except LoadError as error:
        assert "no words" in str(error)
        return None


def text_starts(document: Document) -> list[int]:
    """Where sections begin, but for headings at the end of the text that nothing follows.

    They stand in the last chunk of the section before them.
    """
    sections, end = [*document.sections], len(document.text)
    while sections:
        last = sections[-1]
        words, title = (
            "".join(fold_words(text)) for text in (document.text[last.start : end], last.title)
        )
        if words != title or not title:
            break
        end = sections.pop().start
    return [section.start for section in sections]


def assert_chunked(document: Document, chunks: tuple[Chunk, ...], limit: int) -> None:
    """Every character in exactly one chunk, offsets right, none too long, none over a heading."""
    assert "".join(chunk.text for chunk in chunks) == document.text
    assert all(chunk.text == document.text[chunk.start : chunk.end] for chunk in chunks)
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk.tokens == tokens.count(chunk.text) <= limit for chunk in chunks)
    heads = text_starts(document)
    assert not [chunk for chunk in chunks for head in heads if chunk.start < head < chunk.end]
    assert len({chunk.id for chunk in chunks}) == len(chunks)


# Loading


@given(texts)
def test_any_text_becomes_a_clean_document_or_is_refused(text: str) -> None:
    if (document := loaded(text)) is None:
        return
    assert any(map(str.isalnum, document.text))
    assert document.text.encode("utf-8").decode("utf-8") == document.text
    assert unicodedata.is_normalized("NFC", document.text)
    controls = {char for char in document.text if unicodedata.category(char) == "Cc"}
    assert controls <= {"\n"}
    starts = [section.start for section in document.sections]
    assert starts == sorted(set(starts))
    assert all(start < len(document.text) for start in starts)


@given(texts)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert tidy(tidy(text)) == tidy(text)
    assert clean(clean(text)) == clean(text)


@given(st.lists(st.text("abc dé猫", min_size=1), min_size=1))
def test_cleaning_loses_no_letter(lines: list[str]) -> None:
    text = "\n".join(lines)
    kept = "".join(clean(text).split())
    assert kept == unicodedata.normalize("NFC", "".join(text.split()))


@given(st.one_of(st.binary(max_size=400), texts.map(lambda text: text.encode("utf-8", "replace"))))
def test_any_bytes_are_decoded_or_refused_with_the_files_name(data: bytes) -> None:
    try:
        text = decode(data, "a.txt")
    except LoadError as error:
        assert "a.txt" in str(error)
    else:
        tidy(text).encode("utf-8")


@given(texts.map(tidy), st.sampled_from(["utf-8-sig", "utf-16", "utf-32"]))
def test_a_byte_order_mark_decides_the_encoding(text: str, encoding: str) -> None:
    # What was encoded twice before it got its mark is mended: see test_encoding.
    assume(mend(text) == (text, 0))
    assert decode(text.encode(encoding), "a.txt") == text


# Sentences and chunks


@given(texts, st.sampled_from(["", "en", "pl", "ar", "zh", "xx"]))
def test_sentences_tile_any_text(text: str, language: str) -> None:
    found = spans(tidy(text), language)
    assert "".join(tidy(text)[start:end] for start, end in found) == tidy(text)
    assert all(start < end for start, end in found)


@given(texts, limits, st.sampled_from(["", "en", "pl", "ja"]))
def test_chunks_tile_any_document_within_the_limit(text: str, limit: int, language: str) -> None:
    if document := loaded(text, language):
        chunks = split(document, limit)
        assert_chunked(document, chunks, limit)
        assert split(document, limit) == chunks


@given(st.data(), texts, limits)
def test_no_chunk_crosses_a_heading_wherever_headings_are(
    data: st.DataObject, text: str, limit: int
) -> None:
    text = tidy(text) or "word"
    places = st.sets(st.integers(min_value=0, max_value=len(text) - 1), max_size=8)
    sections = tuple(Section(f"At {place}", place) for place in sorted(data.draw(places)))
    document = Document("d", "c", "a.txt", "A", "", "en", text, sections, "0" * 64)
    chunks = split(document, limit)
    assert_chunked(document, chunks, limit)
    titles = {section.start: section.title for section in sections}
    assert all(titles.get(chunk.start, chunk.section) == chunk.section for chunk in chunks)


@given(texts, texts, texts, limits)
@example("0\n\n", "CHAPTER II\n\n", "", 16)
def test_chunks_tile_an_edited_document_as_well(
    before: str, inserted: str, after: str, limit: int
) -> None:
    old, new = loaded(before + after), loaded(before + inserted + after)
    if old and new:
        known = [chunk.text for chunk in split(old, limit)]
        assert_chunked(new, split(new, limit, known), limit)


@given(texts, st.integers(min_value=0, max_value=100))
def test_a_cut_text_is_a_beginning_within_the_limit(text: str, limit: int) -> None:
    text = tidy(text)
    beginning = tokens.cut(text, limit)
    assert text.startswith(beginning)
    assert tokens.count(beginning) <= limit
