"""The prompts of the build of the aspect graph, one in each file."""

from __future__ import annotations

from pathlib import Path

from fabula.models.prompts import fill_template

FOLDER = Path(__file__).parent


def prompt(name: str, /, **values: object) -> str:
    """Return the prompt `<name>.txt` with every $placeholder filled."""
    return fill_template(FOLDER / f"{name}.txt", **values)
