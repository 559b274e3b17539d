"""The result of a reader: the blocks of a text, before they become one document."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a stanza, a list or a heading, cleaned.

    Attributes:
        text: The text.
        heading: The title of the section that starts with this block; '' if none does.

    """

    text: str
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """The blocks of a file in text order, and its metadata; '' for what the file does not state."""

    blocks: tuple[Block, ...]
    title: str = ""
    author: str = ""
    language: str = ""
