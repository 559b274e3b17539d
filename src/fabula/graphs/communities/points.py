"""Answers from many reports: points are read out of them side by side, scored, and put together.

Microsoft's map and reduce (Edge et al. 2024, arXiv 2404.16130, section 3.1.6). The findings that a
point refers to lead to chunks, so that the answer cites the text and not a report.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from fabula.ask.answer import CITATION, escape_citations, find_citations
from fabula.errors import BadReply
from fabula.graph.hits import Filters, Passage
from fabula.graph.mode import Tools
from fabula.graphs.communities.report_search import StoredFinding, StoredReport
from fabula.graphs.entities.records import read_line, read_numbers
from fabula.graphs.entities.retrieval import chunk_hits
from fabula.models import NO_ANSWER, Prompt, Reply
from fabula.models.prompted import WORDS_PER_TOKEN
from fabula.models.prompts import escape_marks, fill_template, usual_text
from fabula.models.replies import ask, read_lists, shorten
from fabula.models.schemas import Filled, ReplyShape
from fabula.text import tokens

PROMPTS = Path(__file__).parent / "modes" / "prompts"
"""A folder apart from the prompts of the build: a change of those makes the graph stale."""
SEED = 86
"""The seed of the order in which reports are put into batches (Microsoft's)."""
MAX_TRIES = 3
"""How often a batch's call is made until its reply can be used."""
MAX_POINTS = 100
"""How many points of one reply are used."""
MAX_REFS = 20
"""How many references of one point are used."""
MAX_POINT_TOKENS = 300
MAX_SCORE = 100
USUAL_POINTS, USUAL_POINT_TOKENS, USUAL_ANSWER_TOKENS = 5, 60, 600
"""What a dry run assumes: points of a reply, and the tokens of a point and of an answer."""

Cites = Mapping[int, tuple[str, ...]]
"""The ids of the chunks that each citation number of a text stands for."""


@dataclass(frozen=True, slots=True)
class Point:
    """A part of an answer."""

    text: str
    """With citations as [1]."""
    score: int
    """How much it helps, from 1 to 100; 0 if it does not help."""
    cites: Cites


# The names and docstrings of these classes are part of the schema that an endpoint is sent, and so
# of the response cache's keys: a change of them has every call made and paid again.


class PointShape(ReplyShape):
    """What numbered findings say to a question."""

    description: str
    score: int
    refs: Filled[int]


class PointsReply(ReplyShape):
    """What some reports say to a question."""

    points: list[PointShape]


# The map


def make_batches(reports: Sequence[StoredReport], limit: int) -> list[list[StoredReport]]:
    """Divide reports into batches of at most `limit` tokens, shuffled across texts and levels.

    A report that is longer than the limit is a batch of its own. Inside a batch, the reports whose
    communities most chunks mention come first, then the most important ones.
    """
    shuffled = sorted(reports, key=lambda report: report.id)
    random.Random(SEED).shuffle(shuffled)
    batches: list[list[StoredReport]] = []
    room = 0
    for report in shuffled:
        length = tokens.count(format_report(report, 1))
        if not batches or length > room:
            batches.append([])
            room = limit
        batches[-1].append(report)
        room -= length
    return [
        sorted(batch, key=lambda report: (-report.chunks, -report.importance, report.id))
        for batch in batches
    ]


def format_report(report: StoredReport, first: int) -> str:
    """Return a report as prompts show it, with its findings numbered from `first` on."""
    findings = (
        f"[{number}] {escape_marks(finding.text)}"
        for number, finding in enumerate(report.findings, first)
    )
    summary = escape_marks(report.summary)
    return "\n".join([f"Report: {escape_marks(report.title)}", *filter(None, [summary]), *findings])


def format_reports(reports: Sequence[StoredReport]) -> tuple[str, Cites]:
    """Return reports as prompts show them, and the chunks of their findings by number."""
    texts: list[str] = []
    findings: list[StoredFinding] = []
    for report in reports:
        texts.append(format_report(report, len(findings) + 1))
        findings += report.findings
    return "\n\n".join(texts), {
        number: finding.chunks for number, finding in enumerate(findings, 1)
    }


def read_points(reply: str, cites: Cites) -> list[Point]:
    """Return the points of a reply that help and have evidence, in its order.

    Args:
        reply: A model's reply to the prompt `map`.
        cites: The chunks of the findings that the prompt showed, by number.

    Raises:
        BadReply: The reply is no such JSON, or none of the points that help refers to a finding.
    """
    points: list[Point] = []
    helpful = 0
    for record in islice(read_lists(reply, ["points"])["points"], MAX_POINTS):
        fields = record if isinstance(record, dict) else {}
        text = read_line(fields.get("description"))
        score = read_score(fields.get("score"), MAX_SCORE)
        if not text or not score:
            continue
        helpful += 1
        numbers = read_numbers(fields.get("refs"))
        refs = [number for number in numbers if cites.get(number)][:MAX_REFS]
        if refs:
            line = shorten(escape_citations(text), MAX_POINT_TOKENS)
            citations = "".join(f"[{number}]" for number in refs)
            evidence = {number: cites[number] for number in refs}
            points.append(Point(f"{line} {citations}", score, evidence))
    if helpful and not points:
        raise BadReply('Each point needs "refs": the numbers of the findings that it rests on.')
    return points


def read_score(value: Any, highest: int) -> int | None:
    """Return a score as a whole number from 0 to `highest`; None if it is no number."""
    if isinstance(value, str) and value.strip().replace(".", "", 1).isdecimal():
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and math.isnan(value):
        return None
    return round(max(0, min(value, highest)))


def take_batches(
    ranked: Sequence[StoredReport], limit: int, calls: int
) -> list[list[StoredReport]]:
    """Return the batches of the first reports that a number of calls can read.

    Args:
        ranked: Reports, the best first.
        limit: The most tokens of a batch.
        calls: The most batches.
    """
    batches = make_batches(ranked, limit)
    count = len(ranked)
    while len(batches) > calls:
        # Batches are about as full as each other, so the first step is nearly always the last one.
        count = min(count - 1, max(calls, count * calls // len(batches)))
        batches = make_batches(ranked[:count], limit)
    return batches


def ask_points(
    question: str, reports: Sequence[StoredReport], tools: Tools
) -> tuple[list[Point], str]:
    """Ask a model what reports say to a question: one call for each batch of them, side by side.

    There are at most as many calls as the option `calls` says, so of many reports the first are
    read: `reports` are in the order in which they may help.

    Returns:
        The points, best first, and a note for people on how the calls went.

    Raises:
        BadReply: No batch has a reply that can be used.
    """
    options = tools.options
    batches = take_batches(reports, options.batch_tokens, options.calls)
    read = sum(map(len, batches))
    chat = tools.models.chat("model", "map")

    def ask_batch(batch: Sequence[StoredReport]) -> list[Point] | BadReply:
        text, cites = format_reports(batch)
        prompt = Prompt(
            system=fill_template(PROMPTS / "map_system.txt"),
            user=fill_template(
                PROMPTS / "map.txt", reports=text, question=question, words=options.map_words
            ),
            max_tokens=round(options.map_words / WORDS_PER_TOKEN),
            temperature=0,
            schema=PointsReply,
            placeholder=lambda: expected_points(question, options.map_words),
        )
        try:
            return ask(chat, prompt, lambda reply: read_points(reply, cites), MAX_TRIES)
        except BadReply as error:
            return error

    results = tools.run_each(ask_batch, batches)
    failed = {
        number: result for number, result in enumerate(results, 1) if isinstance(result, BadReply)
    }
    if failed and len(failed) == len(batches):
        raise BadReply(f"No batch of reports could be read: {failed[1]}") from failed[1]
    points = rank_points([[] if isinstance(result, BadReply) else result for result in results])
    count = f"{read} of {len(reports)}" if read < len(reports) else f"{read}"
    notes = [f"{count} reports in {len(batches)} batches: {len(points)} points"]
    notes += [f"batch {number} failed: {error}" for number, error in failed.items()]
    return points, "; ".join(notes)


def expected_points(question: str, words: int) -> str:
    """Return the reply that a dry run assumes of a batch: a few points of two sentences each."""
    text = usual_text(question, min(USUAL_POINT_TOKENS, words))
    point = {"description": text, "score": MAX_SCORE // 2, "refs": [1]}
    return json.dumps({"points": [point] * USUAL_POINTS}, ensure_ascii=False)


def rank_points(batches: Sequence[Sequence[Point]]) -> list[Point]:
    """Return the points of all batches, highest score first; equal scores keep their order."""
    return sorted(chain.from_iterable(batches), key=lambda point: -point.score)


# The reduce


def reduce(
    question: str,
    points: Sequence[Point],
    context: Sequence[Passage],
    filters: Filters,
    tools: Tools,
) -> Iterator[Reply | Passage]:
    """Ask a model to write one answer from points, and yield it piece by piece.

    Where there are no points, the answer is `NO_ANSWER` and no call is made.

    Args:
        question: The question to answer.
        points: Points, best first; as many are used as the option `point_tokens` allows.
        context: Passages that the reader is shown already, numbered from 1.
        filters: The collection that the points' chunks are read from.
        tools: The model, and the mode's options.

    Yields:
        First the passages that the answer may cite and that are not in the context, numbered on
        from it; then pieces of the answer.
    """
    options = tools.options
    with tools.trace.step("reduce") as step:
        best = points[: count_fitting([point.text for point in points], options.point_tokens)]
        numbers, passages = number_chunks(best, context, filters, tools)
        lines = [f"(score {point.score}) {renumber(point, numbers)}\n" for point in best]
        # One number of a finding may become those of several chunks, so lines are measured again.
        lines = lines[: count_fitting(lines, options.point_tokens)]
        cited = set(find_citations("".join(lines), len(context) + len(passages)))
        passages = [passage for passage in passages if passage.number in cited]
        step.note = f"{len(lines)} of {len(points)} points"
        step.record([passage.hit for passage in passages])
    if not lines:
        yield Reply(NO_ANSWER)
        return
    yield from passages
    prompt = Prompt(
        system=fill_template(PROMPTS / "reduce_system.txt"),
        user=fill_template(
            PROMPTS / "reduce.txt",
            points="".join(lines).rstrip(),
            question=question,
            words=options.words,
            unanswered=NO_ANSWER,
        ),
        max_tokens=round(options.words / WORDS_PER_TOKEN),
        temperature=0,
        placeholder=lambda: usual_text(f"{question} [1]", USUAL_ANSWER_TOKENS),
    )
    yield from tools.models.chat("model", "reduce").stream(prompt)


def count_fitting(texts: Sequence[str], limit: int) -> int:
    """Return how many texts have at most `limit` tokens together; at least 1, if there are any."""
    for index, text in enumerate(texts):
        limit -= tokens.count(text)
        if index and limit < 0:
            return index
    return len(texts)


def number_chunks(
    points: Sequence[Point], context: Sequence[Passage], filters: Filters, tools: Tools
) -> tuple[dict[str, int], list[Passage]]:
    """Number the chunks that points cite.

    Returns:
        The numbers by the chunks' ids: the context's own numbers, and new ones after them. Chunks
        that are no longer in the graph have none. And the chunks with new numbers, as passages.
    """
    numbers = {passage.hit.id: passage.number for passage in context if passage.hit.kind == "chunk"}
    cited = chain.from_iterable(
        cited_chunks(group, point.cites)
        for point in points
        for group in CITATION.findall(point.text)
    )
    new = dict.fromkeys((id for id in cited if id not in numbers), 0.0)
    hits = chunk_hits(new, Filters(filters.collection), tools)
    passages = [
        Passage(number, hit, hit.text, ((0, len(hit.text)),))
        for number, hit in enumerate(hits, len(context) + 1)
    ]
    return numbers | {passage.hit.id: passage.number for passage in passages}, passages


def renumber(point: Point, numbers: Mapping[str, int]) -> str:
    """Return a point's text, with the numbers of chunks in place of the findings' numbers.

    Chunks without a number are left out.
    """

    def cite(match: re.Match[str]) -> str:
        chunks = cited_chunks(match[1], point.cites)
        new_numbers = dict.fromkeys(numbers[id] for id in chunks if id in numbers)
        return "".join(f"[{number}]" for number in new_numbers)

    return CITATION.sub(cite, point.text)


def cited_chunks(group: str, cites: Cites) -> Iterator[str]:
    """Yield the ids of the chunks that '1' or '1, 3' cites."""
    for number in re.findall(r"\d+", group):
        yield from cites.get(int(number), ())
