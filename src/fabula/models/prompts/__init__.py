"""The texts that models are asked with, one a file; what goes into them is data."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from string import Template

FOLDER = Path(__file__).parent
TAG = re.compile(r"</?([A-Za-z][\w-]*)")
"""A tag of a template, which begins or ends the part that a text of the book stands in."""
SHARED = (
    *("passage", "aspect", "conversation", "question", "option", "answer", "reference"),
    *("statements", "reply", "facts", "types", "pairs", "report", "point", "senses"),
)
"""Tags of our prompts together: a passage plays none of the other prompts' parts either."""
QUOTE = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"
"""What stands for the bracket of a tag that was found in a value."""


def prompt(name: str, /, **values: object) -> str:
    """`prompts/<name>.txt` with every $placeholder filled.

    A value stays within its part: what looks like a tag of the same file in it becomes text, so
    that no passage can close the part it stands in. Raises KeyError for a missing value and
    TypeError for one that the text has no place for.
    """
    return filled(FOLDER / f"{name}.txt", **values)


def filled(file: Path, /, **values: object) -> str:
    """As `prompt`, of a text that lies elsewhere."""
    template, tags = _template(file)
    for extra in sorted(values.keys() - set(template.get_identifiers())):
        raise TypeError(f"{file.name} has no place for ${extra}")
    harmless = {key: tags.sub(QUOTE, str(value)) for key, value in values.items()}
    return template.substitute(harmless)


@functools.cache
def _template(file: Path) -> tuple[Template, re.Pattern[str]]:
    """A prompt file, and a pattern that matches the opening bracket of each tag in a value.

    These are the tags that our prompts share, and those of the file itself, so that none can be
    forgotten, also in prompts of other packages. A tag counts with and without a plural s, in
    either case, and with spaces after its bracket: a model reads all of these as the same tag.
    """
    text = file.read_text(encoding="utf-8").strip()
    names = {name.lower().removesuffix("s") for name in (*SHARED, *TAG.findall(text))}
    tags = "|".join(re.escape(name) for name in sorted(names))
    return Template(text), re.compile(rf"<(?=\s*/?\s*(?:{tags})s?\b)", re.IGNORECASE)
