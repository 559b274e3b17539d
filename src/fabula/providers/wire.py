"""An endpoint's JSON, read: choices, token counts, texts, and vectors made unit length."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fabula.errors import BadReply
from fabula.model import Vectors

Json = dict[str, Any]


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
        content = "".join(str(part(one).get("text") or "") for one in content)
    return content if isinstance(content, str) else ""


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
    return told.get("prompt_tokens") or 0, told.get("completion_tokens") or 0


def cached_tokens(answer: Json) -> int:
    """Tokens of the prompt that the endpoint had in its prefix cache; 0 where it doesn't tell."""
    return part(part(answer.get("usage")).get("prompt_tokens_details")).get("cached_tokens") or 0


def without_thoughts(text: str) -> str:
    """Some local servers leave a thinking model's thoughts in its reply."""
    return text.partition("</think>")[2] if text.lstrip().startswith("<think>") else text


def no_text(model: str, reason: str | None, refusal: str | None) -> str:
    """Why a reply has no text: a refusal, the filter, thinking, or no reason at all."""
    if refusal:
        return f"{model} declined: {refusal}"
    if reason == "content_filter":
        return f"{model}'s reply was withheld by the endpoint's content filter."
    if reason == "length":
        return f"{model} spent all its tokens on thinking and said nothing."
    return f"{model} gave an empty reply."


def unit_rows(data: Sequence[Mapping[str, Any]], count: int) -> Vectors:
    """Shape (count, dimensions), float32, every row of length 1, in the order of the texts.

    `data` is the answer's list of {index, embedding}; an embedding is base64 of little-endian
    float32, or numbers. Raises BadReply for anything that no index could hold.
    """
    if len(data) != count:
        raise BadReply(f"The embedding model gave {len(data)} vectors for {count} texts.")
    try:
        ordered = sorted(enumerate(data), key=lambda pair: pair[1].get("index", pair[0]))
        rows = [_row(item["embedding"]) for _, item in ordered]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadReply(f"The embedding model's vectors can't be read: {error}.") from error
    sizes = {row.size for row in rows}
    if len(sizes) != 1 or 0 in sizes:
        raise BadReply(f"The embedding model's vectors have {sorted(sizes)} dimensions.")
    vectors = np.stack(rows)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not (lengths > 0).all():
        raise BadReply("The embedding model gave a vector of length 0, or that is no number.")
    unit: Vectors = (vectors / lengths).astype(np.float32)
    return unit


def _row(embedding: str | Sequence[float]) -> Vectors:
    if isinstance(embedding, str):
        decoded = base64.b64decode(embedding, validate=True)
        return np.frombuffer(decoded, dtype="<f4").astype(np.float32)
    return np.asarray(embedding, dtype=np.float32).reshape(-1)
