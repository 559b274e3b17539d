"""Bytes into text, whatever their encoding; what is no text at all is refused."""

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
_LATIN = ("cp1252", "cp1250", "iso8859_2", "cp1254", "cp1257")
_OTHERS = (
    *("cp1251", "koi8_r", "cp1253", "cp1255", "cp1256"),
    *("gb18030", "cp932", "euc_jp", "cp949", "big5"),
)
"""The encodings there were before UTF-8; of readings that are as good the first is taken."""
_USUAL = "cp1252"
_HEAD_START = 1.03
"""A few accents in English, which tell little, are read as nearly all such files mean them."""
_SAMPLE = 40_000
_PIECES = 500
_BEYOND = re.compile(rb"[\x80-\xff]+")
_RIGHT_FOR_BROKEN = 20
_LEAST_PLAIN = 0.01
"""The share of ASCII in a text of any script: its spaces, line ends and figures."""
_FOREIGN_SHARE = 0.6
"""If more of the letters are beyond ASCII, they are a script of their own, not accents."""


def decode(data: bytes, source: str) -> str:
    """The text in `data`: by its mark, what it declares, UTF-8, or the most likely encoding.

    LoadError, naming `source`, if it isn't text.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    if encoding := _wide(data):
        return data.decode(encoding, errors="replace")
    _refuse_binary(data, source)
    return _declared(data) or _utf8(data) or _likely(data)


def _wide(data: bytes) -> str:
    """The order of UTF-16 that is without its mark; '' if `data` is something else.

    Its spaces and line ends, at least, have a null byte, which no other text has. In the wrong
    order some of its characters are none, and those are in no text.
    """
    sample = data[:_SAMPLE]
    if b"\0" not in sample:
        return ""
    most, likeliest = _LEAST_PLAIN * len(sample) / 2, ""
    for order in ("utf-16-le", "utf-16-be"):
        try:
            text = codecs.getincrementaldecoder(order)().decode(sample)
        except UnicodeDecodeError:
            continue
        plain = sum(char < "\x80" for char in text)
        if plain > most and not any(map(_is_no_letter, set(text))):
            most, likeliest = plain, order
    return likeliest


def _is_no_letter(char: str) -> bool:
    """Whether it is a control, a character that isn't there yet, or one for private use."""
    return unicodedata.category(char) in ("Cc", "Cn", "Co") and char not in "\t\n\r\f\x1a"


def _refuse_binary(data: bytes, source: str) -> None:
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            raise LoadError(f"{source} isn't text but {kind}.")
    sample = data[:_SAMPLE]
    controls = sum(sample.count(bytes([code])) for code in (*range(9), *range(14, 27), 127))
    if controls > 0.01 * len(sample):
        raise LoadError(f"{source} isn't text but binary data: give a text, HTML, EPUB or PDF.")


def _declared(data: bytes) -> str:
    head = data[:8192]
    for pattern in _DECLARED:
        if found := re.search(pattern, head, re.IGNORECASE):
            # As browsers take it: who declares Latin-1 means what Windows makes of it.
            encoding = webencodings.lookup(found[1].decode("ascii"))
            # The declaration was read a byte a letter, so that UTF-16 is a mistake.
            if encoding is None or encoding.name.startswith("utf-16"):
                return ""
            try:
                return data.decode(encoding.codec_info.name)
            except (LookupError, UnicodeError):
                return ""
    return ""


def _utf8(data: bytes) -> str:
    """`data` as UTF-8; a few broken bytes in much that is right don't matter."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    right = sum(char > "\x7f" for char in text) - broken
    return text if right >= _RIGHT_FOR_BROKEN * broken else ""


def _likely(data: bytes) -> str:
    """The reading that is most clearly in some language."""
    sample = _telling(data)
    beyond = len(sample.translate(None, bytes(range(128))))
    plain = sum(bytes([code]).isalpha() for code in sample)
    foreign = beyond > _FOREIGN_SHARE * (beyond + plain)
    readings = {
        name: sample.decode(name, errors="replace") for name in (_OTHERS if foreign else _LATIN)
    }

    def worth(name: str) -> float:
        return languages.evidence(readings[name]) * (_HEAD_START if name == _USUAL else 1)

    return data.decode(max(readings, key=worth), errors="replace")


def _telling(data: bytes) -> bytes:
    """What surrounds the first bytes beyond ASCII."""
    start = 0
    pieces: list[bytes] = []
    while (found := _BEYOND.search(data, start)) and len(pieces) < _PIECES:
        start = found.end() + 30
        pieces.append(data[max(0, found.start() - 30) : start])
    return b"\n".join(pieces) or data[:_SAMPLE]
