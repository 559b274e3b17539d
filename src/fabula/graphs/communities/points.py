"""Points of an answer: read out of many reports side by side, scored, and made one answer of.

Microsoft's map and reduce (Edge et al. 2024, arXiv 2404.16130, section 3.1.6). What a point says it
rests on is followed through the report's findings to chunks, so that the answer cites the text.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from fabula.ask.answer import CITED, citations, shown
from fabula.errors import BadReply
from fabula.graph.hits import Filters, Passage
from fabula.graph.mode import Tools
from fabula.graphs.communities.finding import AskedFinding, AskedReport
from fabula.graphs.entities.finding import chunk_hits
from fabula.graphs.entities.records import read_line, read_numbers
from fabula.models import NO_ANSWER, Prompt, Reply
from fabula.models.prompts import filled
from fabula.models.replies import ask, read_lists, shortened
from fabula.text import tokens

PROMPTS = Path(__file__).parent / "modes" / "prompts"
"""Apart from those that a graph is built with, which make it stale where they change."""
SEED = 86
"""Of the order in which reports are put together (Microsoft's)."""
TRIES = 3
MOST_POINTS, MOST_REFS, POINT_TOKENS = 100, 20, 300
"""What is taken of one reply, and of one point, at most."""
BEST = 100
WORDS = 0.7
"""Words a token, told beside a limit in tokens, which models can't count."""

Cites = Mapping[int, tuple[str, ...]]
"""Ids of chunks, by the numbers that a text cites them as."""


@dataclass(frozen=True, slots=True)
class Point:
    """A part of an answer, how much it helps, 1 to 100, and the chunks that its [n] stand for."""

    text: str
    score: int
    cites: Cites


class PointShape(BaseModel):
    """What numbered findings say to a question."""

    model_config = ConfigDict(extra="forbid")

    description: str
    score: int
    refs: list[int]


class PointsReply(BaseModel):
    """What some reports say to a question."""

    model_config = ConfigDict(extra="forbid")

    points: list[PointShape]


# The map


def make_batches(reports: Sequence[AskedReport], limit: int) -> list[list[AskedReport]]:
    """The reports in an order that no text and no level has, in batches of at most `limit` tokens.

    Within a batch those come first whose communities most chunks mention, then the most important
    ones. A report that is longer than a batch is one alone.
    """
    mixed = sorted(reports, key=lambda one: one.id)
    random.Random(SEED).shuffle(mixed)
    batches: list[list[AskedReport]] = []
    room = 0
    for one in mixed:
        length = tokens.count(print_report(one, 1))
        if not batches or length > room:
            batches.append([])
            room = limit
        batches[-1].append(one)
        room -= length
    return [
        sorted(some, key=lambda one: (-one.chunks, -one.importance, one.id)) for some in batches
    ]


def print_report(report: AskedReport, first: int) -> str:
    """A report as models are shown it, its findings numbered from `first` on."""
    findings = (
        f"[{number}] {shown(one.text)}" for number, one in enumerate(report.findings, first)
    )
    summary = shown(report.summary)
    return "\n".join([f"Report: {shown(report.title)}", *filter(None, [summary]), *findings])


def print_reports(reports: Sequence[AskedReport]) -> tuple[str, Cites]:
    """Reports as models are shown them, and the chunks of their findings, by number."""
    texts: list[str] = []
    found: list[AskedFinding] = []
    for one in reports:
        texts.append(print_report(one, len(found) + 1))
        found += one.findings
    return "\n\n".join(texts), {number: one.chunks for number, one in enumerate(found, 1)}


def read_points(reply: str, cites: Cites) -> list[Point]:
    """The points of a reply that help at all and rest on something, in its order; maybe none.

    Raises BadReply for what is no such JSON, and where all that helps rests on nothing.
    """
    found: list[Point] = []
    helping = 0
    for given in islice(read_lists(reply, ["points"])["points"], MOST_POINTS):
        told = given if isinstance(given, dict) else {}
        text, score = read_line(told.get("description")), read_score(told.get("score"), BEST)
        if not text or not score:
            continue
        helping += 1
        refs = [one for one in read_numbers(told.get("refs")) if cites.get(one)][:MOST_REFS]
        if refs:
            said = shortened(shown(text), POINT_TOKENS)
            numbers = "".join(f"[{one}]" for one in refs)
            found.append(Point(f"{said} {numbers}", score, {one: cites[one] for one in refs}))
    if helping and not found:
        raise BadReply('Each point needs "refs": the numbers of the findings that it rests on.')
    return found


def read_score(given: Any, most: int) -> int | None:
    """A whole number from 0 to `most`, the nearest one; None for what is no number."""
    if isinstance(given, str) and given.strip().replace(".", "", 1).isdecimal():
        given = float(given)
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    if isinstance(given, float) and math.isnan(given):
        return None
    return round(max(0, min(given, most)))


def ask_points(
    question: str, reports: Sequence[AskedReport], tools: Tools
) -> tuple[list[Point], str]:
    """What reports say to a question, best first; and, for people, how that went.

    A call a batch, side by side. Raises BadReply where none of them brings a reply of use.
    """
    knobs = tools.knobs
    batches = make_batches(reports, knobs.batch_tokens)
    chat = tools.models.chat("model", "map")

    def points(batch: Sequence[AskedReport]) -> list[Point] | BadReply:
        listed, cites = print_reports(batch)
        asked = Prompt(
            system=filled(PROMPTS / "map_system.txt"),
            user=filled(
                PROMPTS / "map.txt", reports=listed, question=question, words=knobs.map_words
            ),
            max_tokens=round(knobs.map_words / WORDS),
            temperature=0,
            schema=PointsReply,
        )
        try:
            return ask(chat, asked, lambda reply: read_points(reply, cites), TRIES)
        except BadReply as error:
            return error

    replies = tools.each(points, batches)
    failed = {place: one for place, one in enumerate(replies, 1) if isinstance(one, BadReply)}
    if failed and len(failed) == len(batches):
        raise BadReply(f"No batch of reports could be read: {failed[1]}") from failed[1]
    found = rank_points([[] if isinstance(one, BadReply) else one for one in replies])
    told = [f"{len(reports)} reports in {len(batches)} batches: {len(found)} points"]
    told += [f"batch {place} failed: {error}" for place, error in failed.items()]
    return found, "; ".join(told)


def rank_points(batches: Sequence[Sequence[Point]]) -> list[Point]:
    """The points of all batches, highest score first; equal ones as their batches and they come."""
    return sorted(chain.from_iterable(batches), key=lambda one: -one.score)


# The reduce


def reduce(
    question: str,
    points: Sequence[Point],
    context: Sequence[Passage],
    filters: Filters,
    tools: Tools,
) -> Iterator[Reply | Passage]:
    """One answer from points, best first, as many as fit; before it, the passages it may cite.

    Where there are none, no model is asked.
    """
    knobs = tools.knobs
    with tools.path.step("reduce") as step:
        likely = points[: fit([one.text for one in points], knobs.point_tokens)]
        numbers, passages = number_chunks(likely, context, filters, tools)
        lines = [f"(score {one.score}) {renumber(one, numbers)}\n" for one in likely]
        # A finding is followed to several chunks: their numbers count, too.
        lines = lines[: fit(lines, knobs.point_tokens)]
        cited = set(citations("".join(lines), len(context) + len(passages)))
        passages = [one for one in passages if one.number in cited]
        step.note = f"{len(lines)} of {len(points)} points"
        step.found([one.hit for one in passages])
    if not lines:
        yield Reply(NO_ANSWER)
        return
    yield from passages
    asked = Prompt(
        system=filled(PROMPTS / "reduce_system.txt"),
        user=filled(
            PROMPTS / "reduce.txt",
            points="".join(lines).rstrip(),
            question=question,
            words=knobs.words,
            unanswered=NO_ANSWER,
        ),
        max_tokens=round(knobs.words / WORDS),
        temperature=0,
    )
    yield from tools.models.chat("model", "reduce").stream(asked)


def fit(texts: Sequence[str], limit: int) -> int:
    """How many texts are at most `limit` tokens together; at least one, if there is any."""
    for place, text in enumerate(texts):
        limit -= tokens.count(text)
        if place and limit < 0:
            return place
    return len(texts)


def number_chunks(
    points: Sequence[Point], context: Sequence[Passage], filters: Filters, tools: Tools
) -> tuple[dict[str, int], list[Passage]]:
    """The numbers of the chunks that points cite, and those that no passage is of, as passages.

    These are numbered on from the context's. A chunk that is not there any more has none.
    """
    numbers = {one.hit.id: one.number for one in context if one.hit.kind == "chunk"}
    cited = chain.from_iterable(
        cited_chunks(group, one.cites) for one in points for group in CITED.findall(one.text)
    )
    new = dict.fromkeys((id for id in cited if id not in numbers), 0.0)
    hits = chunk_hits(new, Filters(filters.collection), tools)
    passages = [
        Passage(number, hit, hit.text, ((0, len(hit.text)),))
        for number, hit in enumerate(hits, len(context) + 1)
    ]
    return numbers | {one.hit.id: one.number for one in passages}, passages


def renumber(point: Point, numbers: Mapping[str, int]) -> str:
    """A point's text, its citations by the numbers of their chunks; what has none is left out."""

    def chunks(cited: re.Match[str]) -> str:
        found = (numbers[id] for id in cited_chunks(cited[1], point.cites) if id in numbers)
        return "".join(f"[{number}]" for number in dict.fromkeys(found))

    return CITED.sub(chunks, point.text)


def cited_chunks(group: str, cites: Cites) -> Iterator[str]:
    """The ids of the chunks that '1' or '1, 3' cites."""
    for number in re.findall(r"\d+", group):
        yield from cites.get(int(number), ())
