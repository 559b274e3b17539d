"""Read what is marked in a TEI edition as annotations of a document.

What is read (TEI Guidelines P5, the sections in brackets):

- names with what `ref`, `key` or `corresp` says they are of: `persName`, `placeName`, `orgName`,
  `name`, `rs` and others (3.6, 14); `listPerson`, `listPlace` and `listOrg` say how these are
  called (14.3), wherever they stand;
- speech with its `who`: `said`, `q`, `quote` (3.3.3) and `sp` (7.2.2) without its speaker's name;
- what `ana` points to, and what in `standOff` has a target in the text: `annotation` (16.10),
  `span` with `from` and `to` (18.3), `interp` and `note`.

The text is read as an edition is when it is ingested (`fabula.load.tei`): its own characters are
marked with non-characters before that, so that each mark is where the reader has put its words. The
document may be of another edition: the tokens of the one are then found in the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from fabula.errors import LoadError
from fabula.export.annotation_formats import Tell, ignore
from fabula.graph.annotations import ENTITY, HIGHLIGHT, NOTE, QUOTATION, TAG, Annotation
from fabula.load import tei, tei_words
from fabula.load.locators import without_marks
from fabula.load.markup import attribute, elements, local_name
from fabula.load.xml_tree import parse
from fabula.text.anchoring import MAX_MARKED_CHARACTERS, QuoteReader, TextQuote
from fabula.text.document import Document
from fabula_scholar.exchange.token_files import Carrier

NAMES = {
    "persName": "person",
    **dict.fromkeys(
        ("placeName", "geogName", "settlement", "region", "country", "district", "bloc"), "place"
    ),
    "orgName": "organization",
    "name": "",
    "rs": "",
}
"""Elements that name somebody or something, and its type; '' if an attribute has to say it."""
TYPES = {
    **dict.fromkeys(("character", "pers", "person", "personGrp", "persona"), "person"),
    **dict.fromkeys(("loc", "location", "place"), "place"),
    **dict.fromkeys(("org", "organisation", "organization"), "organization"),
}
"""Types of names, and elements of lists, as Fabula calls them."""
LISTED = ("person", "personGrp", "persona", "place", "org", "item", "event", "object")
"""What `ref` and `who` point to."""
SPEECH = ("said", "q", "quote", "sp")
WHOLE = ("TEI", "text", "body", "group")
"""Who points to one of these points to no words."""
KINDS = {"commenting": NOTE, "highlighting": HIGHLIGHT, "tagging": TAG}
"""What the motivations of annotations are called here."""
MAX_MARKS = 1_000_000
"""Marks of one file that are read."""
MAX_SAID = 20_000_000
"""Characters of all their labels and comments together."""
OUR_ID = "e."
"""How the ids begin that `fabula_scholar.exchange.tei_annotated` makes of groups."""
_BEGIN, _END, _STOP = "\ufdd4", "\ufdd5", "\ufdd6"
_DIGITS = {ord("0") + number: 0xFDD8 + number for number in range(10)}
"""Numbers of marks are written in non-characters: no rule of the reader takes them for text."""
_PLAIN = {value: key for key, value in _DIGITS.items()}
_MARK = re.compile(f"([{_BEGIN}{_END}])([\ufdd8-\ufde1]{{1,7}}){_STOP}")
_ESCAPED = re.compile(r"\.([0-9a-f]{1,6})\.")


@dataclass(frozen=True, slots=True)
class _Mark:
    """Elements of the text, the first and the last one, and what is said of their words."""

    first: Element
    last: Element
    kind: str
    label: str = ""
    body: str = ""
    group: str = ""
    id: str = ""
    creator: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Said:
    """What an annotation, a span, an interpretation or a note says."""

    kind: str
    label: str = ""
    body: str = ""
    creator: str = ""


def read_tei(
    files: Mapping[str, bytes], document: Document, tell: Tell = ignore
) -> Sequence[Annotation]:
    """Read what is marked in TEI files as annotations of a document.

    What is marked where the text was left out, as in a deleted passage, is kept by its words alone,
    and what points to nothing without any.

    Raises:
        LoadError: A file is no TEI, or marks too much.
    """
    annotations: list[Annotation] = []
    for name, data in files.items():
        root = parse(
            data,
            lambda reason, name=name: LoadError(f"{name} can't be read as XML: {reason}."),  # type: ignore[misc]
            lambda what, name=name: tell(f"{name} {what}."),  # type: ignore[misc]
        )
        if local_name(root) not in tei.ROOTS:
            raise LoadError(f"{name} is not TEI: its first element is <{local_name(root)[:40]}>.")
        if any(each.get("type") == "catma" for each in elements(root, "ab")):
            raise LoadError(f"{name} is a collection of CATMA: give --format catma.")
        annotations += _read_edition(root, name, document)
    return annotations


def _read_edition(root: Element, name: str, document: Document) -> Iterator[Annotation]:
    edition = _MarkedEdition(root)
    marks, pointless = edition.marks()
    if len(marks) + len(pointless) > MAX_MARKS:
        raise LoadError(f"{name} has more than {MAX_MARKS:,} marks.")
    # A small file may point to one long element ten thousand times.
    said = [
        *((mark.label, mark.body) for mark in marks),
        *((each.label, each.body) for each in pointless),
    ]
    if sum(len(label) + len(body) for label, body in said) > MAX_SAID:
        raise LoadError(f"What {name} says of words has more than {MAX_SAID:,} characters.")
    # Words in elements are joined before marks are put into them: the rules compare whole words.
    tei_words.join_words(root)
    for number, mark in enumerate(marks):
        _put_mark(mark, str(number).translate(_DIGITS))
    text, places = _take_marks(
        "\n\n".join(without_marks(block.text) for block in tei.draft(root, name).blocks)
    )
    find = Carrier(text, document.text)
    quotes = QuoteReader(document.text)
    words: dict[int, str] = {}
    left = MAX_MARKED_CHARACTERS
    for number, mark in enumerate(marks):
        span = find.span(*places[number]) if number in places else None
        if span:
            quote = quotes.read(*span)
        else:
            key = id(mark.first)
            if key not in words:
                words[key] = _read_words(mark.first)
            quote = TextQuote(words[key])
            left -= len(quote.exact)
        if left < 0:
            raise LoadError(
                f"{name} marks more than {MAX_MARKED_CHARACTERS:,} characters that "
                f"{document.title} lacks."
            )
        yield _annotation(mark, quote)
    for each in pointless:
        yield Annotation(TextQuote(""), each.kind, each.label, each.body, creator=each.creator)


def _read_words(element: Element) -> str:
    """Return the words of an element, without the marks that were put into them."""
    return " ".join(_MARK.sub("", " ".join(element.itertext())).split())


def _annotation(mark: _Mark, quote: TextQuote) -> Annotation:
    label = mark.label or (" ".join(quote.exact.split()) if mark.kind == ENTITY else "")
    return Annotation(
        quote,
        mark.kind,
        label,
        mark.body,
        id=mark.id,
        group=mark.group,
        creator=mark.creator,
        properties=mark.properties,
    )


class _MarkedEdition:
    """The marks of an edition, found in its tree."""

    def __init__(self, root: Element) -> None:
        self._root = root
        self._by_id = {name: each for each in root.iter() if (name := attribute(each, "id"))}
        self._in_text = {
            id(each) for body in elements(root, "text") for each in body.iter() if each is not body
        }
        self._list_types = {
            id(item): each.get("type", "") for each in elements(root, "list") for item in each
        }
        self._meant: dict[str, tuple[str, str, str]] = {}
        self._said: dict[int, _Said] = {}

    def marks(self) -> tuple[list[_Mark], list[_Said]]:
        """Return what is marked in the text, in its order, and what is said of nothing in it."""
        marks: list[_Mark] = []
        used: set[int] = set()
        for element in self._root.iter():
            if id(element) not in self._in_text:
                continue
            marks += self._marks_of(element)
            for pointer in element.get("ana", "").split():
                pointed = self._by_id.get(_fragment(pointer))
                if pointed is not None:
                    used.add(id(pointed))
                said = _Said(TAG, _fragment(pointer)) if pointed is None else self._read(pointed)
                marks.append(_as_mark(element, element, said, self._id_of(pointed, pointer)))
        pointless: list[_Said] = []
        for element in self._root.iter():
            is_said = local_name(element) in ("annotation", "span", "interp", "note")
            target = element.get("target", "") or element.get("from", "")
            if not (is_said and target) or id(element) in used or id(element) in self._in_text:
                continue
            pairs = self._targets(element)
            said = self._read(element)
            marks += [_as_mark(a, b, said, attribute(element, "id")) for a, b in pairs]
            if not pairs:
                pointless.append(said)
        return marks, pointless

    def _id_of(self, pointed: Element | None, pointer: str) -> str:
        return attribute(pointed, "id") if pointed is not None else _fragment(pointer)

    def _marks_of(self, element: Element) -> Iterator[_Mark]:
        name = local_name(element)
        own = attribute(element, "id")
        if name in NAMES:
            ref = element.get("ref") or element.get("key") or element.get("corresp") or ""
            group, listed_type, label = self._find_meant(ref)
            given = element.get("type", "")
            type = NAMES[name] or listed_type or TYPES.get(given.lower(), given.lower())
            properties = {"type": type} if type else {}
            yield _Mark(element, element, ENTITY, label, group=group, id=own, properties=properties)
        elif name in SPEECH and (name in ("said", "q") or element.get("who")):
            who = element.get("who", "")
            group, _, label = self._find_meant(who)
            others = {"who": who} if len(who.split()) > 1 else {}
            yield _Mark(element, element, QUOTATION, label, group=group, id=own, properties=others)

    def _find_meant(self, pointers: str) -> tuple[str, str, str]:
        """Return the group, the type and the name of what the first of some pointers means."""
        first = (pointers.split() or [""])[0]
        if not first:
            return "", "", ""
        if first not in self._meant:
            self._meant[first] = self._find_pointed(first)
        return self._meant[first]

    def _read(self, element: Element) -> _Said:
        if id(element) not in self._said:
            self._said[id(element)] = _read_said(element)
        return self._said[id(element)]

    def _find_pointed(self, first: str) -> tuple[str, str, str]:
        key = _fragment(first)
        listed = self._by_id.get(key)
        group = _decode(key) if "#" in first or listed is not None else first
        if listed is None or local_name(listed) not in LISTED:
            return group, "", ""
        kind = local_name(listed)
        type = TYPES.get(kind) or (self._list_types.get(id(listed), "") if kind == "item" else kind)
        named = (
            child
            for child in listed.iter()
            if child is not listed and (local_name(child) in NAMES or local_name(child) == "label")
        )
        name = next(named, None)
        text = "".join(listed.itertext() if name is None else name.itertext())
        return group, type, " ".join(text.split())

    def _targets(self, element: Element) -> list[tuple[Element, Element]]:
        """The elements of the text that an annotation is about, each with the last one of a run."""
        if start := element.get("from"):
            first = self._target(start)
            last = self._target(element.get("to") or start)
            return [(first, last)] if first is not None and last is not None else []
        found = map(self._target, element.get("target", "").split())
        return [(each, each) for each in found if each is not None]

    def _target(self, pointer: str) -> Element | None:
        found = self._by_id.get(_fragment(pointer))
        if found is None or id(found) not in self._in_text or local_name(found) in WHOLE:
            return None
        return found


def _as_mark(first: Element, last: Element, said: _Said, id: str) -> _Mark:
    return _Mark(first, last, said.kind, said.label, said.body, id=id, creator=said.creator)


def _read_said(element: Element) -> _Said:
    """Return what an annotation, a span, an interpretation or a note says of words."""
    name = local_name(element)
    notes = [element] if name == "note" else list(elements(element, "note"))
    kind = next((note.get("type", "") for note in notes if note.get("type")), "")
    kind = kind or KINDS.get(element.get("motivation", "").split(" ")[0], "")
    creator = ""
    if name == "annotation":
        creator = " ".join("".join(e.itertext()) for e in elements(element, "name")).strip()
    if notes:
        label = " ".join(
            " ".join("".join(e.itertext()) for e in elements(notes[0], "label")).split()
        )
        whole = "\n\n".join(" ".join("".join(note.itertext()).split()) for note in notes)
        body = whole.removeprefix(label).removeprefix(".").strip() if label else whole
        return _Said(kind or NOTE, label, body, creator)
    described = next(
        (e for child in ("catDesc", "desc", "fsDescr", "gloss") for e in elements(element, child)),
        element,
    )
    text = " ".join("".join(described.itertext()).split())
    if name == "annotation":
        return _Said(kind or HIGHLIGHT, "", "" if kind else text, creator)
    return _Said(kind or TAG, text or attribute(element, "id"), "", creator)


def _fragment(pointer: str) -> str:
    return pointer.rpartition("#")[2]


def _decode(id: str) -> str:
    """Return the group that an id of ours was made of; other ids stay."""
    if not id.startswith(OUR_ID):
        return id
    return _ESCAPED.sub(
        lambda match: chr(code) if (code := int(match[1], 16)) <= 0x10FFFF else match[0],
        id.removeprefix(OUR_ID),
    )


def _put_mark(mark: _Mark, number: str) -> None:
    """Write the non-characters of a mark to where its words begin and end."""
    begin, end = f"{_BEGIN}{number}{_STOP}", f"{_END}{number}{_STOP}"
    last, first = mark.last, mark.first
    # The end first: in an element without text both stand in one place.
    if len(last):
        last[-1].tail = (last[-1].tail or "") + end
    else:
        last.text = (last.text or "") + end
    speaker = next((each for each in first if local_name(each) == "speaker"), None)
    if local_name(first) == "sp" and speaker is not None:
        speaker.tail = begin + (speaker.tail or "")
    else:
        first.text = begin + (first.text or "")


def _take_marks(text: str) -> tuple[str, dict[int, tuple[int, int]]]:
    """Return a text without marks, and the first and last character of each by its number."""
    pieces: list[str] = []
    begun: dict[int, int] = {}
    places: dict[int, tuple[int, int]] = {}
    at = length = 0
    for match in _MARK.finditer(text):
        pieces.append(text[at : match.start()])
        length += len(pieces[-1])
        at = match.end()
        number = int(match[2].translate(_PLAIN))
        if match[1] == _BEGIN:
            begun[number] = length
        elif number in begun:
            places[number] = begun[number], length
    return "".join([*pieces, text[at:]]), places
