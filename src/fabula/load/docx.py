"""Read DOCX: Word's headings, paragraphs, notes and text boxes, by a walk over its XML."""

from __future__ import annotations

import io
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from functools import partial
from xml.etree.ElementTree import Element

from fabula.errors import LoadError
from fabula.load import html, rtf, text
from fabula.load.archive import Archive
from fabula.load.blocks import Block, Draft
from fabula.load.clean import lines, one_line
from fabula.load.headings import confirm, join_title, stated_title
from fabula.load.left_out import count_characters
from fabula.load.locators import without_marks
from fabula.load.markup import attribute, elements, local_name, metadata
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

_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
"""The beginning of files of Word before 2007, and of documents with a password."""
_METADATA_FILE = "docProps/core.xml"
_MAX_INSERTED = 3
"""How deep documents may be inserted into documents (altChunk)."""
_PART = re.compile(
    r"(?:part|book|(?P<chapter>chapter|kapitel|chapitre|cap[íi]tulo|capitolo|rozdział|глава))"
    r"(?:[ _-]*(?:heading|name|number|titles?|titel|überschrift))?",
    re.IGNORECASE,
)
"""The names of styles that writers make for the headings of parts and chapters."""
_TITLES = frozenset(("title", "titel", "book title"))
_CONTENTS = re.compile(
    r"(?:toc|contents|index)(?: heading|\s*\d)|table of (?:figures|authorities)|toa heading"
    r"|(?:verzeichnis|tm)\s*\d",
    re.IGNORECASE,
)
"""The names of the styles of tables of contents and their lines."""
_OFF = ("0", "false", "off", "none")
_SKIPPED = {
    "del": "deleted text",
    "moveFrom": "deleted text",
    "rt": "readings",
    "rPr": "",
    "pPr": "",
    "sdtPr": "",
    "sectPr": "",
    "tblPr": "",
    "trPr": "",
    "tcPr": "",
    "rubyPr": "",
    "delText": "deleted text",
    "delInstrText": "",
}
"""The elements that are no text, and what their text is counted as, if they have any."""
_CHARACTERS = {"tab": " ", "ptab": " ", "cr": "\n", "noBreakHyphen": "‑"}
_ROMAN = dict(
    zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ["M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"],
        strict=True,
    )
)


def read(data: bytes, source: str, limit: int) -> Draft:
    """Read a DOCX file.

    Raises:
        LoadError: It is broken, protected, or would unpack to more than `limit` bytes.
    """
    return _read(data, source, limit, 0)


def _read(data: bytes, source: str, limit: int, depth: int) -> Draft:
    if data.startswith(_OLD_OFFICE):
        raise LoadError(
            f"{source} is protected by a password, or an old Word document: save a copy as .docx "
            "without a password."
        )
    archive = Archive(io.BytesIO(data), source, limit, "DOCX")
    archive.check()
    package = _Package(archive, limit, depth)
    walk = package.walk()
    blocks = join_stanzas(remove_library_text(walk.blocks, package.left_out))
    core = package.optional(_METADATA_FILE)
    title = "" if core is None else real_title(metadata(core, "title"))
    title = title or walk.title or stated_title(blocks)
    author = "" if core is None else metadata(core, "creator")
    return Draft(
        blocks=confirm(blocks, title),
        title=title,
        author=", ".join(filter(None, map(real_author, author.split(";")))),
        language="" if core is None else metadata(core, "language"),
        left_out=+package.left_out,
        warnings=tuple(package.warnings),
    )


@dataclass(frozen=True, slots=True)
class _Style:
    """What a style says of its paragraphs or runs; None where it says nothing."""

    name: str = ""
    based_on: str = ""
    outline: int | None = None
    hidden: bool | None = None
    numbering: tuple[str, int] | None = None


class _Package:
    """The parts of a DOCX file, and what is left out of them."""

    def __init__(self, archive: Archive, limit: int, depth: int) -> None:
        self.archive = archive
        self.limit = limit
        self.depth = depth
        self.left_out: Counter[str] = Counter()
        self.warnings: list[str] = []
        main = next(self._targets("_rels/.rels", "", "officeDocument"), "word/document.xml")
        self._main = main if main in archive.sizes else "word/document.xml"
        folder, name = posixpath.split(self._main)
        self._relations = posixpath.join(folder, "_rels", f"{name}.rels")
        self.styles = self._read_styles()
        self._chains: dict[str, list[_Style]] = {}
        self.numbering = _Numbering(self.part("numbering"))
        self._notes = {
            f"{kind}Reference": {
                attribute(note, "id"): note
                for part in [self.part(f"{kind}s")]
                if part is not None
                for note in elements(part, kind)
                if not attribute(note, "type").lower().endswith("separator")
            }
            for kind in ("footnote", "endnote")
        }
        self.numbers: dict[tuple[str, str], int] = {}
        """The numbers of the notes that have been called, by kind and id."""

    def walk(self) -> _Walk:
        """Read the document, and count what is in its other parts."""
        root = self.archive.tree(self._main)
        walk = _Walk(self)
        counted = Counter(self.left_out)
        walk.read(root)
        if walk.is_inside_contents:
            # A field that never ends would hide the rest of the book.
            self.left_out = counted
            self.numbers.clear()
            self.numbering.restart()
            walk = _Walk(self, has_hidden_fields=False)
            walk.read(root)
        for kind, label in (
            ("header", "running heads"),
            ("footer", "running heads"),
            ("comments", "comments"),
            ("diagramData", "pictures"),
            ("chart", "pictures"),
        ):
            for name in self._targets(self._relations, posixpath.dirname(self._main), kind):
                if (part := self.optional(name)) is not None:
                    self.count(label, part)
        for kind, notes in self._notes.items():
            for note_id, note in notes.items():
                if (kind, note_id) not in self.numbers:
                    self.count("notes that nothing refers to", note)
        return walk

    def part(self, kind: str) -> Element | None:
        """The root of a part that the document refers to; None if there is none."""
        targets = self._targets(self._relations, posixpath.dirname(self._main), kind)
        return next((tree for tree in map(self.optional, targets) if tree is not None), None)

    def optional(self, name: str) -> Element | None:
        """The root of a part without which a document can be read; None if it is damaged."""
        if name not in self.archive.sizes:
            return None
        try:
            return self.archive.tree(name)
        except LoadError as error:
            self.warnings.append(str(error))
            return None

    def count(self, kind: str, element: Element) -> None:
        """Count the characters of an element that is left out."""
        if kind:
            texts = (
                part.text or ""
                for part in element.iter()
                if local_name(part) in ("t", "delText", "v")
            )
            self.left_out[kind] += count_characters("".join(texts))

    def note(self, kind: str, note_id: str) -> tuple[int, str]:
        """The number of a note, and its text where it is called first; 0 if there is no note."""
        note = self._notes[kind].get(note_id)
        if note is None:
            return 0, ""
        if known := self.numbers.get((kind, note_id)):
            return known, ""
        # Its number is taken before it is read: notes may not call themselves.
        number = self.numbers[kind, note_id] = len(self.numbers) + 1
        walk = _Walk(self)
        walk.read(note)
        return number, lines("\n".join(b.text.replace(EMPTY, "") for b in walk.blocks))

    def insertion(self, relation_id: str) -> list[Block]:
        """The blocks of a document that is inserted into this one."""
        relations = self.optional(self._relations)
        target = next(
            (
                relation.get("Target", "")
                for relation in (() if relations is None else elements(relations, "Relationship"))
                if relation.get("Id") == relation_id
            ),
            "",
        )
        name = _resolve(posixpath.dirname(self._main), target)
        if name not in self.archive.sizes:
            self.warnings.append(f"{self.archive.source} inserts a document that is not in it.")
            return []
        try:
            draft = self._read_inserted(self.archive.read(name), name)
        except LoadError as error:
            self.left_out["inserted documents"] += self.archive.sizes[name]
            self.warnings.append(f"A document inserted into {error}")
            return []
        self.left_out += Counter(draft.left_out)
        self.warnings += draft.warnings
        return list(draft.blocks)

    def _read_inserted(self, data: bytes, name: str) -> Draft:
        source = f"{self.archive.source}/{name}"
        head = data[:1024].lstrip()
        if head.startswith(b"PK"):
            if self.depth >= _MAX_INSERTED:
                raise LoadError(f"{source} is inserted too deep.")
            return _read(data, source, self.limit, self.depth + 1)
        if head.startswith(b"{\\rtf"):
            return rtf.read(data, source)
        if re.match(rb"(?:[\w-]+:[^\n]*\s+)*MIME-Version:", head, re.IGNORECASE):
            body = message_from_bytes(data, policy=policy.default).get_body(("html", "plain"))
            if body is None:
                raise LoadError(f"{source} has no text that Fabula knows.")
            content = body.get_content()
            plain = text.plain if body.get_content_subtype() == "plain" else None
            return plain(content) if plain else html.read(content.encode(), source)
        if head.startswith(b"<") or b"<html" in head.lower():
            return html.read(data, source)
        return text.read(data, source)

    def chain(self, style_id: str) -> list[_Style]:
        """A style, and those that it is based on."""
        if style_id not in self._chains:
            chain: list[_Style] = []
            current = style_id
            while (style := self.styles.get(current)) and len(chain) < MAX_STYLE_CHAIN:
                chain.append(style)
                current = style.based_on
            self._chains[style_id] = chain
        return self._chains[style_id]

    def _targets(self, relations: str, folder: str, kind: str) -> Iterator[str]:
        """The names of the parts that a part refers to as of this kind."""
        tree = self.optional(relations)
        for relation in () if tree is None else elements(tree, "Relationship"):
            if relation.get("Type", "").rpartition("/")[2] == kind:
                yield _resolve(folder, relation.get("Target", ""))

    def _read_styles(self) -> dict[str, _Style]:
        styles = self.part("styles")
        return {
            attribute(style, "styleId"): _Style(
                name=_value(style, "name"),
                based_on=_value(style, "basedOn"),
                outline=_number(style.find("{*}pPr/{*}outlineLvl")),
                hidden=_switch(style.find("{*}rPr/{*}vanish")),
                numbering=_list_level(style.find("{*}pPr/{*}numPr")),
            )
            for style in (() if styles is None else elements(styles, "style"))
        }


@dataclass(slots=True)
class _Paragraph:
    """A paragraph that is being read."""

    style: str = ""
    level: int = 0
    is_title: bool = False
    is_contents: bool = False
    list_id: str = ""
    is_hidden: bool = False
    goes_on: bool = False
    """Whether the next paragraph is a part of it, as after a dropped initial."""
    pieces: list[str] = field(default_factory=list)
    after: list[Block] = field(default_factory=list)
    """What follows the paragraph: its notes, and the text boxes anchored in it."""
    run_hidden: bool = False
    run_raised: bool = False
    raised: str = ""
    """Raised text whose end has not been read yet."""


@dataclass(slots=True)
class _Field:
    """A field whose end has not been read yet."""

    instruction: str = ""
    has_result: bool = False
    hidden_as: str = ""


class _Walk:
    """Makes blocks from the paragraphs below an element."""

    def __init__(self, package: _Package, *, has_hidden_fields: bool = True) -> None:
        self.blocks: list[Block] = []
        self.title = ""
        self._package = package
        self._has_hidden_fields = has_hidden_fields
        self._open: list[_Paragraph] = []
        self._fields: list[_Field] = []
        self._carried: defaultdict[int, str] = defaultdict(str)
        """The beginnings of the next paragraphs, by the number of those around them."""
        self._hidden: Counter[str] = Counter()
        self._list_id = ""
        self._with_text: set[Element] = set()
        self._handlers: dict[str, Callable[[Element], Iterable[Element]]] = {
            "p": self._begin_paragraph,
            "r": self._begin_run,
            "AlternateContent": self._alternative,
            "br": self._break,
            "sym": self._symbol,
            "fldChar": self._field_character,
            "fldSimple": self._simple_field,
            "end-of-field": self._end_of_field,
            "instrText": self._instruction,
            "footnoteReference": self._note,
            "endnoteReference": self._note,
            "bookmarkStart": self._bookmark,
            "altChunk": self._insert,
            "textpath": self._lettering,
            "sdt": self._read_structured,
            "f": self._fraction,
            "den": partial(self._operand, "/"),
            "sup": partial(self._operand, "^"),
        }

    @property
    def is_inside_contents(self) -> bool:
        """Whether a table of contents has begun that did not end."""
        return any(field.hidden_as == "contents" for field in self._fields)

    def read(self, root: Element) -> None:
        """Read an element, without recursion, as files may be nested to any depth."""
        self._with_text = _elements_with_text(root)
        stack: list[tuple[Element, bool]] = [(root, False)]
        while stack:
            element, is_end = stack.pop()
            if is_end:
                self._end(element)
                continue
            if children := list(self._begin(element)):
                stack.append((element, True))
                stack += ((child, False) for child in reversed(children))
        for depth in sorted(self._carried):
            if rest := lines(self._carried[depth]):
                self.blocks.append(Block(rest))
        self._package.left_out += self._hidden

    def _begin(self, element: Element) -> Iterable[Element]:
        """Begin an element, and return the children to be read; none if it has no end to see."""
        name = local_name(element)
        if name == "t":
            self._text(element.text or "")
        elif name in _CHARACTERS:
            self._text(_CHARACTERS[name])
        elif name in _SKIPPED:
            self._package.count(_SKIPPED[name], element)
        elif name in self._handlers:
            return self._handlers[name](element)
        else:
            return element
        return ()

    def _end(self, element: Element) -> None:
        if local_name(element) == "p":
            self._end_paragraph()
        elif local_name(element) == "r" and self._open:
            self._open[-1].run_hidden = self._open[-1].is_hidden

    def _fraction(self, element: Element) -> Iterable[Element]:
        """Keep the whole number of a mixed one, as 3 1/2, apart from its fraction."""
        pieces = self._open[-1].pieces if self._open else []
        if "/math}" in element.tag and pieces and pieces[-1][-1:].isdigit():
            self._text(" ")
        return element

    def _operand(self, sign: str, element: Element) -> Iterable[Element]:
        """Write before a part of a formula what is drawn by its place."""
        # The limits of a sum that has none are there and empty.
        if any(local_name(child) != "ctrlPr" for child in element):
            self._text(sign)
        return element

    def _begin_paragraph(self, element: Element) -> Iterable[Element]:
        properties = element.find("{*}pPr")
        paragraph = _Paragraph()
        if properties is not None:
            self._apply(paragraph, properties)
        paragraph.run_hidden = paragraph.is_hidden
        paragraph.pieces.append(self._carried.pop(len(self._open), ""))
        self._open.append(paragraph)
        # A paragraph needs an end, even if it has nothing in it.
        return [*element] or [Element("nothing")]

    def _apply(self, paragraph: _Paragraph, properties: Element) -> None:
        package = self._package
        chain = package.chain(_value(properties, "pStyle"))
        names = [style.name.casefold() for style in chain]
        outlines = [_number(properties.find("{*}outlineLvl")), *(s.outline for s in chain)]
        outline = next((level for level in outlines if level is not None), None)
        paragraph.is_title = not _TITLES.isdisjoint(names)
        paragraph.is_contents = any(map(_CONTENTS.fullmatch, names))
        paragraph.level = _level(names) if outline is None else outline + 1
        if paragraph.level > MAX_SECTION_LEVEL:
            paragraph.level = 0
        paragraph.is_hidden = next((s.hidden for s in chain if s.hidden is not None), False)
        numberings = [_list_level(properties.find("{*}numPr")), *(s.numbering for s in chain)]
        numbering = next((n for n in numberings if n is not None), None)
        if numbering is not None and numbering[0] != "0":
            if not paragraph.level and not paragraph.is_title:
                paragraph.list_id = numbering[0]
            paragraph.pieces.append(package.numbering.label(*numbering))
        frame = properties.find("{*}framePr")
        mark = properties.find("{*}rPr")
        paragraph.goes_on = (
            frame is not None and attribute(frame, "dropCap") in ("drop", "margin")
        ) or (
            mark is not None
            and any(mark.find(f"{{*}}{name}") is not None for name in ("del", "moveFrom"))
        )

    def _end_paragraph(self) -> None:
        self._end_raised()
        paragraph = self._open.pop()
        body = lines("".join(paragraph.pieces))
        if paragraph.goes_on:
            self._carried[len(self._open)] = "".join(paragraph.pieces)
            body = ""
        if paragraph.is_contents:
            self._hidden["contents"] += len(one_line(body))
            body = ""
        output = paragraph.after
        list_id = paragraph.list_id if body else ""
        target = self._open[-1].after if self._open else self.blocks
        if list_id and list_id == self._list_id and not self._open:
            target[-1] = Block(f"{target[-1].text}\n{body}")
        elif body:
            output = [self._block(paragraph, body), *output]
        elif not paragraph.goes_on and not paragraph.is_contents:
            output = [Block(EMPTY), *output]
        target += output
        if not self._open:
            self._list_id = "" if paragraph.after else list_id

    def _block(self, paragraph: _Paragraph, body: str) -> Block:
        if not paragraph.level and not paragraph.is_title:
            return Block(body)
        heading = join_title(NOTE_NUMBER.sub("", without_marks(body)))
        if paragraph.is_title:
            self.title = self.title or heading
            return Block(body, heading)
        return Block(body, heading, paragraph.level)

    def _begin_run(self, element: Element) -> Iterable[Element]:
        if not self._open:
            return element
        paragraph = self._open[-1]
        properties = element.find("{*}rPr")
        is_raised = False
        if properties is not None:
            hidden = [_switch(properties.find("{*}vanish"))]
            hidden += [s.hidden for s in self._package.chain(_value(properties, "rStyle"))]
            chosen = next((value for value in hidden if value is not None), None)
            paragraph.run_hidden = paragraph.is_hidden if chosen is None else chosen
            is_raised = _value(properties, "vertAlign") == "superscript"
        if not is_raised:
            self._end_raised()
        paragraph.run_raised = is_raised
        return [*element] or [Element("nothing")]

    def _text(self, value: str) -> None:
        if hidden_as := next((f.hidden_as for f in self._fields if f.hidden_as), ""):
            self._hidden[hidden_as] += len(value)
        elif not self._open:
            self.blocks += [Block(block) for block in [lines(value)] if block]
        elif self._open[-1].run_hidden:
            self._hidden["hidden text"] += len(value)
        elif self._open[-1].run_raised:
            self._open[-1].raised += value
        else:
            self._end_raised()
            self._open[-1].pieces.append(value)

    def _end_raised(self) -> None:
        if self._open and self._open[-1].raised:
            paragraph = self._open[-1]
            before = "".join(paragraph.pieces[-3:])[-CONTEXT_CHARACTERS:]
            paragraph.pieces.append(mark_raised(paragraph.raised, before))
            paragraph.raised = ""

    def _mark(self, mark: str) -> None:
        if self._open:
            self._end_raised()
            self._open[-1].pieces.append(mark)
        else:
            self._carried[0] += mark

    def _alternative(self, element: Element) -> Iterable[Element]:
        """The first of several forms of the same content that has text."""
        forms = [
            form for name in ("Choice", "Fallback") for form in element if local_name(form) == name
        ]
        return next(([form] for form in forms if form in self._with_text), forms[:1])

    def _break(self, element: Element) -> Iterable[Element]:
        self._text(" " if attribute(element, "type") in ("page", "column") else "\n")
        return ()

    def _symbol(self, element: Element) -> Iterable[Element]:
        """A character of a font whose places are not those of Unicode, or of any other."""
        try:
            code = int(attribute(element, "char"), 16)
        except ValueError:
            return ()
        if 0xF000 <= code <= 0xF0FF:
            is_greek = attribute(element, "font").casefold() == "symbol"
            self._text(SYMBOL_LETTERS.get(code - 0xF000, "") if is_greek else "")
        elif 0x20 <= code <= 0x10FFFF:
            self._text(chr(code))
        return ()

    def _bookmark(self, element: Element) -> Iterable[Element]:
        if mark := bookmark_mark(attribute(element, "name")):
            self._mark(mark)
        return ()

    def _lettering(self, element: Element) -> Iterable[Element]:
        """The words of WordArt, which older Words write into an attribute."""
        if (words := lines(attribute(element, "string"))) and self._open:
            self._open[-1].after.append(Block(words))
        return ()

    def _simple_field(self, element: Element) -> Iterable[Element]:
        self._fields.append(_Field(attribute(element, "instr")))
        self._begin_result()
        return (*element, Element("end-of-field"))

    def _instruction(self, element: Element) -> Iterable[Element]:
        if self._fields:
            self._fields[-1].instruction += element.text or ""
        return ()

    def _field_character(self, element: Element) -> Iterable[Element]:
        kind = attribute(element, "fldCharType")
        if kind == "begin":
            self._fields.append(_Field())
        elif kind == "separate":
            self._begin_result()
        elif kind == "end":
            self._end_of_field(element)
        return ()

    def _begin_result(self) -> None:
        if self._fields:
            self._fields[-1].has_result = True
            if self._has_hidden_fields:
                self._fields[-1].hidden_as = hidden_field(self._fields[-1].instruction)

    def _end_of_field(self, element: Element) -> Iterable[Element]:
        if self._fields:
            ended = self._fields.pop()
            if not ended.has_result and (reading := split_reading(ended.instruction)):
                self._hidden["readings"] += len(reading[0])
                self._text(reading[1])
        return ()

    def _note(self, element: Element) -> Iterable[Element]:
        if not self._open or self._open[-1].run_hidden:
            return ()
        number, note = self._package.note(local_name(element), attribute(element, "id"))
        if number:
            self._open[-1].run_raised = False
            self._text(f"[{number}]")
        if note:
            self._open[-1].after.append(Block(f"[{number}] {note}"))
        return ()

    def _insert(self, element: Element) -> Iterable[Element]:
        blocks = self._package.insertion(attribute(element, "id"))
        (self._open[-1].after if self._open else self.blocks).extend(blocks)
        self._list_id = ""
        return ()

    def _read_structured(self, element: Element) -> Iterable[Element]:
        gallery = element.find("{*}sdtPr/{*}docPartObj/{*}docPartGallery")
        kind = "" if gallery is None else attribute(gallery, "val")
        if kind == "Table of Contents" or kind.startswith("Page Numbers"):
            label = "contents" if kind == "Table of Contents" else "page numbers"
            self._package.count(label, element)
            return ()
        if _switch(element.find("{*}sdtPr/{*}showingPlcHdr")):
            self._package.count("placeholders", element)
            return ()
        return element


class _Numbering:
    """The numbers that Word puts before headings and items of lists."""

    def __init__(self, root: Element | None) -> None:
        self._levels: dict[str, dict[int, Element]] = {}
        self._starts: dict[tuple[str, int], int] = {}
        self._begun: set[tuple[str, int]] = set()
        self._counts: dict[str, dict[int, int]] = {}
        self._abstract: dict[str, str] = {}
        if root is None:
            return
        for abstract in elements(root, "abstractNum"):
            levels = {
                _digits(attribute(level, "ilvl")): level for level in elements(abstract, "lvl")
            }
            self._levels[attribute(abstract, "abstractNumId")] = levels
        for number in elements(root, "num"):
            number_id = attribute(number, "numId")
            self._abstract[number_id] = _value(number, "abstractNumId")
            for override in elements(number, "lvlOverride"):
                if start := _value(override, "startOverride"):
                    level = _digits(attribute(override, "ilvl"))
                    self._starts[number_id, level] = _digits(start)

    def restart(self) -> None:
        """Count from the beginning again."""
        self._counts.clear()
        self._begun.clear()

    def label(self, number_id: str, level: int) -> str:
        """The next number of a list with the text around it, and a space; '' if it has none."""
        abstract = self._abstract.get(number_id, "")
        levels = self._levels.get(abstract, {})
        if level not in levels:
            return ""
        counts = self._counts.setdefault(abstract, {})
        if (start := self._starts.get((number_id, level))) is not None:
            # A list that begins anew does so at its first item.
            if (number_id, level) not in self._begun:
                counts[level] = start - 1
            self._begun.add((number_id, level))
        counts[level] = counts.get(level, self._start(levels[level]) - 1) + 1
        for deeper in [key for key in counts if key > level]:
            del counts[deeper]
        if _value(levels[level], "numFmt") in ("bullet", "none"):
            return ""

        def number(place: re.Match[str]) -> str:
            index = int(place[1]) - 1
            if index not in levels:
                return ""
            return _format(
                counts.get(index, self._start(levels[index])), _value(levels[index], "numFmt")
            )

        label = re.sub(r"%([1-9])", number, _value(levels[level], "lvlText")).strip()
        return f"{label} " if label else ""

    @staticmethod
    def _start(level: Element) -> int:
        return _digits(_value(level, "start") or "1")


def _format(value: int, kind: str) -> str:
    if kind in ("upperRoman", "lowerRoman") and 0 < value < 4000:
        roman = ""
        for number, letters in _ROMAN.items():
            roman += letters * (value // number)
            value %= number
        return roman if kind == "upperRoman" else roman.lower()
    if kind in ("upperLetter", "lowerLetter") and 0 < value <= 26:
        return chr(ord("A" if kind == "upperLetter" else "a") + value - 1)
    return str(value)


def _elements_with_text(root: Element) -> set[Element]:
    """The elements with text in them, in time that does not grow with their depth."""
    if next(elements(root, "AlternateContent"), None) is None:
        return set()
    parents = {child: parent for parent in root.iter() for child in parent}
    with_text: set[Element] = set()
    for leaf in elements(root, "t"):
        element: Element | None = leaf if leaf.text else None
        while element is not None and element not in with_text:
            with_text.add(element)
            element = parents.get(element)
    return with_text


def _level(names: Iterable[str]) -> int:
    """The level of a heading by the names of its style and of those it is based on, or 0."""
    for position, name in enumerate(names):
        if name in ("subtitle", *_TITLES) or _CONTENTS.fullmatch(name):
            return 0
        level = heading_style(name)
        if level or (level == 0 and position <= 1):
            return level or 1
        if part := _PART.fullmatch(name):
            return 2 if part["chapter"] else 1
    return 0


def _resolve(folder: str, target: str) -> str:
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")


def _value(element: Element, name: str) -> str:
    child = element.find(f"{{*}}{name}")
    return "" if child is None else attribute(child, "val")


def _number(element: Element | None) -> int | None:
    value = "" if element is None else attribute(element, "val")
    return int(value) if value.isdecimal() else None


def _digits(value: str) -> int:
    return int(value) if value.isdecimal() and len(value) < 9 else 0


def _switch(element: Element | None) -> bool | None:
    return None if element is None else attribute(element, "val").lower() not in _OFF


def _list_level(element: Element | None) -> tuple[str, int] | None:
    """The list of a paragraph and its level in it; the list '0' is none."""
    if element is None or not (number_id := _value(element, "numId")):
        return None
    return number_id, _digits(_value(element, "ilvl") or "0")
