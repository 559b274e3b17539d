"""What a chat model reports of a community, as far as it says what that rests on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from fabula.errors import BadReply
from fabula.graphs.communities.contexts import Context
from fabula.graphs.communities.prompts import prompt
from fabula.graphs.communities.stand_ins import StandIns
from fabula.graphs.communities.values import CommunityReport, ReportFinding
from fabula.graphs.entities.records import read_line, read_list, read_numbers
from fabula.models import Chat, Prompt
from fabula.models.prompted import WORDS
from fabula.models.replies import ask, read_object, shortened

TRIES = 3
ROOM = 4
"""A reply may take so many times its limit: it has numbers and names of fields, too."""
MOST_FINDINGS = 10
LONGEST_TITLE, LONGEST_WHY = 40, 60
"""Tokens."""
A_PART = 3
"""A summary, or what one finding says, may have a third of a report."""
FAR_TOO_LONG = 1.5
"""Times its limit; what comes after is left out."""
HIGHEST = 10.0

UNKNOWN, UNFOUNDED = "unknown", "unfounded"
MALFORMED, SURPLUS = "malformed", "surplus"
"""Why a reference, or a finding, is left out."""


class FindingShape(BaseModel):
    """One thing that a report says."""

    model_config = ConfigDict(extra="forbid")

    summary: str
    explanation: str
    refs: list[int]


class ReportReply(BaseModel):
    """A report on a group."""

    model_config = ConfigDict(extra="forbid")

    title: str
    summary: str
    findings: list[FindingShape]
    importance: float
    why: str


@dataclass(frozen=True, slots=True)
class Reporter:
    """Asks a chat model for reports of at most `limit` tokens."""

    chat: Chat
    limit: int
    temperature: float
    stand_ins: StandIns

    def report(self, context: Context) -> tuple[CommunityReport, Mapping[str, int]]:
        """What it says of one community, and what of that was left out, by the reason.

        Raises BadReply.
        """
        asked = Prompt(
            system=prompt("report_system"),
            user=prompt(
                "report", context=context.text, tokens=self.limit, words=round(WORDS * self.limit)
            ),
            max_tokens=ROOM * self.limit,
            temperature=self.temperature,
            schema=ReportReply,
            stand_in=lambda: self.stand_ins.reported(context),
        )
        return ask(
            self.chat, asked, lambda reply: read_report(reply, len(context.rows), self.limit), TRIES
        )


def read_report(reply: str, rows: int, limit: int) -> tuple[CommunityReport, Counter[str]]:
    """The report that a reply holds, and how much of it was left out, by the reason.

    A finding counts that refers to one of the `rows`. Raises BadReply where there is none, or no
    title, summary or importance.
    """
    given = read_object(reply)
    title = shortened(read_line(given.get("title")), LONGEST_TITLE)
    summary = shortened(read_line(given.get("summary")), limit // A_PART)
    if not (re.search(r"\w", title) and re.search(r"\w", summary)):
        raise BadReply('The report has no "title" or no "summary".')
    importance = _importance(given.get("importance"))
    dropped: Counter[str] = Counter()
    findings = _findings(read_list(given.get("findings")), rows, limit, dropped)
    if not findings:
        raise BadReply(f'No finding has "refs" to the numbers of lines, 1 to {rows}.')
    why = shortened(read_line(given.get("why")), LONGEST_WHY)
    report = CommunityReport(title, summary, (), importance, why)
    kept: list[ReportFinding] = []
    for one in findings:
        longer = CommunityReport(title, summary, (*kept, one), importance, why)
        if kept and longer.tokens > FAR_TOO_LONG * limit:
            dropped[SURPLUS] += len(findings) - len(kept)
            break
        kept.append(one)
        report = longer
    return report, +dropped


def _importance(given: Any) -> float:
    """From 0 to 10, be it written as "7" or "7/10". Raises BadReply where there is no number."""
    if isinstance(given, str) and (found := re.match(r"\s*(\d{1,9}(?:\.\d{1,9})?)", given)):
        given = float(found[1])
    # What is no number at all (NaN) is not equal to itself.
    if not isinstance(given, int | float) or isinstance(given, bool) or given != given:
        raise BadReply('Expected "importance" to be a number from 0 to 10.')
    return float(max(0.0, min(HIGHEST, given)))


def _findings(
    given: Sequence[Any], rows: int, limit: int, dropped: Counter[str]
) -> list[ReportFinding]:
    found = []
    dropped[SURPLUS] += len(given[MOST_FINDINGS:])
    for one in given[:MOST_FINDINGS]:
        told = one if isinstance(one, dict) else {}
        summary = shortened(read_line(told.get("summary")), limit // A_PART)
        if not re.search(r"\w", summary):
            dropped[MALFORMED] += 1
            continue
        numbers = read_numbers(told.get("refs"))
        refs = tuple(number for number in numbers if 1 <= number <= rows)
        dropped[UNKNOWN] += len(numbers) - len(refs)
        if not refs:
            dropped[UNFOUNDED] += 1
            continue
        explanation = shortened(read_line(told.get("explanation")), limit // A_PART)
        found.append(ReportFinding(summary, explanation, refs))
    return found
