"""The table that most peers' tokenizer would download, from Fabula's own: o200k_base."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path

from fabula.text import tokens

FILE = "fb374d419588a4632f3f557e76b4b70aebbca790"
"""As tiktoken names it in the folder of TIKTOKEN_CACHE_DIR: the SHA-1 of where it is published."""


def write_ranks(folder: Path) -> None:
    """Puts the table into `folder`, as it is published, unless it is there."""
    file = folder / FILE
    if file.is_file():
        return
    words = zlib.decompress(tokens.RANKS.read_bytes()).split(tokens.SEPARATOR)
    lines = [base64.b64encode(word) + b" %d\n" % rank for rank, word in enumerate(words)]
    folder.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(lines))
