"""Number the verses, sections and paragraphs of an edition, by which its text is cited."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

from fabula.load.markup import local_name

_PLACES = frozenset(("paragraph", "section", "verse"))
_ABOVE = frozenset(("book", "chapter"))
_NUMBER = re.compile(r"\d{1,5}\w?|[ivxlcdm]{1,7}|[a-z]", re.IGNORECASE)


def label_places(root: Element) -> dict[int, str]:
    """Return the labels of numbered places by the ids of their elements, as "§2.14".

    The numbers of the divisions around a place come first. An edition counts by divisions and
    paragraphs or by milestones: those that it has more of are taken.
    """
    divided: dict[int, str] = {}
    by_milestone: dict[int, str] = {}
    chapter = ""
    stack: list[tuple[Element, tuple[str, ...]]] = [(root, ())]
    while stack:
        element, above = stack.pop()
        name, number = local_name(element), element.get("n", "").strip()
        if name in ("note", "teiHeader"):
            continue
        if _NUMBER.fullmatch(number):
            kinds = {element.get(key, "").casefold() for key in ("subtype", "type", "unit")}
            if name == "milestone":
                chapter = number if kinds & _ABOVE else chapter
                if kinds & _PLACES:
                    parts = filter(None, (*above, chapter, number))
                    by_milestone[id(element)] = f"§{'.'.join(parts)}"
            elif name in ("ab", "p", "seg") or (name.startswith("div") and kinds & _PLACES):
                above = (*above, number)
                divided[id(element)] = f"§{'.'.join(above)}"
            elif name.startswith("div"):
                above, chapter = (*above, number), ""
        stack += ((child, above) for child in reversed(element))
    return max(divided, by_milestone, key=len)
