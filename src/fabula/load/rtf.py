"""Read RTF with striprtf, after headings, notes and line breaks have been marked."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator

from fabula.errors import LoadError
from fabula.load.blocks import Block, Draft
from fabula.load.clean import lines, one_line
from fabula.load.headings import confirm, join_title, stated_title
from fabula.load.paratext import remove_library_text
from fabula.load.stanzas import EMPTY, join_stanzas

_HEADING, _NOTE, _NOTE_END = "\ufdd0", "\ufdd1", "\ufdd2"
"""Non-characters, which no text has, as marks for what striprtf would drop."""
_REPLACED = {"line": "\u2028", "cell": " ", "nestcell": " ", "fldinst": "\\fldinst "}
"""With the space, striprtf takes no field for a link. It would write the address into the text, and
take minutes to find the ends of broken ones."""
_TOKEN = re.compile(
    r"(?:\\\*)?\\(?P<word>line|cell|nestcell|fldinst|footnote|outlinelevel[012])(?![a-z\d]) ?"
    r"|(?P<contents>\{\\field(?=[^{}]*\{\\\*\\fldinst\b[^}]{0,300}?\bTOC\b))"
    r"|\\[^a-z]|[{}]",
    re.IGNORECASE,
)
"""What is marked, and all braces, as they show where a note ends."""
_CODEPAGE = re.compile(rb"\\ansicpg(\d{1,5})")
_FIELD = re.compile(r"\{\\(title|author)\b ?((?:[^{}\\]|\\[^{}])*)\}")
_NOTE_MARKED = re.compile(f"{_NOTE}([^{_NOTE}{_NOTE_END}]*){_NOTE_END}")
_HEAD_CHARACTERS = 20_000
"""The beginning of a file, which has its metadata."""


def read(data: bytes, source: str, limit: int = 0) -> Draft:
    """Read an RTF file. Raises LoadError if it is not one."""
    if not data.lstrip().startswith(b"{\\rtf"):
        raise LoadError(f"{source} is not an RTF file: those begin with {{\\rtf.")
    encoding = _encoding(data)
    text = data.decode(encoding, "replace")
    metadata = {
        name: one_line(_plain(f"{{{value}}}", encoding))
        for name, value in _FIELD.findall(text[:_HEAD_CHARACTERS])
    }
    plain = _plain(_insert_marks(text), encoding)
    left_out: Counter[str] = Counter()
    blocks = join_stanzas(remove_library_text([*_blocks(plain)], left_out))
    title = metadata.get("title") or stated_title(blocks)
    return Draft(confirm(blocks, title), title, metadata.get("author", ""), left_out=left_out)


def _encoding(data: bytes) -> str:
    match = _CODEPAGE.search(data[:_HEAD_CHARACTERS])
    name = f"cp{match[1].decode()}" if match else "cp1252"
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"


def _plain(text: str, encoding: str) -> str:
    from striprtf.striprtf import rtf_to_text

    plain: str = rtf_to_text(text, encoding, errors="replace")  # type: ignore[no-untyped-call]
    # RTF writes characters beyond U+FFFF as surrogate pairs.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _insert_marks(text: str) -> str:
    """The file with marks for headings and notes, and without tables of contents."""
    pieces: list[str] = []
    depth = copied = 0
    notes: list[int] = []
    for token in _TOKEN.finditer(text):
        pieces.append(text[copied : token.start()])
        copied = token.end()
        output = token[0]
        if word := token["word"]:
            output = _REPLACED.get(word.lower()) or output + _HEADING
            if word.lower() == "footnote":
                output = _NOTE
                notes.append(depth)
        elif token["contents"]:
            depth += 1
            output = r"{\*\field"
        elif output == "{":
            depth += 1
        elif output == "}":
            if notes and notes[-1] == depth:
                notes.pop()
                output = _NOTE_END + output
            depth -= 1
        pieces.append(output)
    return "".join([*pieces, text[copied:]])


def _blocks(text: str) -> Iterator[Block]:
    """One block for each paragraph; notes follow the paragraph that refers to them."""
    notes: list[str] = []

    def number(note: re.Match[str]) -> str:
        notes.append(lines(note[1]))
        return f"{_NOTE}{len(notes)}{_NOTE_END}" if notes[-1] else ""

    for paragraph in _NOTE_MARKED.sub(number, text).split("\n"):
        numbers = [int(note[1]) for note in _NOTE_MARKED.finditer(paragraph)]
        body = lines(_NOTE_MARKED.sub(r"[\1]", paragraph).replace(_HEADING, ""))
        if not body:
            yield Block(EMPTY)
        else:
            title = join_title(lines(_NOTE_MARKED.sub("", paragraph).replace(_HEADING, "")))
            yield Block(body, title if _HEADING in paragraph else "")
        yield from (Block(f"[{n}] {notes[n - 1]}") for n in numbers)
