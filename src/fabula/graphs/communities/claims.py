"""What the people of a text claim of each other, as a chat model lists it and the text bears out.

One call a window, and one more in which the model is asked what it missed: what that adds is kept,
too, which the published code reads and throws away.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from fabula.errors import BadReply
from fabula.graphs.communities import ids
from fabula.graphs.communities.prompts import prompt
from fabula.graphs.communities.stand_ins import StandIns
from fabula.graphs.communities.values import Claim
from fabula.graphs.entities.printed import find_printed, plain
from fabula.graphs.entities.records import read_line, read_list, read_name
from fabula.graphs.entities.windows import Window
from fabula.models import Chat, Prompt
from fabula.models.replies import ask, read_lists, shortened
from fabula.text.document import Chunk

TRIES = 3
REPLY_TOKENS = 4000
MOST_CLAIMS, MOST_QUOTES = 40, 5
LONGEST_NAME, LONGEST_TYPE, LONGEST_QUOTE = 256, 60, 500
"""Characters."""
STATEMENT_TOKENS = 120
STATUSES = ("true", "false", "suspected")

MALFORMED, OVERLONG, UNQUOTED, SURPLUS = "malformed", "overlong", "unquoted", "surplus"
"""Why a claim is left out."""


class ClaimShape(BaseModel):
    """A claim."""

    model_config = ConfigDict(extra="forbid")

    subject: str
    object: str | None
    type: str
    status: Literal["true", "false", "suspected"]
    start: str | None
    end: str | None
    speaker: str | None
    description: str
    quotes: list[str]


class ClaimsReply(BaseModel):
    """The claims of some passages."""

    model_config = ConfigDict(extra="forbid")

    claims: list[ClaimShape]


@dataclass(frozen=True, slots=True)
class Claims:
    """What replies listed: records as they were written, and how many could not be read."""

    records: tuple[Mapping[str, Any], ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Claimer:
    """Asks a chat model about one window after the other."""

    chat: Chat
    gleanings: int
    temperature: float
    stand_ins: StandIns

    def ask(self, window: Window) -> tuple[Claims, BadReply | None]:
        """What the model lists, and what more it lists when it is asked what it missed.

        Raises BadReply where the first reply can't be used; where a later one can't, that comes
        with what was listed before.
        """
        asked = Prompt(
            system=prompt("claims_system"),
            user=prompt("claims", passages=window.passages, count=len(window.chunks)),
            max_tokens=REPLY_TOKENS,
            temperature=self.temperature,
            schema=ClaimsReply,
            stand_in=lambda: self.stand_ins.claimed(window),
        )
        said = ask(self.chat, asked, read_claims, TRIES)
        for turn in range(1, self.gleanings + 1 if said.records else 1):
            listed = json.dumps({"claims": said.records}, ensure_ascii=False)
            missed = prompt("claims_missed", reply=listed, count=len(window.chunks))
            again = replace(
                asked,
                user=f"{asked.user}\n\n{missed}",
                stand_in=partial(self.stand_ins.claimed, window, turn),
            )
            try:
                more = ask(self.chat, again, read_claims, TRIES)
            except BadReply as error:
                return said, error
            new = tuple(one for one in more.records if one not in said.records)
            said = Claims(said.records + new, Counter(said.dropped) + Counter(more.dropped))
            if not new:
                break
        return said, None


def read_claims(reply: str) -> Claims:
    """The claims of a reply, at most as many as it may have. Raises BadReply where it is none."""
    given = read_lists(reply, ("claims",))["claims"]
    dropped = Counter({SURPLUS: len(given[MOST_CLAIMS:])})
    found: list[Mapping[str, Any]] = []
    for one in given[:MOST_CLAIMS]:
        record = _record(one) if isinstance(one, dict) else None
        if record is None:
            dropped[MALFORMED] += 1
        elif max(len(record[name]) for name in ("subject", "object", "speaker")) > LONGEST_NAME:
            dropped[OVERLONG] += 1
        else:
            found.append(record)
    return Claims(tuple(found), +dropped)


def attribute(window: Window, said: Claims) -> tuple[list[Claim], Counter[str]]:
    """The claims of a window, each with the chunk that its first quote begins in.

    Those of which no quote is printed in the window are left out, and counted.
    """
    dropped = Counter(said.dropped)
    text = "".join(chunk.text for chunk in window.chunks)
    first = window.chunks[0]
    # In one piece, as a quote may begin in one chunk and end in the next.
    whole = replace(first, end=window.chunks[-1].end, text=text)
    quotes = [quote for one in said.records for quote in one["quotes"]]
    printed = find_printed(quotes, [whole])
    found: dict[str, Claim] = {}
    for one in said.records:
        places = {
            quote: min(start for starts in printed[plain(quote)][0].values() for start in starts)
            for quote in one["quotes"]
            if plain(quote) in printed
        }
        if not places:
            dropped[UNQUOTED] += 1
            continue
        claim = _claim(_holding(window, min(places.values())), one, tuple(places))
        found.setdefault(claim.id, claim)
    return list(found.values()), dropped


def _record(given: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A claim as it was read; None where it is about nobody, or says nothing."""
    told = shortened(read_line(given.get("description")), STATEMENT_TOKENS)
    subject = read_name(given.get("subject"))
    if not (subject and re.search(r"\w", told)):
        return None
    status = read_line(given.get("status")).casefold()
    quotes = [read_line(one) for one in read_list(given.get("quotes"))]
    fit = [one for one in quotes if re.search(r"\w", one) and len(one) <= LONGEST_QUOTE]
    return {
        "subject": subject,
        "object": read_name(given.get("object")),
        "type": read_line(given.get("type")).lower()[:LONGEST_TYPE] or "statement",
        "status": status if status in STATUSES else "suspected",
        "start": read_line(given.get("start"))[:LONGEST_TYPE],
        "end": read_line(given.get("end"))[:LONGEST_TYPE],
        "speaker": read_name(given.get("speaker")),
        "description": told,
        "quotes": list(dict.fromkeys(fit))[:MOST_QUOTES],
    }


def _claim(chunk: Chunk, told: Mapping[str, Any], quotes: tuple[str, ...]) -> Claim:
    return Claim(
        ids.claim_id(chunk.id, told["description"]),
        chunk.id,
        told["subject"],
        told["object"],
        told["type"],
        told["status"],
        told["start"],
        told["end"],
        told["speaker"],
        told["description"],
        quotes,
    )


def _holding(window: Window, place: int) -> Chunk:
    return next(chunk for chunk in reversed(window.chunks) if chunk.start <= place)
