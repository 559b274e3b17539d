"""Packs tiktoken's o200k_base rank table into src/fabula/text/ranks: a third of the time to read.

    python scripts/pack_ranks.py o200k_base.tiktoken[.gz]

The packed table is zlib of the tokens in the order of their ranks, which count from 0 without a
gap, with a separator between two of them.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import sys
import zlib
from pathlib import Path

from fabula.text.tokens import RANKS, SEPARATOR

SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""Of the table that tiktoken downloads, as tiktoken_ext.openai_public has it."""


def main(source: Path) -> None:
    """Read tiktoken's table, plain or gzipped; write ours."""
    data = source.read_bytes()
    table = gzip.decompress(data) if source.suffix == ".gz" else data
    if hashlib.sha256(table).hexdigest() != SHA256:
        raise SystemExit(f"{source} is not tiktoken's o200k_base table: its SHA-256 differs.")
    rows = [line.split() for line in table.splitlines()]
    tokens = [base64.b64decode(token) for token, _ in rows]
    if [int(rank) for _, rank in rows] != list(range(len(tokens))):
        raise SystemExit(f"{source}: the ranks are not 0, 1, 2, ...")
    RANKS.parent.mkdir(exist_ok=True)
    RANKS.write_bytes(zlib.compress(SEPARATOR.join(tokens), 9))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
