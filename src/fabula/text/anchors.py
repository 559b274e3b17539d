"""Chunks of an earlier version of a text, found again where they still stand whole."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from fabula.text import tokens

HEAD = 24
"""Characters by which a known chunk is looked up."""


class Anchors:
    """The texts of known chunks, in their order; those of more than `limit` tokens are left out."""

    def __init__(self, known: Sequence[str], limit: int) -> None:
        counts = tokens.count_all(known)
        self._known = [text for text, count in zip(known, counts, strict=True) if count <= limit]
        self._next = 0
        self._first = {text: number for number, text in reversed([*enumerate(self._known)])}
        # Thousands of chunks may begin alike, as verses do: what is tried is their few lengths.
        by_head: dict[str, set[int]] = {}
        for text in self._first:
            by_head.setdefault(text[:HEAD], set()).add(len(text))
        self._lengths = {head: sorted(found, reverse=True) for head, found in by_head.items()}
        self._sizes = sorted({len(head) for head in by_head}, reverse=True)

    def at(self, text: str, start: int, ends: Collection[int]) -> int | None:
        """Where the known chunk ends that stands at `start`, out of `ends`; None if none does."""
        for length in self._fitting(text, start):
            if start + length in ends and (known := text[start : start + length]) in self._first:
                is_next = self._known[self._next : self._next + 1] == [known]
                self._next = (self._next if is_next else self._first[known]) + 1
                return start + length
        return None

    def _fitting(self, text: str, start: int) -> Iterator[int]:
        """First what followed the last one found: where nothing changed, all are found again."""
        for known in self._known[self._next : self._next + 1]:
            if text.startswith(known, start):
                yield len(known)
        for size in self._sizes:
            yield from self._lengths.get(text[start : start + size], ())
