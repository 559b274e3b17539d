"""Numbers with their nouns, for messages."""

from __future__ import annotations


def count_noun(count: int, noun: str) -> str:
    """Return a number with its noun: '1 document', '2,000 summaries'."""
    if count != 1:
        is_ies = noun.endswith("y") and noun[-2:-1] not in "aeiou"
        end = "es" if noun.endswith("ch") else "s"
        noun = f"{noun.removesuffix('y')}ies" if is_ies else f"{noun}{end}"
    return f"{count:,} {noun}"


def count_with_verb(count: int, noun: str) -> str:
    """Return a number with its noun and 'was' or 'were': '1 line was', '2 lines were'."""
    return f"{count_noun(count, noun)} {'was' if count == 1 else 'were'}"
