"""What a chat model reports of a community, as far as it says what that rests on."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from fabula.errors import BadReply
from fabula.graph.extraction import MALFORMED, SURPLUS, ModelQuestion, Records
from fabula.graphs.communities.contexts import ReportContext
from fabula.graphs.communities.values import CommunityReport, ReportFinding
from fabula.graphs.entities.records import read_line, read_list, read_numbers
from fabula.models.prompted import WORDS_PER_TOKEN
from fabula.models.replies import read_object, shorten
from fabula.models.schemas import Filled, ReplyShape
from fabula.text import tokens

PROMPTS = Path(__file__).parent / "prompts"
REPORTING = "reports"
"""The step in which reports are asked for, and in which there may be gaps."""
ROOM = 4
"""A reply may take this many times its limit: it has numbers and names of fields, too."""
MAX_FINDINGS = 10
MAX_TITLE_TOKENS, MAX_WHY_TOKENS = 40, 60
PARTS = 3
"""A summary, or what one finding says, may have a third of a report."""
MAX_EXCESS = 1.5
"""How many times its limit a report may have; findings beyond are left out."""
MAX_IMPORTANCE = 10.0

UNKNOWN, UNFOUNDED = "unknown", "unfounded"
"""Why a reference, or a finding, is left out besides: there is no such line; it refers to none."""
USUAL_FINDINGS, USUAL_SHARE = 5.0, 0.8
"""What a dry run assumes of a model that wrote nothing yet: findings of a report, and the share of
its limit that it takes."""


class FindingShape(ReplyShape):
    """One thing that a report says."""

    summary: str
    explanation: str
    refs: Filled[int]


class ReportReply(ReplyShape):
    """A report on a group."""

    title: str
    summary: str
    findings: Filled[FindingShape]
    importance: float
    why: str


def ask_report(
    limit: int, means: Mapping[str, float]
) -> ModelQuestion[ReportContext, Records[CommunityReport]]:
    """Return the question for a report of at most `limit` tokens on a community."""
    return ModelQuestion(
        step=REPORTING,
        prompt=PROMPTS / "report",
        values=lambda context: {
            "context": context.text,
            "tokens": limit,
            "words": round(WORDS_PER_TOKEN * limit),
        },
        schema=ReportReply,
        max_tokens=ROOM * limit,
        read=lambda reply, context: read_report(reply, len(context.rows), limit),
        placeholder=lambda context, _: expected_report(
            context,
            round(means.get("mean_findings", USUAL_FINDINGS)),
            round(means.get("mean_report", USUAL_SHARE * limit)),
        ),
    )


def read_report(reply: str, rows: int, limit: int) -> Records[CommunityReport]:
    """Return the report that a reply has, and how much of it was left out.

    Args:
        reply: The reply.
        rows: The number of lines that findings may refer to; one that refers to none is left out.
        limit: The most tokens that were asked for.

    Raises:
        BadReply: There is no title, summary or importance, or no finding that can be used.
    """
    given = read_object(reply)
    title = shorten(read_line(given.get("title")), MAX_TITLE_TOKENS)
    summary = shorten(read_line(given.get("summary")), limit // PARTS)
    if not (re.search(r"\w", title) and re.search(r"\w", summary)):
        raise BadReply('The report has no "title" or no "summary".')
    importance = _importance(given.get("importance"))
    dropped: Counter[str] = Counter()
    findings = _findings(read_list(given.get("findings")), rows, limit, dropped)
    if not findings:
        raise BadReply(f'No finding has "refs" to the numbers of lines, 1 to {rows}.')
    why = shorten(read_line(given.get("why")), MAX_WHY_TOKENS)
    report = CommunityReport(title, summary, (), importance, why)
    for count in range(1, len(findings) + 1):
        longer = CommunityReport(title, summary, tuple(findings[:count]), importance, why)
        if count > 1 and longer.tokens > MAX_EXCESS * limit:
            dropped[SURPLUS] += len(findings) - count + 1
            break
        report = longer
    return Records((report,), +dropped)


def expected_report(context: ReportContext, findings: int, size: int) -> str:
    """Return a report of a number of findings and tokens in the words of its context, as JSON."""
    count = max(1, findings)
    words = context.text.split()
    text = tokens.cut(" ".join(islice(cycle(words), 4000)), size)
    length = max(1, len(text) // (count + 1))
    first, *others = [
        text[start : start + length] for start in range(0, length * (count + 1), length)
    ]
    numbers = cycle(range(1, len(context.rows) + 1))
    report = {
        "title": "A group",
        "summary": f"{first}.",
        "findings": [
            {"summary": f"{piece}.", "explanation": "", "refs": list(islice(numbers, 3))}
            for piece in others
        ],
        "importance": 5,
        "why": "it is told",
    }
    return json.dumps(report, ensure_ascii=False)


def _importance(given: Any) -> float:
    """From 0 to 10, also one written as "7" or "7/10". Raises BadReply if it is no number."""
    if isinstance(given, str) and (number := re.match(r"\s*(\d{1,9}(?:\.\d{1,9})?)", given)):
        given = float(number[1])
    # What is no number at all (NaN) is not equal to itself.
    if not isinstance(given, int | float) or isinstance(given, bool) or given != given:
        raise BadReply('Expected "importance" to be a number from 0 to 10.')
    return float(max(0.0, min(MAX_IMPORTANCE, given)))


def _findings(
    items: Sequence[Any], rows: int, limit: int, dropped: Counter[str]
) -> list[ReportFinding]:
    findings = []
    dropped[SURPLUS] += len(items[MAX_FINDINGS:])
    for item in items[:MAX_FINDINGS]:
        fields = item if isinstance(item, dict) else {}
        summary = shorten(read_line(fields.get("summary")), limit // PARTS)
        if not re.search(r"\w", summary):
            dropped[MALFORMED] += 1
            continue
        numbers = read_numbers(fields.get("refs"))
        refs = tuple(number for number in numbers if 1 <= number <= rows)
        dropped[UNKNOWN] += len(numbers) - len(refs)
        if not refs:
            dropped[UNFOUNDED] += 1
            continue
        explanation = shorten(read_line(fields.get("explanation")), limit // PARTS)
        findings.append(ReportFinding(summary, explanation, refs))
    return findings
