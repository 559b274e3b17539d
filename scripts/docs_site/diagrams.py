"""Diagrams in Mermaid, drawn as SVG when the site is built: a reader's browser runs no script.

mermaidx runs Mermaid itself in a small JavaScript engine. A drawing takes a second, so each is kept
by a hash of its text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FOLDER = Path("diagrams")
"""Where drawings are kept, seen from the folder in which the site is built."""
STYLE = """%%{init: {"theme": "base", "flowchart": {"htmlLabels": true, "useMaxWidth": true},
"themeVariables": {"fontFamily": "DejaVu Sans, Verdana, sans-serif", "fontSize": "15px"}}}%%
"""
MIN_WIDTH = 560.0
"""Pixels to which a wider diagram is shrunk at most."""
_FENCE = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def draw_all(texts: Iterable[str], folder: Path) -> None:
    """Draw each diagram of the pages that is not drawn yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in {match for text in texts for match in _FENCE.findall(text)}:
        path = folder / name_of(source)
        if not path.exists():
            path.write_text(draw(source), encoding="utf-8")


def draw(source: str) -> str:
    """Return a diagram as SVG whose colours are those of the page, by day and by night."""
    import mermaidx

    svg = mermaidx.render(STYLE + source).svg()
    id = f"d{name_of(source).removesuffix('.svg')}"
    # Several diagrams of a page must not share their ids. The page's style sheet has the colours.
    svg = svg.replace("my-svg", id)
    svg = re.sub(r"<style>.*?</style>", "", svg, flags=re.DOTALL)
    # On a phone a wide diagram is scrolled, not shrunk until nobody can read it.
    svg = re.sub(
        r"max-width: ([\d.]+)px;",
        lambda match: f"{match[0]} min-width: {min(float(match[1]), MIN_WIDTH):.0f}px;",
        svg,
        count=1,
    )
    return svg.replace("\n", " ")


def name_of(source: str) -> str:
    """Return the name of the file that holds the drawing of a diagram."""
    digest = hashlib.blake2b(f"{STYLE}{source.strip()}".encode(), digest_size=6)
    return f"{digest.hexdigest()}.svg"


def draw_fence(source: str, *_: Any, **__: Any) -> str:
    """Return the HTML of a block in Mermaid, for pymdownx.superfences."""
    svg = (FOLDER / name_of(source)).read_text(encoding="utf-8")
    return f'<div class="diagram">{svg}</div>'
