"""Read transcripts of talks and of testimony: who speaks, and the time, or the page and line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from fabula.load.blocks import Block, Draft
from fabula.load.clean import prose
from fabula.load.left_out import MAKERS_NOTES, PAGE_NUMBERS, RUNNING_HEADS, count_characters
from fabula.load.locators import SPEAKER_MARK, page_mark
from fabula.load.subtitles import label_time

_TIME = r"(?:\d{1,2}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?"
_STAMP = rf"[\[(]?(?P<time>{_TIME})[\])]?(?:[ ]*[-–—]+>?[ ]*[\[(]?{_TIME}[\])]?)?"
_NAME = r"(?P<name>[^\W\d_][\w.'’\-]*(?:[ ][\w.'’\-&]+){0,5}?)"
_HEADS = (
    # Ann Example  0:03, also with the time in brackets or after a colon.
    re.compile(rf"{_NAME}[ ]*:?[ ]+{_STAMP}[ ]*:?[ ]*(?P<text>)"),
    # [00:01:15] Ann Example: What she says.
    re.compile(rf"{_STAMP}[ ]*[-–—]?[ ]*{_NAME}:(?:[ ]+(?P<text>.*))?"),
    # Ann Example [00:01:15]: What she says.
    re.compile(rf"{_NAME}[ ]*:?[ ]*[\[(](?P<time>{_TIME})[\])][ ]*:?[ ]+(?P<text>\S.*)"),
    # [14/10/2021, 3:34:09 PM] Ann Example: What she says; 15.1.24, 18:30 - Ann Example: ...
    re.compile(
        r"\[?(?P<day>\d{1,4}[./-]\d{1,2}[./-]\d{1,4}),?[ ]"
        rf"(?P<time>{_TIME}(?:[ ][AaPp]\.?[Mm]\.?)?)\]?(?:[ ]-)?[ ]{_NAME}:[ ]?(?P<text>.*)"
    ),
)
_MIN_TURNS = 3
_MAKER = re.compile(r"(?:transcribed|transcript(?:ion)?(?: provided)?) by\b.{1,80}", re.IGNORECASE)
_NUMBERED = re.compile(
    r"[ ]{0,12}(?:(?P<page>\d{1,5}):)?(?P<line>\d{1,2})(?:[ ]{1,}(?P<text>\S.*)|[ ]*)"
)
_PAGE = re.compile(r"\s*(?:page[ ]+)?(?P<page>\d{1,5})\s*", re.IGNORECASE)
_HEAD_PAGE = re.compile(r"(?:^|\s)(?P<page>\d{1,5})\s*$")
"""The number of a page at the end of its running head."""
_LABELLED = re.compile(
    r"(?P<name>[QA](?:[.:](?=\s|$)|(?=[ ]{2,}\S))"
    r"|(?:THE|MR|MS|MRS|DR|JUDGE)\b[A-Z .'’\-]{1,40}:)\s*(?P<text>.*)"
)
_DEPOSITION = re.compile(r"\bDEPOSITION OF (?P<name>[A-Z][A-Z.'’\-]*(?:[ ][A-Z.'’\-]+){1,4})")
_EXAMINER = re.compile(r"BY[ ]+(?P<name>(?:MR|MS|MRS|DR|THE)\b[A-Z .'’\-]{1,40}):?")
_EXAMINATION = re.compile(
    r"[A-Z \-]{0,20}EXAMINATION(?:[ ]+OF[ ]+(?P<witness>[A-Z .'’\-]{3,40}?))?"
    r"(?:[ ]+BY[ ]+(?P<examiner>[A-Z .'’\-]{3,40}))?:?"
)
_SWORN = re.compile(r"(?P<name>[A-Z][A-Z .'’\-]{3,40}),.{0,200}\bsworn\b")
"""Who asks, and who answers, as a page says it before their questions and answers."""
_MIN_LINES, _MIN_ANSWERS, _MIN_SHARE = 20, 4, 0.8
"""The fewest numbered lines of testimony, those with a question or an answer, and the share of the
numbers that follow the one before."""
_NO_LINE = 999
"""Before the first line of a page: any number is less."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """A line with a name and a time: its number among the lines, and what it says.

    The seconds are 0 where the line has a day, as clocks begin anew with each.
    """

    line: int
    name: str
    seconds: int
    place: str
    text: str
    stamp: str


def draft_transcript(text: str) -> Draft | None:
    """Return the draft of a tidied text if it is a transcript, whatever its file is called."""
    lines = text.split("\n")
    return _draft_turns(lines) or _draft_testimony(lines)


def _draft_turns(lines: list[str]) -> Draft | None:
    turns = [turn for number, line in enumerate(lines) if (turn := _turn(number, line))]
    names = Counter(turn.name for turn in turns)
    in_order = sum(turn.seconds <= after.seconds for turn, after in pairwise(turns))
    # A sentence may end with a time of day; but no names return then, and no time goes on.
    if len(turns) < _MIN_TURNS or 2 * len(names) > len(turns) + 1 or in_order < len(turns) - 2:
        return None
    left_out: Counter[str] = Counter()
    blocks = [Block(paragraph) for paragraph in prose("\n".join(lines[: turns[0].line]))]
    ends = [*(turn.line for turn in turns), len(lines)][1:]
    for turn, end in zip(turns, ends, strict=True):
        below = [turn.text, *lines[turn.line + 1 : end]]
        last = next((at for at in reversed(range(len(below))) if below[at].strip()), 0)
        if end == len(lines) and _MAKER.fullmatch(below[last].strip()):
            left_out[MAKERS_NOTES] += count_characters(below[last])
            below = below[:last]
        left_out["times"] += count_characters(turn.stamp)
        mark = page_mark(turn.place)
        said = "\n".join(prose("\n".join(below)))
        blocks.append(Block(f"{mark}{SPEAKER_MARK}{turn.name}\n{said}"))
    return Draft(tuple(blocks), left_out=+left_out)


def _turn(number: int, line: str) -> _Turn | None:
    # Single spaces, as the patterns would take the square of the length of a run of them.
    line = " ".join(line.split()).lstrip("\u200e")
    for pattern in _HEADS:
        if match := pattern.fullmatch(line):
            seconds, place = 0, match["time"]
            if day := match.groupdict().get("day"):
                place = f"{day} {place}"
            else:
                for part in re.split(r"[.,]", place)[0].split(":"):
                    seconds = 60 * seconds + int(part)
                place = label_time(seconds)
            said = match["text"] or ""
            stamp = line.replace(match["name"], "", 1)
            return _Turn(
                *(number, match["name"], seconds, place, said),
                stamp.removesuffix(said) if said else stamp,
            )
    return None


def _draft_testimony(lines: list[str]) -> Draft | None:
    """The draft of questions and answers on pages whose lines are numbered."""
    numbered = [match for line in lines if (match := _NUMBERED.fullmatch(line)) and match["text"]]
    numbers = [int(match["line"]) for match in numbered]
    follow = sum(after == number + 1 or after == 1 for number, after in pairwise(numbers))
    answers = sum(_LABELLED.match(match["text"]) is not None for match in numbered)
    if (
        len(numbered) < _MIN_LINES
        or answers < _MIN_ANSWERS
        or follow < _MIN_SHARE * (len(numbers) - 1)
    ):
        return None
    left_out: Counter[str] = Counter()
    return Draft(tuple(_testimony(lines, left_out)), left_out=+left_out)


def _testimony(lines: list[str], left_out: Counter[str]) -> Iterator[Block]:
    """One block for each question, answer and other paragraph, with the places of its lines."""
    block = ""
    deposed = {match["name"] for line in lines if (match := _DEPOSITION.search(line))}
    names = {"A": deposed.pop()} if len(deposed) == 1 else {}
    read = _testimony_lines(lines, left_out)
    for index, (label, text) in enumerate(read):
        labelled = _LABELLED.match(text)
        if not labelled:
            names |= _name_people(text, " ".join(after for _, after in read[index : index + 3]))
        is_apart = text.startswith("(") or text.isupper() or block.endswith((")", ":"))
        if block and (labelled or is_apart):
            yield Block(block)
            block = ""
        mark = page_mark(label)
        if labelled:
            said = " ".join(labelled["text"].split())
            speaker = _name_speaker(labelled["name"], names)
            if speaker != labelled["name"]:
                left_out["speakers' labels"] += count_characters(labelled["name"])
            block = f"{mark}{SPEAKER_MARK}{speaker}\n{said}"
        else:
            said = " ".join(text.split())
            block = f"{block} {mark}{said}" if block else f"{mark}{said}"
    if block:
        yield Block(block)


def _name_people(line: str, with_next: str) -> dict[str, str]:
    """Return who asks (Q) and who answers (A) from this line on, if it says so."""
    if examiner := _EXAMINER.fullmatch(line):
        return {"Q": examiner["name"].strip()}
    if examination := _EXAMINATION.fullmatch(line):
        # Another may ask from here on.
        asks = {"Q": examination["examiner"] or ""}
        return asks | ({"A": examination["witness"]} if examination["witness"] else {})
    sworn = _SWORN.match(with_next)
    return {"A": sworn["name"].strip()} if sworn else {}


def _name_speaker(label: str, names: Mapping[str, str]) -> str:
    """Return the name of who speaks under a label; the label itself if no page names them."""
    person = label.rstrip(".:")
    return names.get("A" if person == "THE WITNESS" else person) or label


def _testimony_lines(lines: list[str], left_out: Counter[str]) -> list[tuple[str, str]]:
    """The lines with text, each with its page and its number on it, as "45:12"."""
    heads = Counter(_without_digits(line) for line in lines if not _NUMBERED.fullmatch(line))
    # The first has what stands before the first page.
    pages: list[list[tuple[int, str]]] = [[]]
    printed: dict[int, str] = {}
    is_on_top: bool | None = None
    before = _NO_LINE
    for line in filter(str.strip, lines):
        numbered = _NUMBERED.fullmatch(line)
        number = int(numbered["line"]) if numbered else 0
        is_head = heads[_without_digits(line)] > 1
        page = _PAGE.fullmatch(line) or (_HEAD_PAGE.search(line) if is_head else None)
        if numbered and (number == before + 1 or not page):
            if number <= before:
                pages.append([])
            if numbered["page"]:
                printed[len(pages) - 1] = str(int(numbered["page"]))
                left_out[PAGE_NUMBERS] += count_characters(numbered["page"]) + 1
            pages[-1].append((number, (numbered["text"] or "").strip()))
            left_out["line numbers"] += count_characters(numbered["line"])
            before = number
        elif page:
            is_on_top = len(pages) == 1 if is_on_top is None else is_on_top
            printed[len(pages) - (not is_on_top)] = page["page"]
            left_out[PAGE_NUMBERS] += count_characters(line)
            before = _NO_LINE
        elif is_head:
            left_out[RUNNING_HEADS] += count_characters(line)
        else:
            pages[-1].append((0, line.strip()))
    return [
        (f"{printed.get(index, index)}:{number}" if number else "", text)
        for index, page_lines in enumerate(pages)
        for number, text in page_lines
        if text
    ]


def _without_digits(line: str) -> str:
    return re.sub(r"\d+", "", " ".join(line.split()))
