"""Read Markdown: its blocks, headings and front matter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from fabula.load import html
from fabula.load.blocks import Block, Draft
from fabula.load.clean import lines, prose, tidy
from fabula.load.encoding import decode
from fabula.load.headings import confirm, join_title, stated_title
from fabula.load.text import plain

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT = re.compile(r"(?:---|\+\+\+)\n(.{0,20000}?)\n(?:---|\.\.\.|\+\+\+)\s*(?:\n|$)", re.DOTALL)
_FIELD = re.compile(r"(title|authors?|lang(?:uage)?)\s*[:=]\s*(\S.*)", re.IGNORECASE)
_BREAKS = {"softbreak": " ", "hardbreak": "\n"}
_HEADINGS = ("h1", "h2", "h3")
_MAX_NESTING = 50
"""The most nested quotes and lists; the parser is recursive, and drops what is deeper."""


def read(data: bytes, source: str, limit: int = 0) -> Draft:
    """Read a Markdown file. Raises LoadError if it is not text."""
    from markdown_it import MarkdownIt

    fields, body = _read_front_matter(tidy(decode(data, source)))
    parser = MarkdownIt("commonmark", {"maxNesting": 2 * _MAX_NESTING}).enable("table")
    tokens = parser.parse(body)
    if any(token.level >= 2 * _MAX_NESTING - 1 for token in tokens):
        return plain(body)
    blocks = tuple(_blocks(tokens, source))
    title = fields.get("title") or stated_title(blocks)
    return Draft(
        blocks=confirm(blocks, title),
        title=title,
        author=fields.get("author", ""),
        language=fields.get("lang", ""),
    )


def _read_front_matter(text: str) -> tuple[dict[str, str], str]:
    """The fields of a YAML or TOML block at the top, and the text below it."""
    match = _FRONT.match(text)
    if not match:
        return {}, text
    fields: dict[str, str] = {}
    for line in match[1].split("\n"):
        if field := _FIELD.fullmatch(line.strip()):
            name = field[1].casefold().removesuffix("s").replace("language", "lang")
            fields[name] = field[2].strip(" \"'[]")
    return fields, text[match.end() :]


def _blocks(tokens: Iterable[Token], source: str) -> Iterator[Block]:
    """One block for each paragraph, heading, list, row of a table and block of code."""
    heading = False
    list_lines: list[str] = []
    depth = 0
    for token in tokens:
        depth += {"list_open": 1, "list_close": -1}.get(token.type.partition("_")[2], 0)
        heading = token.tag in _HEADINGS if token.type == "heading_open" else heading
        texts = list(_texts(token, source))
        if depth and texts:
            list_lines += [text for text in texts if text]
            continue
        if list_lines and not depth:
            yield Block("\n".join(list_lines))
            list_lines = []
        for text in texts:
            if text:
                yield Block(text, join_title(text) if heading else "")
        heading = heading and token.type != "heading_close"


def _texts(token: Token, source: str) -> Iterator[str]:
    if token.type == "inline":
        yield lines("".join(_inline(token.children or [])))
    elif token.type in ("fence", "code_block"):
        yield from prose(token.content)
    elif token.type == "html_block":
        yield from (block.text for block in html.page(token.content, source).blocks)


def _inline(children: Iterable[Token]) -> Iterator[str]:
    for child in children:
        if child.type in ("text", "code_inline"):
            yield child.content
        elif child.type == "html_inline":
            yield "\n" if re.match(r"<br\b", child.content, re.IGNORECASE) else ""
        else:
            yield _BREAKS.get(child.type, "")
