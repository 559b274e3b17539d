"""Pairs of names in settings that a person has decided about: never one entity, or always one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator

from fabula.errors import SettingsError


def split_texts(value: Any) -> Any:
    """Split the one text of a variable or a flag at the ends of lines and at semicolons."""
    if not isinstance(value, str):
        return value
    return tuple(filter(None, (part.strip() for part in re.split(r"[;\n]", value))))


Pairs = Annotated[tuple[str, ...], BeforeValidator(split_texts)]
"""Pairs of names as settings have them: each is "one name = another name"."""


@dataclass(frozen=True, slots=True)
class DecidedPairs:
    """Pairs of printed names that are never one entity's, and pairs that always are.

    Titles tell names apart, capitals and articles don't: Mr. Holmes is not Holmes, the Spirit is
    Spirit. A pair that is in both is kept apart.
    """

    keep_apart: tuple[tuple[str, str], ...] = ()
    join: tuple[tuple[str, str], ...] = ()


def read_decided_pairs(keep_apart: Sequence[str], join: Sequence[str]) -> DecidedPairs:
    """Read the pairs of settings of the type `Pairs`.

    Raises:
        SettingsError: A line is not a pair of names; the message has the setting and the line.
    """
    return DecidedPairs(
        tuple(_read_pair("keep_apart", line) for line in keep_apart),
        tuple(_read_pair("join", line) for line in join),
    )


def _read_pair(setting: str, line: str) -> tuple[str, str]:
    first, _, second = (part.strip() for part in line.partition("="))
    if not (first and second):
        raise SettingsError(
            f"{setting}: {line!r} is not a pair of names. Write it as 'Holmes = Sherlock'."
        )
    return first, second
