"""Files of annotations that quote a text, as it stands or with other letters."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import fabula

CAROL = Path(fabula.__file__).parent / "texts" / "a-christmas-carol.txt"


def edited(text: str, share: float) -> str:
    """A text in which a share of the letters is another one."""
    draw = random.Random(412)
    return "".join(
        draw.choice("etaoin") if letter.isalpha() and draw.random() < share else letter
        for letter in text
    )


def quoted(quotations: Sequence[str]) -> bytes:
    """A file of annotations, each of the first words like a quotation."""
    items = [
        {
            "type": "Annotation",
            "target": {"selector": {"type": "TextQuoteSelector", "exact": quote}},
        }
        for quote in quotations
    ]
    return json.dumps(items).encode()


def quote_many(text: str, count: int) -> bytes:
    """A file of changed quotations of a text: each takes some milliseconds to be found."""
    draw = random.Random(count)
    starts = (draw.randrange(len(text) - 120) for _ in range(count))
    return quoted([edited(text[start : start + 120], 0.1) for start in starts])
