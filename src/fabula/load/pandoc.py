"""Read what pandoc and its relatives add to Markdown, and CommonMark would take for text.

Those are footnotes, attributes as `{.unnumbered}`, fenced divisions, line blocks of verse, and
lines of LaTeX that lay out pages. Most books that are written in Markdown have some of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fabula.load.chapters import is_chapter_line

_FENCE = re.compile(r" {0,3}(`{3,}+(?=[^`]*$)|~{3,})")
_DIVISION = re.compile(r" {0,3}:{3,}+(?:[ \t]*+[\w-]++)?(?:[ \t]*+\{[^{}]*+\})?(?:[ \t]*+:++)?")
_MAX_LAYOUT_CHARACTERS = 300
"""Longer lines are not looked at: the patterns take a time that grows with the square of theirs."""
_LAYOUT = (
    "newpage|pagebreak|clearpage|cleardoublepage|hfill|vfill|vspace|hspace|noindent|bigskip|medskip"
    "|smallskip|begin|end|centering|thispagestyle|pagestyle|frontmatter|mainmatter|backmatter"
    "|tableofcontents"
)
_ARGUMENT = r"(?:begin|end|vspace|hspace|pagestyle|thispagestyle)\b\*?\{[\w*.\- \\]{1,30}\}"
"""The commands with an argument that is no text."""
_LATEX = re.compile(rf"\s*(?:\\(?:{_ARGUMENT}|(?:{_LAYOUT})\b\*?)\s*)+")
_NOTE = re.compile(r" {0,3}\[\^([^\]\s]{1,100})\]:[ \t]*")
_CALL_OR_CODE = re.compile(
    r"(?<![`\\])(?P<ticks>`++).*?(?<!`)(?P=ticks)(?!`)|(?<!\\)\[\^(?P<label>[\w-]{1,100})\]"
)
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]")
_ATTRIBUTES = r"\{(?:[-.#][^{}\n]*|[\w-]+=[^{}\n]*)\}"
_IS_ATTRIBUTES = re.compile(_ATTRIBUTES)
_CROWDED_HEADING = re.compile(r" {0,3}(#{1,6})(?=[^\W_])(.{1,200})")
_NO_DEFINITION = re.compile(r" {0,3}\[(?!\^)[^\[\]\n]{1,100}\]:[ \t]*[^\s<>/.:#]+[.!?…]*[ \t]*")
"""What would be the definition of a link, but has a word instead of an address, as a speech."""
_HEADING = re.compile(r" {0,3}#{1,6} ")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_OF_LINK = re.compile(rf"(\]\([^()\n]*\)){_ATTRIBUTES}")
_SPAN = re.compile(rf"(?<!\\)\[([^\[\]\n]+)\]{_ATTRIBUTES}")
_VERSE = re.compile(r"\|(?: ([^|]*))?")


def to_commonmark(text: str) -> str:
    """Return a text in pandoc's Markdown without what CommonMark doesn't know.

    A note stays at its place, as `[1] ...`, and so does the number that calls it.
    """
    return "\n".join(_lines(text.split("\n")))


def _lines(lines: list[str]) -> Iterator[str]:
    fence = ""
    table, code = _find_table_lines(lines), _find_code_lines(lines)
    for index, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
            yield line
        elif mark:
            fence = mark[1]
            yield line
        elif _is_layout(line):
            yield ""
        elif index not in table and (verse := _VERSE.fullmatch(line)):
            # Two spaces at its end keep the line.
            yield f"{(verse[1] or '').strip()}  "
        elif index in code:
            yield line
        else:
            after = lines[index + 1] if index + 1 < len(lines) else ""
            yield from _without_attributes(line, after)


def _without_attributes(line: str, after: str) -> Iterator[str]:
    if note := _NOTE.match(line):
        # A note is a paragraph, though there may be no blank line above it.
        yield ""
        line = f"\\[{note[1]}\\] {line[note.end() :]}"
    if _NO_DEFINITION.fullmatch(line):
        line = line.replace("[", "\\[", 1)
    crowded = _CROWDED_HEADING.fullmatch(line)
    if crowded and (len(crowded[1]) > 1 or is_chapter_line(crowded[2].rstrip(" #"))):
        line = f"{crowded[1]} {crowded[2]}"
    line = _CALL_OR_CODE.sub(_escape_call, line)
    line = _SPAN.sub(r"\1", _OF_LINK.sub(r"\1", line))
    if _HEADING.match(line) or _UNDERLINE.fullmatch(after):
        bare = line.rstrip(" \t#")
        start = bare.rfind("{")
        if start > 0 and _IS_ATTRIBUTES.fullmatch(bare, start):
            line = line[:start].rstrip()
    yield line


def _escape_call(match: re.Match[str]) -> str:
    """The number that calls a note, in brackets; code as it is."""
    return f"\\[{match['label']}\\]" if match["label"] else match[0]


def _find_table_lines(lines: Sequence[str]) -> set[int]:
    """The numbers of the lines of tables, whose heads have a line as `|---` below them."""
    found: set[int] = set()
    for index, (line, after) in enumerate(zip(lines, [*lines[1:], ""], strict=True)):
        is_head = {"|", "-"} <= set(after) <= set("|-: \t")
        if line.strip() and (is_head or index - 1 in found):
            found.add(index)
    return found


def _find_code_lines(lines: Sequence[str]) -> set[int]:
    """The numbers of indented lines that are code, and not paragraphs of a list."""
    found: set[int] = set()
    in_list = is_code = False
    for index, (before, line) in enumerate(zip(["", *lines], lines, strict=False)):
        is_apart = not before.strip()
        if _ITEM.match(line):
            in_list = True
        elif is_apart and line.strip() and not line[0].isspace():
            in_list = False
        if line.strip():
            is_code = (is_apart or is_code) and not in_list and bool(_INDENTED.match(line))
        if is_code:
            found.add(index)
    return found


def _is_layout(line: str) -> bool:
    """Whether a line begins or ends a division, or has only LaTeX that lays out the page."""
    return 0 < len(line) <= _MAX_LAYOUT_CHARACTERS and bool(
        _DIVISION.fullmatch(line.rstrip(" \t")) or (line.strip() and _LATEX.fullmatch(line))
    )
