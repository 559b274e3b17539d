"""Read XML that is not well-formed, without losing a word of it.

libxml2's recovery (2.14) was tried first. It drops the last text of a file that is cut short, all
that follows a wrong end tag of the root, and what comes after wrongly nested tags. Here only the
tags are doubted: all text between them stays, in order.
"""

from __future__ import annotations

import re
from collections import Counter
from html import unescape
from xml.etree.ElementTree import Element, TreeBuilder

_TAG = re.compile(
    r"<(?P<end>/?)(?P<name>[A-Za-z_][A-Za-z0-9_.:-]*+)"
    r"""(?P<attributes>(?![^\W\d])(?:[^<>"']|"[^"<]*"|'[^'<]*'|"[^"]{0,200}"(?=[\s/>])|'[^']{0,200}'(?=[\s/>]))*+)>"""
)
_ROUGH_TAG = re.compile(
    r"<(?P<end>/?)(?P<name>[A-Za-z_][A-Za-z0-9_.:-]*+)(?P<attributes>(?![^\W\d])[^<>]*+)>"
)
"""A tag with a quotation mark that is not closed."""
_QUOTATION = re.compile(r"<<[^<>]{1,200}>>")
"""Words in quotation marks that a typewriter has, and no tag."""
_INSTRUCTION = re.compile(r"<[?!][^<>]*>")
_CUT_TAG = re.compile(r"</?[^\W\d][\w.:-]*+(?:\s[^<>]*)?\Z")
_ATTRIBUTE = re.compile(r"""([^\s=<>/"']+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s<>"'/]+))""")
_EMPTY = frozenset(
    ["br", "cb", "empty-line", "gap", "graphic", "hr", "image", "img", "lb", "milestone", "pb"]
)
"""Elements without content, which are often not closed."""
_XML = "{http://www.w3.org/XML/1998/namespace}"


def read_tag_soup(text: str) -> Element | None:
    """Return the root element of a text with tags; None if it has none.

    References have to be as XML knows them, and declarations are ignored. An end tag closes the
    last element of its name that is open, or nothing. What follows the root element becomes a part
    of it. Names have no namespaces.
    """
    builder = _Builder()
    position = 0
    missing: set[str] = set()
    while (start := text.find("<", position)) >= 0:
        builder.data(unescape(text[position:start]))
        position = _read_markup(text, start, builder, missing)
    builder.data(unescape(text[position:]))
    return builder.close()


def _read_markup(text: str, start: int, builder: _Builder, missing: set[str]) -> int:
    """Read what begins with the `<` at `start`; returns where it ends."""
    for opening, closing in (("<!--", "-->"), ("<![CDATA[", "]]>")):
        if text.startswith(opening, start) and opening not in missing:
            end = text.find(closing, start + len(opening))
            if end >= 0:
                if opening == "<![CDATA[":
                    builder.data(text[start + len(opening) : end])
                return end + len(closing)
            missing.add(opening)
    if quotation := _QUOTATION.match(text, start):
        builder.data(unescape(quotation[0]))
        return quotation.end()
    if tag := _TAG.match(text, start) or _ROUGH_TAG.match(text, start):
        if tag["end"]:
            builder.end(tag["name"])
        else:
            is_empty = tag["attributes"].endswith("/")
            builder.start(tag["name"], _attributes(tag["attributes"]), is_empty=is_empty)
        return tag.end()
    if skipped := _INSTRUCTION.match(text, start) or _CUT_TAG.match(text, start):
        return skipped.end()
    builder.data("<")
    return start + 1


def _attributes(text: str) -> dict[str, str]:
    return {
        name.replace("xml:", _XML, 1) if name.startswith("xml:") else name: unescape(
            double or single or bare
        )
        for name, double, single, bare in _ATTRIBUTE.findall(text)
    }


class _Builder:
    """Builds a tree from tags that need not fit."""

    def __init__(self) -> None:
        self._tree = TreeBuilder()
        self._open: list[str] = []
        self._counts: Counter[str] = Counter()
        self._has_root = False

    def start(self, name: str, attributes: dict[str, str], *, is_empty: bool) -> None:
        name = name.rpartition(":")[2]
        self._tree.start(name, attributes)
        self._has_root = True
        # The root stays open in any case: what follows has to be somewhere.
        if self._open and (is_empty or name.lower() in _EMPTY):
            self._tree.end(name)
        else:
            self._push(name)

    def end(self, name: str) -> None:
        name = name.rpartition(":")[2]
        # The root stays open to the end, so that nothing is outside it.
        while self._counts[name] and len(self._open) > 1:
            closed = self._open.pop()
            self._counts[closed] -= 1
            self._tree.end(closed)
            if closed == name:
                return

    def data(self, text: str) -> None:
        if text and self._has_root:
            self._tree.data(text)

    def close(self) -> Element | None:
        while self._open:
            self._tree.end(self._open.pop())
        return self._tree.close() if self._has_root else None

    def _push(self, name: str) -> None:
        self._open.append(name)
        self._counts[name] += 1
