"""RTF: its text as striprtf reads it, with headings, notes and line breaks marked beforehand."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from fabula.errors import LoadError
from fabula.load.blocks import Block, Draft
from fabula.load.clean import lines, one_line
from fabula.load.headings import confirm, joined, stated_title
from fabula.load.paratext import without_library
from fabula.load.stanzas import EMPTY, join_stanzas

_HEADING, _NOTE, _NOTE_END = "\ufdd0", "\ufdd1", "\ufdd2"
"""Characters that are none, so that no text has them: they stand for what becomes no character."""
_REPLACED = {"line": "\u2028", "cell": " ", "nestcell": " ", "fldinst": "\\fldinst "}
"""With the space the library takes no field for a link: it would write the address into the text,
and take minutes to look for the ends of broken ones.
"""
_TOKEN = re.compile(
    r"(?:\\\*)?\\(?P<word>line|cell|nestcell|fldinst|footnote|outlinelevel[012])(?![a-z\d]) ?"
    r"|(?P<contents>\{\\field(?=[^{}]*\{\\\*\\fldinst\b[^}]{0,300}?\bTOC\b))"
    r"|\\[^a-z]|[{}]",
    re.IGNORECASE,
)
"""What is marked, and all braces, so that it is known where a note ends."""
_CODEPAGE = re.compile(rb"\\ansicpg(\d{1,5})")
_FACT = re.compile(r"\{\\(title|author)\b ?((?:[^{}\\]|\\[^{}])*)\}")
_NOTED = re.compile(f"{_NOTE}([^{_NOTE}{_NOTE_END}]*){_NOTE_END}")
_HEAD = 20_000
"""Characters in which the file tells of itself."""


def read(data: bytes, source: str) -> Draft:
    """An RTF file's content. LoadError, naming `source`, if it is none."""
    if not data.lstrip().startswith(b"{\\rtf"):
        raise LoadError(f"{source} is no RTF: an RTF file begins with {{\\rtf.")
    encoding = _encoding(data)
    text = data.decode(encoding, "replace")
    facts = {
        name: one_line(_plain(f"{{{value}}}", encoding))
        for name, value in _FACT.findall(text[:_HEAD])
    }
    found = join_stanzas(without_library([*_blocks(_plain(_marked(text), encoding))]))
    title = facts.get("title") or stated_title(found)
    return Draft(confirm(found, title), title, facts.get("author", ""))


def _encoding(data: bytes) -> str:
    found = _CODEPAGE.search(data[:_HEAD])
    name = f"cp{found[1].decode()}" if found else "cp1252"
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"


def _plain(text: str, encoding: str) -> str:
    from striprtf.striprtf import rtf_to_text

    plain: str = rtf_to_text(text, encoding, errors="replace")  # type: ignore[no-untyped-call]
    # Characters beyond U+FFFF are written as two halves.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _marked(text: str) -> str:
    """The file with marks where headings are and notes begin and end, and without contents."""
    pieces: list[str] = []
    depth = done = 0
    notes: list[int] = []
    for token in _TOKEN.finditer(text):
        pieces.append(text[done : token.start()])
        done = token.end()
        kept = token[0]
        if word := token["word"]:
            kept = _REPLACED.get(word.lower()) or kept + _HEADING
            if word.lower() == "footnote":
                kept = _NOTE
                notes.append(depth)
        elif token["contents"]:
            depth += 1
            kept = r"{\*\field"
        elif kept == "{":
            depth += 1
        elif kept == "}":
            if notes and notes[-1] == depth:
                notes.pop()
                kept = _NOTE_END + kept
            depth -= 1
        pieces.append(kept)
    return "".join([*pieces, text[done:]])


def _blocks(text: str) -> Iterator[Block]:
    """One block a paragraph; notes come after the paragraph that calls them."""
    notes: list[str] = []

    def number(note: re.Match[str]) -> str:
        notes.append(lines(note[1]))
        return f"{_NOTE}{len(notes)}{_NOTE_END}" if notes[-1] else ""

    for paragraph in _NOTED.sub(number, text).split("\n"):
        called = [int(note[1]) for note in _NOTED.finditer(paragraph)]
        said = lines(_NOTED.sub(r"[\1]", paragraph).replace(_HEADING, ""))
        if not said:
            yield Block(EMPTY)
        else:
            title = joined(lines(_NOTED.sub("", paragraph).replace(_HEADING, "")))
            yield Block(said, title if _HEADING in paragraph else "")
        yield from (Block(f"[{one}] {notes[one - 1]}") for one in called)
