"""Build a page: a picture and the data its scripts read, in one file that needs no network."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

from fabula_scholar.pictures.shared.svg import clean

SHARED = Path(__file__).parent
UNSAFE_IN_SCRIPT = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
"""Characters that could end a script element or a line in it, as JSON can write them instead."""


def build_page(
    folder: Path,
    script: str,
    styles: Sequence[str],
    *,
    title: str,
    author: str,
    counts: str,
    picture: str,
    data: dict[str, Any],
    search: tuple[str, str],
    reset: str,
) -> str:
    """Return a page as HTML.

    Args:
        folder: The folder of this kind of picture. Its `main.html`, with $picture, and its
            `help.html` become parts of the page.
        script: The file of the script in `folder`, which runs after the shared ones.
        styles: CSS files in `folder`, which follow the shared one.
        title: The title of the document.
        author: Its author, or ''.
        counts: What is drawn, in a line below the title.
        picture: The picture as SVG.
        data: What the script reads, as JSON, from the element `#graph`.
        search: The placeholder and the accessible name of the search field.
        reset: What the button Reset does.
    """
    by = f", by {author}" if author else ""
    scripts = [SHARED / "common.js", SHARED / "stage.js", folder / script]
    return _template(SHARED / "page.html").substitute(
        title=html.escape(clean(f"{title}{by}")),
        counts=html.escape(counts),
        placeholder=html.escape(search[0]),
        search=html.escape(search[1]),
        reset=html.escape(reset),
        help=_read(folder / "help.html").rstrip("\n"),
        main=_template(folder / "main.html").substitute(picture=picture).rstrip("\n"),
        graph=to_script_json(data),
        style="\n".join(
            _read(file) for file in [SHARED / "page.css", *map(folder.joinpath, styles)]
        ),
        script="\n".join(_read(file) for file in scripts),
    )


def to_script_json(value: Any) -> str:
    """Return JSON that is safe inside a script element, whatever a book contains."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.translate(UNSAFE_IN_SCRIPT)


def _template(file: Path) -> Template:
    return Template(_read(file))


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")
