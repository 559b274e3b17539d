"""The result of a reader: the blocks of a text, before they become one document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fabula.text.metadata import Metadata


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a stanza, a list or a heading, cleaned.

    Attributes:
        text: The text; it may have the marks of pages and lines, see `locators`.
        heading: The title of the section that starts with this block; '' if none does.
        level: The depth of the heading in the file's own outline, from 1, the outermost; 0 if the
            file does not say.
    """

    text: str
    heading: str = ""
    level: int = 0


@dataclass(frozen=True, slots=True)
class Draft:
    """The blocks of a file in text order, and its metadata; '' for what the file does not state.

    Attributes:
        blocks: The blocks.
        title: The title.
        author: The author, or several, separated by commas.
        language: A code or a name of the language.
        published: The date or year of the text.
        edition: The edition that the file was made from.
        left_out: The characters that the reader left out, by kind, as "licence" or "page numbers".
        warnings: What was wrong with the file, in full sentences.
        metadata: The other fields that the file states, by `fabula.text.metadata`.
    """

    blocks: tuple[Block, ...]
    title: str = ""
    author: str = ""
    language: str = ""
    published: str = ""
    edition: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict)
