"""Reading models' replies about aspects, summaries and details."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from fabula.errors import BadReply
from fabula.graphs.aspects.options import DetailsForm
from fabula.graphs.aspects.schemas import AspectsReply, DetailsReply, PassagesReply, SummariesReply
from fabula.models.replies import one_line, plain_name, read_as, read_summary

MIN_SHARED_WORDS = 0.7
"""A detail repeats another if they share at least this share of the shorter one's words."""


def read_aspects(reply: str, known: Collection[str]) -> frozenset[str]:
    """Return the aspects that a reply names; there may be none.

    Case, bullets and fences do not matter.

    Args:
        reply: A model's reply.
        known: The names that it may choose from.

    Raises:
        BadReply: It names an aspect that is not among them.
    """
    names = {plain_name(name): name for name in known}
    replied = {plain_name(name) for name in read_as(reply, AspectsReply).aspects} - {""}
    unknown = sorted(replied - names.keys())
    if unknown:
        raise BadReply(f"{', '.join(unknown)}: not one of the aspects {', '.join(known)}.")
    return frozenset(names[name] for name in replied)


def read_summaries(reply: str, known: Collection[str]) -> dict[str, str]:
    """Return the summaries in a reply, by aspect; there may be none.

    Args:
        reply: A model's reply.
        known: The names of the aspects that it may choose from.

    Raises:
        BadReply: It names an aspect that is not among them, or a summary is empty.
    """
    names = {plain_name(name): name for name in known}
    summaries: dict[str, str] = {}
    for record in read_as(reply, SummariesReply).summaries:
        if plain_name(record.aspect) not in names:
            raise BadReply(f"{record.aspect}: not one of the aspects {', '.join(known)}.")
        summaries.setdefault(names[plain_name(record.aspect)], read_summary(record.summary))
    return summaries


def read_details(reply: str, count: int, form: DetailsForm = "facts") -> tuple[str, ...]:
    """Return at most `count` details; of key facts, none repeats another.

    Condensations of a whole passage say the same again in another form, so that only one that is
    the same text as another is left out.

    Raises:
        BadReply: There is none.
    """
    details = _select(read_as(reply, DetailsReply).details, form)
    if not details:
        raise BadReply("There is no detail in the reply.")
    return details[:count]


def read_passages(
    reply: str, passages: int, count: int, form: DetailsForm = "facts"
) -> dict[int, tuple[str, ...]]:
    """Return at most `count` details of each passage that has some, by its number from 1.

    Args:
        reply: A model's reply.
        passages: How many passages its prompt showed.
        count: Maximum number of details of a passage.
        form: What a detail is; see `read_details`.

    Raises:
        BadReply: No passage has a detail, or a number is not a passage's, or comes twice.
    """
    details_of: dict[int, tuple[str, ...]] = {}
    for record in read_as(reply, PassagesReply).passages:
        if not 1 <= record.passage <= passages or record.passage in details_of:
            raise BadReply(f"Passage {record.passage} is none of the {passages}, or comes twice.")
        if details := _select(record.details, form):
            details_of[record.passage] = details[:count]
    if not details_of:
        raise BadReply("There is no detail in the reply.")
    return details_of


def _select(texts: Sequence[str], form: DetailsForm) -> tuple[str, ...]:
    """Return the details that are not empty, without those that repeat one before them."""
    repeats = _repeats if form == "facts" else _equals
    distinct: list[str] = []
    for text in texts:
        fragment = one_line(text).lstrip("-*• ")
        if fragment and not any(repeats(fragment, other) for other in distinct):
            distinct.append(fragment)
    return tuple(distinct)


def _equals(fragment: str, other: str) -> bool:
    return plain_name(fragment) == plain_name(other)


def _repeats(fragment: str, other: str) -> bool:
    left, right = (set(re.findall(r"\w+", text.casefold())) for text in (fragment, other))
    shorter = min(len(left), len(right))
    return shorter > 0 and len(left & right) >= MIN_SHARED_WORDS * shorter
