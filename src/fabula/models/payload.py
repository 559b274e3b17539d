"""Read an endpoint's JSON: choices, texts, token counts, and vectors."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

from fabula.errors import BadReply
from fabula.text.document import Vectors

Json = dict[str, Any]
MAX_TOKENS = 10_000_000
"""The most tokens of one call; a larger count is an error of the endpoint and is ignored."""


def choice(answer: Json) -> Json:
    """Return the first choice of an answer or event; an empty object if it has none."""
    choices = answer.get("choices")
    return object_or_empty(choices[0]) if isinstance(choices, list) and choices else {}


def object_or_empty(value: object) -> Json:
    """Return a value that should be an object; an empty object if it is not one."""
    return value if isinstance(value, dict) else {}


def message_text(message: Json) -> str:
    """Return the text of a message; some endpoints send it in parts."""
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(text_or_empty(object_or_empty(part).get("text")) for part in content)
    return text_or_empty(content)


def text_or_empty(value: object) -> str:
    """Return a value that should be a text; an empty text if it is not one."""
    return value if isinstance(value, str) else ""


def ends_reply(event: Json) -> bool:
    """Return whether a streamed event ends the reply."""
    return bool(choice(event).get("finish_reason"))


def has_content(event: Json) -> bool:
    """Return whether a streamed event has text or ends the reply."""
    delta = object_or_empty(choice(event).get("delta"))
    return bool(message_text(delta) or delta.get("refusal")) or ends_reply(event)


def usage(answer: Json) -> tuple[int, int]:
    """Return the tokens of the prompt and of the reply; 0 where they are not reported."""
    counts = object_or_empty(answer.get("usage"))
    return token_count(counts.get("prompt_tokens")), token_count(counts.get("completion_tokens"))


def cached_tokens(answer: Json) -> int:
    """Return the prompt's tokens that were in the endpoint's prefix cache; 0 if not reported."""
    details = object_or_empty(object_or_empty(answer.get("usage")).get("prompt_tokens_details"))
    return min(token_count(details.get("cached_tokens")), usage(answer)[0])


def token_count(value: object) -> int:
    """Return a number of tokens; 0 for a value that can't be one."""
    number = finite_number(value)
    return int(number) if number is not None and 0 <= number <= MAX_TOKENS else 0


def finite_number(value: object) -> float | None:
    """Return a finite number; None for anything else, as `true`, "3" or NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def without_thoughts(text: str) -> str:
    """Return a reply without a thinking model's thoughts, which some local servers leave in it."""
    return text.partition("</think>")[2] if text.lstrip().startswith("<think>") else text


def no_text(model: str, reason: object, refusal: str) -> str:
    """Return a sentence on why a reply has no text: a refusal, a filter, thinking, or unknown."""
    if refusal:
        why = " ".join(refusal.split())[:300].rstrip(".")
        return f"{model} declined: {why}."
    if reason == "content_filter":
        return f"{model}'s reply was withheld by the endpoint's content filter."
    if reason == "length":
        return f"{model} used all its tokens for thinking and replied nothing."
    return f"{model} gave an empty reply."


def unit_rows(data: object, count: int) -> Vectors:
    """Return the vectors of an answer: float32, shape (count, dimensions), rows of unit length.

    Args:
        data: The answer's list of {index, embedding}. An embedding is a list of numbers, or base64
            of little-endian float32.
        count: The number of texts that were sent; the rows are in their order.

    Raises:
        BadReply: There is not one finite vector, not of length 0, for each text.

    """
    if not isinstance(data, list):
        data = []
    if len(data) != count:
        raise BadReply(f"The embedding model returned {len(data)} vectors for {count} texts.")
    indices = [object_or_empty(item).get("index") for item in data]
    if indices == [None] * count:
        indices = [*range(count)]
    if any(type(index) is not int for index in indices) or {*indices} != {*range(count)}:
        raise BadReply("The embedding model's vectors do not have the indices of the texts.")
    try:
        rows = [_row(object_or_empty(item).get("embedding")) for item in data]
    except (TypeError, ValueError, OverflowError) as error:
        raise BadReply(
            f"The embedding model's vectors can't be read: {str(error)[:100]}."
        ) from error
    sizes = {row.size for row in rows}
    if len(sizes) != 1 or 0 in sizes:
        raise BadReply(f"The embedding model's vectors have {sorted(sizes)[:5]} dimensions.")
    by_index = dict(zip(indices, rows, strict=True))
    vectors = np.stack([by_index[index] for index in range(count)])
    # Numbers beyond float32 have become infinite, and are refused here.
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not (lengths > 0).all():
            raise BadReply(
                "The embedding model returned a vector of length 0, or with NaN or infinity in it."
            )
        unit: Vectors = (vectors / lengths).astype(np.float32)
    if not np.isfinite(unit).all():
        raise BadReply("The embedding model returned a vector with NaN or infinity in it.")
    return unit


def _row(embedding: object) -> Vectors:
    """One vector of any length, float32."""
    if isinstance(embedding, str):
        decoded = base64.b64decode(embedding, validate=True)
        return np.frombuffer(decoded, dtype="<f4").astype(np.float32)
    if not isinstance(embedding, list):
        raise ValueError("an embedding is not a list of numbers")
    numbers = np.asarray(embedding)
    if numbers.dtype.kind not in "if":
        raise ValueError("an embedding has items that are not numbers")
    with np.errstate(all="ignore"):
        return numbers.astype(np.float32).reshape(-1)
