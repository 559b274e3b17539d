"""Find chunks of a previous version of a text that are unchanged in the present one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from fabula.text import tokens

HEAD_CHARACTERS = 24
"""The length of the beginning by which a known chunk is looked up."""


class Anchors:
    """The chunks of the previous version of a text."""

    def __init__(self, known: Sequence[str], limit: int) -> None:
        """Index the texts of chunks, in their order, without those of more than `limit` tokens."""
        counts = tokens.count_all(known)
        self._known = [text for text, count in zip(known, counts, strict=True) if count <= limit]
        self._next = 0
        self._first = {text: index for index, text in reversed([*enumerate(self._known)])}
        # Thousands of chunks may have the same beginning, as verses do. So only the different
        # lengths of those with the same beginning are tried.
        by_head: dict[str, set[int]] = {}
        for text in self._first:
            by_head.setdefault(text[:HEAD_CHARACTERS], set()).add(len(text))
        self._lengths = {head: sorted(lengths, reverse=True) for head, lengths in by_head.items()}
        self._sizes = sorted({len(head) for head in by_head}, reverse=True)

    def find_end(self, text: str, start: int, ends: Collection[int]) -> int | None:
        """Return the end of the known chunk at `start`, one of `ends`; None if there is none."""
        for length in self._candidate_lengths(text, start):
            if start + length in ends and (known := text[start : start + length]) in self._first:
                is_next = self._known[self._next : self._next + 1] == [known]
                self._next = (self._next if is_next else self._first[known]) + 1
                return start + length
        return None

    def _candidate_lengths(self, text: str, start: int) -> Iterator[int]:
        """The lengths of known chunks that may be at `start`."""
        # The one after the last found comes first: an unchanged text is found as it was.
        for chunk in self._known[self._next : self._next + 1]:
            if text.startswith(chunk, start):
                yield len(chunk)
        for size in self._sizes:
            yield from self._lengths.get(text[start : start + size], ())
