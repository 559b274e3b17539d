"""Decode XML: its byte order mark counts more than what it declares, and its bytes more than both.

Many files declare another encoding than they have, as a program converted the text and left the
declaration, and many declare it by a name that only their own program knows.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable

from fabula.load import mojibake
from fabula.load.encoding import decode, join_surrogates
from fabula.text.nouns import count_noun

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?\bencoding\s*=\s*[\"']?\s*([\w.: -]+)")
_LARGER = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "ascii": "cp1252",
}
"""Encodings of which files use the extension, as browsers assume."""
_NOT_OF_FILES = ("idna", "mbcs", "oem", "punycode", "raw", "undefined", "unicode")
"""Python's codecs that are no encodings of files."""
_SPELLINGS = (
    (re.compile(r"^x-"), ""),
    (re.compile(r"^(?:ms|win(?:dows)?|cp|ibm|dos)[-_ ]?(\d{3,5})$"), r"cp\1"),
    (re.compile(r"^utf[-_ ]?(8|16|32).*"), r"utf-\1"),
    (re.compile(r"^iso[-_ ]?(?:latin[-_ ]?1|8859[-_ ]?(\d+)).*"), r"iso8859-\1"),
    (re.compile(r"^koi8[-_ ]?(r|u)$"), r"koi8-\1"),
    (re.compile(r"^ms[-_]?kanji.*|^windows[-_]31j$"), "cp932"),
)
_SEVEN_BIT = ("iso2022", "hz", "utf-7")
"""Encodings whose bytes are also valid ASCII."""
_MIN_UTF8_CHARACTERS = 4
_MIN_UTF8_ASIAN_CHARACTERS = 20
"""This many characters beyond ASCII are not UTF-8 by accident; a few words in GBK may be."""
_ASIAN = ("big5", "cp9", "euc", "gb", "johab", "shift")
_MAX_BROKEN_SHARE = 0.01
_TAG = re.compile(rb"<[^<>]*>")
_GUESSES = (
    *("cp1252", "cp1250", "iso8859_2", "cp1254", "cp1257", "cp1251", "koi8_r", "cp866", "cp1253"),
    *("cp1255", "cp1256", "gb18030", "cp932", "euc_jp", "cp949", "big5"),
)
"""The encodings that may be recognised by a text in them."""


def decode_xml(data: bytes, warn: Callable[[str], None]) -> str:
    """Return the text of an XML file.

    Args:
        data: The content.
        warn: Called, with the predicate of a sentence, if the file declares what it is not.

    Raises:
        LoadError: It is not text.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace").removeprefix("\ufeff")
    match = _DECLARED.search(data, 0, 1024)
    name = match[1].decode("ascii", "replace").strip() if match else ""
    codec = _codec(name)
    if codec.startswith(_SEVEN_BIT):
        return data.decode(codec, errors="replace")
    text = _decode_utf8(data, warn)
    if text is None:
        return _decode_declared(data, name, codec, warn) or _guess(data)
    beyond_ascii = not data.isascii()
    if b"\0" in data[:1000]:
        # UTF-16 without a mark is valid UTF-8, too.
        return decode(data, "it")
    if codec in ("", "utf-8") or not beyond_ascii:
        return text
    enough = _MIN_UTF8_ASIAN_CHARACTERS if codec.startswith(_ASIAN) else _MIN_UTF8_CHARACTERS
    if sum(char > "\x7f" for char in text) < enough:
        return _decode_declared(data, name, codec, warn) or text
    warn(f"declares the encoding {name}, but is UTF-8")
    return text


def _decode_utf8(data: bytes, warn: Callable[[str], None]) -> str | None:
    """The text if it is UTF-8, with what was encoded twice mended; None if it is not."""
    for form in (data, join_surrogates(data)):
        try:
            text = form.decode("utf-8")
        except UnicodeDecodeError:
            continue
        mended, count = mojibake.mend(text)
        if count:
            warn(f"has text that was encoded twice, and was mended in {count_noun(count, 'line')}")
        return mended
    return None


def _guess(data: bytes) -> str:
    """The text in its most likely encoding: that of the text alone, as tags are all ASCII."""
    printed = _TAG.sub(b" ", data)
    text = decode(printed, "it")
    codec = next((name for name in _GUESSES if printed.decode(name, "replace") == text), "")
    return data.decode(codec, "replace") if codec else decode(data, "it")


def _codec(name: str) -> str:
    """Python's name for an encoding that a file declares; '' if it is none."""
    if not name:
        return ""
    label = name.lower()
    candidates = [label]
    for pattern, replacement in _SPELLINGS:
        label = pattern.sub(replacement, label)
        candidates.append(label)
    for candidate in candidates:
        try:
            codec = codecs.lookup(candidate.rstrip("-")).name.lower()
        except (LookupError, ValueError):
            continue
        return "" if codec.startswith(_NOT_OF_FILES) else _LARGER.get(codec, codec)
    return ""


def _decode_declared(data: bytes, name: str, codec: str, warn: Callable[[str], None]) -> str:
    """The text in its declared encoding; '' if it declares none, or has another one."""
    # A declaration of UTF-16 can't be right, as it was itself read one byte a letter.
    if not codec or codec.startswith(("utf-16", "utf-32")):
        return ""
    try:
        return data.decode(codec)
    except (LookupError, UnicodeError):
        pass
    try:
        text = data.decode(codec, errors="replace")
    except (LookupError, UnicodeError):
        return ""
    broken = text.count("\ufffd")
    if broken > _MAX_BROKEN_SHARE * sum(char > "\x7f" for char in text) + 1:
        warn(f"declares the encoding {name}, but has another one")
        return ""
    warn(f"has {count_noun(broken, 'character')} that its encoding {name} does not know")
    return text
