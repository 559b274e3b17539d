"""Decode bytes whose encoding is not known; binary data is refused."""

from __future__ import annotations

import codecs
import re
import unicodedata

import webencodings

from fabula.errors import LoadError
from fabula.load import languages

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MAGIC = (
    (b"%PDF-", "a PDF: name it .pdf"),
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
    (b"{\\rtf", "an RTF document: name it .rtf"),
)
_DECLARED = (
    rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]+)",
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([\w.:-]+)",
    rb"(?m)^Character set encoding:\s*([\w.:-]+)",
)
_LATIN_ENCODINGS = ("cp1252", "cp1250", "iso8859_2", "cp1254", "cp1257")
_OTHER_ENCODINGS = (
    *("cp1251", "koi8_r", "cp1253", "cp1255", "cp1256"),
    *("gb18030", "cp932", "euc_jp", "cp949", "big5"),
)
"""Encodings from before UTF-8; of equally good ones, the first is taken."""
_USUAL = "cp1252"
_USUAL_FACTOR = 1.03
"""The advantage of `_USUAL`, which nearly all English files with a few accents have."""
_SAMPLE_BYTES = 40_000
_MAX_PIECES = 500
_NON_ASCII = re.compile(rb"[\x80-\xff]+")
_MIN_VALID_PER_BROKEN = 20
_MIN_ASCII_SHARE = 0.01
"""The least share of ASCII in a text of any script: spaces, line ends and digits."""
_FOREIGN_SHARE = 0.6
"""If more of the letters are not ASCII, the text has another script than Latin."""


def decode(data: bytes, source: str) -> str:
    """Return the text in `data`.

    The encoding is that of its byte order mark, the one it declares, UTF-8, or the most likely one.

    Raises:
        LoadError: It is not text; the message names `source`.

    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    if encoding := _utf16(data):
        return data.decode(encoding, errors="replace")
    _refuse_binary(data, source)
    return _declared(data) or _utf8(data) or _likely(data)


def _utf16(data: bytes) -> str:
    """The byte order of UTF-16 without a mark; '' if `data` is something else.

    Its spaces and line ends have zero bytes, which other text has not. In the wrong byte order,
    some of its characters do not exist.
    """
    sample = data[:_SAMPLE_BYTES]
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
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            raise LoadError(f"{source} isn't text but {kind}.")
    sample = data[:_SAMPLE_BYTES]
    controls = sum(sample.count(bytes([code])) for code in (*range(9), *range(14, 27), 127))
    if controls > 0.01 * len(sample):
        raise LoadError(f"{source} isn't text but binary data: give a text, HTML, EPUB or PDF.")


def _declared(data: bytes) -> str:
    head = data[:8192]
    for pattern in _DECLARED:
        if match := re.search(pattern, head, re.IGNORECASE):
            # As in browsers, a declared Latin-1 means Windows-1252.
            encoding = webencodings.lookup(match[1].decode("ascii"))
            # A declaration of UTF-16 can't be right, as it was itself read one byte a letter.
            if encoding is None or encoding.name.startswith("utf-16"):
                return ""
            try:
                return data.decode(encoding.codec_info.name)
            except (LookupError, UnicodeError):
                return ""
    return ""


def _utf8(data: bytes) -> str:
    """`data` as UTF-8; '' if more than a few bytes are invalid."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    valid = sum(char > "\x7f" for char in text) - broken
    return text if valid >= _MIN_VALID_PER_BROKEN * broken else ""


def _likely(data: bytes) -> str:
    """The decoding that is most clearly in some language."""
    sample = _non_ascii_sample(data)
    non_ascii = len(sample.translate(None, bytes(range(128))))
    ascii_letters = sum(bytes([code]).isalpha() for code in sample)
    is_foreign = non_ascii > _FOREIGN_SHARE * (non_ascii + ascii_letters)
    readings = {
        name: sample.decode(name, errors="replace")
        for name in (_OTHER_ENCODINGS if is_foreign else _LATIN_ENCODINGS)
    }

    def score(name: str) -> float:
        return languages.evidence(readings[name]) * (_USUAL_FACTOR if name == _USUAL else 1)

    return data.decode(max(readings, key=score), errors="replace")


def _non_ascii_sample(data: bytes) -> bytes:
    """The surroundings of the first bytes that are not ASCII."""
    start = 0
    pieces: list[bytes] = []
    while (match := _NON_ASCII.search(data, start)) and len(pieces) < _MAX_PIECES:
        start = match.end() + 30
        pieces.append(data[max(0, match.start() - 30) : start])
    return b"\n".join(pieces) or data[:_SAMPLE_BYTES]
