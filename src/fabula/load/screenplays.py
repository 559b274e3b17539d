"""Read screenplays in Fountain and Final Draft: scenes are sections, and each speech has a speaker.

Both are read as a series of elements, a kind and a text, as Final Draft has them. What its author
has cut or noted is left out: boneyards, notes and synopses of Fountain, notes of Final Draft.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from string import capwords
from typing import TYPE_CHECKING

from fabula.load.blocks import Block, Draft
from fabula.load.clean import one_line, tidy
from fabula.load.encoding import decode_text
from fabula.load.left_out import count_characters
from fabula.load.locators import SPEAKER_MARK
from fabula.load.markup import elements, local_name
from fabula.load.wrap import rejoin

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Part = tuple[str, str]
"""The kind of an element, as Final Draft names it, and its text."""

_TITLE_PAGE = re.compile(r"\s*((?:[A-Za-z][A-Za-z ]{1,30}:[^\n]*\n(?:(?:[ ]{3,}|\t)[^\n]*\n)*)+)\n")
_TITLE_FIELD = re.compile(r"([A-Za-z][A-Za-z ]{1,30}):([^\n]*\n(?:(?:[ ]{3,}|\t)[^\n]*\n)*)")
_TITLE_NAMES = frozenset(
    ("title", "credit", "author", "authors", "source", "draft date", "contact", "copyright")
)
_BONEYARD = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_NOTE = re.compile(r"\[\[(?:[^\[\]\n]|\[(?!\[)|\](?!\])|\n(?!\n))*\]\]")
_SYNOPSIS = re.compile(r"^=(?!==)[^\n]*$", re.MULTILINE)
_PAGE_BREAK = re.compile(r"^={3,}[ \t]*$", re.MULTILINE)
_SCENE = re.compile(r"(?:INT|EXT|EST|INT\.?/EXT|EXT\.?/INT|I/E)[. ]\s*\S.*", re.IGNORECASE)
_SCENE_NUMBER = re.compile(r"\s*#[\w.\-]{1,12}#\s*$")
_SECTION = re.compile(r"(#{1,6})[ \t]*(\S.*)")
_EXTENSION = re.compile(r"\s*\([^()]{1,60}\)")
_TRANSITION = re.compile(r"[^a-z]+ TO:|(?:FADE (?:IN|OUT|TO BLACK)|CUT TO BLACK)[.:]")
_EMPHASIS = re.compile(r"(?<!\\)(\*{1,3}|_)(?=\S)([^*_\n]{1,500}?)(?<=[^\s\\])\1")
_ESCAPED = re.compile(r"\\([*_~@!.#>=\[\]\\])")
_MIN_SCENES, _MIN_CUES = 2, 3
"""The fewest headings of scenes, and names above speeches, by which a text is a screenplay."""
_CUT_ELEMENTS = {"OmittedScene": "cut passages", "ScriptNote": "notes", "Summary": "synopses"}
"""The elements of Final Draft within paragraphs that are no text of the script."""
_SPOKEN = ("Dialogue", "Parenthetical", "Lyrics")
_SECTION_KINDS = ("New Act", "Outline 1", "Outline 2", "Outline 3")


def read(data: bytes, source: str, limit: int = 0) -> Draft:
    """Read a file in Fountain. Raises LoadError if it is not text."""
    decoded = decode_text(data, source)
    return replace(draft_fountain(tidy(decoded.text)), warnings=decoded.warnings)


def is_screenplay(text: str) -> bool:
    """Return whether a tidied text is a screenplay, whatever its file is called."""
    scenes = cues = 0
    for paragraph in text.split("\n\n"):
        lines = [line.strip() for line in paragraph.strip().split("\n")]
        scenes += _SCENE.fullmatch(lines[0]) is not None and lines[0].upper() == lines[0]
        cues += len(lines) > 1 and _is_cue(lines[0])
    return scenes >= _MIN_SCENES and cues >= _MIN_CUES


def draft_fountain(text: str) -> Draft:
    """Return the draft of a tidied text in Fountain."""
    left_out: Counter[str] = Counter()

    def leave_out(kind: str, pattern: re.Pattern[str]) -> None:
        nonlocal text
        left_out[kind] += sum(count_characters(match[0]) for match in pattern.finditer(text))
        text = pattern.sub("", text)

    leave_out("cut passages", _BONEYARD)
    leave_out("notes", _NOTE)
    fields: dict[str, str] = {}
    if page := _TITLE_PAGE.match(f"{text}\n\n"):
        values = {
            field[1].casefold(): [line for line in map(_plain, field[2].split("\n")) if line]
            for field in _TITLE_FIELD.finditer(page[1])
        }
        if not _TITLE_NAMES.isdisjoint(values):
            fields = {name: one_line(" ".join(lines)) for name, lines in values.items()}
            # Below the title there may be a subtitle.
            fields["title"] = one_line("".join(values.get("title", [])[:1]))
            left_out["front matter"] += count_characters(page[0])
            text = text[page.end() :]
    leave_out("synopses", _SYNOPSIS)
    text = _PAGE_BREAK.sub("", text)
    parts: list[Part] = []
    for paragraph in re.split(r"\n(?:[ ]?\n)+", text):
        parts += _read_paragraph(paragraph, left_out)
    return Draft(
        blocks=tuple(_blocks(parts)),
        title=_without_capitals(fields.get("title", "")),
        author=fields.get("author", "") or fields.get("authors", ""),
        edition=fields.get("draft date", ""),
        left_out=+left_out,
    )


def draft_final_draft(root: Element) -> Draft:
    """Return the draft of a screenplay from the root element of a file of Final Draft."""
    parts: list[Part] = []
    left_out: Counter[str] = Counter()
    for paragraph in _paragraphs(root):
        kind = paragraph.get("Type") or "Action"
        for name, what in _CUT_ELEMENTS.items():
            left_out[what] += sum(
                count_characters("".join(note.itertext())) for note in elements(paragraph, name)
            )
        text = "".join(
            piece.text or "" for piece in paragraph if local_name(piece) == "Text"
        ).strip()
        if paragraph.get("Number"):
            left_out["scene numbers"] += count_characters(paragraph.get("Number", ""))
        if text:
            parts.append((kind, one_line(text)))
    title_lines = _title_lines(root)
    left_out["front matter"] += sum(map(count_characters, title_lines))
    by = next((at for at, line in enumerate(title_lines) if _is_credit(line)), -1)
    return Draft(
        blocks=tuple(_blocks(parts)),
        title=_without_capitals(title_lines[0]) if title_lines else "",
        author=title_lines[by + 1] if 0 <= by < len(title_lines) - 1 else "",
        left_out=+left_out,
    )


def _paragraphs(root: Element) -> Iterator[Element]:
    """The paragraphs of the script itself, two columns of dialogue one after the other."""
    for content in (child for child in root if local_name(child) == "Content"):
        for paragraph in (child for child in content if local_name(child) == "Paragraph"):
            columns = [each for each in paragraph if local_name(each) == "DualDialogue"]
            yield from (each for column in columns for each in column) if columns else [paragraph]


def _without_capitals(title: str) -> str:
    """A title as catalogues have it: title pages of screenplays print it in capitals."""
    return capwords(title) if title.isupper() else title


def _title_lines(root: Element) -> list[str]:
    lines = [
        one_line("".join(piece.text or "" for piece in elements(paragraph, "Text")))
        for page in elements(root, "TitlePage")
        for paragraph in elements(page, "Paragraph")
    ]
    return [line for line in lines if line]


def _is_credit(line: str) -> bool:
    return re.fullmatch(r"(?:screenplay|story|teleplay|written)? ?by", line, re.I) is not None


def _read_paragraph(paragraph: str, left_out: Counter[str]) -> Iterator[Part]:
    """The elements of a run of lines of Fountain without a blank one."""
    lines = [line for line in map(str.strip, paragraph.split("\n")) if line]
    while lines and (section := _SECTION.fullmatch(lines[0])):
        yield f"Outline {len(section[1])}", _plain(section[2])
        lines = lines[1:]
    if not lines:
        return
    first = lines[0]
    is_forced = first.startswith(".") and first[1:2].isalnum()
    if is_forced or _SCENE.fullmatch(first):
        if number := _SCENE_NUMBER.search(first):
            left_out["scene numbers"] += count_characters(number[0])
        yield "Scene Heading", _plain(_SCENE_NUMBER.sub("", first.removeprefix(".")))
        lines = lines[1:]
    elif len(lines) > 1 and _is_cue(first):
        yield "Character", _plain(first.removeprefix("@").removesuffix("^"))
        for line in lines[1:]:
            kind = "Parenthetical" if re.fullmatch(r"\(.*\)", line) else "Dialogue"
            yield kind, _plain(line.removeprefix("~"))
        return
    yield from (("Action", text) for text in rejoin(["\n".join(map(_unforced, lines))]) if text)


def _unforced(line: str) -> str:
    """A line of action, a lyric or a transition without the marks that say what it is."""
    if line.startswith(">"):
        line = line[1:].removesuffix("<").strip()
    return _plain(line[1:] if line[:1] in ("!", "~") else line)


def _is_cue(line: str) -> bool:
    """Whether a line above others is the name of who speaks."""
    if line.startswith("@"):
        return len(line) > 1
    if line[:1] in "!>.#=~" or _SCENE.fullmatch(line) or _TRANSITION.fullmatch(line):
        return False
    name = _EXTENSION.sub("", line.removesuffix("^")).strip()
    return name.isupper() and len(name) <= 50 and name[-1:] not in ".?!:,"


def _plain(text: str) -> str:
    """A text without the marks of emphasis."""
    before = ""
    while before != text:
        before, text = text, _EMPHASIS.sub(r"\2", text)
    return _ESCAPED.sub(r"\1", text).strip()


def _blocks(parts: Iterable[Part]) -> Iterator[Block]:
    """One block for each speech, heading and paragraph."""
    above = 0
    speech: list[str] = []
    for kind, text in [*parts, ("", "")]:
        if speech and kind in _SPOKEN:
            speech.append(text)
            continue
        if speech:
            yield Block(f"{SPEAKER_MARK}{chr(10).join(speech)}")
            speech = []
        if kind == "Character":
            speech = [text]
        elif kind.startswith("Outline") or kind in _SECTION_KINDS:
            above = int(kind[-1]) if kind[-1].isdigit() else 1
            yield Block(text, text, above)
        elif kind == "Scene Heading":
            yield Block(text, text, above + 1)
        elif text:
            yield Block(text)
