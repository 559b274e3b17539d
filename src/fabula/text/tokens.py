"""How many tokens a text has, and its beginning within a limit; no network is needed."""

from __future__ import annotations

import functools
import threading
import zlib
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

RANKS = Path(__file__).parent / "ranks" / "o200k_base.zlib"
"""The rank table, packed by scripts/pack_ranks.py."""
SIZE = 199_998
"""Tokens of the table; the two special ones come after."""
SPECIAL = {"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018}
SLICE = 20_000
"""Characters encoded at once: tiktoken's time grows faster than a long run without a break."""
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
"""How o200k_base splits a text before it merges, as tiktoken_ext.openai_public has it."""

_BUILDING = threading.Lock()


def count(text: str) -> int:
    """The tokens of `text` in o200k_base; the names of special tokens are ordinary text."""
    encode = _encoding().encode_ordinary
    if len(text) <= SLICE:
        return len(encode(text))
    return sum(len(encode(piece)) for piece in _pieces(text))


def count_all(texts: Sequence[str]) -> list[int]:
    """`count` of each text. A loop: tiktoken's batch costs four times the CPU in its threads."""
    return [count(text) for text in texts]


def cut(text: str, limit: int) -> str:
    """The longest beginning of `text` of at most `limit` tokens, whole characters only."""
    taken: list[int] = []
    for piece in _pieces(text):
        taken += _encoding().encode_ordinary(piece)
        if len(taken) > limit:
            break
    else:
        return text
    # A beginning may split otherwise than the whole did, and be a token longer.
    for tokens in range(max(limit, 0), 0, -1):
        beginning = text[: len(_encoding().decode(taken[:tokens], errors="ignore"))]
        if count(beginning) <= limit:
            return beginning
    return ""


def _pieces(text: str) -> Iterator[str]:
    """`text` in pieces of at most SLICE characters, cut before a space where there is one.

    Before a space that follows no other, o200k_base splits anyway: the counts are exact.
    """
    start = 0
    while len(text) - start > SLICE:
        end = text.rfind(" ", start + 1, start + SLICE)
        while end > start and text[end - 1].isspace():
            end = text.rfind(" ", start + 1, end)
        if end <= start:
            end = start + SLICE
        yield text[start:end]
        start = end
    yield text[start:]


def _encoding() -> Encoding:
    """o200k_base, built once, by the thread that comes first: a fifth of a second."""
    with _BUILDING:
        return _built()


@functools.cache
def _built() -> Encoding:
    """o200k_base from the shipped table: tiktoken itself would download it."""
    from tiktoken import Encoding

    data = zlib.decompress(RANKS.read_bytes())
    lengths, tokens = data[:SIZE], data[SIZE:]
    ends = list(accumulate(lengths))
    slices = map(slice, [0, *ends], ends)
    ranks = dict(zip(map(tokens.__getitem__, slices), range(SIZE), strict=True))
    return Encoding("o200k_base", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens=SPECIAL)
