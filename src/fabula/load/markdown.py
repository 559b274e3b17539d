"""Markdown: its blocks, its # headings, and its front matter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from fabula.load import html
from fabula.load.blocks import Block, Draft
from fabula.load.clean import lines, prose, tidy
from fabula.load.encoding import decode
from fabula.load.headings import confirm, joined, stated_title
from fabula.load.text import plain

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT = re.compile(r"(?:---|\+\+\+)\n(.{0,20000}?)\n(?:---|\.\.\.|\+\+\+)\s*(?:\n|$)", re.DOTALL)
_FACT = re.compile(r"(title|authors?|lang(?:uage)?)\s*[:=]\s*(\S.*)", re.IGNORECASE)
_BREAKS = {"softbreak": " ", "hardbreak": "\n"}
_HEADINGS = ("h1", "h2", "h3")
_DEEPEST = 50
"""Levels of quotes and lists within each other; the parser recurses, and leaves out the rest."""


def read(data: bytes, source: str) -> Draft:
    """A Markdown file's content. LoadError, naming `source`, if it isn't text."""
    from markdown_it import MarkdownIt

    facts, body = _front(tidy(decode(data, source)))
    parser = MarkdownIt("commonmark", {"maxNesting": 2 * _DEEPEST}).enable("table")
    tokens = parser.parse(body)
    if any(token.level >= 2 * _DEEPEST - 1 for token in tokens):
        return plain(body)
    blocks = tuple(_blocks(tokens, source))
    title = facts.get("title") or stated_title(blocks)
    return Draft(
        blocks=confirm(blocks, title),
        title=title,
        author=facts.get("author", ""),
        language=facts.get("lang", ""),
    )


def _front(text: str) -> tuple[dict[str, str], str]:
    """The facts of a YAML or TOML block at the top, which is left out of the text."""
    found = _FRONT.match(text)
    if not found:
        return {}, text
    facts: dict[str, str] = {}
    for line in found[1].split("\n"):
        if fact := _FACT.fullmatch(line.strip()):
            name = fact[1].casefold().removesuffix("s").replace("language", "lang")
            facts[name] = fact[2].strip(" \"'[]")
    return facts, text[found.end() :]


def _blocks(tokens: Iterable[Token], source: str) -> Iterator[Block]:
    """One block a paragraph, heading, list, row of a table or run of code."""
    heading = False
    listed: list[str] = []
    depth = 0
    for token in tokens:
        depth += {"list_open": 1, "list_close": -1}.get(token.type.partition("_")[2], 0)
        heading = token.tag in _HEADINGS if token.type == "heading_open" else heading
        texts = list(_texts(token, source))
        if depth and texts:
            listed += [text for text in texts if text]
            continue
        if listed and not depth:
            yield Block("\n".join(listed))
            listed = []
        for text in texts:
            if text:
                yield Block(text, joined(text) if heading else "")
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
