"""Mend text that was encoded twice, and bytes of another encoding within UTF-8."""

from __future__ import annotations

import re
import unicodedata

_MIN_SURE = 2
_CONTINUATIONS = "".join(
    bytes([code]).decode("cp1252") if code not in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else chr(code)
    for code in range(0x80, 0xC0)
)
"""What continuation bytes of UTF-8 are in Windows-1252, or in Latin-1 where that has nothing."""
_BYTES = {char: code for code, char in enumerate(_CONTINUATIONS, 0x80)}
_BYTES |= {chr(code): code for code in range(0x80, 0xA0)}
_C = f"[{re.escape(_CONTINUATIONS)}\u0080-\u009f]"
_TWICE = re.compile(f"[Â-ß]{_C}|[à-ï]{_C}{{2}}|[ð-ô]{_C}{{3}}")
_SURE = re.compile(f"[ÃÄÅÐÑ]{_C}|â€")
_BROKEN = re.compile("[\udc80-\udcff]+")
_CONTEXT = 30


def mend(text: str) -> tuple[str, int]:
    """Return a text with what was encoded twice mended, and the number of such lines.

    'Ã©' is 'é' encoded as UTF-8, read as Windows-1252, and encoded again. Only sequences that no
    text would have by chance are mended.
    """
    if text.isascii() or len(_SURE.findall(text)) < _MIN_SURE:
        return text, 0
    lines = 0

    def replace(match: re.Match[str]) -> str:
        data = bytes(_BYTES.get(char, ord(char) & 0xFF) for char in match[0])
        try:
            char = data.decode("utf-8")
        except UnicodeDecodeError:
            return match[0]
        return char if _is_expected(char) else match[0]

    mended: list[str] = []
    for line in text.split("\n"):
        fixed = _TWICE.sub(replace, line)
        lines += fixed != line
        mended.append(fixed)
    return "\n".join(mended), lines


def _is_expected(char: str) -> bool:
    """Whether a mended character is a usual one, and not made of two signs by chance."""
    code = ord(char)
    if code < 0x180 or code in range(0x218, 0x21C):
        return code >= 0xA0
    is_letter = unicodedata.category(char)[0] in "LMN"
    if code < 0x800:
        return is_letter and code not in range(0x180, 0x370)
    return (
        0x2010 <= code <= 0x206F
        or code in (0x20AC, 0x2122, 0x2026)
        or (is_letter and code >= 0xE00)
    )


def surroundings_of_broken(text: str) -> list[str]:
    """Return the places with bytes that are not UTF-8, as surrogates, without valid characters.

    Args:
        text: A text that was decoded with the error handler 'surrogateescape'.

    """
    places = [
        text[max(0, match.start() - _CONTEXT) : match.end() + _CONTEXT]
        for match in _BROKEN.finditer(text)
    ]
    return [re.sub("[\u0080-\ud7ff\ue000-\U0010ffff]", "", place) for place in places]


def decode_broken(text: str, encoding: str) -> tuple[str, int]:
    """Return a text with the bytes that are not UTF-8 decoded, and the number of such lines.

    A byte that would be no part of a word becomes a replacement character.

    Args:
        text: A text that was decoded with the error handler 'surrogateescape'.
        encoding: The encoding of these bytes.

    """
    lines = 0
    mended: list[str] = []
    for line in text.split("\n"):
        if not _BROKEN.search(line):
            mended.append(line)
            continue
        if line.encode("utf-8", "ignore").isascii():
            # A whole line of the other encoding may have bytes in pairs.
            fixed = line.encode("utf-8", "surrogateescape").decode(encoding, "replace")
        else:
            fixed = _BROKEN.sub(lambda match: _decode(match, encoding), line)
        lines += any(char != "\ufffd" and char not in line for char in fixed)
        mended.append(fixed)
    return "\n".join(mended), lines


def _decode(match: re.Match[str], encoding: str) -> str:
    chars = match[0].encode("utf-8", "surrogateescape").decode(encoding, "replace")
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    return "".join(char if _is_part(char, before, after) else "\ufffd" for char in chars)


def _is_part(char: str, before: str, after: str) -> bool:
    """Whether a character can be at its place: a letter in a word, or a usual mark."""
    if char in "“”‘’„‚«»–—…¡¿§°£\xa0":
        return True
    if not char.isalpha():
        return False
    return not (char.islower() and after.isupper()) and not (char.isupper() and before.islower())
