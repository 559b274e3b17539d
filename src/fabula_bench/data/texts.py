"""Texts as data sets have them, cleaned by the same loaders as any file."""

from __future__ import annotations

import re

from fabula.errors import DataError, LoadError
from fabula.load import read_text
from fabula_bench.model import Text

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CREDITS = re.compile(r"\A\s*Produced by [^\n]*(?:\n[^\n]+){0,2}?\bpgdp\.net[^\n]*\n")
_LIBRARY = re.compile(
    r"^(?:\*\*\* ?START OF|(?:The )?End of (?:the |this )?Project\s+Gutenberg)[^\n]*", re.MULTILINE
)
_NOTE = re.compile(r"\[\s*Transcriber['’]s Notes?\b[^\]]{0,2000}\]", re.IGNORECASE)
_SPACED_MARK = re.compile(r"(?<=\w)(?: +|\n)([,;:!?]|\.(?! ?\.))")
"""A mark after a word that was in italics; the dots of an ellipsis keep their space."""


def text(id: str, raw: str, place: str, *, title: str = "", author: str = "") -> Text:
    """Return a text of a data set, cleaned. Raises DataError with its place if it has no words."""
    try:
        document = read_text(raw, source=id, collection="", title=title, author=author)
    except LoadError as error:
        raise DataError(f"{place}: the text {id} has no words in it.") from error
    return Text(id, document.title, document.author, document.language, document.text)


def story(raw: str) -> str:
    """Return a story that was taken out of a web page, without what the page left in it.

    Comments, the notes of who transcribed it, and spaces before marks go. Its paragraphs are
    unwrapped when it becomes a `text`.
    """
    bare = _LIBRARY.sub("", _NOTE.sub("\n\n", _COMMENT.sub("", raw)))
    return _SPACED_MARK.sub(r"\1", _CREDITS.sub("", bare))
