"""Read TEI: the text of a scholarly edition, without its apparatus."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from xml.etree.ElementTree import Element

from fabula.load import tei_apparatus, tei_header, tei_letters, tei_places, tei_words
from fabula.load.blocks import Block, Draft
from fabula.load.chapters import is_chapter_line, numeral_line
from fabula.load.clean import one_line
from fabula.load.headings import confirm
from fabula.load.locators import SPEAKER_MARK, line_mark, page_mark
from fabula.load.markup import BREAK, Kind, TextRules, attribute, elements, local_name, read_blocks
from fabula.load.wrap import rejoin

ROOTS = ("TEI", "TEI.2", "teiCorpus", "teiCorpus.2")
_BOOKS = ("TEI", "TEI.2")
_LEFT_OUT = {
    "del": "deleted passages",
    "divGen": "",
    "facsimile": "",
    "figDesc": "descriptions of pictures",
    "fw": "running heads",
    "gap": "editors' descriptions of gaps",
    "graphic": "",
    "interpGrp": "",
    "listApp": "alternative readings",
    "listWit": "lists of witnesses",
    "rt": "readings above words",
    "sourceDoc": "transcriptions of pages",
    "standOff": "",
    "surplus": "superfluous passages",
    "teiHeader": "",
    "wit": "",
    "witList": "lists of witnesses",
}
"""Elements without text of the book, and what theirs is called; `fw` are what a printer adds."""
_PRINTERS = {
    "catch": "catchwords",
    "pageNum": "page numbers",
    "pageno": "page numbers",
    "sig": "signatures",
}
"""Kinds of `fw` besides running heads."""
_OTHER_READINGS = frozenset(("abbr", "am", "orig", "rdg", "rdgGrp", "sic"))
"""The readings in <choice> or <app> that are not the one for readers, if there is another."""
_ALTERNATIVES = frozenset(("app", "choice", "rdgGrp"))
_DIVISIONS_LEFT_OUT = {
    **dict.fromkeys(("contents", "index", "toc"), "contents"),
    **dict.fromkeys(("FromTheDirector", "TextualIntroduction", "synopsis"), "front matter"),
}
"""Types of divisions without text of the book, as the Folger Library's own pages before a play."""
_BLOCK_NAMES = (
    "ab argument back body byline castList cit closer dateline div docAuthor docDate docEdition"
    " docImprint docTitle epigraph epilogue figure floatingText front group head imprimatur lg"
    " list listBibl opener p performance postscript prologue salute set signed surface table text"
    " titlePage titlePart trailer zone"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_LINES = frozenset(("addrLine", "address", "castItem", "item", "l", "line", "row", "speaker"))
_PARTS = frozenset(("epilogue", "prologue"))
_HEADED = frozenset(("back", "body", "epilogue", "front", "group", "prologue", "text"))
_PROSE = frozenset(("l", "note", "p", "q", "said", "speaker"))
"""Elements in which stage directions belong to sentences, and line breaks may be the page's."""
_STRUCTURE_NAMES = (
    "back body castList div front group list listAnnotation noteGrp standOff text titlePage"
)
_STRUCTURE = frozenset(_STRUCTURE_NAMES.split())
"""Elements without text of their own: a note in one of them refers to no word."""
_NUMBERED_NAMES = "act book canto chapter fit letter ode part poem scene section stave tale volume"
_NUMBERED = frozenset(_NUMBERED_NAMES.split())
"""Types of divisions that are called by type and number, as 'Book 9', if they have no heading."""
_BETWEEN_HEADS = frozenset(("cb", "fw", "lb", "milestone", "pb"))
"""What may stand between the number and the title of a division."""
_PAGE_PREFIX = re.compile(r"(?:pp?|pag|page|seite|s)\b[. ]*(?=\w)|[\[\](){}]", re.IGNORECASE)
_PAGE_MARK, _LINE_MARK = (make("#").replace("#", r"[^\n]+?") for make in (page_mark, line_mark))
_OVER_PAGE = re.compile(
    rf"([-¬\u00ad\u2010\u2e17])((?:[ \t{BREAK}]|{_LINE_MARK})*"
    rf"{_PAGE_MARK}(?:[ \t{BREAK}]|{_LINE_MARK})*)(\w+)"
)
"""A word over the end of a page: its hyphen, the marks of the page and line, and its second part.

The marks are put behind the word, as those of a page that begins with the next one."""
_MAX_LINE_GAP = 25
"""Editions number each fifth or tenth line, or each that begins a page."""


def draft(root: Element, source: str = "") -> Draft:
    """Return the draft of a book, or of a corpus of books, from its root element."""
    edition = _Edition(root)
    rules = TextRules(
        kind=edition.kind,
        level=_level,
        mark=edition.mark,
        title=edition.title,
        left_out=edition.left_out,
    )
    text_blocks, left_out = read_blocks(root, rules)
    header = tei_header.read(root)
    included = [attribute(include, "href") for include in elements(root, "include")]
    return Draft(
        blocks=confirm(tuple(_rejoin(text_blocks)), header.title, levels_are_divisions=True),
        title=header.title,
        author=header.author,
        language=_language(root),
        published=header.published,
        edition=header.edition,
        left_out=dict(left_out + edition.removed),
        warnings=(
            *(_not_included(source, href) for href in dict.fromkeys(included)),
            *([f"{source} {edition.unread}."] if edition.unread else []),
        ),
        metadata=header.metadata,
    )


def _text_kind(path: Sequence[Element], name: str, above: str) -> Kind:
    """What an element of the text is, below a division."""
    # The speaker's name, stage directions, and lines or paragraphs form one speech.
    if name == "sp":
        return "whole"
    if name == "note":
        is_apart = above in _STRUCTURE or above.startswith("div")
        return "block" if is_apart else "note"
    if name == "lb":
        return _line_break(path)
    if name == "stage":
        return "inline" if above in _PROSE else "block"
    if name == "cell":
        return "space"
    if name == "bibl" and above == "cit":
        return "line"
    if name in _LINES:
        return "line"
    return "block" if name in _BLOCKS else "inline"


def _not_included(source: str, href: str) -> str:
    return (
        f"{source} includes {href[:200] or 'another file'} by xi:include, which was left out: "
        "files are included only from the same folder, or those below it."
    )


def _rejoin(text_blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks without the printed page's line breaks in prose; those of verse stay."""
    text_blocks = [
        replace(block, text=_OVER_PAGE.sub(rf"\1{BREAK}\3\2", block.text)) for block in text_blocks
    ]
    broken = [line for block in text_blocks for line in block.text.split("\n") if BREAK in line]
    rejoined = rejoin([line.replace(BREAK, "\n") for line in broken])
    by_line = dict(zip(broken, rejoined, strict=True))
    for block in text_blocks:
        text = "\n".join(by_line.get(line, line) for line in block.text.split("\n"))
        yield replace(block, text=text)


def _language(root: Element) -> str:
    declared = [language.get("ident", "") for language in elements(root, "language")]
    of_text = [attribute(element, "lang") for element in (*elements(root, "text"), root)]
    return next(filter(None, (*of_text, *declared)), "")


class _Edition:
    """What has to be known of a whole edition before its text is read.

    Attributes:
        unread: How many letters and words could not be read, as the end of a sentence; '' for none.
        removed: The characters that were removed from the tree, by what they are.
    """

    def __init__(self, root: Element) -> None:
        self.unread = tei_letters.mend_words(root)
        tei_words.join_words(root)
        _join_heads(root)
        self.removed: Counter[str] = Counter()
        # A poem may have numbered parts, and prose may quote verse: an edition's own are the most.
        lines, places = _line_labels(root), tei_places.label_places(root)
        self._has_lines = len(lines) >= len(places)
        self._line_labels = lines if self._has_lines else places
        self._skipped = _other_readings(root) | tei_apparatus.find_apparatus(root)
        self._counts_pages = any(page.get("n") for page in elements(root, "pb"))
        self._has_text = next(elements(root, "text"), None) is not None
        self._is_corpus = local_name(root) not in _BOOKS
        self._move_notes(root)

    def kind(self, path: Sequence[Element]) -> Kind:
        element = path[-1]
        name = local_name(element)
        above = local_name(path[-2]) if len(path) > 1 else ""
        if name == "sourceDoc":
            return "skipped" if self._has_text else "inline"
        if name in _LEFT_OUT or id(element) in self._skipped:
            return "skipped"
        if name.startswith("div"):
            return "skipped" if element.get("type") in _DIVISIONS_LEFT_OUT else "block"
        if name == "head" and _is_division(path[:-1]):
            return "heading"
        if name == "head" and above == "castGroup":
            return "line"
        return _text_kind(path, name, above)

    def left_out(self, path: Sequence[Element]) -> str:
        element = path[-1]
        name = local_name(element)
        if id(element) in self._skipped:
            return self._skipped[id(element)]
        if name.startswith("div") and name != "divGen":
            return _DIVISIONS_LEFT_OUT[element.get("type", "")]
        if name == "fw":
            return _PRINTERS.get(element.get("type", ""), "running heads")
        return _LEFT_OUT.get(name, "")

    def mark(self, path: Sequence[Element]) -> str:
        element = path[-1]
        name = local_name(element)
        label = element.get("n", "")
        if name == "pb":
            return _page(label)
        if name == "speaker":
            return SPEAKER_MARK
        if name == "fw" and not self._counts_pages and element.get("type") in ("pageNum", "pageno"):
            return _page("".join(element.itertext()))
        if name == "milestone" and element.get("unit") in ("page", "folio"):
            return _page(label)
        is_line = name == "milestone" and element.get("unit") in ("ftln", "l", "line")
        if self._has_lines and (is_line or (name == "lb" and _line_break(path) == "line")):
            return line_mark(label)
        return line_mark(self._line_labels.get(id(element), ""))

    def title(self, path: Sequence[Element]) -> str:
        element = path[-1]
        name = local_name(element)
        if name in _BOOKS and self._is_corpus:
            return tei_header.title(element)
        if not name.startswith("div") or any(local_name(child) == "head" for child in element):
            return ""
        kind = element.get("type", "").casefold()
        if kind in ("", "textpart"):
            kind = element.get("subtype", "").casefold()
        number = element.get("n", "").strip()
        return f"{kind.capitalize()} {number}" if kind in _NUMBERED and number else ""

    def _move_notes(self, root: Element) -> None:
        """Move each note of a list of notes to the place that refers to it."""
        notes = {
            identifier: note
            for note in elements(root, "note")
            if (identifier := attribute(note, "id"))
        }
        references = [
            reference
            for reference in root.iter()
            if local_name(reference) in ("ref", "ptr")
            and reference.get("target", "").strip().removeprefix("#") in notes
        ]
        if not references:
            return
        parents = {child: parent for parent in root.iter() for child in parent}
        for reference in references:
            note = notes.get(reference.get("target", "").strip().removeprefix("#"))
            if note is None or not _is_structure(parents.get(note)):
                continue
            above: Element | None = reference
            while above is not None and above is not note:
                above = parents.get(above)
            if above is note:
                continue
            _remove(note, parents[note])
            self._replace(reference, note, parents[reference])
            parents[note] = parents[reference]
            notes.pop(attribute(note, "id"))

    def _replace(self, reference: Element, note: Element, parent: Element) -> None:
        # The number is counted again.
        self.removed["note numbers"] += len("".join("".join(reference.itertext()).split()))
        note.tail = reference.tail
        parent[list(parent).index(reference)] = note


def _join_heads(root: Element) -> None:
    """Join the headings of a division, as its number and its title, into one of several lines."""
    for division in root.iter():
        if not local_name(division).startswith("div"):
            continue
        first: Element | None = None
        for child in list(division):
            name = local_name(child)
            if name in _BETWEEN_HEADS and not (child.tail or "").strip():
                continue
            has_tail = bool((child.tail or "").strip())
            if name != "head" or has_tail:
                # What follows a heading directly as text is not below a title of several lines.
                first = None
            elif first is None or _has_number("".join(child.itertext())):
                # One with a number of its own, as 'CHAPTER I' below 'BOOK ONE', stays a heading.
                first = child
            else:
                division.remove(child)
                # The break that the heading's lines are divided by.
                child.tag = "seg"
                first.append(Element("lb"))
                first.append(child)
                child.tail = None


def _has_number(heading: str) -> bool:
    line = one_line(heading)
    return is_chapter_line(line) or numeral_line(line) is not None


def _remove(element: Element, parent: Element) -> None:
    """Remove an element, and leave the text that follows it."""
    index = list(parent).index(element)
    if element.tail and element.tail.strip():
        if index:
            parent[index - 1].tail = (parent[index - 1].tail or "") + element.tail
        else:
            parent.text = (parent.text or "") + element.tail
    parent.remove(element)


def _is_structure(element: Element | None) -> bool:
    name = "" if element is None else local_name(element)
    return name in _STRUCTURE or name.startswith("div")


def _other_readings(root: Element) -> dict[int, str]:
    """What all alternatives but one are by their ids: but that for readers, or else the first."""
    others: dict[int, str] = {}
    for parent in root.iter():
        if local_name(parent) not in _ALTERNATIVES:
            continue
        readings = [child for child in parent if local_name(child) not in ("note", "wit")]
        preferred = (child for child in readings if local_name(child) not in _OTHER_READINGS)
        chosen = next(preferred, readings[0] if readings else None)
        others |= {id(each): "alternative readings" for each in readings if each is not chosen}
    return others


def _line_labels(root: Element) -> dict[int, str]:
    """The numbers of the lines by their ids; those between numbered lines are counted."""
    labels: dict[int, str] = {}
    for lines in _lines_of_divisions(root):
        last: tuple[int, int] | None = None
        for index, line in enumerate(lines):
            label = line.get("n", "").strip()
            if not label:
                continue
            labels[id(line)] = label
            if not label.isdecimal():
                last = None
                continue
            first = int(label) - index
            start = 0 if last is None else last[0] + 1
            if index - start < _MAX_LINE_GAP and (last is None or last[1] == first):
                labels |= _count(lines, start, index, first)
            last = (index, first)
        if last is not None and len(lines) - last[0] <= _MAX_LINE_GAP:
            labels |= _count(lines, last[0] + 1, len(lines), last[1])
    return labels


def _count(lines: Sequence[Element], start: int, end: int, first: int) -> dict[int, str]:
    """The numbers of the lines from `start` to before `end`; that of line 0 is `first`."""
    return {id(lines[i]): str(first + i) for i in range(start, end) if first + i > 0}


def _lines_of_divisions(root: Element) -> Iterator[list[Element]]:
    """The lines of each division of verse; a line that several speakers share is one line."""
    by_division: dict[int, list[Element]] = {}
    stack = [(root, root)]
    while stack:
        element, division = stack.pop()
        name = local_name(element)
        if name.startswith("div") or name == "text":
            division = element
        elif name == "l" and element.get("part", "N") in ("I", "N", "Y"):
            by_division.setdefault(id(division), []).append(element)
        stack += ((child, division) for child in reversed(element))
    yield from by_division.values()


def _page(label: str) -> str:
    return page_mark(_PAGE_PREFIX.sub("", label).strip())


def _level(path: Sequence[Element]) -> int:
    """The number of divisions around a place, and of texts in a group or a corpus."""
    names = [local_name(element) for element in path]
    parts = sum(name.startswith("div") or name in _PARTS for name in names)
    parts += _follows_act(path)
    texts = max(0, names.count("text") - 1)
    books = sum(name in ROOTS for name in names[1:])
    is_poem = len(names) > 1 and names[-2] == "lg"
    return max(1, parts + texts + books + is_poem)


def _follows_act(path: Sequence[Element]) -> bool:
    """Whether a place is in a scene that stands behind its act instead of in it."""
    for parent, element in pairwise(path):
        if element.get("type") == "scene" and parent.get("type") != "act":
            return any(sibling.get("type") == "act" for sibling in parent)
    return False


def _is_division(path: Sequence[Element]) -> bool:
    """Whether a heading here is that of a chapter or poem, and not of a table or stanza."""
    names = [local_name(element) for element in path[-2:]]
    if names[-1] == "lg":
        names.pop()
    return bool(names) and (names[-1].startswith("div") or names[-1] in _HEADED)


def _line_break(path: Sequence[Element]) -> Kind:
    if path[-1].get("break") == "no":
        return "inline"
    names = {local_name(element) for element in path}
    if not _LINES.isdisjoint(names):
        return "space"
    return "break" if not _PROSE.isdisjoint(names) else "line"
