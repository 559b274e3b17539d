"""Read Markdown: its blocks, headings and front matter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fabula.load import html
from fabula.load.blocks import Block, Draft
from fabula.load.chapters import MAX_HEADING_CHARACTERS
from fabula.load.clean import lines, prose, tidy
from fabula.load.encoding import decode_text
from fabula.load.front_matter import split_front_matter
from fabula.load.headings import confirm, join_title, stated_title
from fabula.load.hyphens import SOFT_HYPHEN
from fabula.load.obsidian import take_notes
from fabula.load.pandoc import to_commonmark
from fabula.load.stanzas import SENTENCE_END
from fabula.load.text import plain
from fabula.load.titles import real_title
from fabula.load.wrap import space_between

if TYPE_CHECKING:
    from markdown_it.token import Token

_SOFT_BREAK = "\ufdd0"
"""A non-character for a line break that is a space, or nothing where the script has no spaces."""
_MIN_SPEECHES = 3
_MIN_SPEECH_SHARE = 0.6
"""The fewest items of lists with dashes that are sentences, and their share of all, of a text that
begins speeches with a dash."""
_BREAKS = {"softbreak": _SOFT_BREAK, "hardbreak": "\n"}
_HEADINGS = ("h1", "h2", "h3")
_MAX_NESTING = 50
"""The most nested quotes and lists; the parser is recursive, and drops what is deeper."""


def read(data: bytes, source: str, limit: int = 0) -> Draft:
    """Read a Markdown file. Raises LoadError if it is not text."""
    from markdown_it import MarkdownIt

    decoded = decode_text(data, source)
    front = split_front_matter(tidy(decoded.text), markdown=True)
    fields = front.fields
    left_out = Counter({"front matter": front.left_out})
    text = take_notes(front.text, left_out)
    parser = MarkdownIt("commonmark", {"maxNesting": 2 * _MAX_NESTING}).enable("table")
    tokens = parser.parse(to_commonmark(text))
    if any(token.level >= 2 * _MAX_NESTING - 1 for token in tokens):
        return replace(plain(text), warnings=decoded.warnings)
    blocks = tuple(_blocks(_without_false_headings(tokens), source))
    title = fields.get("title") or real_title(stated_title(blocks))
    return Draft(
        blocks=confirm(blocks, title),
        title=title,
        author=fields.get("author", ""),
        language=fields.get("language", ""),
        published=fields.get("published", ""),
        edition=fields.get("edition", ""),
        left_out=+left_out,
        warnings=decoded.warnings,
        metadata=front.others,
    )


def _blocks(tokens: Sequence[Token], source: str) -> Iterator[Block]:
    """One block for each paragraph, heading, list, row of a table and block of code."""
    level = 0
    list_lines: list[str] = []
    depth = 0
    marker = ""
    has_speeches = _has_speeches(tokens)
    for token in tokens:
        depth += {"list_open": 1, "list_close": -1}.get(token.type.partition("_")[2], 0)
        if token.type == "heading_open":
            level = int(token.tag[1]) if token.tag in _HEADINGS else 0
        elif token.type == "list_item_open":
            marker = _marker(token, has_speeches=has_speeches)
        texts = list(_texts(token, source))
        if depth and texts:
            texts = [text for text in texts if text]
            if texts and marker:
                texts[0], marker = f"{marker} {texts[0]}", ""
            list_lines += texts
            continue
        if list_lines and not depth:
            yield Block("\n".join(list_lines))
            list_lines = []
        for text in texts:
            if text:
                yield Block(text, join_title(text) if level else "", level)
        level = 0 if token.type == "heading_close" else level


def _marker(item: Token, *, has_speeches: bool) -> str:
    """What an item begins with: its number, or the dash of a speech; a bullet is no text."""
    if item.info:
        return f"{item.info}{item.markup}"
    return item.markup if item.markup == "-" and has_speeches else ""


def _has_speeches(tokens: Sequence[Token]) -> bool:
    """Whether the items of lists with dashes are what people say, as in French and Polish."""
    items = [
        tokens[index + 2].content
        for index, token in enumerate(tokens[:-2])
        if token.type == "list_item_open" and token.markup == "-" and not token.info
    ]
    speeches = sum(SENTENCE_END.search(item) is not None for item in items)
    return speeches >= max(_MIN_SPEECHES, _MIN_SPEECH_SHARE * len(items))


def _without_false_headings(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens, with paragraphs for the headings that are text above the rule between scenes."""
    for opening, inline, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opening.type != "heading_open" or opening.markup not in ("-", "="):
            continue
        is_long = len(inline.content) > MAX_HEADING_CHARACTERS
        if is_long or (opening.markup == "-" and SENTENCE_END.search(inline.content)):
            opening.type, closing.type = "paragraph_open", "paragraph_close"
    return tokens


def _texts(token: Token, source: str) -> Iterator[str]:
    if token.type == "inline":
        yield lines(_join_lines("".join(_inline(token.children or []))))
    elif token.type in ("fence", "code_block"):
        yield from prose(token.content)
    elif token.type == "html_block":
        yield from (block.text for block in html.page(token.content, source).blocks)


def _join_lines(text: str) -> str:
    """The text of a paragraph without the line breaks of the file."""
    joined, *pieces = text.split(_SOFT_BREAK)
    parts = [joined]
    for before, after in zip([joined, *pieces], pieces, strict=False):
        if before.endswith(SOFT_HYPHEN):
            parts[-1] = parts[-1][:-1]
            parts.append(after)
        else:
            parts.append(f"{space_between(before, after)}{after}")
    return "".join(parts)


def _inline(children: Iterable[Token]) -> Iterator[str]:
    for child in children:
        if child.type in ("text", "code_inline"):
            yield child.content
        elif child.type == "html_inline":
            yield "\n" if re.match(r"<br\b", child.content, re.IGNORECASE) else ""
        else:
            yield _BREAKS.get(child.type, "")
