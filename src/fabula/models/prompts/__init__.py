"""The prompts, one text file each, and how values are put into them safely."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from string import Template

FOLDER = Path(__file__).parent
TAG = re.compile(r"</?([A-Za-z][\w-]*)")
"""A tag of a template; tags enclose the parts where texts of the book are inserted."""
SHARED = (
    *("passage", "aspect", "conversation", "question", "option", "answer", "reference"),
    *("statements", "reply", "facts", "types", "pairs", "report", "point", "senses"),
)
"""Tags of all our prompts: in no prompt can a passage imitate a part of another one."""
QUOTE = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"
"""Replaces the bracket of a tag that is found in a value."""


def fill_prompt(name: str, /, **values: object) -> str:
    """Return the text of `prompts/<name>.txt` with every $placeholder filled.

    Whatever looks like a tag in a value is made harmless, so that no passage can close the part
    that it stands in.

    Raises:
        KeyError: The value of a placeholder is missing.
        TypeError: There is no placeholder for a value.

    """
    return fill_template(FOLDER / f"{name}.txt", **values)


def fill_template(file: Path, /, **values: object) -> str:
    """Return the text of any prompt file with every $placeholder filled, as `fill_prompt` does."""
    template, tags = _template(file)
    for extra in sorted(values.keys() - set(template.get_identifiers())):
        raise TypeError(f"{file.name} has no placeholder ${extra}")
    harmless = {key: tags.sub(QUOTE, str(value)) for key, value in values.items()}
    return template.substitute(harmless)


@functools.cache
def _template(file: Path) -> tuple[Template, re.Pattern[str]]:
    """A prompt file, and a pattern that matches the opening bracket of each tag in a value.

    The tags are SHARED and those of the file itself, so that none is forgotten, not even in prompts
    of other packages. A tag counts with and without a plural s, in either case, and with spaces
    after its bracket, as a model reads all of these as the same tag.
    """
    text = file.read_text(encoding="utf-8").strip()
    names = {name.lower().removesuffix("s") for name in (*SHARED, *TAG.findall(text))}
    tags = "|".join(re.escape(name) for name in sorted(names))
    return Template(text), re.compile(rf"<(?=\s*/?\s*(?:{tags})s?\b)", re.IGNORECASE)
