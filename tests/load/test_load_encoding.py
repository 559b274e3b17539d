"""Bytes into text."""

import pytest

from fabula.errors import LoadError
from fabula.load.encoding import decode

POLISH = """\
Litwo! Ojczyzno moja! ty jesteś jak zdrowie: Ile cię trzeba cenić, ten tylko się dowie, kto cię
stracił. Dziś piękność twą w całej ozdobie widzę i opisuję, bo tęsknię po tobie. Źródło, żółw.
"""
FRENCH = """\
Longtemps, je me suis couché de bonne heure. Parfois, à peine ma bougie éteinte, mes yeux se
fermaient si vite que je n’avais pas le temps de me dire : « Je m’endors. » Et c’était très tôt.
"""
GERMAN = "Er fuhr über die Brücke nach Köln, weil er dort wohnen mußte. Es war schön und groß."
CZECH = "Byl jednou jeden král a měl tři syny. Příliš žluťoučký kůň úpěl, když se vrátil k nim."
SLOVENE = "Nekega dne je šel kmet čez polje in našel žabo, ki je rekla: Človek, poljubi me že!"
TURKISH = "Bir gün küçük bir kız ağaçların altında şarkı söylüyordu, ışık çok güzeldi."
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。"
RUSSIAN = (
    "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему."
)
ENGLISH = (
    "“I don’t know,” said Holmes — “the café was shut, and he had it from the maître d’hôtel.”"
)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        *((text, "utf-8") for text in (POLISH, FRENCH, GERMAN, CZECH, RUSSIAN, ENGLISH)),
        *((POLISH, mark) for mark in ("utf-8-sig", "utf-16", "utf-32", "cp1250", "iso8859_2")),
        (FRENCH, "cp1252"),
        (ENGLISH, "cp1252"),
        (GERMAN, "cp1252"),
        (GERMAN, "iso8859_1"),
        (CZECH, "cp1250"),
        (CZECH, "iso8859_2"),
        (SLOVENE, "cp1250"),
        (SLOVENE, "iso8859_2"),
        (TURKISH, "cp1254"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
    ],
)
def test_a_text_comes_out_as_it_was_written(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), "x.txt") == text


def test_a_few_polish_words_are_enough() -> None:
    for encoding in ("cp1250", "iso8859_2"):
        words = "Zażółć gęślą jaźń."
        assert decode(words.encode(encoding), "x.txt") == words


def test_one_accent_in_a_long_english_book_is_right() -> None:
    text = "He said that it was all the same to him, and she went away.\n" * 3000
    for word in ("café", "naïve", "maître d'hôtel", "Kaú"):
        assert decode(f"{text}{word}\n{text}".encode("cp1252"), "x.txt").count(word) == 1


@pytest.mark.parametrize(
    "declaration",
    [
        '<?xml version="1.0" encoding="iso-8859-2"?>',
        '<html><head><meta charset="iso-8859-2">',
        '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-2">',
        "Character set encoding: ISO-8859-2\n",
    ],
)
def test_what_a_file_declares_is_believed(declaration: str) -> None:
    text = f"{declaration} żó"
    assert decode(text.encode("iso8859_2"), "x") == text


def test_a_false_declaration_is_not_believed() -> None:
    text = f'<meta charset="utf-8"> {POLISH}'
    assert decode(text.encode("cp1250"), "x") == text
    unknown = f'<meta charset="martian"> {POLISH}'
    assert decode(unknown.encode("utf-8"), "x") == unknown


@pytest.mark.parametrize(
    ("label", "encoding"),
    [
        ("latin1", "cp1252"),
        ("iso-8859-9", "cp1254"),
        ("gb2312", "gbk"),
        ("x-sjis", "cp932"),
        ("utf-16", "utf-8"),
        ("unicode_escape", "utf-8"),
    ],
)
def test_a_declared_label_means_what_it_means_to_browsers(label: str, encoding: str) -> None:
    words = {"gbk": "我輩", "cp932": "①猫"}.get(encoding, r"“naïve”, C:\new")
    text = f'<meta charset="{label}"> {words}'
    assert decode(text.encode(encoding), "x") == text


def test_a_broken_byte_in_much_utf8_is_one_broken_character() -> None:
    data = POLISH.encode() + b"\xff" + POLISH.encode()
    assert decode(data, "x") == f"{POLISH}\ufffd{POLISH}"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "image"),
        (b"\xff\xd8\xff\xe0" + b"JFIF" * 9, "image"),
        (b"MZ\x90\0\3\0\0\0", "program"),
        (b"\x7fELF\2\1\1\0", "program"),
        (b"%PDF-1.7\n", "name it .pdf"),
        (b"PK\x03\x04" + b"\0" * 20, "name it .epub"),
        (b"\x1f\x8b\x08", "unpack it"),
        (b"text" + b"\0\1\2\3" * 50, "binary"),
    ],
)
def test_what_is_no_text_is_refused_by_what_it_is(data: bytes, kind: str) -> None:
    with pytest.raises(LoadError, match=rf"^story\.txt isn't text but .*{kind}"):
        decode(data, "story.txt")


def test_a_stray_null_byte_in_a_text_does_not_matter() -> None:
    assert decode(b"Once upon a time" * 50 + b"\0", "x").startswith("Once")


def test_nothing_is_an_empty_text() -> None:
    assert decode(b"", "x") == ""
