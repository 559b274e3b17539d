"""Replies about aspects, summaries and details, read into values or refused."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from fabula.errors import BadReply
from fabula.graphs.aspects.schemas import AspectsReply, DetailsReply, PassagesReply, SummariesReply
from fabula.models.replies import one_line, plain_name, read_as, read_summary

ALIKE = 0.7
"""Share of the shorter detail's words from which another with them says the same."""


def read_aspects(reply: str, known: Collection[str]) -> frozenset[str]:
    """The aspects a reply names, maybe none; case, bullets and fences do not matter.

    Raises BadReply when it names one that is not in the closed list `known`.
    """
    names = {plain_name(name): name for name in known}
    named = {plain_name(name) for name in read_as(reply, AspectsReply).aspects} - {""}
    unknown = sorted(named - names.keys())
    if unknown:
        raise BadReply(f"{', '.join(unknown)}: not one of the aspects {', '.join(known)}.")
    return frozenset(names[name] for name in named)


def read_summaries(reply: str, known: Collection[str]) -> dict[str, str]:
    """The summaries a reply holds, by aspect; maybe none.

    Raises BadReply for an aspect that is not in the closed list `known`, and an empty summary.
    """
    names = {plain_name(name): name for name in known}
    summaries: dict[str, str] = {}
    for one in read_as(reply, SummariesReply).summaries:
        if plain_name(one.aspect) not in names:
            raise BadReply(f"{one.aspect}: not one of the aspects {', '.join(known)}.")
        summaries.setdefault(names[plain_name(one.aspect)], read_summary(one.summary))
    return summaries


def read_details(reply: str, count: int) -> tuple[str, ...]:
    """At most `count` fragments, none like another. Raises BadReply when there is none."""
    details = _distinct(read_as(reply, DetailsReply).details)
    if not details:
        raise BadReply("There is no detail in the reply.")
    return details[:count]


def read_passages(reply: str, passages: int, count: int) -> dict[int, tuple[str, ...]]:
    """At most `count` fragments of each passage that has some, by their numbers from 1.

    Raises BadReply when no passage has any, or when the numbers are not those of the passages.
    """
    found: dict[int, tuple[str, ...]] = {}
    for one in read_as(reply, PassagesReply).passages:
        if not 1 <= one.passage <= passages or one.passage in found:
            raise BadReply(f"Passage {one.passage} is none of the {passages}, or comes twice.")
        if details := _distinct(one.details):
            found[one.passage] = details[:count]
    if not found:
        raise BadReply("There is no detail in the reply.")
    return found


def _distinct(texts: Sequence[str]) -> tuple[str, ...]:
    """The fragments that say something, none like another."""
    kept: list[str] = []
    for text in texts:
        fragment = one_line(text).lstrip("-*• ")
        if fragment and not any(_alike(fragment, other) for other in kept):
            kept.append(fragment)
    return tuple(kept)


def _alike(one: str, other: str) -> bool:
    """Whether most of the shorter's words are in the other."""
    left, right = (set(re.findall(r"\w+", text.casefold())) for text in (one, other))
    shorter = min(len(left), len(right))
    return shorter > 0 and len(left & right) >= ALIKE * shorter
