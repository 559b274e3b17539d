"""Read the notation of Aozora Bunko, Japan's public library, which web novels use, too.

`漢字《かんじ》` and `｜base《reading》` give the reading of a word, `［＃...］` are notes of
those who typed the text: headings, page breaks, indents, rare characters. A block below the title
explains them, and a colophon begins with `底本：`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from fabula.load.left_out import count_characters

_LEGEND_TITLE = "【テキスト中に現れる記号について】"
_RULE = re.compile(r"^[-－―─━]{10,}$", re.MULTILINE)
_COLOPHON = re.compile(r"^[ \u3000]*底本[：:]", re.MULTILINE)
_MAX_COLOPHON_CHARACTERS = 20_000
_MAX_LEGEND_CHARACTERS = 5_000
_MAX_HEAD_LINES = 6
_MAX_HEAD_CHARACTERS = 60
_NOTE = re.compile(r"［＃[^［］\n]*(?:［[^［］\n]*］[^［］\n]*)*］")
_RARE = re.compile(r"※(?P<note>［＃[^［］\n]*］)")
_CODE = re.compile(
    r"U\+(?P<unicode>[0-9A-F]{4,6})|(?P<plane>[12])-(?P<row>\d{1,2})-(?P<cell>\d{1,2})"
)
_READING = re.compile(r"《[^《》\n]{1,40}》")
_KANA_READING = re.compile(r"[\u3400-\u9fff々〆ヶ]《[\u3041-\u309f\u30a0-\u30ff・ ]{1,30}》")
_MIN_READINGS = 3
_BASE_MARK = re.compile(r"[｜|](?=[^｜|《\n]{1,40}《)")
_SIZES = {"大": 1, "中": 2, "小": 3}
_HEADING_NOTE = re.compile(r"［＃「[^」]*」は(?:同行|窓)?(?P<size>[大中小])見出し］")
_HEADING_RANGE = re.compile(
    r"［＃(?:ここから)?(?:同行|窓)?(?P<size>[大中小])見出し］(?P<text>.{1,200}?)"
    r"［＃(?:ここで)?(?:同行|窓)?[大中小]見出し終わり］",
    re.DOTALL,
)
_BREAK_NOTE = re.compile(r"［＃改(?:ページ|頁|丁|段|見開き)[^］]*］")
_PICTURE_NOTE = re.compile(r"［＃[^［］]*(?:挿絵|図|写真|\.png|\.jpg)[^［］]*入る］")
_INLINE_NOTE = re.compile(
    r"［＃(?:ここから)?割り注］(.{1,500}?)［＃(?:ここで)?割り注終わり］", re.DOTALL
)
HEADING_MARK = "\ufdd0"
"""A non-character before a heading; a digit, its level, is between them."""


@dataclass(frozen=True, slots=True)
class AozoraText:
    """A text without its notation.

    Attributes:
        text: The text, with `HEADING_MARK` and the level before each heading.
        title: Its title.
        author: Its author.
        left_out: The characters that were left out, by kind.
    """

    text: str
    title: str
    author: str
    left_out: Mapping[str, int]


def is_aozora(text: str) -> bool:
    """Return whether a text has the library's legend, its notes, or readings in its notation.

    Chinese has titles of books in the same brackets, but no kana in them.
    """
    if _LEGEND_TITLE in text[:_MAX_LEGEND_CHARACTERS]:
        return True
    if "《" not in text and "［＃" not in text:
        return False
    notes = len(_NOTE.findall(text)) if "［＃" in text else 0
    return bool(notes) or len(_KANA_READING.findall(text)) >= _MIN_READINGS


def strip_notation(text: str) -> AozoraText:
    """Return a text in the notation of Aozora Bunko as a reader would see it printed."""
    left_out: Counter[str] = Counter()
    text, title, author = _split_frame(text, left_out)
    text = _RARE.sub(lambda match: _rare(match["note"]) or match[0], text)
    text = _INLINE_NOTE.sub(r"（\1）", text)
    text = _HEADING_RANGE.sub(lambda match: _mark_heading(match["text"], match["size"]), text)
    text = "\n".join(_mark_line(line) for line in text.split("\n"))

    def leave_out(kind: str, pattern: re.Pattern[str], replacement: str = "") -> None:
        nonlocal text
        left_out[kind] += sum(count_characters(match[0]) for match in pattern.finditer(text))
        text = pattern.sub(replacement, text)

    leave_out("illustration marks", _PICTURE_NOTE)
    leave_out("typing notes", _BREAK_NOTE, "\n\n")
    leave_out("typing notes", _NOTE)
    leave_out("readings", _BASE_MARK)
    leave_out("readings", _READING)
    return AozoraText(text, title, author, {kind: n for kind, n in left_out.items() if n})


def _split_frame(text: str, left_out: Counter[str]) -> tuple[str, str, str]:
    """The text without legend and colophon, its title and its author."""
    rules = list(_RULE.finditer(text, 0, _MAX_LEGEND_CHARACTERS))
    title = author = ""
    if len(rules) > 1 and _LEGEND_TITLE in text[rules[0].end() : rules[1].start()]:
        title, author = _title_and_author(text[: rules[0].start()])
        left_out["legend"] += count_characters(text[rules[0].start() : rules[1].end()])
        text = f"{text[: rules[0].start()].rstrip()}\n\n\n{text[rules[1].end() :].lstrip(chr(10))}"
    colophons = list(_COLOPHON.finditer(text))
    if colophons and len(text) - colophons[-1].start() <= _MAX_COLOPHON_CHARACTERS:
        start = colophons[-1].start()
        left_out["colophon"] += count_characters(text[start:])
        text = text[:start].rstrip() + "\n"
        if not title:
            title, author = _title_and_author(
                re.split(r"\n[ \u3000]*\n", text.strip(), maxsplit=1)[0]
            )
    return text, title, author


def _title_and_author(head: str) -> tuple[str, str]:
    """Title and author: the first line, and the last that names no translator."""
    lines = [
        re.sub(r"《[^》]*》|［＃[^］]*］|[｜|]", "", line).strip()
        for line in head.strip().split("\n")
    ]
    lines = [line for line in lines if line]
    if not 1 < len(lines) <= _MAX_HEAD_LINES or max(map(len, lines)) > _MAX_HEAD_CHARACTERS:
        return (lines[0] if len(lines) == 1 else ""), ""
    names = [line for line in lines[1:] if not re.search(r"(?:訳|編|校訂|校注)$", line)]
    return lines[0], " ".join((names or lines[1:])[-1].split())


def _mark_line(line: str) -> str:
    """A line with the mark of a heading, if a note at its end says that it is one."""
    note = _HEADING_NOTE.search(line)
    return _mark_heading(_HEADING_NOTE.sub("", line), note["size"]) if note else line


def _mark_heading(text: str, size: str) -> str:
    lines = " ".join(_NOTE.sub("", text).split())
    return f"\n\n{HEADING_MARK}{_SIZES[size]}{lines}\n\n" if lines else ""


def _rare(note: str) -> str:
    """The character that a note describes by its code; '' if it has none."""
    code = _CODE.search(note)
    if not code:
        return ""
    if code["unicode"]:
        number = int(code["unicode"], 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else ""
    encoded = bytes((160 + int(code["row"]), 160 + int(code["cell"])))
    if max(int(code["row"]), int(code["cell"])) > 94:
        return ""
    try:
        return (b"\x8f" * (code["plane"] == "2") + encoded).decode("euc_jis_2004")
    except UnicodeDecodeError:
        return ""
