"""An endpoint's JSON, read: choices, token counts, texts, and vectors made unit length."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

from fabula.errors import BadReply
from fabula.text.document import Vectors

Json = dict[str, Any]
MOST_TOKENS = 10_000_000
"""Of one call; no model reads more, and a larger count is none."""


def choice(answer: Json) -> Json:
    """The first choice of an answer or event; empty where it has none."""
    choices = answer.get("choices")
    return part(choices[0]) if isinstance(choices, list) and choices else {}


def part(value: object) -> Json:
    """A value that ought to be an object; empty where it is none."""
    return value if isinstance(value, dict) else {}


def said(message: Json) -> str:
    """A message's text; some endpoints send it in parts."""
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(spoken(part(one).get("text")) for one in content)
    return spoken(content)


def spoken(value: object) -> str:
    """A value that ought to be a text; empty where it is none."""
    return value if isinstance(value, str) else ""


def ends(event: Json) -> bool:
    """Whether a streamed event says why the reply ends."""
    return bool(choice(event).get("finish_reason"))


def says(event: Json) -> bool:
    """Whether a streamed event has text, or ends the reply."""
    delta = part(choice(event).get("delta"))
    return bool(said(delta) or delta.get("refusal")) or ends(event)


def usage(answer: Json) -> tuple[int, int]:
    """Tokens of the prompt and of the reply; 0 where they are not told."""
    told = part(answer.get("usage"))
    return count(told.get("prompt_tokens")), count(told.get("completion_tokens"))


def cached_tokens(answer: Json) -> int:
    """Tokens of the prompt that the endpoint had in its prefix cache; 0 where it doesn't tell."""
    details = part(part(answer.get("usage")).get("prompt_tokens_details"))
    return min(count(details.get("cached_tokens")), usage(answer)[0])


def count(told: object) -> int:
    """A number of tokens; 0 for what can be none."""
    number = number_of(told)
    return int(number) if number is not None and 0 <= number <= MOST_TOKENS else 0


def number_of(value: object) -> float | None:
    """A finite number; None for anything else, as `true`, "3" or NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def without_thoughts(text: str) -> str:
    """Some local servers leave a thinking model's thoughts in its reply."""
    return text.partition("</think>")[2] if text.lstrip().startswith("<think>") else text


def no_text(model: str, reason: object, refusal: str) -> str:
    """Why a reply has no text: a refusal, the filter, thinking, or no reason at all."""
    if refusal:
        why = " ".join(refusal.split())[:300].rstrip(".")
        return f"{model} declined: {why}."
    if reason == "content_filter":
        return f"{model}'s reply was withheld by the endpoint's content filter."
    if reason == "length":
        return f"{model} spent all its tokens on thinking and said nothing."
    return f"{model} gave an empty reply."


def unit_rows(data: object, count: int) -> Vectors:
    """Shape (count, dimensions), float32, every row of length 1, in the order of the texts.

    `data` is the answer's list of {index, embedding}; an embedding is base64 of little-endian
    float32, or numbers. Raises BadReply for anything that no index could hold.
    """
    if not isinstance(data, list):
        data = []
    if len(data) != count:
        raise BadReply(f"The embedding model gave {len(data)} vectors for {count} texts.")
    places = [part(one).get("index") for one in data]
    if places == [None] * count:
        places = [*range(count)]
    if any(type(place) is not int for place in places) or {*places} != {*range(count)}:
        raise BadReply("The embedding model's vectors are not numbered one by one.")
    try:
        rows = [_row(part(item).get("embedding")) for item in data]
    except (TypeError, ValueError, OverflowError) as error:
        raise BadReply(
            f"The embedding model's vectors can't be read: {str(error)[:100]}."
        ) from error
    sizes = {row.size for row in rows}
    if len(sizes) != 1 or 0 in sizes:
        raise BadReply(f"The embedding model's vectors have {sorted(sizes)[:5]} dimensions.")
    in_order = dict(zip(places, rows, strict=True))
    vectors = np.stack([in_order[place] for place in range(count)])
    # Numbers that float32 has none for become infinite, and are found here.
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not (lengths > 0).all():
            raise BadReply("The embedding model gave a vector of length 0, or that is no number.")
        unit: Vectors = (vectors / lengths).astype(np.float32)
    if not np.isfinite(unit).all():
        raise BadReply("The embedding model gave a vector that is no number.")
    return unit


def _row(embedding: object) -> Vectors:
    if isinstance(embedding, str):
        decoded = base64.b64decode(embedding, validate=True)
        return np.frombuffer(decoded, dtype="<f4").astype(np.float32)
    if not isinstance(embedding, list):
        raise ValueError("an embedding is no list of numbers")
    numbers = np.asarray(embedding)
    if numbers.dtype.kind not in "if":
        raise ValueError("an embedding holds what is no number")
    with np.errstate(all="ignore"):
        return numbers.astype(np.float32).reshape(-1)
