"""Read what pandoc and its relatives add to Markdown, and CommonMark would take for text.

Those are footnotes, attributes as `{.unnumbered}`, fenced divisions, line blocks of verse, and
lines of LaTeX that lay out pages. Most books that are written in Markdown have some of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_DIVISION = re.compile(r" {0,3}:{3,}[ \t]*[\w-]*[ \t]*(?:\{[^{}]*\})?[ \t]*:*[ \t]*")
_MAX_LAYOUT_CHARACTERS = 300
"""Longer lines are not looked at: the patterns take a time that grows with the square of theirs."""
_LAYOUT = (
    "newpage|pagebreak|clearpage|cleardoublepage|hfill|vfill|vspace|hspace|noindent|bigskip|medskip"
    "|smallskip|begin|end|centering|thispagestyle|pagestyle|frontmatter|mainmatter|backmatter"
    "|tableofcontents"
)
_LATEX = re.compile(rf"\s*(?:\\(?:{_LAYOUT})\b\*?(?:\[[^\]]*\]|\{{[^{{}}]*\}})*\s*)+")
_NOTE = re.compile(r" {0,3}\[\^([^\]\s]{1,100})\]:[ \t]*")
_CALL = re.compile(r"(?<!\\)\[\^([^\]\s]{1,100})\]")
_ATTRIBUTES = r"\{(?:[-.#][^{}\n]*|[\w-]+=[^{}\n]*)\}"
_IS_ATTRIBUTES = re.compile(_ATTRIBUTES)
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
        elif verse := _VERSE.fullmatch(line):
            # Two spaces at its end keep the line.
            yield f"{(verse[1] or '').strip()}  "
        else:
            after = lines[index + 1] if index + 1 < len(lines) else ""
            yield from _without_attributes(line, after)


def _without_attributes(line: str, after: str) -> Iterator[str]:
    if note := _NOTE.match(line):
        # A note is a paragraph, though there may be no blank line above it.
        yield ""
        line = f"\\[{note[1]}\\] {line[note.end() :]}"
    line = _CALL.sub(r"\\[\1\\]", line)
    line = _SPAN.sub(r"\1", _OF_LINK.sub(r"\1", line))
    if _HEADING.match(line) or _UNDERLINE.fullmatch(after):
        bare = line.rstrip(" \t#")
        start = bare.rfind("{")
        if start > 0 and _IS_ATTRIBUTES.fullmatch(bare, start):
            line = line[:start].rstrip()
    yield line


def _is_layout(line: str) -> bool:
    """Whether a line begins or ends a division, or has only LaTeX that lays out the page."""
    return 0 < len(line) <= _MAX_LAYOUT_CHARACTERS and bool(
        _DIVISION.fullmatch(line) or (line.strip() and _LATEX.fullmatch(line))
    )
