"""What may be a name: one line, short enough for every index of the graph.

Neo4j's indexes are Lucene's, which refuses terms of more than 32,766 bytes. Neo4j then panics and
never opens the database again, with all collections in it. So nothing long may reach an index:
settings refuse it with a message, and the store refuses it once more.
"""

from __future__ import annotations

import re
import unicodedata

MAX_NAME_BYTES = 200
"""The most bytes, in UTF-8, of an id and of the name of a collection, graph, aspect or label."""
MAX_LINE_BYTES = 2_000
"""The most bytes of a title, a heading or a source; paths may be long."""
MAX_FILE_NAME_BYTES = 120
"""Without the suffix. Most file systems allow 255, and callers add words."""
_IN_FILES = " _,;()'&-"
"""What a file name may have besides letters and digits."""
_RESERVED = {"con", "prn", "aux", "nul"} | {f"{of}{n}" for of in ("com", "lpt") for n in range(10)}
"""Names of devices in Windows, with any suffix."""
_BETWEEN = " _-."
"""What a collection's name may have between letters and digits."""


EVERYTHING = "all"
"""What `--across` takes for the names of all collections."""
LOOK_ALIKE = {"LATIN", "CYRILLIC", "GREEK"}
"""Alphabets that share the shapes of letters: with one letter of another, a name looks the same."""
REORDERING = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Unicode's embeddings, overrides and isolates: the rest of a line is shown in another order than
the text has, and one name looks like another. The marks U+200E, U+200F and U+061C do no harm and
stay, as do the joiners of Persian and of Indian scripts."""
SOURCE_FOLDER = "uploads"
"""What the sources of uploaded documents begin with, such as `uploads/winter.txt`."""


def name_problem(name: str, max_bytes: int = MAX_NAME_BYTES) -> str:
    """Return what is wrong with a name, as the rest of a sentence that begins with it, or ''.

    Args:
        name: The name to check.
        max_bytes: The most bytes in UTF-8.
    """
    size = len(name.encode("utf-8", "surrogatepass"))
    if size > max_bytes:
        return f"has {size:,} bytes, and at most {max_bytes:,} are allowed"
    if has_control(name):
        return "has a control character in it"
    if REORDERING.search(name):
        return "has a character in it that changes the order of what is shown"
    return ""


def has_control(text: str, allowed: str = "") -> bool:
    """Return whether a text has a control character, a line break or a lone surrogate in it."""
    return any(
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") and character not in allowed
        for character in text
    )


def collection_problem(name: str) -> str:
    """Return what is wrong with a new collection's name, as the rest of a sentence, or ''."""
    is_valid = all(unicodedata.category(c)[0] in "LMN" or c in _BETWEEN for c in name)
    if not is_valid or name != name.strip(_BETWEEN):
        return "may only have letters and digits of any script, and space, _, - and . between them"
    if name == EVERYTHING:
        return "may not be the word for all collections"
    for word in re.split(r"[\W_]+", name):
        if len({unicodedata.name(letter, "").split(" ")[0] for letter in word} & LOOK_ALIKE) > 1:
            return f"may not mix alphabets that look alike in one word, as {quote_name(word)} does"
    return name_problem(name) or ("" if name else "is empty")


def file_name(title: str, default: str) -> str:
    """Return a file name, without suffix, made from a title and valid in every operating system.

    Letters and digits of any script stay. Anything else, as slashes, dots, control characters and
    marks that change the direction of writing, becomes a space.

    Args:
        title: Any text.
        default: The name for a title that has neither letters nor digits.
    """
    spaced = "".join(
        character if unicodedata.category(character)[0] in "LMN" or character in _IN_FILES else " "
        for character in unicodedata.normalize("NFC", title)
    )
    name = " ".join(spaced.split()).encode()[:MAX_FILE_NAME_BYTES].decode(errors="ignore").strip()
    if not any(character.isalnum() for character in name):
        return default
    return f"{name}_" if name.lower() in _RESERVED else name


def quote_name(name: str) -> str:
    """Return a name for a message, in quotation marks, and cut if it is long."""
    return repr(name if len(name) <= 60 else f"{name[:59]}…")


def source_name(source: str) -> str:
    """Return what a reader is shown of a document's source: no folder of the server.

    Uploaded files keep the folders that they were sent with, and documents from the web their
    addresses.
    """
    if source.startswith(("http://", "https://")):
        return source
    sent = source.removeprefix(f"{SOURCE_FOLDER}/")
    is_path = sent == source and (source.startswith("/") or source[1:3] in (":\\", ":/"))
    return re.split(r"[/\\]", source)[-1] if is_path else sent
