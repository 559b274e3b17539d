"""Mend text that was encoded twice, and bytes of another encoding within UTF-8."""

from __future__ import annotations

import codecs
import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping

_PAGES = (
    "cp1252 cp1251 cp1250 cp1253 cp1254 cp1255 cp1256 cp1257 koi8_r cp866 iso8859_2 cp437 cp850"
    " cp852 mac_roman"
)
"""The encodings in which UTF-8 is read by mistake."""
_SAMPLE_CHARACTERS = 100_000
_MIN_PAGE_SHARE = 0.02
"""The least share of the characters beyond ASCII that are UTF-8 in another encoding, so that the
lines of a text are looked at one by one."""
_MIN_LINE_SHARE = 0.9
_MIN_LINE_CHARACTERS = 6
"""The least share and number of such characters in a line that was encoded twice."""
_MIN_SURE = 2
_USUAL_PAGE = "cp1252"
_SURE = re.compile("[ÃÄÅÐÑ][\u0080-\u00bf]|â€|[ÃÄÅÐÑ][€‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œžŸ]")
_BROKEN = re.compile("[\udc80-\udcff]+")
_BEYOND_ASCII = re.compile("[^\x00-\x7f]+")
_MAX_DAMAGED_BYTES = 3
"""What is left of a character of UTF-8 that lost a byte."""
_CONTEXT = 30


def mend(text: str) -> tuple[str, int]:
    """Return a text with what was encoded twice mended, and the number of such lines.

    'Ã©' is 'é' encoded as UTF-8, read as Windows-1252, and encoded again. A line is mended as a
    whole if nearly all of it is UTF-8 in another encoding, as 'РџСЂРёРІРµС‚'; else only sequences
    in Windows-1252 that no text would have by chance.
    """
    if text.isascii():
        return text, 0
    sample = text[:_SAMPLE_CHARACTERS]
    pages = {page: _share(sample, page) for page in _PAGES.split()}
    likely = [page for page, share in pages.items() if share >= _MIN_PAGE_SHARE]
    likely.sort(key=lambda page: -pages[page])
    usual = _USUAL_PAGE if len(_SURE.findall(text)) >= _MIN_SURE else ""
    if not likely and not usual:
        return text, 0
    lines = 0
    mended: list[str] = []
    for line in text.split("\n"):
        page = usual
        if len(line) - len(_BEYOND_ASCII.sub("", line)) >= _MIN_LINE_CHARACTERS:
            page = next((p for p in likely if _share(line, p) >= _MIN_LINE_SHARE), usual)
        fixed = _read_again(line, page) if page else line
        lines += fixed != line
        mended.append(fixed)
    return "\n".join(mended), lines


def _share(text: str, page: str) -> float:
    """The share of the characters beyond ASCII that are letters in UTF-8, read in a code page."""
    runs = _BEYOND_ASCII.findall(text)
    sequences = _page(page)[0].findall(" ".join(runs))
    found = sum(len(s) for s in sequences if _read_again(s, page) != s)
    return found / sum(map(len, runs)) if runs else 0.0


def _read_again(text: str, page: str) -> str:
    pattern, codes = _page(page)

    def replace(match: re.Match[str]) -> str:
        try:
            char = bytes(codes[char] for char in match[0]).decode("utf-8")
        except UnicodeDecodeError:
            return match[0]
        return char if _is_expected(char) else match[0]

    return pattern.sub(replace, text)


@functools.cache
def _page(name: str) -> tuple[re.Pattern[str], Mapping[str, int]]:
    """The pattern of UTF-8 that was read in a code page, and the byte of each character."""
    chars = {code: bytes((code,)).decode(name, "ignore") for code in range(0x80, 0x100)}
    # What has no character is read as a control, or is lost.
    undefined = [code for code, char in chars.items() if not char]
    codes = {char: code for code, char in chars.items() if char}
    codes |= {
        chr(code): code for code in (*range(0x80, 0xA0), *undefined) if chr(code) not in codes
    }
    if len(undefined) == 1:
        codes["\ufffd"] = undefined[0]

    def any_of(first: int, last: int) -> str:
        return f"[{re.escape(''.join(c for c, code in codes.items() if first <= code <= last))}]"

    rest = any_of(0x80, 0xBF)
    leads = ((any_of(0xC2, 0xDF), 1), (any_of(0xE0, 0xEF), 2), (any_of(0xF0, 0xF4), 3))
    return re.compile("|".join(f"{lead}{rest}{{{count}}}" for lead, count in leads)), codes


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
        or 0x3000 <= code <= 0x303F
        or 0xFF00 <= code <= 0xFFEF
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


def replace_damaged(text: str) -> str:
    """Return a text with replacement characters for those that have lost some of their bytes.

    Bytes beside a letter of UTF-8 beyond ASCII are the rest of such a letter, and no other
    encoding; so are those at the end of a text, if it was cut there.

    Args:
        text: A text that was decoded with the error handler 'surrogateescape'.
    """
    broken = len(_BROKEN.findall(text))

    def replace(match: re.Match[str]) -> str:
        before = match.string[match.start() - 1 : match.start()]
        after = match.string[match.end() : match.end() + 1]
        beside = any(char > "\x7f" and char.isalpha() for char in (before, after))
        is_cut = broken == 1 and text.endswith(match[0]) and _is_begun(match[0])
        is_left = is_cut or (is_other and _is_begun(match[0]))
        is_damaged = len(match[0]) <= _MAX_DAMAGED_BYTES and (beside or is_left)
        return "\ufffd" if is_damaged else match[0]

    replaced: list[str] = []
    for line in text.split("\n"):
        # Where each letter is beyond ASCII, the rest of one may stand alone, as a word of one.
        is_other = bool(_BROKEN.search(line)) and _main_script(line) not in ("", "LATIN")
        replaced.append(_BROKEN.sub(replace, line))
    return "\n".join(replaced)


def _is_begun(text: str) -> bool:
    """Whether bytes are the beginning of a character of UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        return not decoder.decode(text.encode("utf-8", "surrogateescape"))
    except UnicodeDecodeError:
        return False


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
        broken = _BROKEN.findall(line)
        if not broken:
            mended.append(line)
            continue
        if line.encode("utf-8", "ignore").isascii():
            # A whole line of the other encoding may have bytes in pairs.
            fixed = line.encode("utf-8", "surrogateescape").decode(encoding, "replace")
            lines += not _BEYOND_ASCII.sub("", fixed) or fixed.count("\ufffd") < len(broken)
        else:
            script = _main_script(line)
            decoded = [_decode(match, encoding, script) for match in _BROKEN.finditer(line)]
            parts = _BROKEN.split(line)
            pairs = zip(parts, [*decoded, ""], strict=True)
            fixed = "".join(part for pair in pairs for part in pair)
            lines += any(char != "\ufffd" for piece in decoded for char in piece)
        mended.append(fixed)
    return "\n".join(mended), lines


def _main_script(line: str) -> str:
    """The script of the letters beyond ASCII of a line; '' if it has none."""
    letters = (char for char in line if char > "\x7f" and char.isalpha())
    scripts = Counter(map(_script, letters))
    return max(scripts, key=lambda script: scripts[script], default="")


def _decode(match: re.Match[str], encoding: str, script: str) -> str:
    chars = match[0].encode("utf-8", "surrogateescape").decode(encoding, "replace")
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    return "".join(
        char
        if _is_part(char, before, after) and (not char.isalpha() or _script(char) == script)
        else "\ufffd"
        for char in chars
    )


def _is_part(char: str, before: str, after: str) -> bool:
    """Whether a character can be at its place: a letter in a word, or a usual mark."""
    if char in "“”‘’„‚«»–—…¡¿§°£\xa0":
        return True
    if not char.isalpha() or any(
        _script(char) != _script(c) for c in (before, after) if c.isalpha()
    ):
        return False
    return not (char.islower() and after.isupper()) and not (char.isupper() and before.islower())


def _script(char: str) -> str:
    return unicodedata.name(char, "?").split()[0]
