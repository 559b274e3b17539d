"""What the people of a text claim of each other, as a chat model lists it and the text bears out.

What a follow-up adds is used, too, which the published code reads and throws away.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Literal

from fabula.graph.extraction import (
    UNSUPPORTED,
    ModelQuestion,
    Records,
    TextWindow,
    is_supported,
    read_records,
)
from fabula.graphs.communities import ids
from fabula.graphs.communities.labels import CLAIMS
from fabula.graphs.communities.values import Claim
from fabula.graphs.entities.printed_forms import find_printed, printed_key
from fabula.graphs.entities.records import read_line, read_list, read_name
from fabula.models.prompts import fill_template
from fabula.models.replies import read_lists, shorten
from fabula.models.schemas import ReplyShape
from fabula.text.document import Chunk

PROMPTS = Path(__file__).parent / "prompts"
REPLY_TOKENS = 4000
MAX_CLAIMS, MAX_QUOTES = 40, 5
MAX_TYPE_CHARACTERS, MAX_QUOTE_CHARACTERS = 60, 500
MAX_STATEMENT_TOKENS = 120
STATUSES = ("true", "false", "suspected")
UNQUOTED = "unquoted"
"""Why a claim is left out besides: none of its quotes is printed."""
USUAL = {"mean_claims": 3.0, "mean_claim": 25.0}
"""What a dry run assumes of a model that wrote nothing yet: claims of a window, and the tokens of
what one says."""
QUOTED_WORDS = 4
"""Words of the quotes that a dry run assumes."""

ClaimRecord = Mapping[str, Any]


class ClaimShape(ReplyShape):
    """A claim."""

    subject: str
    object: str | None
    type: str
    status: Literal["true", "false", "suspected"]
    start: str | None
    end: str | None
    speaker: str | None
    description: str
    quotes: list[str]


class ClaimsReply(ReplyShape):
    """The claims of some passages."""

    claims: list[ClaimShape]


def ask_claims(
    gleanings: int, means: Mapping[str, float]
) -> ModelQuestion[TextWindow, Records[ClaimRecord]]:
    """Return the question who claims what of whom in a window."""
    return ModelQuestion(
        step=CLAIMS,
        prompt=PROMPTS / "claims",
        values=TextWindow.values,
        schema=ClaimsReply,
        max_tokens=REPLY_TOKENS,
        read=lambda reply, _: read_claims(reply),
        placeholder=lambda window, turn: expected_claims(window, turn, {**USUAL, **means}),
        follow_up=lambda window, found: fill_template(
            PROMPTS / "claims_missed.txt",
            reply=json.dumps({"claims": found.records}, ensure_ascii=False),
            count=len(window.chunks),
        ),
        follow_ups=gleanings,
    )


def read_claims(reply: str) -> Records[ClaimRecord]:
    """Return the claims of a reply, at most as many as it may have.

    Raises:
        BadReply: It has no list of claims.
    """
    dropped: Counter[str] = Counter()
    records = read_records(
        read_lists(reply, ("claims",))["claims"],
        _record,
        MAX_CLAIMS,
        dropped,
        lambda record: [record[name] for name in ("subject", "object", "speaker")],
    )
    return Records(tuple(records), +dropped)


def expected_claims(window: TextWindow, turn: int, means: Mapping[str, float]) -> str:
    """Return as many claims as are expected in the first reply, and none after it, as JSON."""
    words = " ".join(chunk.text for chunk in window.chunks).split() or ["nothing"]
    length = max(1, round(means["mean_claim"] * 0.75))
    count = 0 if turn else round(means["mean_claims"])
    claims = [
        {
            "subject": words[start % len(words)],
            "object": None,
            "type": "statement",
            "status": "suspected",
            "start": None,
            "end": None,
            "speaker": None,
            "description": f"{start}: {' '.join(islice(cycle(words), start, start + length))}",
            "quotes": [" ".join(words[start % len(words) :][:QUOTED_WORDS])],
        }
        for start in range(0, count * QUOTED_WORDS, QUOTED_WORDS)
    ]
    return json.dumps({"claims": claims}, ensure_ascii=False)


def attribute(
    window: TextWindow, records: Records[ClaimRecord], language: str = ""
) -> Records[Claim]:
    """Return the claims of a window, each with the chunk that its first quote begins in.

    Those of which no quote is printed in the window are left out, and counted; likewise those with
    a description of which the window has fewer than a third of the words.
    """
    content = window.content(language)
    dropped = Counter(records.dropped)
    text = "".join(chunk.text for chunk in window.chunks)
    # In one piece, as a quote may begin in one chunk and end in the next.
    whole = replace(window.chunks[0], end=window.chunks[-1].end, text=text)
    quotes = [quote for record in records.records for quote in record["quotes"]]
    printed = find_printed(quotes, [whole])
    claims: dict[str, Claim] = {}
    for record in records.records:
        places = {
            quote: min(
                start for starts in printed[printed_key(quote)][0].values() for start in starts
            )
            for quote in record["quotes"]
            if printed_key(quote) in printed
        }
        if not places:
            dropped[UNQUOTED] += 1
            continue
        if not is_supported(record["description"], content, language):
            dropped[UNSUPPORTED] += 1
            continue
        claim = _claim(_chunk_at(window, min(places.values())), record, tuple(places))
        claims.setdefault(claim.id, claim)
    return Records(tuple(claims.values()), dropped)


def _record(item: Any) -> ClaimRecord | None:
    """A claim as it was read; None if it is about nobody, or says nothing."""
    if not isinstance(item, dict):
        return None
    description = shorten(read_line(item.get("description")), MAX_STATEMENT_TOKENS)
    subject = read_name(item.get("subject"))
    if not (subject and re.search(r"\w", description)):
        return None
    status = read_line(item.get("status")).casefold()
    quotes = [read_line(quote) for quote in read_list(item.get("quotes"))]
    fit = [
        quote for quote in quotes if re.search(r"\w", quote) and len(quote) <= MAX_QUOTE_CHARACTERS
    ]
    return {
        "subject": subject,
        "object": read_name(item.get("object")),
        "type": read_line(item.get("type")).lower()[:MAX_TYPE_CHARACTERS] or "statement",
        "status": status if status in STATUSES else "suspected",
        "start": read_line(item.get("start"))[:MAX_TYPE_CHARACTERS],
        "end": read_line(item.get("end"))[:MAX_TYPE_CHARACTERS],
        "speaker": read_name(item.get("speaker")),
        "description": description,
        "quotes": list(dict.fromkeys(fit))[:MAX_QUOTES],
    }


def _claim(chunk: Chunk, record: ClaimRecord, quotes: tuple[str, ...]) -> Claim:
    return Claim(
        ids.claim_id(chunk.id, record["description"]),
        chunk.id,
        record["subject"],
        record["object"],
        record["type"],
        record["status"],
        record["start"],
        record["end"],
        record["speaker"],
        record["description"],
        quotes,
    )


def _chunk_at(window: TextWindow, place: int) -> Chunk:
    """The chunk that a character of the document is in."""
    return next(chunk for chunk in reversed(window.chunks) if chunk.start <= place)
