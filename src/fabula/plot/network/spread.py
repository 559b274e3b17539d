"""Where each figure of a network stands, and about where it stands after an edit.

Those that are often together stand near each other: the stress of Kamada and Kawai (1989), made
small by majorization (Gansner, Koren and North 2005, "Graph Drawing by Stress Majorization", their
equations 6 and 7). It begins where the text has them, the first at the left, at a height that is
their name's own, and goes on from there step by step, so that a picture keeps its sides. networkx
lowers the same stress by another way, which took some ten times as long here and moved figures
twice as far after an edit; its other layouts hid those in the middle behind each other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from fabula.plot.network.figures import Bond, Figure, first_types

MAIN = 60
"""Figures that are placed first, each with room for its name; others find theirs among them."""
WIDTH, HEIGHT = 1000.0, 680.0
"""What the main ones have, before names are moved apart."""
RADIUS = (4.0, 18.0)
"""Of one that is hardly mentioned, and what is added for the one that is mentioned most."""
LETTER, LINE = 6.9, 15.0
"""Width of a letter of a name, about, and its height."""
LONGEST = 26
"""Letters of a name that are shown."""
GAP = 4.0
APART = 1.8
"""How much further those of different groups stand apart."""
STEPS = 120
PASSES = (600, 60)
"""In which names, and others, are moved apart, unless they are sooner."""

Points = NDArray[np.float64]
"""A point, or half a size, a row: shape (figures, 2)."""


@dataclass(frozen=True, slots=True)
class Spot:
    """The middle of a figure, and its radius."""

    x: float
    y: float
    radius: float


def spread(
    figures: Sequence[Figure],
    bonds: Sequence[Bond],
    also: Collection[int] = (),
    groups: Sequence[int] = (),
) -> tuple[Spot, ...]:
    """A spot for each figure. Names of the MAIN ones don't meet: people, most mentioned first.

    Names of some others are given room `also`, which moves these, and not the MAIN ones. Figures
    of different `groups`, one a figure, stand further apart.
    """
    if not figures:
        return ()
    types = first_types(figures)
    order = sorted(range(len(figures)), key=lambda row: figures[row].type not in types)
    ranked = [figures[row] for row in order]
    lengths = _lengths(len(figures), bonds)
    if groups:
        own = np.asarray(groups)
        lengths = np.where(own[:, None] == own, lengths, lengths * APART)
    lengths = lengths[np.ix_(order, order)]
    points = np.array([[one.place - 0.5, _height(one.name) - 0.5] for one in ranked])
    points *= lengths.max() or 1.0
    main = min(MAIN, len(ranked))
    points[:main] = _settle(lengths[:main, :main], points[:main], 0)
    points = _fit(_settle(lengths, points, main))
    radii = np.array(_radii([one.weight for one in ranked]))
    halves = np.stack([radii, radii], axis=1) + GAP / 2
    named = np.array([place < main or row in also for place, row in enumerate(order)])
    wide = np.array([len(label(one.name)) * LETTER / 2 + GAP for one in ranked])
    halves[named, 0] = np.maximum(halves, wide[:, None])[named, 0]
    halves[named, 1] += LINE / 2
    # A name stands under its figure.
    down = np.zeros_like(points)
    down[named, 1] = LINE / 2
    points += down
    points[:main] = _part(points[:main], halves[:main], 0, PASSES[0])
    points = _part(points, halves, main, PASSES[1]) - down
    placed = dict(zip(order, zip(points.tolist(), radii.tolist(), strict=True), strict=True))
    return tuple(Spot(x, y, radius) for _, ((x, y), radius) in sorted(placed.items()))


def _radii(weights: Sequence[int]) -> list[float]:
    """Radii by which the areas tell how often each is mentioned."""
    top = max(*weights, 1, 1)
    return [RADIUS[0] + RADIUS[1] * sqrt(weight / top) for weight in weights]


def label(name: str) -> str:
    """A name as it stands in the picture."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1].rstrip()}…"


def _height(name: str) -> float:
    digest = hashlib.blake2b(name.casefold().encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "big") / 2**64


def _lengths(count: int, bonds: Sequence[Bond]) -> NDArray[np.float64]:
    """How far each should be from each: along the shortest way, where few chunks are long ones.

    Those that no way leads to have the usual length.
    """
    lengths = np.full((count, count), np.inf)
    np.fill_diagonal(lengths, 0.0)
    for bond in bonds:
        one, other = bond.ends
        if one != other:
            lengths[one, other] = lengths[other, one] = 1 / (1 + 0.5 * log(bond.weight))
    for via in range(count):
        np.minimum(lengths, lengths[:, via, None] + lengths[via], out=lengths)
    finite = lengths[np.isfinite(lengths) & (lengths > 0)]
    lengths[~np.isfinite(lengths)] = np.quantile(finite, 0.5) if finite.size else 1.0
    return lengths


def _settle(lengths: NDArray[np.float64], start: Points, pinned: int) -> Points:
    """Lowers the stress; the first `pinned` stay where they are."""
    points = start.copy()
    if len(points) - pinned < 1 or len(points) < 2:
        return points
    weights = np.divide(1.0, lengths**2, where=lengths > 0, out=np.zeros_like(lengths))
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(laplacian[pinned:, pinned:], hermitian=True)
    held = laplacian[pinned:, :pinned] @ points[:pinned]
    middle = points[pinned:].mean(axis=0)
    for _ in range(STEPS):
        apart = np.linalg.norm(points[:, None] - points[None], axis=-1)
        pulls = np.divide(weights * lengths, apart, where=apart > 0, out=np.zeros_like(apart))
        towards = np.diag(pulls.sum(axis=1)) - pulls
        points[pinned:] = inverse @ ((towards @ points)[pinned:] - held)
        if not pinned:
            points += middle - points.mean(axis=0)
    return points


def _fit(points: Points) -> Points:
    """In a frame of WIDTH and HEIGHT, as far as the MAIN ones go; stretched, but not much."""
    low, high = points[:MAIN].min(axis=0), points[:MAIN].max(axis=0)
    size = np.where(high > low, high - low, 1.0)
    scale = np.array([WIDTH, HEIGHT]) / size
    scale = np.minimum(scale, 1.5 * scale.min())
    return np.asarray((points - (low + high) / 2) * scale)


def _part(start: Points, halves: Points, pinned: int, passes: int) -> Points:
    """Moves rectangles apart that meet, each pair along the shorter way, as often as is needed."""
    points = start.copy()
    rows = np.arange(len(points))
    free = (rows >= pinned).astype(float)
    shares = np.divide(
        free[:, None], free[:, None] + free, where=free[:, None] > 0, out=np.zeros((len(rows),) * 2)
    )
    before = np.where(rows[:, None] < rows, -1.0, 1.0)
    for _ in range(passes):
        apart = points[:, None] - points[None]
        over = halves[:, None] + halves[None] - np.abs(apart)
        meet = (over > 1e-6).all(axis=-1) & (rows[:, None] != rows)
        if not (meet & (shares > 0)).any():
            break
        across = over[..., 0] <= over[..., 1]
        for axis, chosen in enumerate((across, ~across)):
            side = np.sign(apart[..., axis])
            side = np.where(side == 0, before, side)
            pushes = np.where(meet & chosen, (over[..., axis] + 0.1) * side * shares, 0.0)
            times = np.maximum((pushes != 0).sum(axis=1), 1)
            points[:, axis] += pushes.sum(axis=1) / np.sqrt(times)
    return points
