"""The texts that models are asked with about aspects, one a file."""

from __future__ import annotations

from pathlib import Path

from fabula.models.prompts import filled

FOLDER = Path(__file__).parent


def prompt(name: str, /, **values: object) -> str:
    """`prompts/<name>.txt` with every $placeholder filled, as by `fabula.models.prompts.prompt`."""
    return filled(FOLDER / f"{name}.txt", **values)
