"""The prompts, one text file each, and how values are put into them safely."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from itertools import cycle, islice
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.models import NumberedText

FOLDER = Path(__file__).parent
TAG = re.compile(r"</?([A-Za-z][\w-]*)")
"""A tag of a template; tags enclose the parts where texts of the book are inserted."""
SHARED = (
    *("passage", "aspect", "conversation", "question", "option", "answer", "reference"),
    *("statements", "reply", "facts", "types", "pairs", "report", "point", "senses", "overview"),
)
"""Tags of all our prompts: in no prompt can a passage imitate a part of another one."""
QUOTE = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"
"""Replaces the bracket of a tag that is found in a value."""
_NUMBERS = r"\d{1,9}(?:\s*[,;]\s*\d{1,9})*"
_MARK = re.compile(rf"\[(\s*(?:(?:passage\s+)?{_NUMBERS}|before)\s*)\]", re.IGNORECASE)
"""What looks like a mark of a listed text: [3], [1, 3], [passage 3] or [before]."""


def fill_prompt(name: str, /, **values: object) -> str:
    """Return the text of `prompts/<name>.txt` with every $placeholder filled.

    Whatever looks like a tag in a value is made harmless, so that no passage can close the part
    that it stands in.

    Raises:
        KeyError: The value of a placeholder is missing.
        TypeError: There is no placeholder for a value.
    """
    return fill_template(FOLDER / f"{name}.txt", **values)


def without_notice(question: str) -> str:
    """Return a question without what asks a model not to tell the rest of a text.

    The notice is for the model that answers; searched with, it would find other passages.
    """
    notice = fill_prompt("unread", question="").strip()
    return question.strip().removesuffix(notice).strip()


def read_prompt(name: str) -> str:
    """Return the text of `prompts/<name>.txt` as it is, with its placeholders."""
    return _template(FOLDER / f"{name}.txt")[0].template


def escape_marks(text: str) -> str:
    """Return a text in which nothing looks like the mark of a listed text: [3] reads (3).

    Notes of a book are often printed so. In a list of passages such a note would be the number of
    another passage, and a reply that refers to it would be counted to the wrong chunk.
    """
    return _MARK.sub(r"(\1)", text)


def number_texts(texts: Iterable[str], label: str = "") -> list[str]:
    """Return texts as prompts list them, each after its number from 1 on; none can forge another.

    Args:
        texts: The texts, in order.
        label: What stands before the number, as `passage ` in [passage 1].
    """
    return [
        f"[{label}{number}] {escape_marks(text.strip())}" for number, text in enumerate(texts, 1)
    ]


def list_passages(passages: Iterable[NumberedText]) -> list[str]:
    """Return passages as prompts list them, each after its number and its place.

    Both the place, which is made of the book's headings, and the text are the book's words, and
    neither can forge a number.
    """
    return [
        f"[{number}] {escape_marks(' '.join(place.split()))}\n{escape_marks(text.strip())}"
        if place
        else f"[{number}] {escape_marks(text.strip())}"
        for number, place, text in passages
    ]


def usual_text(words: str, tokens: int) -> str:
    """Return a placeholder of a reply: these words, repeated to about `tokens` tokens."""
    length = max(1, round(tokens * 0.75))
    return " ".join(islice(cycle(words.split() or ["word"]), length))


def fill_template(file: Path, /, **values: object) -> str:
    """Return the text of any prompt file with every $placeholder filled, as `fill_prompt` does."""
    template, tags = _template(file)
    for extra in sorted(values.keys() - set(template.get_identifiers())):
        raise TypeError(f"{file.name} has no placeholder ${extra}")
    harmless = {key: tags.sub(QUOTE, str(value)) for key, value in values.items()}
    return template.substitute(harmless)


@functools.cache
def _template(file: Path) -> tuple[Template, re.Pattern[str]]:
    """A prompt file, and a pattern that matches the opening bracket of each tag in a value."""
    text = file.read_text(encoding="utf-8").strip()
    # The file's own tags too, so that none is forgotten, not even of other packages.
    names = {name.lower().removesuffix("s") for name in (*SHARED, *TAG.findall(text))}
    tags = "|".join(re.escape(name) for name in sorted(names))
    # A model reads a tag with a plural s, in either case or with spaces as the same one.
    return Template(text), re.compile(rf"<(?=\s*/?\s*(?:{tags})s?\b)", re.IGNORECASE)
