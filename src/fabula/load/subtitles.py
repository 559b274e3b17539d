"""Read subtitles: SRT, WebVTT and TTML. Times are places, and cues of a sentence are joined."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import unescape
from typing import TYPE_CHECKING

from fabula.load.blocks import Block, Draft
from fabula.load.clean import one_line, tidy
from fabula.load.encoding import decode_text
from fabula.load.left_out import count_characters
from fabula.load.locators import SPEAKER_MARK, page_mark, without_marks
from fabula.load.markup import attribute, elements, local_name, metadata
from fabula.load.wrap import space_between
from fabula.text.speakers import is_speaker

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_TIME = r"(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}"
_CUE = re.compile(
    rf"(?:(?:(?<=\n\n)|(?<=\A))(?P<id>[^\n]+)\n|(?P<number>\d+)[ ]*\n)?"
    rf"[ ]{{0,20}}(?P<begin>{_TIME})[ ]{{0,20}}-->[ ]{{0,20}}(?P<end>{_TIME})[^\n]*(?:\n|\Z)"
)
_ASIDE = re.compile(r"(?:\A|(?<=\n\n))(?P<kind>NOTE|STYLE|REGION)\b.*?(?=\n\n|\Z)", re.DOTALL)
_VOICE = re.compile(r"<v(?:\.[\w.-]+)?[ ]+([^<>\n]{1,80})>")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]*>|<[\d:.]+>|\{\\[^{}\n]*\}")
_LABEL = re.compile(r"(?P<name>[^:\n]{2,40}):(?:\s+|$)")
_TURN = re.compile(r"^[-–—‐]+\s*(?=\S)")
_CHEVRONS = re.compile(r"^[ ]*>{2,}[ ]*", re.MULTILINE)
"""What live captions have for a dash before another speaker."""
_SENTENCE_END = re.compile(r"[.!?…♪\])。！？][\"'”’»)\]*]*$")
_MIN_CUES = 3
_MIN_NAMED = 0.3
"""The share of cues that begin with a name that returns, by which such names are speakers."""
_MIN_GAP_SECONDS = 2.0
"""After a pause as long, what follows a sentence or begins with a capital is a new paragraph."""
_MAX_PARAGRAPH_CHARACTERS = 1_200
"""Where subtitles have no full stops, a paragraph ends after as many characters."""


@dataclass(frozen=True, slots=True)
class Cue:
    """What is shown at once: its seconds, its lines, and who speaks if the file says so."""

    begin: float
    end: float
    text: str
    speaker: str = ""


def read(data: bytes, source: str, limit: int = 0) -> Draft:
    """Read a file of SRT or WebVTT. Raises LoadError if it is not text."""
    decoded = decode_text(data, source)
    return replace(draft_cues(tidy(decoded.text)), warnings=decoded.warnings)


def is_subtitles(text: str) -> bool:
    """Return whether a tidied text has subtitles, whatever its file is called."""
    if "-->" not in text:
        return False
    begin = text.lstrip()
    first = _CUE.search(begin)
    starts_so = begin.startswith("WEBVTT") or (first is not None and first.start() == 0)
    return starts_so and len(_CUE.findall(begin)) >= _MIN_CUES


def draft_cues(text: str) -> Draft:
    """Return the draft of a tidied text of SRT or WebVTT."""
    left_out: Counter[str] = Counter()
    text = re.sub(r"\n(?:[ ]*\n)+", "\n\n", text.strip())
    language = title = ""
    is_webvtt = text.startswith("WEBVTT")
    if is_webvtt:
        head, _, text = text.partition("\n\n")
        left_out["front matter"] += count_characters(head)
        title = re.sub(r"^WEBVTT[ -]*", "", head.split("\n", 1)[0])
        if match := re.search(r"^Language: *(\S+)", head, re.MULTILINE):
            language = match[1]
        for aside in _ASIDE.finditer(text):
            kind = {"NOTE": "notes"}.get(aside["kind"], "styles")
            left_out[kind] += count_characters(aside[0])
        text = _ASIDE.sub("", text)
        text = re.sub(r"\n{3,}", "\n\n", text.strip())
    cues: list[Cue] = []
    matches = list(_CUE.finditer(text))
    ends = [*(match.start() for match in matches), len(text)][1:]
    for match, end in zip(matches, ends, strict=True):
        left_out["times"] += count_characters(match[0])
        begin, until = _seconds(match["begin"]), _seconds(match["end"])
        cues += _cues_of(text[match.end() : end], begin, until)
    blocks = tuple(_blocks(_without_repeats(cues, left_out)))
    before = text[: matches[0].start()] if matches else text
    if is_webvtt and matches:
        # A player shows nothing before the first cue, and many files spell what is there wrongly.
        left_out["front matter"] += count_characters(before)
    elif before.strip():
        blocks = (Block(one_line(before)), *blocks)
    return Draft(blocks, title=title, language=language, left_out=+left_out)


def draft_timed_text(root: Element) -> Draft:
    """Return the draft of subtitles from the root element of a file of TTML."""
    agents = {
        attribute(agent, "id"): one_line("".join(agent.itertext()))
        for agent in elements(root, "agent")
    }
    rate = float(attribute(root, "tickRate") or 1), float(attribute(root, "frameRate") or 30)
    cues: list[Cue] = []
    for division in (each for each in root.iter() if local_name(each) in ("body", "div")):
        offset = _clock(attribute(division, "begin"), rate)
        for paragraph in (child for child in division if local_name(child) == "p"):
            begin, end, duration = (
                _clock(_timing(paragraph, name), rate) for name in ("begin", "end", "dur")
            )
            # They count from the beginning of the division, but not in all files.
            added = offset if begin < offset else 0.0
            agent = agents.get(attribute(paragraph, "agent"), "")
            text = tidy("".join(_timed_pieces(paragraph)))
            cues.append(Cue(begin + added, (end or begin + duration) + added, text, agent))
    left_out: Counter[str] = Counter()
    return Draft(
        tuple(_blocks(_without_repeats(cues, left_out))),
        title=metadata(root, "head/metadata/title"),
        language=attribute(root, "lang"),
        left_out=+left_out,
    )


def _timing(paragraph: Element, name: str) -> str:
    """A time of a paragraph, or of the first within it that has one."""
    return next(filter(None, (attribute(each, name) for each in paragraph.iter())), "")


def _timed_pieces(element: Element) -> Iterator[str]:
    yield " ".join((element.text or "").split("\n"))
    for child in element:
        name = local_name(child)
        if name == "br":
            yield "\n"
        elif name != "metadata":
            yield from _timed_pieces(child)
        yield re.sub(r"\s*\n\s*", " ", child.tail or "")


def _clock(text: str, rate: tuple[float, float]) -> float:
    """The seconds of a time of TTML: "00:01:02.5", "00:01:02:15" (frames), "62.5s", "620t"."""
    ticks, frames = rate
    if match := re.fullmatch(r"([\d.]+)(h|m|s|ms|f|t)", text.strip()):
        units = {"h": 3600, "m": 60, "s": 1, "ms": 0.001, "f": 1 / frames, "t": 1 / ticks}
        return float(match[1]) * units[match[2]]
    parts = text.strip().split(":")
    try:
        if len(parts) == 4:
            return _seconds(":".join(parts[:3])) + float(parts[3]) / frames
        return _seconds(text.strip()) if text.strip() else 0.0
    except ValueError:
        return 0.0


def _seconds(time: str) -> float:
    seconds = 0.0
    for part in time.replace(",", ".").split(":"):
        seconds = 60 * seconds + float(part)
    return seconds


def label_time(seconds: float) -> str:
    """Return a time as citations have it: "01:12:31"."""
    minutes, second = divmod(int(seconds), 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{second:02}"


def _cues_of(text: str, begin: float, end: float) -> Iterator[Cue]:
    """The cues in a cue's text: one for each voice of WebVTT."""
    first, *rest = _VOICE.split(text)
    if first.strip():
        yield Cue(begin, end, _untagged(first))
    for name, said in zip(rest[::2], rest[1::2], strict=True):
        yield Cue(begin, end, _untagged(said), " ".join(name.split()))


def _untagged(text: str) -> str:
    return _CHEVRONS.sub("- ", unescape(_TAG.sub("", text)))


def _without_repeats(cues: Sequence[Cue], left_out: Counter[str]) -> Iterator[Cue]:
    """The cues without lines that stay on the screen from the cue before, as of live captions."""
    shown: list[str] = []
    ended = -1.0
    for cue in cues:
        lines = [line for line in map(one_line, cue.text.split("\n")) if line]
        new = lines
        if cue.begin - ended < 0.1:
            while new and _TURN.sub("", new[0], count=1) in shown:
                left_out["repeated lines"] += count_characters(new[0])
                new = new[1:]
        shown, ended = [_TURN.sub("", line, count=1) for line in lines], cue.end
        if new:
            yield replace(cue, text="\n".join(new))


def _names(cues: Sequence[Cue]) -> frozenset[str]:
    """The names before a colon at the beginning of cues, as meetings have them, in any letters."""
    labels = (match for cue in cues if (match := _LABEL.match(cue.text)))
    counts = Counter(
        label["name"]
        for label in labels
        if all(word[0].isupper() for word in label["name"].split())
    )
    returning = {name: count for name, count in counts.items() if count > 1}
    return frozenset(counts if sum(returning.values()) >= _MIN_NAMED * len(cues) else ())


def _blocks(all_cues: Iterable[Cue]) -> Iterator[Block]:
    """One block for each paragraph; one who is named in front of it is its speaker."""
    cues = list(all_cues)
    names = _names(cues)
    paragraph, speaker, ended = "", "", 0.0
    for cue in cues:
        mark = page_mark(label_time(cue.begin))
        for line in cue.text.split("\n"):
            name, text, turn = cue.speaker, line, _TURN.match(line)
            label = _LABEL.match(text, turn.end() if turn else 0)
            if not name and label and (label["name"] in names or is_speaker(label["name"])):
                name, text = label["name"].strip(), text[label.end() :]
            printed = without_marks(paragraph)
            is_pause = cue.begin - ended >= _MIN_GAP_SECONDS
            is_new = (
                turn is not None
                or name not in ("", speaker)
                or (speaker and cue.speaker != speaker and _SENTENCE_END.search(printed))
                or (
                    is_pause
                    and not cue.speaker
                    and (_SENTENCE_END.search(printed) or text[:1].isupper())
                )
                or len(paragraph) > _MAX_PARAGRAPH_CHARACTERS
            )
            if paragraph and is_new:
                yield Block(paragraph)
                paragraph = ""
            if not paragraph:
                speaker = name
                paragraph = f"{mark}{SPEAKER_MARK}{name}:\n{text}" if name else f"{mark}{text}"
            else:
                paragraph += f"{space_between(printed, text)}{mark}{text}"
            mark, ended = "", cue.end
    if paragraph:
        yield Block(paragraph)
