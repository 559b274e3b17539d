"""Write output in encodings that lack some of its characters, as those of Windows consoles do."""

from __future__ import annotations

import codecs
import contextlib
import io
import sys
import unicodedata

from fabula.text.nouns import count_noun

HANDLER = "fabula-plain"
_PLAIN = str.maketrans({
    **dict.fromkeys("‘’‚′", "'"), **dict.fromkeys("“”„″«»", '"'), **dict.fromkeys("‐‑–—―−", "-"),
    "…": "...", "·": "-", "•": "*", "→": "->", "✓": "+", "✗": "x", "█": "#", "░": "-", "─": "-",
    "│": "|", "├": "+", "└": "+", "œ": "oe", "Œ": "OE", "æ": "ae", "Æ": "AE", "ß": "ss", "ſ": "s",
})  # fmt: skip
"""What stands for characters that an encoding lacks; accents are taken off, and others are "?"."""
_lacking: set[str] = set()
"""The characters that were written as others."""


def write_any_text() -> None:
    """Let standard output and standard error take any text, whatever their encoding."""
    codecs.register_error(HANDLER, _write_plainly)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=HANDLER)


def tell_written_otherwise() -> None:
    """Say on standard error how many different characters were written as others, if any were."""
    if _lacking:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(
                f"The encoding {sys.stdout.encoding} lacks {count_noun(len(_lacking), 'character')}"
                " of this output, for which others stand. PYTHONUTF8=1 writes UTF-8.\n"
            )
            sys.stderr.flush()


def _write_plainly(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    _lacking.update(error.object[error.start : error.end])
    lacking = error.object[error.start : error.end].translate(_PLAIN)
    # Take accents off; what is still lacking is a question mark.
    bare = "".join(
        plain if plain.isascii() else "?"
        for letter in lacking
        for plain in [letter if letter.isascii() else unicodedata.normalize("NFKD", letter)[:1]]
    )
    return bare, error.end
