"""Parse XML: strictly, and if that fails by its tags, so that an error costs no text."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from fabula.errors import LoadError
from fabula.load import doctype
from fabula.load.encoding import decode_text
from fabula.load.tag_soup import read_tag_soup

_DECLARATION = re.compile(r"<\?xml\s[^<>]*>", re.IGNORECASE)
_INVALID = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML does not allow."""
_MAX_NAMES = 10
_PARSE_ERRORS = (ElementTree.ParseError, ValueError, LookupError)


def _ignore(_warning: str) -> None:
    """Ignore a warning."""


def parse(
    data: bytes, make_error: Callable[[str], LoadError], warn: Callable[[str], None] = _ignore
) -> Element:
    """Return the root element of an XML file; one that is not well-formed is read by its tags.

    Args:
        data: The file's content.
        make_error: Makes the error for a broken file from the reason.
        warn: Called, with the predicate of a sentence, for what is wrong with the file.

    Raises:
        LoadError: The file has no element, is no text, or its entities may expand without end.
    """
    try:
        decoded = decode_text(data, "it")
    except LoadError as error:
        raise make_error(str(error).rstrip(".")) from error
    for warning in decoded.warnings:
        warn(f"is doubtful. {warning.rstrip('.')}")
    text = decoded.text.lstrip("\ufeff \t\r\n")
    problem = ""
    if "<!ENTITY" not in text:
        try:
            return ElementTree.fromstring(text)
        except _PARSE_ERRORS as error:
            problem = str(error)
    try:
        resolved = doctype.resolve(_INVALID.sub("", _DECLARATION.sub("", text)))
    except doctype.TooMuch as error:
        raise make_error(str(error)) from error
    _warn_of_entities(resolved, warn)
    try:
        root = ElementTree.fromstring(resolved.text)
        # A DTD that is not at hand defines the entities that HTML knows, too.
        is_well_formed = not problem or (resolved.has_dtd and problem.startswith("undefined"))
    except _PARSE_ERRORS as error:
        problem = problem or str(error)
        soup = read_tag_soup(resolved.text)
        if soup is None:
            raise make_error(problem) from error
        root, is_well_formed = soup, False
    if not is_well_formed:
        warn(f"is not well-formed XML ({problem}), and was read as well as its tags allow")
    return root


def _warn_of_entities(resolved: doctype.Resolved, warn: Callable[[str], None]) -> None:
    for name, address in resolved.files.items():
        warn(f"refers by the XML entity &{name}; to another file, {address[:200]}, left out here")
    if resolved.unknown:
        names = ", ".join(f"&{name};" for name in list(resolved.unknown)[:_MAX_NAMES])
        warn(f"uses XML entities that it does not define: {names}")


def parse_strictly(data: bytes, make_error: Callable[[str], LoadError]) -> Element:
    """Return the root element of an XML file that a program wrote, as in office documents.

    Args:
        data: The file's content.
        make_error: Makes the error for a broken file from the reason.

    Raises:
        LoadError: The file is broken, or defines entities, which may expand without end.
    """
    # Zero bytes are ignored, as it may be UTF-16.
    if b"<!ENTITY" in data.replace(b"\0", b""):
        raise make_error("it defines XML entities")
    try:
        return ElementTree.fromstring(data)
    except _PARSE_ERRORS as error:
        raise make_error(str(error)) from error
