"""Writes llms.txt and llms-full.txt, and each page's Markdown beside its HTML (llmstxt.org)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from docs_site.pages import Pages, split_code

ABOUT = """\
# Fabula

> Graph RAG for long narrative texts: books become graphs in Neo4j, and questions are answered
> from them with the passages that prove each answer. A command line, a Python library, an HTTP
> API, MCP, and a page.

Every page of the documentation is beside its HTML as Markdown. llms-full.txt has all of them in
one file.
"""


def write(pages: Pages, titles: Sequence[tuple[tuple[str, ...], str]], site: Path) -> None:
    """Write the files into the built site.

    Args:
        pages: The pages.
        titles: The navigation: headings and title, and path.
        site: The folder of the built site.

    """
    lines, whole = [ABOUT], [ABOUT]
    section = ""
    for heading, path in titles:
        text = pages.relink(path, pages.texts[path])
        if path.startswith("reference/python/") and not path.endswith("index.md"):
            text = re.sub(r"(?m)^::: (\S+)$", r"- `\1`", text)
        if len(heading) > 1 and heading[0] != section:
            section = heading[0]
            lines.append(f"\n## {section}\n")
        title, about = _beginning(text)
        lines.append(f"- [{title}]({path}){f': {about}' if about else ''}")
        whole.append(f"<!-- {path} -->\n\n{text}")
        (site / path).write_text(text, encoding="utf-8")
    (site / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (site / "llms-full.txt").write_text("\n\n".join(whole), encoding="utf-8")


def _beginning(text: str) -> tuple[str, str]:
    """Return the title of a page and the first sentence of its first paragraph."""
    prose = "".join(part for is_code, part in split_code(text) if not is_code)
    match = re.search(r"^# (.+)$", prose, re.MULTILINE)
    title = match[1] if match else ""
    after = prose[match.end() :] if match else prose
    paragraphs = [one.strip() for one in after.split("\n\n") if one.strip()]
    plain = [one for one in paragraphs if not one.startswith(("#", "|", "<", "!", "-", ">"))]
    if not plain:
        return title, ""
    words = " ".join(re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", plain[0]).split())
    return title, re.split(r"(?<=[.:?]) ", words)[0].rstrip(":")
