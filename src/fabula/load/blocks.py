"""Blocks of a text as a reader finds them, before they are one document."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a stanza, a list or a heading, cleaned; `heading` titles a section from here."""

    text: str
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A file's blocks in text order, with what the file says of itself ('' is nothing)."""

    blocks: tuple[Block, ...]
    title: str = ""
    author: str = ""
    language: str = ""
