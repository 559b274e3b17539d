"""Gold data read: tokens as natural text, places carried over, LitBank's and PolDraCor's files."""

from __future__ import annotations

from pathlib import Path

import pytest

from cases import for_each
from fabula.errors import DataError
from fabula_bench.gold.detokenise import detokenise
from fabula_bench.gold.litbank import read_litbank
from fabula_bench.gold.poldracor import read_poldracor
from gold_data import PLAY, write_litbank, write_play


@for_each(
    ("sentences", "expected"),
    [
        (["I do n't know , sir ; it 's Mrs. Bird 's ( old ) hat ."],
         "I don't know, sir; it's Mrs. Bird's (old) hat."),
        (["“ Oh ! ” said she . “ He ’ll go . ”", "“ Yes . ”"],
         "“Oh!” said she. “He’ll go.”\n\n“Yes.”"),
        (['" Now , " said he , " we go . "', '" No . " " Why ? "'],
         '"Now," said he, "we go."\n\n"No."\n\n"Why?"'),
        (["He came -- she went—both", "of them . Then"], "He came--she went—both of them. Then"),
        (["the drivers ' knees and Pa ' son"], "the drivers' knees and Pa'son"),
        (["' Good night , ' he said ; call 'em ."], "'Good night,' he said; call 'em."),
    ],
)  # fmt: skip
def test_tokens_become_natural_text(sentences: list[str], expected: str) -> None:
    tokens = [sentence.split(" ") for sentence in sentences]
    natural = detokenise(tokens)
    assert natural.text == expected
    flat = [token for sentence in tokens for token in sentence]
    assert [natural.text[start:end] for start, end in natural.spans] == flat


def test_litbank_is_read_by_the_characters_of_natural_text(tmp_path: Path) -> None:
    write_litbank(tmp_path)
    [text] = read_litbank(tmp_path)
    assert text.text.startswith("Miss Anna Bell went out.")
    read = [(m.text, m.type, m.form, m.cluster) for m in text.mentions]
    assert read[0] == ("Miss Anna Bell", "PER", "PROP", "Anna-0")
    assert all(text.text[m.start : m.end] == m.text for m in text.mentions)
    [quotation] = text.quotations
    assert text.text[quotation.start : quotation.end] == "“Good day, Tom!”"
    assert quotation.speaker == "Anna-0"
    assert [text.text[start:end] for start, end in text.events] == ["went", "said"]


def test_gold_data_that_are_missing_or_broken_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no texts of LitBank"):
        read_litbank(tmp_path)
    with pytest.raises(DataError, match="has no plays of PolDraCor"):
        read_poldracor(tmp_path)
    write_litbank(tmp_path)
    (tmp_path / "events" / "1_tale_brat.tsv").write_text("Miss\tO\n", encoding="utf-8")
    with pytest.raises(DataError, match="1 tokens, the text"):
        read_litbank(tmp_path)
    (tmp_path / "events" / "1_tale_brat.tsv").unlink()
    with pytest.raises(DataError, match="is missing"):
        read_litbank(tmp_path)


def test_a_play_has_its_speeches_and_the_network_of_its_scenes(tmp_path: Path) -> None:
    write_play(tmp_path)
    [play] = read_poldracor(tmp_path)
    assert play.persons == {"anna": "Anna", "jan": "Jan", "ewa": "Ewa"}
    assert [(s.label, s.speakers) for s in play.speeches[:2]] == [
        ("ANNA.", ("anna",)),
        ("JAN.", ("jan",)),
    ]
    assert play.network == {("anna", "jan"): 2, ("anna", "ewa"): 1, ("ewa", "jan"): 1}
    assert PLAY.count("<sp ") == len(play.speeches)
