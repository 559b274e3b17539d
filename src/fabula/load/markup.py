"""Make blocks of text from the elements of XML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal
from xml.etree.ElementTree import Element

from fabula.load.blocks import Block
from fabula.load.clean import lines, one_line
from fabula.load.doctype import WINDOWS_CONTROLS
from fabula.load.headings import join_title
from fabula.load.left_out import count_characters
from fabula.load.locators import without_marks
from fabula.load.wrap import join_source_lines

Kind = Literal["inline", "block", "heading", "whole", "line", "break", "space", "note", "skipped"]
"""What an element is in the text. `whole` is a block whose inner blocks are its lines, as a speech
with its speaker. A `note` follows the block that refers to it. A `break` becomes BREAK."""
_CONTROLS = WINDOWS_CONTROLS | {0x85: "…"}
BREAK = "\ufdd0"
"""A non-character that marks a line break which may be that of the printed page."""
_WHOLE_KINDS = ("heading", "whole", "note")
_BLOCK_KINDS = ("block", "heading", "whole", "note")
_CHARACTERS = {"line": "\n", "break": BREAK, "space": " "}
_NOTE_NUMBER = re.compile(r"(?<=\S)\[\d+\](?!\S)|\[\d+\]$", re.MULTILINE)


def local_name(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2].rpartition(":")[2]


def attribute(element: Element, name: str) -> str:
    """Return an attribute by its local name, in any namespace; '' if the element has none."""
    if (value := element.get(name)) is not None:
        return value
    suffixes = (f"}}{name}", f":{name}")
    return next((value for key, value in element.items() if key.endswith(suffixes)), "")


def elements(tree: Element, name: str) -> Iterator[Element]:
    """Return the elements with a local name, in any namespace."""
    return (element for element in tree.iter() if local_name(element) == name)


def metadata(tree: Element, path: str) -> str:
    """Return the text of the first element at a path, as 'titleStmt/title'; '' if none."""
    element = tree.find(".//" + "/".join(f"{{*}}{name}" for name in path.split("/")))
    return "" if element is None else one_line("".join(element.itertext()))


def _nothing(_path: Sequence[Element]) -> str:
    return ""


def _no_level(_path: Sequence[Element]) -> int:
    return 0


@dataclass(frozen=True, slots=True)
class TextRules:
    """What the elements of a format are; each function gets the path to one, the outermost first.

    Attributes:
        kind: Returns what an element is in the text.
        level: Returns the depth of a heading, from 1; 0 if the format does not say.
        mark: Returns the mark of a page or line with which an element begins.
        title: Returns the title of the section that begins with an element, if no heading says it.
        left_out: Returns what the text of a skipped element is called when it is counted; '' for
            what is no text, as an address.
    """

    kind: Callable[[Sequence[Element]], Kind]
    level: Callable[[Sequence[Element]], int] = _no_level
    mark: Callable[[Sequence[Element]], str] = _nothing
    title: Callable[[Sequence[Element]], str] = _nothing
    left_out: Callable[[Sequence[Element]], str] = _nothing


def blocks(root: Element, kind: Callable[[Sequence[Element]], Kind]) -> tuple[Block, ...]:
    """Return the text in blocks.

    Args:
        root: The root element.
        kind: Returns what an element is; it gets the path to it, the outermost element first.
    """
    return read_blocks(root, TextRules(kind))[0]


def read_blocks(root: Element, rules: TextRules) -> tuple[tuple[Block, ...], Counter[str]]:
    """Return the text in blocks, and the characters that were left out, by what they are."""
    builder = _BlockBuilder()
    left_out: Counter[str] = Counter()
    path: list[Element] = []
    kinds: list[Kind] = []
    stack = [root]
    # Without recursion, as files may be nested to any depth. Each element is on the stack twice,
    # for its beginning and its end.
    while stack:
        element = stack.pop()
        if not path or element is not path[-1]:
            path.append(element)
            kinds.append(rules.kind(path))
            stack.append(element)
            if kinds[-1] == "skipped":
                if name := rules.left_out(path):
                    left_out[name] += count_characters("".join(element.itertext()))
            else:
                builder.begin(kinds[-1])
                if title := rules.title(path):
                    builder.entitle(title, rules.level(path))
                builder.mark(rules.mark(path))
                builder.data(element.text)
                stack += reversed(element)
        else:
            if (ended_kind := kinds.pop()) != "skipped":
                builder.end(ended_kind, rules.level(path) if ended_kind == "heading" else 0)
            elif mark := rules.mark(path):
                builder.mark(mark)
            path.pop()
            builder.data(element.tail if path else None)
    builder.close()
    return tuple(builder.blocks), +left_out


@dataclass(slots=True)
class _BlockBuilder:
    """Makes blocks as elements begin and end."""

    blocks: list[Block] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)
    _text_around_note: list[str] = field(default_factory=list)
    """The text around a note, while the note is read."""
    _notes: list[Block] = field(default_factory=list)
    """The notes that the present block refers to."""
    _title: str = ""
    """The title of the section that begins with the next block, and its level."""
    _level: int = 0
    _count: int = 0
    _inside_notes: int = 0
    _inside_whole: int = 0

    def begin(self, kind: Kind) -> None:
        if kind == "note" and not self._inside_notes:
            self._text_around_note, self._text = self._text, []
        else:
            self._separate(kind)
        self._inside_notes += kind == "note"
        self._inside_whole += kind in _WHOLE_KINDS

    def end(self, kind: Kind, level: int = 0) -> None:
        self._inside_notes -= kind == "note"
        self._inside_whole -= kind in _WHOLE_KINDS
        if kind == "note" and not self._inside_notes:
            self._end_note()
        elif kind == "heading" and not self._inside_whole:
            self.flush(heading=True, level=level)
        else:
            self._separate(kind)

    def data(self, text: str | None) -> None:
        if text:
            self._text.append(join_source_lines(text).translate(_CONTROLS))

    def mark(self, mark: str) -> None:
        if mark:
            self._text.append(mark)

    def entitle(self, title: str, level: int) -> None:
        """Let the next block begin a section, unless it is a heading."""
        self._print_title()
        self._title, self._level = title, level

    def flush(self, *, heading: bool = False, level: int = 0) -> None:
        text = lines("".join(self._text))
        printed = without_marks(text).strip()
        # The mark of a page between two blocks belongs to the next one.
        self._text = [] if printed else [text.replace("\n", "")]
        if printed and heading:
            title = join_title(_NOTE_NUMBER.sub("", lines(printed)))
            self._print_title(title)
            self.blocks.append(Block(text, title, level))
        elif printed:
            self.blocks.append(Block(text, self._title, self._level))
            self._title, self._level = "", 0
        self.blocks += self._notes
        self._notes.clear()

    def close(self) -> None:
        self.flush()
        if marks := "".join(self._text):
            self.blocks.append(Block(marks))

    def _print_title(self, heading: str = "") -> None:
        """Make a block of the title of a section that begins with another section's heading."""
        if self._title and self._title.casefold() != heading.casefold():
            self.blocks.append(Block(self._title, self._title, self._level))
        self._title, self._level = "", 0

    def _separate(self, kind: Kind) -> None:
        if kind in _CHARACTERS:
            self._text.append(_CHARACTERS[kind])
        elif self._inside_whole and kind in _BLOCK_KINDS:
            self._text.append("\n")
        elif kind in _BLOCK_KINDS:
            self.flush()

    def _end_note(self) -> None:
        note = lines("".join(self._text))
        self._text = self._text_around_note
        if note:
            self._count += 1
            self._text.append(f"[{self._count}]")
            self._notes.append(Block(f"[{self._count}] {note}"))
