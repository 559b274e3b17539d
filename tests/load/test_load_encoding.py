"""Bytes into text."""

from importlib import resources

import pytest

from cases import for_each
from fabula.errors import LoadError
from fabula.load.encoding import decode, decode_text, encoding_of

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


@for_each(
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


@for_each(
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


@for_each(
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


@for_each(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "image"),
        (b"\xff\xd8\xff\xe0" + b"JFIF" * 9, "image"),
        (b"MZ\x90\0\3\0\0\0", "program"),
        (b"\x7fELF\2\1\1\0", "program"),
        (b"%PDF-1.7\n1 0 obj<<>>endobj\n%%EOF\n", "name it .pdf"),
        (b"%PDF-1.7\n" + b"\0\1" * 20, "name it .pdf"),
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


DIACRITICS = {
    FRENCH.replace("’", "'"): "cp437 cp850 cp863 mac_roman",
    GERMAN * 3: "cp437 cp850 mac_roman",
    POLISH: "cp852 mac_latin2",
    CZECH * 2: "cp852 mac_latin2",
    TURKISH * 3: "cp857 mac_turkish",
    RUSSIAN * 2: "cp866 mac_cyrillic iso8859_5 cp855 koi8_r",
    JAPANESE: "iso2022_jp",
    "Ελληνικά γράμματα: ο γέρος μυλωνάς άναψε ένα φανάρι δίπλα στο φράγμα.": "cp737 mac_greek",
    "הטוחן הזקן הדליק פנס ליד הסכר, ואיש בכפר לא ידע מדוע צלצל הפעמון.": "cp862 cp1255",
    "ชายชราจุดตะเกียงไว้ข้างฝายน้ำ ไม่มีใครในหมู่บ้านรู้ว่าทำไมระฆังจึงดัง": "cp874 tis_620",
    "老磨坊主在堰边点起一盏灯，村里没有人知道钟为什么响了两次。": "hz gb18030",
    "老磨坊主在堰邊點起一盞燈，村裡沒有人知道鐘為什麼響了兩次。": "big5 big5hkscs",
    "늙은 방앗간 주인은 둑 옆에 등불을 켰다. 누구도 종이 왜 울렸는지 몰랐다.": "cp949 iso2022_kr",
}


@for_each(
    ("text", "encoding"),
    [(text, encoding) for text, names in DIACRITICS.items() for encoding in names.split()],
)
def test_code_pages_of_dos_and_macintosh_and_of_asia_are_recognised(
    text: str, encoding: str
) -> None:
    printed = text.encode(encoding, "replace").decode(encoding)
    assert decode(text.encode(encoding, "replace"), "x.txt") == printed


@for_each(
    ("label", "encoding"),
    [
        ("Codepage 850", "cp850"),
        ("Code page 437", "cp437"),
        ("IBM852", "cp852"),
        ("DOS 866", "cp866"),
        ("MacintoshRoman", "mac_roman"),
        ("x-mac-cyrillic", "mac_cyrillic"),
        ("Macintosh", "mac-roman"),
        ("ISO Latin-1", "cp1252"),
        ("ISO-8859-1", "cp1252"),
        ("Windows-1250", "cp1250"),
        ("HZ-GB-2312", "hz"),
        ("TIS-620", "cp874"),
        ("Big5-HKSCS", "big5hkscs"),
        ("UTF-7", "utf-7"),
        ("Unicode UTF-8", "utf-8"),
        ("martian", ""),
        ("unicode_escape", ""),
        ("utf-16", ""),
    ],
)
def test_what_files_call_encodings_is_understood(label: str, encoding: str) -> None:
    assert encoding_of(label) == encoding


@for_each(
    "declaration",
    [
        "Character set encoding: {}\n",
        "---\nencoding: {}\n---\n",
        "-*- coding: {} -*-\n",
        "# vim: set fileencoding={} :\n",
    ],
)
def test_declarations_of_plain_text_are_believed(declaration: str) -> None:
    text = f"{declaration.format('cp850')}Il était là."
    assert decode(text.encode("cp850"), "x") == text


def test_a_declared_encoding_that_makes_no_words_is_not_believed() -> None:
    text = f"Character set encoding: ISO-8859-1\n{FRENCH.replace(chr(0x2019), chr(39)) * 3}"
    for encoding in ("cp437", "utf-8"):
        decoded = decode_text(text.encode(encoding), "x")
        assert decoded.text == text
        assert f"was read as {encoding.upper()}" in decoded.warnings[0]


def test_utf_7_is_read_where_it_is_declared() -> None:
    text = "Character set encoding: UTF-7\nIl était là."
    assert decode(text.encode("utf-7"), "x") == text


@for_each("encoding", ["cp1252", "mac_roman", "cp437"])
def test_two_encodings_in_a_file_are_both_read(encoding: str) -> None:
    utf_8, other = "Le vieux meunier était près de l'écluse.", "Il était tard, déjà, près du pré."
    for separator in (b" ", b"\n"):
        lines = separator.join([utf_8.encode(), other.encode(encoding)] * 5)
        decoded = decode_text(lines, "x")
        assert decoded.text == separator.decode().join([utf_8, other] * 5)
        assert "UTF-8" in decoded.warnings[0] and "line" in decoded.warnings[0]


def test_what_was_encoded_twice_is_mended() -> None:
    twice = FRENCH.encode().decode("cp1252", "replace")
    decoded = decode_text(f"{twice}\n{FRENCH}".encode(), "x")
    assert "couché de bonne heure" in decoded.text and "Ã" not in decoded.text
    assert "2 lines were encoded twice" in decoded.warnings[0]
    russian = RUSSIAN.encode().decode("latin-1")
    assert decode(russian.encode(), "x") == RUSSIAN
    assert decode(twice.encode("utf-8-sig"), "x") == decode(twice.encode(), "x")


@for_each(
    "text",
    ["« Voilà\xa0» dit-elle, « déjà\xa0» et « là\xa0».", "SÃO JOÃO, CAFÉ\xa0», É\xa0»", POLISH],
)
def test_text_that_was_encoded_once_stays(text: str) -> None:
    assert decode_text(text.encode(), "x").text == text
    assert decode_text(text.encode(), "x").warnings == ()


def test_a_doubtful_guess_is_a_warning_that_names_the_encoding_and_the_cure() -> None:
    decoded = decode_text(bytes(range(0x80, 0x100)) * 3, "x")
    [warning] = decoded.warnings
    assert "encoding" in warning and "iconv -f" in warning and "UTF-8" in warning
    assert decode_text(FRENCH.encode("cp1252"), "x").warnings == ()


KOREAN = (
    "늙은 방앗간 주인은 그날 밤 둑 옆에 등불을 켰다. 마을의 누구도 종이 왜 두 번 울렸는지 몰랐다. "
)
CHINESE = "老磨坊主在堰边点起一盏灯，村里没有人知道钟为什么响了两次。"
GREEK = "Άναψε ο γέρος μυλωνάς ένα φανάρι. Άκουσε το νερό. Όλοι κοιμούνταν, και Ύστερα σιωπή. "


@for_each(
    ("text", "encoding"),
    [
        (GREEK * 3, "iso8859_7"),
        (GREEK * 3, "cp1253"),
        ("Қазақ тілінде әңгіме өте көп. " * 3, "kz1048"),
    ],
)
def test_greek_and_kazakh_are_recognised(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), "x") == text


@for_each(
    "text",
    [
        "He paid £825 for it, and £2 for the bet.",
        "Certificada® y Certificada™, 3½ de 20° y § 7. ¿Qué es? Nº 1.º, Mª y D.ª",
        "It was 20° in the shade, © 1923, and 3½ miles to go.",
        "It was ½ a mile, and it cost 10¢.",
    ],
)
def test_signs_at_their_usual_places_are_no_letters_of_another_script(text: str) -> None:
    assert decode(f"{text} ".encode("cp1252") * 3, "x") == f"{text} " * 3


@for_each(
    ("text", "lost", "encoding"),
    [
        (KOREAN * 20, "둑", "cp949"),
        (CHINESE * 20, "灯", "gb18030"),
        (JAPANESE * 20, "猫", "euc_jp"),
    ],
)
def test_a_broken_character_of_two_bytes_costs_only_what_is_around_it(
    text: str, lost: str, encoding: str
) -> None:
    character = lost.encode(encoding)
    data = text.encode(encoding).replace(character, character[:1] + b"\xff", 1)
    decoded = decode_text(data, "x")
    assert decoded.text.endswith(text[len(text) // 2 :])
    assert decoded.text.startswith(text[: text.index(lost)])
    assert "could not be read" in decoded.warnings[-1]


@for_each("text", [RUSSIAN, CHINESE, GREEK])
def test_what_is_left_of_a_character_of_utf_8_is_no_letter_of_another_encoding(text: str) -> None:
    whole = (text * 20).encode()
    first = text[2].encode()
    for data in (
        whole.replace(first, first[:-1], 2),
        b"\xef\xbb\xbf" + whole[:-1] + b"\xff" + whole,
    ):
        decoded = decode_text(data, "x")
        assert text * 10 in decoded.text
        assert set(decoded.text) == {*text, "\ufffd"}
        assert "could not be read" in decoded.warnings[0]


def test_a_text_that_is_cut_within_a_character_ends_there() -> None:
    decoded = decode_text((FRENCH * 5 + "l'été").encode()[:-1], "x")
    assert decoded.text == f"{FRENCH * 5}l'ét\ufffd"
    [warning] = decoded.warnings
    assert warning.startswith("1 character could not be read, and is \ufffd in the text: the file")


def test_a_replacement_character_of_the_file_itself_is_not_counted() -> None:
    assert decode_text(f"{FRENCH} \ufffd".encode(), "x").warnings == ()


@for_each("text", ["He sent 👉 it.", "Très élevé 🚀, déjà.", "Он послал 👉 это."])
def test_pairs_of_surrogates_in_utf_8_are_characters(text: str) -> None:
    halves = text.encode("utf-16-le").decode("utf-16-le", "surrogatepass")
    units = [halves.encode("utf-16-le")[i : i + 2] for i in range(0, 2 * len(halves) + 2, 2)]
    data = b"".join(
        unit.decode("utf-16-le", "surrogatepass").encode("utf-8", "surrogatepass") for unit in units
    )
    assert decode(data, "x") == text
    assert decode(data + b"\xc0\x80", "x").rstrip("\0") == text


@for_each(
    ("text", "page"),
    [
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (RUSSIAN, "latin-1"),
        (POLISH, "cp1250"),
        (POLISH, "latin-1"),
        (FRENCH, "mac_roman"),
        (GREEK, "latin-1"),
        (TURKISH, "cp1254"),
        (CHINESE, "latin-1"),
    ],
)
def test_what_was_encoded_twice_by_way_of_any_code_page_is_mended(text: str, page: str) -> None:
    twice = (text * 4).encode().decode(page, "replace")
    decoded = decode_text(f"{twice}\n{text}".encode(), "x")
    assert decoded.text.replace("\ufffd", "") == f"{text * 4}\n{text}"
    assert "encoded twice" in decoded.warnings[0]


def test_a_broken_word_of_one_letter_is_no_letter_of_another_script() -> None:
    text = "Он ждал её у плотины, и она пришла к нему. " * 20
    data = text.encode().replace(" у ".encode(), " у ".encode()[:2] + b" ", 2)
    assert set(decode(data, "x")) == {*text, "\ufffd"}


@for_each("encoding", ["cp437", "cp850", "gb18030"])
def test_a_book_with_one_accent_that_is_read_wrong_says_so(encoding: str) -> None:
    carol = (resources.files("fabula.texts") / "a-christmas-carol.txt").read_text("utf-8")
    plain = carol.translate(str.maketrans("“”’‘—", "\"\"''-"))
    assert len([letter for letter in plain if not letter.isascii()]) == 1
    decoded = decode_text(plain.encode(encoding), "carol.txt")
    assert decoded.text == plain or "The encoding is not certain" in decoded.warnings[0]
