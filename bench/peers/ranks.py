"""The table that most peers' tokenizer would download, from Fabula's own: o200k_base."""

from __future__ import annotations

import base64
import zlib
from itertools import accumulate, pairwise
from pathlib import Path

from fabula.text import tokens

FILE = "fb374d419588a4632f3f557e76b4b70aebbca790"
"""As tiktoken names it in the folder of TIKTOKEN_CACHE_DIR: the SHA-1 of where it is published."""


def write_ranks(folder: Path) -> None:
    """Puts the table into `folder`, as it is published, unless it is there."""
    file = folder / FILE
    if file.is_file():
        return
    data = zlib.decompress(tokens.RANKS.read_bytes())
    words = data[tokens.RANKS_COUNT :]
    ends = accumulate(data[: tokens.RANKS_COUNT], initial=0)
    lines = [
        base64.b64encode(words[start:end]) + b" %d\n" % rank
        for rank, (start, end) in enumerate(pairwise(ends))
    ]
    folder.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(lines))
