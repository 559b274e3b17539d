"""Count and cut text by tokens of o200k_base, without a network."""

from __future__ import annotations

import functools
import threading
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

RANKS = Path(__file__).parent / "ranks" / "o200k_base.zlib"
"""The tokens in the order of their ranks, packed by scripts/pack_ranks.py."""
SEPARATOR = b"\xfe\xff\xfe"
"""What is between two tokens of the table: no token has these bytes, which UTF-8 never uses, except
two tokens of one byte each."""
RANKS_COUNT = 199_998
"""Tokens in the table; the two special ones come after them."""
SPECIAL_TOKENS = {"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018}
SLICE_CHARACTERS = 20_000
"""What is encoded at once: tiktoken's time grows faster than a long run without a break."""
_ENDING = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
PATTERN = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _ENDING,
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _ENDING,
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
"""How o200k_base splits a text before merging; copied from tiktoken_ext.openai_public."""

_LOCK = threading.Lock()


def count(text: str) -> int:
    """Return the number of tokens of `text`; the names of special tokens count as ordinary text."""
    encode = _encoding().encode_ordinary
    if len(text) <= SLICE_CHARACTERS:
        return len(encode(text))
    return sum(len(encode(piece)) for piece in _pieces(text))


def count_all(texts: Sequence[str]) -> list[int]:
    """Return the number of tokens of each text."""
    # A loop, because tiktoken's batch function takes four times the CPU in its threads.
    return [count(text) for text in texts]


def cut(text: str, limit: int) -> str:
    """Return the longest beginning of `text` with at most `limit` tokens, in whole characters."""
    encoded: list[int] = []
    for piece in _pieces(text):
        encoded += _encoding().encode_ordinary(piece)
        if len(encoded) > limit:
            break
    else:
        return text
    # A beginning alone may be split in another way than within the text, into one token more.
    for tokens in range(max(limit, 0), 0, -1):
        beginning = text[: len(_encoding().decode(encoded[:tokens], errors="ignore"))]
        if count(beginning) <= limit:
            return beginning
    return ""


def _pieces(text: str) -> Iterator[str]:
    """Cut `text` into pieces of at most SLICE_CHARACTERS, before a space if there is one."""
    start = 0
    while len(text) - start > SLICE_CHARACTERS:
        # So counts are exact: o200k_base always splits before a space that follows no other.
        end = text.rfind(" ", start + 1, start + SLICE_CHARACTERS)
        while end > start and text[end - 1].isspace():
            end = text.rfind(" ", start + 1, end)
        if end <= start:
            end = start + SLICE_CHARACTERS
        yield text[start:end]
        start = end
    yield text[start:]


def _encoding() -> Encoding:
    """The encoding, built once, by the first thread that needs it, in a fifth of a second."""
    with _LOCK:
        return _build()


@functools.cache
def _build() -> Encoding:
    """Build o200k_base from the table that comes with Fabula; tiktoken would download it."""
    from tiktoken import Encoding

    tokens = zlib.decompress(RANKS.read_bytes()).split(SEPARATOR)
    ranks = dict(zip(tokens, range(RANKS_COUNT), strict=True))
    encoding = Encoding(
        "o200k_base", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens=SPECIAL_TOKENS
    )
    # It keeps them, and needs them no more: they are 18 MB.
    ranks.clear()
    return encoding
