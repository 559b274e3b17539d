"""Decode bytes whose encoding is not known; binary data is refused.

Declared encodings are believed if they fit the bytes. The others are recognised by what they make
of the bytes: letters between letters, not signs and drawings of boxes, and a text in some language.
A doubtful guess is returned with a warning.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import dataclass, replace
from functools import cache

import webencodings

from fabula.errors import LoadError
from fabula.load import languages, mojibake
from fabula.load.formats import text_like_format
from fabula.text.nouns import count_noun, count_with_verb

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_TEXT_LIKE = {".pdf": "a PDF: name it .pdf", ".rtf": "an RTF document: name it .rtf"}
_MAGIC = (
    (b"%PDF-", _TEXT_LIKE[".pdf"]),
    (b"PK\x03\x04", "a zip archive: name it .epub, .docx, .odt or .zip, as what it is"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"\x1f\x8b", "compressed: unpack it"),
    (b"7z\xbc\xaf", "compressed: unpack it"),
    (b"Rar!", "compressed: unpack it"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"\xd0\xcf\x11\xe0", "an old Office document: save it as .docx"),
)
_DECLARED = (
    rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]+)",
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([\w.:-]+)",
    rb"(?m)^Character set encoding:[ \t]*([\w.:()/ -]+)",
    # The front matter of Markdown, and a line for Emacs, Vim or Python.
    rb"(?m)^(?:encoding|charset|coding)[ \t]*[:=][ \t]*[\"']?([\w.:()/ -]+)",
    rb"-\*-[^\n]{0,100}?coding:[ \t]*([\w.:-]+)",
    rb"vim?:[^\n]{0,100}?\b(?:fenc|fileencoding)=([\w.:-]+)",
)
_CODE_PAGE = re.compile(r"(?:cp|codepage|ibm|dos|windows|win|oem|pc)[a-z]*?(\d{3,4})")
_NAMES = {
    "macintoshroman": "mac_roman",
    "applemacintosh": "mac_roman",
    "macce": "mac_latin2",
    "maccentraleuropean": "mac_latin2",
    "macintoshcentraleuropean": "mac_latin2",
    "xmacce": "mac_latin2",
    "macintoshcyrillic": "mac_cyrillic",
    "xmaccyrillic": "mac_cyrillic",
    "macintoshgreek": "mac_greek",
    "unicodeutf8": "utf-8",
    "isolatin1": "cp1252",
    "isolatin2": "iso8859_2",
    "ansi": "cp1252",
    "dos": "cp437",
    "msdos": "cp437",
    "ascii": "",
    "tis620": "cp874",
    "hzgb2312": "hz",
    "iso2022jp": "iso2022_jp_2",
    "koi8u": "koi8_u",
    "euckr": "cp949",
    "shiftjis": "cp932",
}
"""What files call encodings, without spaces and signs, where Python or browsers differ."""
_CANDIDATE_NAMES = """
    cp1252 cp1250 iso8859_2 cp1254 cp1257 iso8859_16 iso8859_3 iso8859_4
    cp437 cp850 cp852 cp775 cp857 cp865 cp860 cp861
    mac_roman mac_latin2 mac_turkish mac_romanian mac_croatian cp1258
    cp1251 koi8_r koi8_u cp866 mac_cyrillic iso8859_5 cp855 cp1125 kz1048
    cp1253 iso8859_7 cp737 cp869 mac_greek cp1255 cp862 cp1256 iso8859_6 cp864 cp720
    gb18030 cp932 euc_jp cp949 big5hkscs johab cp874
"""
_CANDIDATES = tuple(_CANDIDATE_NAMES.split())
"""Encodings from before UTF-8; of equally good ones, the first is taken."""
_MULTIBYTE = ("gb18030", "cp932", "euc_jp", "cp949", "big5hkscs", "johab")
_MIN_PAIRED_WORDS, _MIN_PAIRED_SHARE = 12, 0.9
"""The fewest different words, and the share of those with an even number of bytes, of a text with
two bytes a letter. In others it is half of the words."""
_STATEFUL = (
    (re.compile(rb"\x1b\$[@B]|\x1b\([JI]"), "iso2022_jp_2"),
    (re.compile(rb"\x1b\$\)C"), "iso2022_kr"),
    (re.compile(rb"~\{(?:[\x21-\x7d][\x21-\x7e]){1,200}~\}"), "hz"),
)
"""The shifts of encodings that have only ASCII bytes."""
_USUAL = "cp1252"
_USUAL_ADVANTAGE = 0.005
_USUAL_ADVANTAGE_OF_FEW = 0.15
"""The advantage of `_USUAL`, which nearly all English files with a few accents have: a share of the
evidence, and another one divided by the number of characters beyond ASCII."""
_MIN_MARGIN = 0.75
"""By how much a guess has to be likelier than the next one, for each character in which they
differ: the difference of their logarithms. Of texts of 300 characters in 40 languages and all code
pages, right guesses had more, nearly all others less."""
_IMPLAUSIBLE_POWER = 6
"""How much implausible characters weigh against evidence of a language."""
_MAX_IMPLAUSIBLE = 0.25
"""By how much more of the characters of a candidate may be implausible than of the best one."""
_MAX_DECLARED_IMPLAUSIBLE = 0.3
"""A declared encoding that makes more of the characters implausible is not believed."""
_SAMPLE_BYTES = 40_000
_FIRST_SAMPLE_BYTES = 2_000
_LONG_SAMPLE_BYTES = 8_000
_MAX_PIECES = 150
_SURROGATE_PAIR = re.compile(rb"\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]")
_NON_ASCII = re.compile(rb"[\x80-\xff]+")
_MIN_VALID_PER_BROKEN = 20
_MIN_ASCII_SHARE = 0.01
"""The least share of ASCII in a text of any script: spaces, line ends and digits."""
_DENSE_SHARE = 0.2
"""With more than this share of other bytes than ASCII, any part of a text is a sample of them."""


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A text and how it was decoded.

    Attributes:
        text: The text.
        encoding: Its encoding, by Python's name.
        warnings: What was doubtful or mended, in full sentences.
    """

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Guess:
    """The likeliest encoding, and the next one with another text if it is nearly as likely."""

    encoding: str
    rival: str
    implausible: float


def decode(data: bytes, source: str) -> str:
    """Return the text in `data`.

    The encoding is that of its byte order mark, the one it declares, UTF-8, or the most likely one.

    Raises:
        LoadError: It is not text; the message names `source`.
    """
    return decode_text(data, source).text


def decode_text(data: bytes, source: str) -> DecodedText:
    """Return the text in `data`, its encoding, and warnings if that is a doubtful guess.

    What can't be read becomes U+FFFD, and a warning has the number of these characters.

    Raises:
        LoadError: It is not text; the message names `source`.
    """
    decoded = _decode(data, source)
    declared = "" if data.isascii() else _declared_encoding(data)
    if declared and not decoded.encoding.startswith(declared):
        warning = (
            f"The declared encoding, {_iconv(declared)}, does not fit: the file was read as "
            f"{_iconv(decoded.encoding)}."
        )
        decoded = replace(decoded, warnings=(*decoded.warnings, warning))
    count = decoded.text.count("\ufffd")
    if decoded.encoding.startswith("utf-8"):
        count -= data.count("\ufffd".encode())
    if count <= 0:
        return decoded
    warning = (
        f"{count_noun(count, 'character')} could not be read, and {'is' if count == 1 else 'are'} "
        "� in the text: the file is damaged there, or has another encoding."
    )
    return replace(decoded, warnings=(*decoded.warnings, warning))


def _decode(data: bytes, source: str) -> DecodedText:
    """Decode by a mark, a declaration or a guess."""
    if (decoded := _by_mark(data)) is not None:
        return decoded
    if encoding := _utf16(data):
        return DecodedText(data.decode(encoding, errors="replace"), encoding)
    if (decoded := _stateful(data)) is not None:
        return decoded
    _refuse_binary(data, source)
    declared = _declared_encoding(data)
    if declared == "utf-7":
        return DecodedText(data.decode(declared, "replace"), declared)
    for form in (data, join_surrogates(data)):
        if (text := _strictly(form, "utf-8")) is not None:
            return _mend(text, "utf-8")
    if declared:
        text = _strictly(data, declared)
        if text is not None and _is_plausible(text, declared):
            return DecodedText(text, declared)
    return _decode_mixed(data) or _likely(data)


def _by_mark(data: bytes) -> DecodedText | None:
    """Decode a text with a byte order mark; None if it has none."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = _strictly(data, encoding)
            if text is None and encoding == "utf-8-sig":
                return _decode_mixed(data[len(mark) :]) or _mend(
                    data.decode(encoding, "replace"), encoding
                )
            return _mend(data.decode(encoding, "replace") if text is None else text, encoding)
    return None


def _utf16(data: bytes) -> str:
    """The byte order of UTF-16 without a mark; '' if `data` is something else."""
    sample = data[:_SAMPLE_BYTES]
    # Its spaces and line ends have zero bytes; in the wrong order, some characters do not exist.
    if b"\0" not in sample:
        return ""
    best_count, best_order = _MIN_ASCII_SHARE * len(sample) / 2, ""
    for order in ("utf-16-le", "utf-16-be"):
        try:
            text = codecs.getincrementaldecoder(order)().decode(sample)
        except UnicodeDecodeError:
            continue
        plain = sum(char < "\x80" for char in text)
        if plain > best_count and not any(map(_is_unlikely, set(text))):
            best_count, best_order = plain, order
    return best_order


def _is_unlikely(char: str) -> bool:
    """Whether a character is a control, unassigned, or for private use."""
    return unicodedata.category(char) in ("Cc", "Cn", "Co") and char not in "\t\n\r\f\x1a"


def _refuse_binary(data: bytes, source: str) -> None:
    if suffix := text_like_format(data):
        raise LoadError(f"{source} isn't text but {_TEXT_LIKE[suffix]}.")
    sample = data[:_SAMPLE_BYTES]
    controls = sum(sample.count(bytes([code])) for code in (*range(9), *range(14, 27), 127))
    is_binary = controls > 0.01 * len(sample)
    for magic, kind in _MAGIC:
        # A text may begin with 'Rar!' or 'GIF8'.
        if data.startswith(magic) and (is_binary or not magic.isascii()):
            raise LoadError(f"{source} isn't text but {kind}.")
    if is_binary:
        raise LoadError(f"{source} isn't text but binary data: give a text, HTML, EPUB or PDF.")


def _is_plausible(text: str, encoding: str) -> bool:
    """Whether a declared encoding, in which the bytes are valid, can be right."""
    # In one of several bytes a character, hardly any other text is valid.
    is_multibyte = len("\u3042".encode(encoding, "ignore")) > 1
    sample = text[:_SAMPLE_BYTES]
    return is_multibyte or _implausible(sample) <= _MAX_DECLARED_IMPLAUSIBLE


def _declared_encoding(data: bytes) -> str:
    """The encoding that the text declares, by Python's name; '' if none that is known."""
    for pattern in _DECLARED:
        if match := re.search(pattern, data[:8192], re.IGNORECASE):
            return encoding_of(match[1].decode("ascii").strip())
    # Vim reads the last lines, too.
    match = re.search(_DECLARED[-1], data[-500:])
    return encoding_of(match[1].decode("ascii")) if match else ""


def encoding_of(label: str) -> str:
    """Return Python's name of a declared encoding, as 'Codepage 850'; '' if it is not known."""
    name = re.sub(r"[^a-z0-9]", "", label.casefold())
    if name in _NAMES:
        return _NAMES[name]
    if page := _CODE_PAGE.fullmatch(name):
        name = f"cp{page[1]}"
    # As in browsers, a declared Latin-1 means Windows-1252.
    elif encoding := webencodings.lookup(label):
        # A declaration of UTF-16 can't be right, as it was itself read one byte a letter.
        name = str(encoding.codec_info.name)
        return "" if name.startswith("utf-16") else name
    try:
        codec = codecs.lookup(name if page else label)
    except (LookupError, ValueError):
        return ""
    is_text = getattr(codec, "_is_text_encoding", True) and codec.name not in _NO_FILES
    return codec.name if is_text and not codec.name.startswith(("utf-16", "utf-32")) else ""


_NO_FILES = frozenset(("idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined"))


def _stateful(data: bytes) -> DecodedText | None:
    """The text, if it is in an encoding with shifts, as ISO-2022-JP; None if it is in another."""
    if not data.isascii():
        return None
    for pattern, encoding in _STATEFUL:
        if pattern.search(data) and (text := _strictly(data, encoding)) is not None:
            return DecodedText(text, encoding)
    return None


def join_surrogates(data: bytes) -> bytes:
    """Return the bytes with characters beyond U+FFFF, and zero bytes, as UTF-8 has them.

    Java and some databases write each half of a surrogate pair as a character (CESU-8).
    """
    return _SURROGATE_PAIR.sub(
        lambda pair: pair[0].decode("utf-8", "surrogatepass").encode("utf-16", "surrogatepass")
        .decode("utf-16").encode(),
        data.replace(b"\xc0\x80", b"\0"),
    )  # fmt: skip


def _strictly(data: bytes, encoding: str) -> str | None:
    """The text, or None if the bytes are not valid in the encoding."""
    try:
        return data.decode(encoding)
    except (LookupError, UnicodeError):
        return None


def _mend(text: str, encoding: str) -> DecodedText:
    """The text with what was encoded twice mended."""
    mended, count = mojibake.mend(text)
    if not count:
        return DecodedText(text, encoding)
    warning = (
        f"{count_with_verb(count, 'line')} encoded twice, as 'Ã©' for 'é', and mended. If a line "
        "is wrong, correct it in the file."
    )
    return DecodedText(mended, encoding, (warning,))


def _decode_mixed(data: bytes) -> DecodedText | None:
    """The text, if it is UTF-8 with some bytes in another encoding; None if it is not UTF-8."""
    text = data.decode("utf-8", errors="surrogateescape")
    broken = sum("\udc80" <= char <= "\udcff" for char in text)
    valid = sum(char > "\x7f" for char in text) - broken
    if not valid or 2 * valid < broken:
        return None
    others = b"\n".join(
        line.encode("utf-8", "surrogateescape") for line in mojibake.surroundings_of_broken(text)
    )
    guess = _guess(others)
    mended, count = mojibake.decode_broken(mojibake.replace_damaged(text), guess.encoding)
    if valid < _MIN_VALID_PER_BROKEN * broken and (
        not count or _implausible(mended[:_SAMPLE_BYTES]) > _MAX_IMPLAUSIBLE
    ):
        return None
    if not count:
        return _mend(mended, "utf-8")
    again = _mend(mended, "utf-8")
    warning = (
        f"The file is UTF-8, but {count_with_verb(count, 'line')} in {_iconv(guess.encoding)}: "
        "both were read. If a line is wrong, save the file as UTF-8."
    )
    return DecodedText(again.text, "utf-8", (warning, *again.warnings))


def _likely(data: bytes) -> DecodedText:
    """The text in the likeliest encoding, with a warning if another one is nearly as likely."""
    guess = _guess(data)
    text = data.decode(guess.encoding, errors="replace")
    if guess.implausible > _MAX_IMPLAUSIBLE:
        warning = f"The encoding is not known. The file was read as {_iconv(guess.encoding)}, but"
        return DecodedText(text, guess.encoding, (f"{warning} that looks wrong. {_ADVICE}",))
    if guess.rival:
        warning = (
            f"The encoding is not certain. The file was read as {_iconv(guess.encoding)}; it may "
            f"be {_iconv(guess.rival)}. If letters are wrong, convert it: "
            f"`iconv -f {_iconv(guess.rival)} -t UTF-8 FILE > NEW`."
        )
        return DecodedText(text, guess.encoding, (warning,))
    return DecodedText(text, guess.encoding)


_ADVICE = "Convert it to UTF-8, as with `iconv -f ENCODING -t UTF-8 FILE > NEW`."


def _iconv(encoding: str) -> str:
    """The name of an encoding as iconv knows it."""
    name = encoding.upper().replace("_", "-").replace("MAC-", "MAC")
    return "MACINTOSH" if name == "MACROMAN" else name


def _guess(data: bytes) -> _Guess:
    """The encoding whose reading is the most plausible and the most clearly in some language."""
    sample = _non_ascii_sample(data)
    first = sample[:_FIRST_SAMPLE_BYTES]
    candidates = _MULTIBYTE if _has_byte_pairs(sample) else _CANDIDATES
    shares = {name: _implausible(first.decode(name, "replace")) for name in candidates}
    least = min(shares.values())
    scores: dict[str, float] = {}
    readings: dict[str, str] = {}
    implausible: dict[str, float] = {}
    for name, share in shares.items():
        if share > least + _MAX_IMPLAUSIBLE:
            continue
        reading = sample.decode(name, errors="replace")
        if reading in readings.values():
            continue
        readings[name] = reading
        implausible[name] = _implausible(reading)
        scores[name] = (
            languages.evidence(reading) * max(0.0, 1 - implausible[name]) ** _IMPLAUSIBLE_POWER
        )
    if _USUAL in scores:
        few = _USUAL_ADVANTAGE_OF_FEW / (2 + sum(byte > 0x7F for byte in sample))
        scores[_USUAL] *= 1 + _USUAL_ADVANTAGE + few
    best, *others = sorted(scores, key=lambda name: scores[name], reverse=True)
    rival = others[0] if others else ""
    if rival:
        different = _count_different(readings[best], readings[rival])
        is_sure = scores[best] - scores[rival] >= _MIN_MARGIN * different
        rival = "" if is_sure else rival
    return _Guess(best, rival, implausible[best])


def _has_byte_pairs(sample: bytes) -> bool:
    """Whether words have an even number of bytes beyond ASCII, so that each letter has two."""
    words = set(_NON_ASCII.findall(sample))
    even = sum(len(word) % 2 == 0 for word in words)
    return len(words) >= _MIN_PAIRED_WORDS and even >= _MIN_PAIRED_SHARE * len(words)


def _count_different(first: str, second: str) -> int:
    if len(first) != len(second):
        return sum(char > "\x7f" for char in first)
    return sum(a != b for a, b in zip(first, second, strict=True))


def _non_ascii_sample(data: bytes) -> bytes:
    """The surroundings of the first bytes that are not ASCII."""
    first = _NON_ASCII.search(data)
    if not first:
        return data[:_SAMPLE_BYTES]
    dense = data[first.start() : first.start() + _LONG_SAMPLE_BYTES]
    if len(dense) - len(_NON_ASCII.sub(b"", dense)) > _DENSE_SHARE * len(dense):
        return dense
    start = 0
    pieces: list[bytes] = []
    while (match := _NON_ASCII.search(data, start)) and len(pieces) < _MAX_PIECES:
        start = match.end() + 30
        pieces.append(data[max(0, match.start() - 30) : start])
    return b"\n".join(pieces)


_WITHIN_WORDS = "'’‘-‐–—·ˮ″/.:"
_OBSOLETE_THAI = "ฃฅ"
_LEADING_THAI = "เแโใไ"
"""Vowels that are written before their consonant."""
_THAI_CONSONANTS = ("\u0e01", "\u0e2e")
_MARKS_OF_THAI = ("\u0e31", "\u0e4e")
_THAI_WEIGHT = 4
"""How much a vowel or a mark of Thai weighs that has no consonant: no Thai text has it, but any
other text has that is read as Thai, where nearly each byte is a letter."""
_MANY_LATIN = 3
"""How many times more Latin letters than others a text in Latin script has at least."""
_BOXES = ("\u2500", "\u259f")


def _implausible(text: str) -> float:
    """The share of characters beyond ASCII that hardly any text has there, as capitals in words."""
    weight = 0.0
    total = 0
    kinds = [_kind(char) for char in text]
    outside = ("", "Zs")
    latin = sum(char < "\x80" and char.isalpha() for char in text)
    letters = sum(category[0] == "L" for _, category in kinds) - latin
    is_latin = latin > _MANY_LATIN * letters
    for index, char in enumerate(text):
        if char < "\x80":
            continue
        total += 1
        script, category = kinds[index]
        before = kinds[index - 1] if index else outside
        after = kinds[index + 1] if index + 1 < len(text) else outside
        if script == "sign" and _is_usual_sign(char, before, after):
            continue
        weight += _weight(char, script, category, before, after)
        if is_latin and category[0] == "L" and script not in ("LATIN", "sign"):
            # In English, 'ث825' is no word of Arabic, but '£825'.
            weight += script not in (before[0], after[0])
        elif script == "mark" and _MARKS_OF_THAI[0] <= char <= _MARKS_OF_THAI[1]:
            consonant = _THAI_CONSONANTS[0] <= text[index - 1 : index] <= _THAI_CONSONANTS[1]
            weight += 0 if consonant or before[0] == "mark" else _THAI_WEIGHT
        elif char in _LEADING_THAI:
            consonant = _THAI_CONSONANTS[0] <= text[index + 1 : index + 2] <= _THAI_CONSONANTS[1]
            weight += 0 if consonant else _THAI_WEIGHT
    return weight / total if total else 0.0


def _is_usual_sign(char: str, before: tuple[str, str], after: tuple[str, str]) -> bool:
    """Whether a sign is where it usually is: '£5', '20°', 'No. 3½', 'Brand®', '1.º'."""
    follows, precedes = before[1][0] == "L", after[1][0] == "L"
    is_before_number, is_after_number = after[1] == "Nd", before[1] == "Nd"
    if char in "£€¥$¢":
        return not follows and (is_before_number or is_after_number)
    if char in "®™":
        return follows and not precedes
    if char in "ªº":
        return (follows or before[1][0] in "PN") and not precedes
    if char == "°":
        return is_after_number and not precedes
    return char in "§©¶¼½¾×÷±" and not follows and not precedes


def _weight(  # noqa: C901
    char: str, script: str, category: str, before: tuple[str, str], after: tuple[str, str]
) -> float:
    """How implausible a character is at its place: 0 is usual, 1 or more is wrong."""
    follows, precedes = before[1][0] == "L", after[1][0] == "L"
    if script == "none":
        return 10
    if script == "sign":
        is_drawn = _BOXES[0] <= char <= _BOXES[1]
        return 1 if is_drawn or follows or precedes else 0.3
    if script == "mark":
        return 0
    if char == "\u2015":
        # The dash of Greek on the Macintosh: in other texts it is the usual one.
        return 0.1
    if category[0] == "P":
        inside = follows and precedes and char not in _WITHIN_WORDS
        return 1 if inside and "han" not in (before[0], after[0]) else 0
    if script == "half":
        return 0.5
    if category == "Nd":
        return 1 if follows or precedes or "mark" in (before[0], after[0]) else 0
    if category[0] != "L":
        return 0
    weight = 1.0 if char in _OBSOLETE_THAI else 0.0
    if follows and before[0] not in (script, "mark"):
        weight += 1
    elif precedes and after[0] not in (script, "mark"):
        weight += 0.5
    if category == "Lu" and before[1] == "Ll":
        weight += 1
    elif category == "Ll" and before[1] == after[1] == "Lu":
        weight += 0.5
    elif category == before[1] == "Lu" and after[1] == "Ll":
        weight += 0.3
    return weight


@cache
def _kind(char: str) -> tuple[str, str]:
    """The script of a letter, or what else a character is, and its category."""
    category = unicodedata.category(char)
    if char == "\ufffd" or (category in ("Cn", "Co", "Cc") and char not in "\t\n\r\f\x1a"):
        return "none", category
    if category[0] == "S" or category == "No" or char in "ªº":
        return "sign", category
    if category[0] == "M" or category == "Lm":
        return "mark", category
    if category[0] != "L":
        return "", category
    script = unicodedata.name(char, "?").split()[0]
    if script in ("CJK", "HIRAGANA", "KATAKANA", "FULLWIDTH"):
        return "han", category
    return ("half" if script == "HALFWIDTH" else script), category
