"""Plan the episodes of a text: windows of consecutive chunks, and levels above them.

The plan follows the sections of the text, so that an edit of one chapter changes only the stretches
of that chapter and those above them, and so that there is an episode for each chapter and each book
of a novel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from fabula.graph.extraction import MAX_EXCESS
from fabula.graphs.episodes.values import Stretch
from fabula.text.document import Chunk
from fabula.text.sections import BETWEEN, SEPARATOR

WINDOW_SIZES = ((5, 2), (20, 3), (50, 5), (100, 8), (200, 10))
"""Chunks of a window, by the number of chunks up to which the size holds."""
MAX_WINDOW = 20
MAX_CHANGED = 0.1
"""The share of added or removed chunks up to which a rebuild keeps the size of windows: another
size would have all of them written again."""
TINY_SHARE = 4
"""A section of at most a quarter of a window may share one with its neighbours."""


def window_size(chunks: int) -> int:
    """Return how many chunks a window has at most in a text of a number of chunks.

    That is the rule of ComoRAG for its timeline of episodes (Wang et al. 2025, arXiv 2508.10419):
    2 chunks in a text of up to 5, 3 up to 20, 5 up to 50, 8 up to 100, 10 up to 200, and then twice
    the binary logarithm, 20 at most.
    """
    for limit, size in WINDOW_SIZES:
        if chunks <= limit:
            return size
    return min(MAX_WINDOW, int(2 * math.log2(chunks)))


def stable_window_size(chunks: int, previous_chunks: int, previous_size: int) -> int:
    """Return the size of windows, that of the previous build if the text has hardly changed.

    Args:
        chunks: The number of chunks now.
        previous_chunks: That of the previous build; 0 if there was none.
        previous_size: The size of windows then.
    """
    hardly_changed = abs(chunks - previous_chunks) <= MAX_CHANGED * previous_chunks
    return previous_size if previous_size and hardly_changed else window_size(chunks)


def plan_episodes(
    chunks: Sequence[Chunk], size: int, window_tokens: int, members: int
) -> tuple[Stretch, ...]:
    """Return what each episode of a text is to summarise.

    Windows tile the text and lie within one section each; only sections of at most a quarter of a
    window, as sonnets, share one. The windows of a section are of about equal length, and a section
    that is at most a quarter longer than a window is one. Above them are stretches of up to
    `members` others: of the windows of a chapter, then of the chapters of a part, then of the
    parts, until one is left. A stretch that is alone in its chapter or part is the chapter's or the
    part's own: nothing is summarised of it alone once more.

    Args:
        chunks: All chunks of the document, in text order.
        size: The most chunks of a window.
        window_tokens: About the most tokens of a window.
        members: The most parts of a stretch above the windows, 3 or more.

    Returns:
        The stretches on top: one, or none for a text without chunks. Their parts lead down.
    """
    leaves = list(_join_tiny(list(_read_leaves(chunks)), size))
    return tuple(_grow(leaves, 1, size, window_tokens, members))


def walk(tops: Sequence[Stretch]) -> Iterator[Stretch]:
    """Yield stretches and all their parts, each after its parts, in text order."""
    for stretch in tops:
        yield from walk(stretch.parts)
        yield stretch


@dataclass(frozen=True, slots=True)
class _Leaf:
    """Consecutive chunks that no window crosses the ends of, and the titles above them."""

    path: tuple[str, ...]
    chunks: tuple[Chunk, ...]


def _read_leaves(chunks: Sequence[Chunk]) -> Iterator[_Leaf]:
    """Yield the sections of a text with their chunks."""
    for path, group in groupby(chunks, key=_path):
        yield _Leaf(path, tuple(group))


def _path(chunk: Chunk) -> tuple[str, ...]:
    """The titles of a chunk's section; of a chunk of several sections, those of the first."""
    return tuple(chunk.section.split(BETWEEN)[0].split(SEPARATOR))


def _join_tiny(leaves: Sequence[_Leaf], size: int) -> Iterator[_Leaf]:
    """Yield sections; tiny ones that are neighbours in the same chapter or part become one."""
    tiny = max(1, size // TINY_SHARE)
    heading: tuple[Chunk, ...] = ()
    run: _Leaf | None = None
    for number, section in enumerate(leaves):
        leaf = _Leaf(section.path, heading + section.chunks)
        heading = ()
        is_tiny = len(leaf.chunks) <= tiny
        if is_tiny and number + 1 < len(leaves) and _contains(leaf, leaves[number + 1]):
            # One that contains the next is its heading, as "BOOK ONE" before "CHAPTER I" is.
            heading = leaf.chunks
            continue
        if is_tiny and run and _are_neighbours(run, leaf, size):
            run = _Leaf(run.path, run.chunks + leaf.chunks)
            continue
        if run:
            yield run
        run = leaf if is_tiny else None
        if not is_tiny:
            yield leaf
    if run:
        yield run


def _contains(outer: _Leaf, inner: _Leaf) -> bool:
    """Return whether a section is within another one, by their titles."""
    depth = len(outer.path)
    return len(inner.path) > depth and inner.path[:depth] == outer.path


def _are_neighbours(run: _Leaf, leaf: _Leaf, size: int) -> bool:
    """Return whether a section may share a window with those before it."""
    fits = len(run.chunks) + len(leaf.chunks) <= size
    return fits and run.path[:-1] == leaf.path[:-1]


def _grow(
    leaves: Sequence[_Leaf], depth: int, size: int, window_tokens: int, members: int
) -> list[Stretch]:
    """Return the one stretch over sections that share the first `depth` - 1 titles, or none."""
    units: list[Stretch] = []
    for _, grouped in groupby(leaves, key=lambda leaf: leaf.path[:depth]):
        group = list(grouped)
        if len(group) == 1 or all(len(leaf.path) <= depth for leaf in group):
            for leaf in group:
                units += _reduce(_cut(leaf.chunks, size, window_tokens), members)
        else:
            units += _grow(group, depth + 1, size, window_tokens, members)
    return _reduce(units, members)


def _cut(chunks: tuple[Chunk, ...], size: int, window_tokens: int) -> list[Stretch]:
    """Return windows of about equal numbers of chunks."""
    tokens = sum(chunk.tokens for chunk in chunks)
    # A section may be a quarter longer: two halves and a call to join them would tell no more.
    by_size = 1 if len(chunks) <= (1 + MAX_EXCESS) * size else -(-len(chunks) // size)
    count = max(by_size, min(len(chunks), -(-tokens // window_tokens)))
    return [Stretch(chunks[start:end]) for start, end in _split_evenly(len(chunks), count)]


def _reduce(units: list[Stretch], members: int) -> list[Stretch]:
    """Return one stretch over all of the units, which are put together level by level."""
    while len(units) > 1:
        # Groups of equal size have two units at least, as `members` is at least 3.
        units = [
            _put_together(tuple(units[start:end]))
            for start, end in _split_evenly(len(units), -(-len(units) // members))
        ]
    return units


def _put_together(parts: tuple[Stretch, ...]) -> Stretch:
    chunks = tuple(chunk for part in parts for chunk in part.chunks)
    return Stretch(chunks, parts, 1 + max(part.level for part in parts))


def _split_evenly(length: int, count: int) -> list[tuple[int, int]]:
    """Return the bounds of `count` runs of nearly equal lengths that tile `length` items."""
    bounds = [length * number // count for number in range(count + 1)]
    return list(pairwise(bounds))
