"""The prompts of identities, one text file each."""

from __future__ import annotations

from pathlib import Path

from fabula.models.prompts import fill_template

FOLDER = Path(__file__).parent


def prompt(name: str, /, **values: object) -> str:
    """Return `prompts/<name>.txt` with every $placeholder filled, as `prompts.filled` does it."""
    return fill_template(FOLDER / f"{name}.txt", **values)
