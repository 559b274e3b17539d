"""Read RTF: its groups and control words, with hidden and deleted text told apart."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from fabula.errors import LoadError
from fabula.load.blocks import Block, Draft
from fabula.load.clean import lines, one_line
from fabula.load.headings import confirm, join_title, stated_title
from fabula.load.left_out import count_characters
from fabula.load.locators import without_marks
from fabula.load.office import (
    MAX_SECTION_LEVEL,
    MAX_STYLE_CHAIN,
    NOTE_NUMBER,
    bookmark_mark,
    heading_style,
    hidden_field,
    split_reading,
)
from fabula.load.paratext import remove_library_text
from fabula.load.references import CONTEXT_CHARACTERS, mark_raised
from fabula.load.stanzas import EMPTY, join_stanzas
from fabula.load.symbols import SYMBOL_LETTERS
from fabula.load.titles import real_author, real_title

_TOKEN = re.compile(
    r"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<byte>[0-9a-fA-F]{2})"
    r"|\\(?P<symbol>.)|(?P<brace>\{(?:\s*\\\*)?|\})|[\r\n]+|(?P<text>[^\\{}\r\n]+)|.",
    re.DOTALL,
)
_CODE_PAGES = {10000: "mac_roman", 10006: "mac_greek", 10007: "mac_cyrillic", 10029: "mac_latin2"}
_CHARSETS = {
    0: "cp1252", 77: "mac_roman", 78: "shift_jis", 79: "big5", 80: "euc_kr", 81: "mac_arabic",
    83: "mac_greek", 84: "mac_cyrillic", 85: "gb2312", 86: "mac_romanian", 89: "mac_latin2",
    128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "cp950", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251",
    222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
"""The encodings of fonts, by their character sets."""
_UNSTATED_CHARSETS = (0, 1, 2)
_SYMBOL_CHARSET = 2
_CHARACTERS = {
    "tab": " ", "cell": " ", "nestcell": " ", "line": "\n", "emdash": "—", "endash": "–",
    "emspace": " ", "enspace": " ", "qmspace": " ", "bullet": "•", "lquote": "‘",
    "rquote": "’", "ldblquote": "“", "rdblquote": "”", "softline": " ",
    "zwj": "\u200d", "zwnj": "\u200c",
}  # fmt: skip
_SYMBOLS = {"~": " ", "_": "‑", "{": "{", "}": "}", "\\": "\\"}
_ENDS = frozenset(("par", "sect", "page", "column", "row", "nestrow"))
"""The control words that end a paragraph."""
_HEAD_GROUPS = "footer footerf footerl footerr header headerf headerl headerr"
_OTHER_GROUPS = (
    "aftncn aftnsep aftnsepc atnauthor atndate atnicn atnid atnparent atnref atntime atrfend"
    " atrfstart background bkmkend blipuid colorschememapping colortbl company datafield datastore"
    " defchp defpap doccomm docvar filetbl ftncn ftnsep ftnsepc generator keywords latentstyles"
    " listoverridetable listtable nonesttables objclass objdata objname operator pict picprop"
    " pnseclvl private revtbl rsidtbl rxe shprslt sn sp subject sv tc themedata txe upr userprops"
    " wgrffmtfilter xe xmlnstbl"
)
_LEFT_OUT = {
    **dict.fromkeys(_HEAD_GROUPS.split(), "running heads"),
    **dict.fromkeys(_OTHER_GROUPS.split(), ""),
    "annotation": "comments",
}
"""The groups that are no text, and what their characters are counted as; '' if as nothing."""


def read(data: bytes, source: str, limit: int = 0) -> Draft:
    """Read an RTF file. Raises LoadError if it is not one."""
    if not data.lstrip().startswith(b"{\\rtf"):
        raise LoadError(f"{source} is not an RTF file: those begin with {{\\rtf.")
    parser = _Parser()
    parser.read(data.decode("latin-1"))
    blocks = join_stanzas(remove_library_text(parser.blocks, parser.left_out))
    title = real_title(parser.facts["title"].text()) or stated_title(blocks)
    authors = parser.facts["author"].text().split(";")
    return Draft(
        confirm(blocks, title),
        title,
        ", ".join(filter(None, map(real_author, authors))),
        left_out=+parser.left_out,
    )


@dataclass(slots=True)
class _Style:
    """A style of paragraphs: the level of its heading, -1 if it says none, and its parent."""

    level: int = -1
    name: str = ""
    based_on: int = -1


@dataclass(slots=True)
class _Field:
    """A field: its instruction, and what its result is counted as if it is left out."""

    instruction: str = ""
    left_out_as: str = ""


@dataclass(slots=True)
class _Paragraphs:
    """The paragraphs of a text, of a note, of a text box, or of a title."""

    blocks: list[Block] = field(default_factory=list)
    pieces: list[tuple[str, bool]] = field(default_factory=list)
    """The text of the present paragraph, and whether it is raised."""
    after: list[Block] = field(default_factory=list)
    """The notes and text boxes of the present paragraph."""

    def text(self) -> str:
        """All of the text on one line."""
        parts = [*(block.text.replace(EMPTY, "") for block in self.blocks), self.join_pieces()]
        return one_line(" ".join(parts))

    def join_pieces(self) -> str:
        """The text of the present paragraph."""
        text = ""
        pending = ""
        for piece, is_raised in self.pieces:
            if is_raised:
                pending += piece
                continue
            if pending:
                text += mark_raised(pending, text[-CONTEXT_CHARACTERS:])
                pending = ""
            text += piece
        return text + (mark_raised(pending, text[-CONTEXT_CHARACTERS:]) if pending else "")


@dataclass(frozen=True, slots=True)
class _State:
    r"""What is set within a group.

    Attributes:
        output: Where the text goes; None if it is left out.
        left_out_as: What it is counted as if it is left out; '' if as nothing.
        role: What the group itself is, and what ends with it.
        field: The field that it belongs to.
        unicode_length: How many characters stand in for a `\u` for programs that don't know it.
        font: The number of the font.
        is_hidden: Whether the text is hidden.
        is_deleted: Whether the text was deleted.
        is_raised: Whether the text is raised.
    """

    output: _Paragraphs | None
    left_out_as: str = ""
    role: str = ""
    field: _Field | None = None
    unicode_length: int = 1
    font: int = -1
    is_hidden: bool = False
    is_deleted: bool = False
    is_raised: bool = False


class _Parser:
    """Reads the tokens of a file."""

    def __init__(self) -> None:
        self._body = _Paragraphs()
        self.blocks = self._body.blocks
        self.left_out: Counter[str] = Counter()
        self.facts = {"title": _Paragraphs(), "author": _Paragraphs()}
        self._state = _State(self._body)
        self._stack: list[_State] = []
        self._encoding = "cp1252"
        self._encodings: dict[int, str] = {}
        self._charsets: dict[int, int] = {}
        self._styles: dict[int, _Style] = {}
        self._style = -1
        self._level = -1
        self._font_entry = -1
        self._style_entry = _Style()
        self._decoder = codecs.getincrementaldecoder("cp1252")("replace")
        self._decoder_name = "cp1252"
        self._skip = 0
        """How many characters are still to be skipped that stand in for one of Unicode."""
        self._starred = False
        self._notes = 0
        self._handlers: dict[str, Callable[[int | None], None]] = {
            "u": self._unicode,
            "uc": lambda n: self._set(unicode_length=max(0, 1 if n is None else n)),
            "f": lambda n: self._choose_font(-1 if n is None else n),
            "fcharset": self._font_charset,
            "cpg": self._font_code_page,
            "ansicpg": self._code_page,
            "mac": lambda _: self._set_encoding("mac_roman"),
            "pc": lambda _: self._set_encoding("cp437"),
            "pca": lambda _: self._set_encoding("cp850"),
            "v": lambda n: self._set(is_hidden=n != 0),
            "deleted": lambda n: self._set(is_deleted=n != 0),
            "super": lambda n: self._set(is_raised=n != 0),
            "nosupersub": lambda _: self._set(is_raised=False),
            "plain": lambda _: self._set(is_hidden=False, is_deleted=False, is_raised=False),
            "pard": self._reset_paragraph,
            "s": self._paragraph_style,
            "outlinelevel": self._outline_level,
            "sbasedon": self._based_on,
        }
        self._destinations: dict[str, Callable[[], None]] = {
            "fonttbl": lambda: self._set(output=None, left_out_as="", role="fonts"),
            "stylesheet": lambda: self._set(output=None, left_out_as="", role="styles"),
            "info": lambda: self._set(output=None, left_out_as="", role="facts"),
            "title": lambda: self._fact("title"),
            "author": lambda: self._fact("author"),
            "field": lambda: self._set(field=_Field()),
            "fldinst": lambda: self._set(output=None, left_out_as="", role="instruction"),
            "fldrslt": self._field_result,
            "footnote": lambda: self._inner("note"),
            "shptxt": lambda: self._inner("box"),
            "dptxbxtext": lambda: self._inner("box"),
            "bkmkstart": lambda: self._inner("bookmark"),
            "listtext": lambda: self._inner("number"),
            "pntext": lambda: self._inner("number"),
            "ud": self._unicode_form,
            "shpinst": lambda: None,
            "do": lambda: None,
        }

    def read(self, text: str) -> None:
        """Read a file, whose bytes are characters."""
        position = 0
        while match := _TOKEN.match(text, position):
            position = match.end()
            if match["word"]:
                number = int(match["number"]) if match["number"] else None
                if match["word"] == "bin":
                    position += max(0, number or 0)
                else:
                    self._word(match["word"], number)
            elif match["text"]:
                self._run(match["text"])
            elif match["byte"]:
                self._byte(int(match["byte"], 16))
            elif match["brace"] == "}":
                self._end_group()
            elif match["brace"]:
                self._begin_group(is_starred=match["brace"] != "{")
            elif match["symbol"]:
                self._symbol(match["symbol"])
        while self._stack:
            self._end_group()
        self._end_paragraph(self._body)

    def _begin_group(self, *, is_starred: bool) -> None:
        self._skip = 0
        # A star behind a brace marks a group to leave out if it is unknown; elsewhere, nothing.
        self._starred = is_starred
        self._stack.append(self._state)
        self._state = replace(self._state, role="")

    def _end_group(self) -> None:
        self._skip = 0
        if not self._stack:
            return
        ended, self._state = self._state, self._stack.pop()
        if ended.role in ("note", "box", "bookmark", "number") and ended.output is not None:
            self._end_inner(ended.role, ended.output, self._state.output)
        elif ended.role == "instruction" and ended.field is not None:
            self._end_instruction(ended.field)

    def _word(self, word: str, number: int | None) -> None:
        self._starred, is_starred = False, self._starred
        output = self._state.output
        if word in self._destinations and (output is not None or word in _REVIVED):
            self._destinations[word]()
        elif word in _LEFT_OUT and output is not None and self._stack:
            self._set(output=None, left_out_as=_LEFT_OUT[word])
        elif word in self._handlers:
            self._handlers[word](number)
        elif is_starred and output is not None:
            self._set(output=None, left_out_as="")
        elif word in _CHARACTERS and self._skip:
            self._skip -= 1
        elif word in _CHARACTERS:
            self._add(_CHARACTERS[word])
        elif word in _ENDS and output is not None and not self._is_invisible():
            self._end_paragraph(output)

    def _is_invisible(self) -> bool:
        return self._state.is_hidden or self._state.is_deleted

    def _symbol(self, symbol: str) -> None:
        if symbol in "\r\n" and self._state.output is not None:
            self._end_paragraph(self._state.output)
        elif self._skip:
            self._skip -= 1
        elif symbol in _SYMBOLS:
            self._add(_SYMBOLS[symbol])

    def _run(self, text: str) -> None:
        skipped = min(self._skip, len(text))
        self._skip -= skipped
        if skipped < len(text) and not self._in_font_table():
            self._add(self._decode(text[skipped:].encode("latin-1")))

    def _byte(self, value: int) -> None:
        if self._skip:
            self._skip -= 1
        else:
            self._add(self._decode(bytes([value])))

    def _decode(self, data: bytes) -> str:
        name = self._encodings.get(self._state.font, self._encoding)
        if name != self._decoder_name:
            self._decoder_name = name
            self._decoder = codecs.getincrementaldecoder(name)("replace")
        text = self._decoder.decode(data)
        if self._charsets.get(self._state.font) == _SYMBOL_CHARSET:
            return text.translate(SYMBOL_LETTERS)
        return text

    def _add(self, text: str) -> None:
        state = self._state
        if self._in_style_sheet():
            self._style_entry.name += text
            self._end_style(text)
        elif state.output is None:
            if state.field is not None and self._is_instruction():
                state.field.instruction += text
            elif state.left_out_as:
                self.left_out[state.left_out_as] += count_characters(text)
        elif state.is_deleted or state.is_hidden:
            self.left_out["deleted text" if state.is_deleted else "hidden text"] += (
                count_characters(text)
            )
        else:
            state.output.pieces.append((text, state.is_raised))

    def _is_instruction(self) -> bool:
        if self._state.role == "instruction":
            return True
        return any(state.role == "instruction" for state in self._stack[-_MAX_INSTRUCTION_DEPTH:])

    def _unicode(self, number: int | None) -> None:
        code = number or 0
        if self._skip == 0:
            self._add(chr(code + 65536 if code < 0 else code))
        self._skip = self._state.unicode_length

    def _set(self, **changes: object) -> None:
        self._state = replace(self._state, **changes)  # type: ignore[arg-type]

    def _fact(self, name: str) -> None:
        if self._stack and self._stack[-1].role == "facts":
            self._set(output=self.facts[name], left_out_as="")

    def _inner(self, role: str) -> None:
        self._set(output=_Paragraphs(), role=role, is_raised=False)

    def _unicode_form(self) -> None:
        """Read the form for programs that know Unicode, of a text that a group holds twice."""
        if len(self._stack) > 1:
            around = self._stack[-2]
            self._set(output=around.output, role="facts" if around.role == "facts" else "")

    def _field_result(self) -> None:
        if self._state.field is not None and self._state.field.left_out_as:
            self._set(output=None, left_out_as=self._state.field.left_out_as, field=None)

    def _end_instruction(self, ended: _Field) -> None:
        ended.left_out_as = hidden_field(ended.instruction)
        if reading := split_reading(ended.instruction):
            self.left_out["readings"] += count_characters(reading[0])
            self._add(reading[1])

    def _end_inner(self, role: str, inner: _Paragraphs, around: _Paragraphs | None) -> None:
        if around is None:
            return
        if role == "number":
            # A bullet is no text.
            text = inner.text()
            around.pieces += [(f"{text} ", False)] if any(map(str.isalnum, text)) else []
        elif role == "bookmark":
            around.pieces.append((bookmark_mark(inner.text()), False))
        else:
            self._end_paragraph(inner)
            blocks = [block for block in inner.blocks if block.text != EMPTY]
            if role == "box":
                around.after += blocks
            elif text := "\n".join(block.text for block in blocks):
                self._notes += 1
                around.pieces.append((f"[{self._notes}]", False))
                around.after.append(Block(f"[{self._notes}] {text}"))

    def _end_paragraph(self, output: _Paragraphs) -> None:
        joined = output.join_pieces()
        output.pieces.clear()
        # RTF writes characters beyond U+FFFF as surrogate pairs.
        text = lines(joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
        level = self._heading_level() if output is self._body else 0
        if not text:
            output.blocks.append(Block(EMPTY))
        elif level:
            title = join_title(NOTE_NUMBER.sub("", without_marks(text)))
            output.blocks.append(Block(text, title, level))
        else:
            output.blocks.append(Block(text))
        output.blocks += output.after
        output.after.clear()

    def _heading_level(self) -> int:
        level = self._level
        style = self._style
        for _ in range(MAX_STYLE_CHAIN):
            entry = self._styles.get(style)
            if level >= 0 or entry is None:
                break
            level, style = entry.level, entry.based_on
        return level + 1 if 0 <= level < MAX_SECTION_LEVEL else 0

    def _reset_paragraph(self, number: int | None) -> None:
        self._style = self._level = -1

    def _paragraph_style(self, number: int | None) -> None:
        if self._in_style_sheet():
            self._styles[number or 0] = self._style_entry = _Style()
        else:
            self._style = number or 0

    def _outline_level(self, number: int | None) -> None:
        if self._in_style_sheet():
            self._style_entry.level = number or 0
        elif self._state.output is self._body:
            self._level = number or 0

    def _based_on(self, number: int | None) -> None:
        self._style_entry.based_on = -1 if number is None else number

    def _in_style_sheet(self) -> bool:
        return self._state.role == "styles" or bool(
            self._stack and self._stack[-1].role == "styles"
        )

    def _end_style(self, text: str) -> None:
        """Read the name of a style, which its text ends with a semicolon."""
        level = heading_style(self._style_entry.name.strip(" ;"))
        if level and self._style_entry.level < 0:
            self._style_entry.level = level - 1
        if ";" in text:
            self._style_entry = _Style()

    def _choose_font(self, number: int) -> None:
        if self._in_font_table():
            self._font_entry = number
        else:
            self._set(font=number)

    def _in_font_table(self) -> bool:
        return self._state.role == "fonts" or bool(self._stack and self._stack[-1].role == "fonts")

    def _font_charset(self, number: int | None) -> None:
        charset = number or 0
        self._charsets[self._font_entry] = charset
        if charset in _CHARSETS and charset not in _UNSTATED_CHARSETS:
            self._encodings[self._font_entry] = _CHARSETS[charset]
            # Where some fonts have a character set of their own, that of the others is Latin.
            for font, other in self._charsets.items():
                if other == 0:
                    self._encodings[font] = _CHARSETS[0]
        elif charset == 0 and self._encodings:
            self._encodings[self._font_entry] = _CHARSETS[0]

    def _font_code_page(self, number: int | None) -> None:
        if encoding := _code_page(number or 0):
            self._encodings[self._font_entry] = encoding

    def _code_page(self, number: int | None) -> None:
        self._set_encoding(_code_page(number or 0) or self._encoding)

    def _set_encoding(self, name: str) -> None:
        self._encoding = name


_REVIVED = frozenset(("author", "title", "ud"))
"""The groups that are text within one that is not."""
_MAX_INSTRUCTION_DEPTH = 8


def _code_page(number: int) -> str:
    name = _CODE_PAGES.get(number, f"cp{number}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return ""
