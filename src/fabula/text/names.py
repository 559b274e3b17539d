"""What may be a name: whole on one line, and short enough for every index of the graph.

Lucene keeps the vector and the text indexes and refuses a term of more than 32,766 bytes; Neo4j
then panics, and opens the database never again, with all collections in it. So nothing long may
reach an index, whichever way it comes: settings refuse it in words, and the store once more.
"""

from __future__ import annotations

import unicodedata

LONGEST = 200
"""Bytes, in UTF-8, of the name of a collection, a graph, an aspect or a label, and of an id."""
LONGEST_LINE = 2_000
"""Bytes of a title, a heading or a source: paths are long."""
LONGEST_FILE = 120
"""Bytes of a file's name without its ending: most file systems take 255, and callers add words."""
_IN_FILES = " _,;()'&-"
"""What the name of a file may have beside letters and figures."""
_RESERVED = {"con", "prn", "aux", "nul"} | {f"{of}{n}" for of in ("com", "lpt") for n in range(10)}
"""Names that Windows keeps for devices, whatever their ending."""
_BETWEEN = " _-."
"""What a collection's name may have beside letters and figures, but not at its ends."""


def problem(name: str, most: int = LONGEST) -> str:
    """What is wrong with a name, to be put behind it, or ''."""
    size = len(name.encode("utf-8", "surrogatepass"))
    if size > most:
        return f"has {size:,} bytes, and {most:,} are the most"
    if has_control(name):
        return "has a character in it that is none to write"
    return ""


def has_control(text: str, allowed: str = "") -> bool:
    """Whether a text has a control character, a line break or half of a surrogate pair in it."""
    return any(
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") and character not in allowed
        for character in text
    )


def collection_problem(name: str) -> str:
    """What is wrong with the name of a new collection, to be put behind it, or ''."""
    fit = all(unicodedata.category(one)[0] in "LMN" or one in _BETWEEN for one in name)
    if not fit or name != name.strip(_BETWEEN):
        return "may have letters and figures of any script, and space, _, - and . between them"
    return problem(name) or ("" if name else "is empty")


def file_name(title: str, otherwise: str) -> str:
    """Return a title as the name of a file, without its ending, that every system takes.

    Letters and figures of any script stay; what else a title may hold, as slashes, dots, control
    characters and marks that turn the direction of writing, becomes a space. `otherwise` is the
    name of a title that has neither letters nor figures.
    """
    fit = "".join(
        character if unicodedata.category(character)[0] in "LMN" or character in _IN_FILES else " "
        for character in unicodedata.normalize("NFC", title)
    )
    name = " ".join(fit.split()).encode()[:LONGEST_FILE].decode(errors="ignore").strip()
    if not any(character.isalnum() for character in name):
        return otherwise
    return f"{name}_" if name.lower() in _RESERVED else name


def quoted(name: str) -> str:
    """A name for a message: in quotation marks, and cut where it is long."""
    return repr(name if len(name) <= 60 else f"{name[:59]}…")
