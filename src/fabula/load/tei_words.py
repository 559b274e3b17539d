"""Space the words of a text in which each word and each sign is an element, as in corpora."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree.ElementTree import Element

from fabula.load.markup import local_name

_CLOSING = re.compile(r"[,.;:!?)\]}»”…،؛؟。，、]+|['’]+$")
_OPENING = re.compile(r"[(\[{«“„‘¿¡]+")
_MIN_PAIRS = 4
"""The fewest words that follow each other directly, in a corpus without white space."""
_STRAIGHT = re.compile("[\"']+")
_ENCLITIC = re.compile(r"(?:['’](?:s|d|m|t|ll|re|ve)|n['’]t)", re.IGNORECASE)


def join_words(root: Element) -> None:
    """Remove the white space before and after signs that only the layout of the file has there."""
    are_glued = _are_glued(root)
    for parent in root.iter():
        names = [local_name(child) for child in parent]
        if "w" in names or "pc" in names:
            _space(parent, names, are_glued=are_glued)
        elif "s" in names:
            _part_sentences(parent, names)


def _are_glued(root: Element) -> bool:
    """Whether a corpus has no white space between words at all, so that all of it is understood."""
    pairs = glued = 0
    for parent in root.iter():
        for child, following in pairwise(parent):
            if local_name(child) == local_name(following) == "w":
                pairs += 1
                glued += not child.tail
            elif local_name(child) == "c":
                return False
    return pairs >= _MIN_PAIRS and glued == pairs


def _part_sentences(parent: Element, names: list[str]) -> None:
    """Put a space between sentences that follow each other directly."""
    for child, after in zip(list(parent), names[1:], strict=False):
        if local_name(child) == after == "s" and not child.tail:
            child.tail = " "


def _space(parent: Element, names: list[str], *, are_glued: bool) -> None:
    """Set the white space between the words and signs of one element."""
    has_spaces = any(
        name == "c" and not "".join(child.itertext()).strip()
        for child, name in zip(parent, names, strict=True)
    )
    children = list(parent)
    in_quotes = False
    for index, child in enumerate(children):
        is_opening = names[index] == "pc" and _is_opening(child, in_quotes=in_quotes)
        if names[index] == "pc" and _STRAIGHT.fullmatch(_text(child)):
            in_quotes = not in_quotes
        tail = child.tail or ""
        if tail.strip() or not (tail or are_glued):
            continue
        if has_spaces:
            # Spaces are elements, too: other white space is the file's.
            child.tail = "" if names[index] in ("w", "pc", "c") else tail
            continue
        following = children[index + 1] if index + 1 < len(children) else None
        joined = child.get("join") in ("right", "both")
        if following is not None and not joined:
            joined = is_opening or _is_joined(following, names[index + 1], in_quotes=in_quotes)
        child.tail = "" if joined else " "


def _is_opening(sign: Element, *, in_quotes: bool) -> bool:
    text = _text(sign)
    if sign.get("join") in ("left", "no"):
        return False
    return bool(_OPENING.fullmatch(text)) or (bool(_STRAIGHT.fullmatch(text)) and not in_quotes)


def _is_joined(element: Element, name: str, *, in_quotes: bool) -> bool:
    """Whether a word or sign follows without a space."""
    text = _text(element)
    if (join := element.get("join")) is not None:
        return join in ("left", "both")
    if name == "w":
        return bool(_ENCLITIC.fullmatch(text))
    if name != "pc":
        return False
    return bool(_CLOSING.fullmatch(text)) or (bool(_STRAIGHT.fullmatch(text)) and in_quotes)


def _text(element: Element) -> str:
    return "".join(element.itertext()).strip()
