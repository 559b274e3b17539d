"""A report's Markdown as a page that needs no other file: its style and its figures are within."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from fabula.experiments.report.colours import DARK, LIGHT, as_variables, to_variables

STYLE = Path(__file__).with_name("page.css")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""The page loads nothing from elsewhere, whatever a text in it says."""


def to_html(markdown: str, folder: Path) -> str:
    """Return the report as one page, for any width, light or dark as the browser prefers.

    Its figures are the SVG files beside the PNG files that it names, from `folder`.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = _with_frames(parser.parse(markdown))
    for image in (
        child for token in tokens for child in token.children or () if child.type == "image"
    ):
        drawing = (folder / str(image.attrs["src"])).with_suffix(".svg")
        image.type, image.content = "html_inline", _within(drawing, _text(image))
    headings = {
        number: _text(tokens[number + 1])
        for number, token in enumerate(tokens)
        if token.type == "heading_open" and token.tag == "h2"
    }
    links = ""
    for number, title in headings.items():
        place = re.sub(r"\W+", "-", title.lower())
        tokens[number].attrSet("id", place)
        links += f'<a href="#{place}">{escape(title)}</a>'
    tokens.insert(min(headings), _html(f'<nav aria-label="Sections">{links}</nav>\n'))
    return "\n".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(_text(tokens[1]))}</title>",
            f"<style>\n{_style()}</style>\n</head>\n<body>\n<main>",
            parser.renderer.render(tokens, parser.options, {}),
            "</main>\n</body>\n</html>\n",
        )
    )


def _style() -> str:
    dark = f"@media (prefers-color-scheme: dark) {{ :root {{ {as_variables(DARK)} }} }}"
    return f":root {{ {as_variables(LIGHT)} }}\n{dark}\n{STYLE.read_text(encoding='utf-8')}"


def _with_frames(tokens: Iterable[Token]) -> list[Token]:
    """Give each table the block before it as its caption; fold it if that is a heading."""
    framed: list[Token] = []
    frame = ""
    for token in tokens:
        if token.type == "table_open":
            opened, caption, closed = framed[-3:]
            is_folded = opened.type == "heading_open"
            frame = "details" if is_folded else "figure"
            opened.tag = closed.tag = "summary" if is_folded else "figcaption"
            framed.insert(-3, _html(f'<{frame} class="table">\n'))
            # Wide tables are moved sideways in a frame of their own, which the keyboard reaches.
            scroll = (
                f'class="scroll" tabindex="0" role="region" aria-label="{escape(_text(caption))}"'
            )
            framed.append(_html(f"<div {scroll}>\n"))
        elif token.type == "td_open" and framed[-1].type == "tr_open":
            token.tag = "th"
            token.attrSet("scope", "row")
        elif token.type == "td_close":
            token.tag = framed[-2].tag
        framed.append(token)
        if token.type == "table_close":
            framed.append(_html(f"</div></{frame}>\n"))
    return framed


def _html(content: str) -> Token:
    return Token("html_block", "", 0, content=content)


def _text(inline: Token) -> str:
    return "".join(child.content for child in inline.children or [])


def _within(drawing: Path, title: str) -> str:
    """Return a drawing as a part of the page: no prologue, no ids, the page's colours."""
    svg = drawing.read_text(encoding="utf-8")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r'<(g|text) id="[^"]*"', r"<\1", svg)
    return to_variables(svg).replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)
