"""Resolve a DOCTYPE's own entities, and HTML's, in the text of a file of XML or XHTML.

Neither a DTD nor any other file is ever read, and an entity within an entity is not expanded, so
that no small file becomes a huge one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.entities import html5

_DOCTYPE = re.compile(r"<!DOCTYPE\b", re.IGNORECASE)
_ROOT = re.compile(r"<[^\W\d]")
_BEFORE_SUBSET = re.compile(r"""(?:[^\[<>"']|"[^"]*"|'[^']*')*+""")
_DECLARATION = re.compile(
    r"""<!--.*?-->|<\?.*?\?>|<!\w+(?:[^<>"']|"[^"]*"|'[^']*')*+>|[^\]<]+""", re.DOTALL
)
_ENTITY = re.compile(
    r"""<!ENTITY\s+(?P<parameter>%\s+)?(?P<name>[^\s"'<>&;%]+)\s+(?P<file>SYSTEM|PUBLIC)?"""
    r"""(?P<kind>\s*[SC]DATA|\s*PI)?(?P<literals>(?:\s*(?:"[^"]*"|'[^']*'))*)""",
)
_LITERAL = re.compile(r""""([^"]*)"|'([^']*)'""")
_REFERENCE = re.compile(r"&(?:#[xX]([0-9a-fA-F]{1,6})|#(\d{1,7})|([^\s&;<>#\"'=]{1,60}));|&")
_PREDEFINED = frozenset(("amp", "apos", "gt", "lt", "quot"))
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_MIN_GROWTH_CHARACTERS = 200_000
"""Entities may add this much to a text, or as much as its own length."""
WINDOWS_CONTROLS = {
    code: bytes((code,)).decode("cp1252", "ignore") for code in range(0x80, 0xA0) if code != 0x85
}
"""Codes of controls that nobody uses, and the characters that Windows has there."""


class TooMuch(Exception):
    """Entities that are defined by others, or that expand to too much."""


@dataclass(slots=True)
class Resolved:
    """A text without its DOCTYPE's own entities.

    Attributes:
        text: The text.
        has_dtd: Whether the DOCTYPE names a DTD, which may define more entities.
        files: The entities in the text that stand for other files, with their addresses.
        unknown: The names of the entities that nothing defines; they stay in the text.
    """

    text: str
    has_dtd: bool = False
    files: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)


def resolve(text: str) -> Resolved:
    """Return the text of an XML file without a DOCTYPE, and with references as XML knows them.

    References to characters and to the entities of HTML and of the DOCTYPE are replaced, and `&`
    that begins none is escaped. Comments and CDATA sections stay.

    Raises:
        TooMuch: The text uses entities that are defined by other entities, or that are too long.
    """
    body, has_dtd, declared = _take_doctype(text)
    resolved = Resolved("", has_dtd)
    growth = max(_MIN_GROWTH_CHARACTERS, len(text))

    def replace(match: re.Match[str]) -> str:
        nonlocal growth
        value = _replacement(match, declared, resolved)
        growth -= len(value) - len(match[0])
        if growth < 0:
            raise TooMuch("it defines XML entities that expand to too much")
        return value

    resolved.text = "".join(
        piece if is_verbatim else _REFERENCE.sub(replace, piece)
        for is_verbatim, piece in verbatim_parts(body)
    )
    return resolved


def resolve_html(text: str) -> str:
    """Return the text of a page without a DOCTYPE's entities; what HTML defines stays."""
    if not (doctype := _find_doctype(text)) or "[" not in text[doctype.end() : doctype.end() + 400]:
        return text
    body, _, declared = _take_doctype(text)
    if not declared:
        return body
    growth = max(_MIN_GROWTH_CHARACTERS, len(text))

    def replace(match: re.Match[str]) -> str:
        nonlocal growth
        entity = declared.get(match[3] or "")
        if entity is None:
            return match[0]
        growth -= len(entity.value)
        return "" if entity.is_nested or entity.file or growth < 0 else entity.value

    return _REFERENCE.sub(replace, body)


def verbatim_parts(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the parts of a text, and whether each is a comment or a CDATA section."""
    position = 0
    ends = {"<!--": "-->", "<![CDATA[": "]]>"}
    for match in re.finditer(r"<!--|<!\[CDATA\[", text):
        if match.start() < position or match[0] not in ends:
            continue
        end = text.find(ends[match[0]], match.end())
        if end < 0:
            # An end that is missing once is missing for those that follow.
            del ends[match[0]]
            continue
        yield False, text[position : match.start()]
        position = end + 3
        yield True, text[match.start() : position]
    yield False, text[position:]


@dataclass(frozen=True, slots=True)
class _Entity:
    """An entity: what it stands for, whether by others, or the file that has its text."""

    value: str
    is_nested: bool = False
    file: str = ""


def _find_doctype(text: str) -> re.Match[str] | None:
    """The DOCTYPE, which comes before the first element."""
    root = _ROOT.search(text)
    return _DOCTYPE.search(text, 0, root.start() if root else len(text))


def _take_doctype(text: str) -> tuple[str, bool, dict[str, _Entity]]:
    """The text without its DOCTYPE, whether that names a DTD, and the entities that it defines."""
    doctype = _find_doctype(text)
    if doctype is None:
        return text, False, {}
    head = _BEFORE_SUBSET.match(text, doctype.end())
    end = head.end() if head else doctype.end()
    has_dtd = re.search(r"\b(?:SYSTEM|PUBLIC)\b", text[doctype.end() : end]) is not None
    entities: dict[str, _Entity] = {}
    if text[end : end + 1] == "[":
        end += 1
        while declaration := _DECLARATION.match(text, end):
            end = declaration.end()
            if entity := _ENTITY.match(declaration[0]):
                _add_entity(entity, entities)
        close = re.compile(r"\]?\s*>?").match(text, end)
        end = close.end() if close else end
        # A subset that uses parameter entities may define more by them.
        has_dtd = True
    elif text[end : end + 1] == ">":
        end += 1
    return f"{text[: doctype.start()]}{text[end:]}", has_dtd, entities


def _add_entity(match: re.Match[str], entities: dict[str, _Entity]) -> None:
    name = match["name"]
    if match["parameter"] or name in _PREDEFINED or name in entities:
        return
    literals = [first or second for first, second in _LITERAL.findall(match["literals"])]
    if match["file"]:
        entities[name] = _Entity("", file=literals[-1] if literals else "?")
    elif match["kind"]:
        # SGML's characters, as SDATA "[mdash ]": the name says which.
        entities[name] = _Entity(_of_html(name) or "".join(literals).strip("[]| "))
    elif literals:
        value = _REFERENCE.sub(_character, literals[0])
        names = [reference[3] for reference in _REFERENCE.finditer(value) if reference[3]]
        nested = any(name not in _PREDEFINED and not _of_html(name) for name in names)
        entities[name] = _Entity(_REFERENCE.sub(_known, value), is_nested=nested)


def _character(match: re.Match[str]) -> str:
    """What a reference to a character stands for; another reference stays."""
    if not match[1] and not match[2]:
        return match[0]
    return _of_code(int(match[1], 16) if match[1] else int(match[2]))


def _known(match: re.Match[str]) -> str:
    """A reference within an entity's value as XML knows it; a second time, as `&#38;#60;`."""
    if match[1] or match[2]:
        return _character(match).translate(_ESCAPED)
    if match[3] in _PREDEFINED:
        return match[0]
    return _of_html(match[3] or "").translate(_ESCAPED) if match[3] else "&amp;"


def _replacement(match: re.Match[str], declared: Mapping[str, _Entity], resolved: Resolved) -> str:
    name = match[3]
    if name is None:
        return _character(match).translate(_ESCAPED) if match[1] or match[2] else "&amp;"
    if name in _PREDEFINED:
        return match[0]
    entity = declared.get(name)
    if entity is None:
        if character := _of_html(name):
            return character.translate(_ESCAPED)
        resolved.unknown.setdefault(name)
        return f"&amp;{name};"
    if entity.is_nested:
        raise TooMuch("it defines XML entities by other entities")
    if entity.file:
        resolved.files[name] = entity.file
    return entity.value


def _of_html(name: str) -> str:
    """The character that HTML and the older sets of SGML call by a name; '' if there is none."""
    return html5.get(f"{name};", "")


def _of_code(code: int) -> str:
    """A character by its number; '' for those that XML does not allow."""
    if 0x80 <= code < 0xA0:
        return WINDOWS_CONTROLS.get(code, "…")
    is_allowed = code in (9, 10, 13) or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE
    return chr(code) if is_allowed or 0x10000 <= code <= 0x10FFFF else ""
