"""Texts as sentences: where they end, and where only an abbreviation does."""

from fabula.text.sentences import sentences, spans


def test_each_sentence_is_found() -> None:
    found = sentences("Marley was dead. Scrooge knew it! Did he? He did.", "en")
    assert found == ["Marley was dead.", "Scrooge knew it!", "Did he?", "He did."]


def test_a_title_before_a_name_ends_no_sentence() -> None:
    assert len(sentences("We met Dr. Watson. He knew Mr. Holmes.", "en")) == 2
    assert len(sentences("Był to dr. Kowalski. Znał go inż. Nowak.", "pl")) == 2


def test_offsets_count_characters_in_polish_and_emoji() -> None:
    text = "Zażółć gęślą jaźń 😀. Litwo! Ojczyzno moja. 👩‍👩‍👧 idą."
    assert [text[start:end].strip() for start, end in spans(text, "pl")] == [
        "Zażółć gęślą jaźń 😀.",
        "Litwo!",
        "Ojczyzno moja.",
        "👩‍👩‍👧 idą.",
    ]


def test_a_blank_line_ends_a_sentence_without_a_full_stop() -> None:
    assert sentences("STAVE ONE\n\nMarley was dead", "en") == ["STAVE ONE", "Marley was dead"]


def test_a_sentence_of_verse_runs_over_its_lines() -> None:
    verse = "Ile cię trzeba cenić, ten tylko się dowie,\nKto cię stracił.\nDziś piękność twą widzę."
    assert [sentence.count("\n") for sentence in sentences(verse, "pl")] == [1, 0]


def test_a_long_list_is_cut_at_its_lines() -> None:
    items = [f"item number {number} without any full stop" for number in range(40)]
    assert sentences("\n".join(items), "en") == items


def test_a_long_quotation_is_cut_at_the_sentences_inside() -> None:
    speech = "“" + "I went home, Doctor. Then I slept! Was it good? " * 12 + "It was,” he said."
    assert max(map(len, sentences(speech, "en"))) < 60


def test_a_short_quotation_stays_whole() -> None:
    assert len(sentences("“Come in! Sit down. Eat,” said Toto. He smiled.", "en")) == 2


def test_no_sentence_begins_with_a_combining_mark() -> None:
    text = "It ends. \u0301So. " * 3
    assert all(text[start] != "\u0301" for start, _ in spans(text, "en"))


def test_a_megabyte_without_a_space_is_one_sentence() -> None:
    assert spans("a" * 1_000_000, "en") == [(0, 1_000_000)]


def test_unclosed_quotes_do_not_stop_it() -> None:
    text = "“Hello there. It is me! " * 20_000
    assert len(spans(text, "en")) == 40_000


def test_no_text_has_no_sentences() -> None:
    assert spans("", "en") == []
    assert spans("  ", "en") == [(0, 2)]
    assert sentences(" \n ", "en") == []
