"""The texts that models are asked with, one a file; what goes into them is data."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from string import Template

FOLDER = Path(__file__).parent
MARKER = re.compile(
    r"<(?=/?(?:passages?|aspects?|conversation|question|options?|answer|reference|statements|reply|"
    r"facts|types|pairs|reports?|points|senses)"
    r"\b)",
    re.IGNORECASE,
)
"""What begins or ends a part of our prompts."""


def prompt(name: str, /, **values: object) -> str:
    """`prompts/<name>.txt` with every $placeholder filled.

    A value stays within its part: what looks like a marker of ours in it becomes text. Raises
    KeyError for a missing value and TypeError for one that the text has no place for.
    """
    return filled(FOLDER / f"{name}.txt", **values)


def filled(file: Path, /, **values: object) -> str:
    """As `prompt`, of a text that lies elsewhere."""
    template = _template(file)
    for extra in sorted(values.keys() - set(template.get_identifiers())):
        raise TypeError(f"{file.name} has no place for ${extra}")
    return template.substitute(
        {
            key: MARKER.sub("\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", str(value))
            for key, value in values.items()
        }
    )


@functools.cache
def _template(file: Path) -> Template:
    return Template(file.read_text(encoding="utf-8").strip())
