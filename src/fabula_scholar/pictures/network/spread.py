"""Place the figures of a network so that those who often meet are near each other.

The layout minimises the stress of Kamada and Kawai (1989) by majorization (Gansner, Koren and North
2005, "Graph Drawing by Stress Majorization", equations 6 and 7). Each figure starts at a position
that depends on its mean place in the text (x) and on its name (y), so a small edit of the text
changes the picture little, and left and right stay the same. networkx minimises the same stress in
another way, which took about ten times as long here and moved figures twice as far after an edit;
its other layouts hid the figures in the middle behind each other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from fabula_scholar.pictures.network.figures import DrawnRelation, Figure, first_types
from fabula_scholar.pictures.shared.svg import shorten

MAIN_FIGURES = 60
"""How many figures are placed first, with space for their names; the others fit in between."""
WIDTH, HEIGHT = 1000.0, 680.0
"""The area of the main figures, in units of the picture, before names are moved apart."""
MIN_RADIUS, ADDED_RADIUS = 4.0, 18.0
"""The radius of a figure that is hardly mentioned, and what is added for the most mentioned one."""
LETTER_WIDTH, LINE_HEIGHT = 6.9, 15.0
"""The approximate size of a letter of a name."""
MAX_LETTERS = 26
"""How many letters of a name are shown."""
GAP = 4.0
GROUP_DISTANCE = 1.8
"""The factor by which figures of different groups are further apart."""
STRESS_STEPS = 120
MAX_MAIN_PASSES, MAX_PASSES = 600, 60
"""How often overlapping names of main figures, then of all, are moved apart at most."""

Points = NDArray[np.float64]
"""Positions or half sizes, x and y in each row: shape (figures, 2)."""


@dataclass(frozen=True, slots=True)
class Spot:
    """The centre and the radius of a figure."""

    x: float
    y: float
    radius: float


def spread(
    figures: Sequence[Figure],
    relations: Sequence[DrawnRelation],
    labelled: Collection[int] = (),
    groups: Sequence[int] = (),
) -> tuple[Spot, ...]:
    """Return a spot for each figure; the names of the main figures don't overlap.

    Args:
        figures: The figures, most mentioned first. The main ones are people, if some are known.
        relations: Their relations.
        labelled: Positions of further figures that get space for their names. This moves these
            figures, and no main one.
        groups: The group of each figure; different groups are placed further apart.
    """
    if not figures:
        return ()
    types = first_types(figures)
    order = sorted(range(len(figures)), key=lambda row: figures[row].type not in types)
    ranked = [figures[row] for row in order]
    distances = _target_distances(len(figures), relations)
    if groups:
        group_ids = np.asarray(groups)
        is_same = group_ids[:, None] == group_ids
        distances = np.where(is_same, distances, distances * GROUP_DISTANCE)
    distances = distances[np.ix_(order, order)]
    points = np.array([[figure.place - 0.5, _hash_height(figure.name) - 0.5] for figure in ranked])
    points *= distances.max() or 1.0
    main = min(MAIN_FIGURES, len(ranked))
    points[:main] = _reduce_stress(distances[:main, :main], points[:main], 0)
    points = _fit(_reduce_stress(distances, points, main))
    radii = np.array(_radii([figure.weight for figure in ranked]))
    halves = np.stack([radii, radii], axis=1) + GAP / 2
    has_label = np.array([place < main or row in labelled for place, row in enumerate(order)])
    widths = np.array([len(label(figure.name)) * LETTER_WIDTH / 2 + GAP for figure in ranked])
    halves[has_label, 0] = np.maximum(halves, widths[:, None])[has_label, 0]
    halves[has_label, 1] += LINE_HEIGHT / 2
    # A name is below its disc, so the rectangle of both has its centre lower.
    down = np.zeros_like(points)
    down[has_label, 1] = LINE_HEIGHT / 2
    points += down
    points[:main] = _separate(points[:main], halves[:main], 0, MAX_MAIN_PASSES)
    points = _separate(points, halves, main, MAX_PASSES) - down
    placed = dict(zip(order, zip(points.tolist(), radii.tolist(), strict=True), strict=True))
    return tuple(Spot(x, y, radius) for _, ((x, y), radius) in sorted(placed.items()))


def label(name: str) -> str:
    """Return a name as it stands in the picture."""
    return shorten(name, MAX_LETTERS)


def _radii(weights: Sequence[int]) -> list[float]:
    """Return radii, so that the area of a disc grows with how often the figure is mentioned."""
    top = max(*weights, 1, 1)
    return [MIN_RADIUS + ADDED_RADIUS * sqrt(weight / top) for weight in weights]


def _hash_height(name: str) -> float:
    """Return a number from 0 to 1 that depends only on the name."""
    digest = hashlib.blake2b(name.casefold().encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "big") / 2**64


def _target_distances(count: int, relations: Sequence[DrawnRelation]) -> NDArray[np.float64]:
    """Return how far apart figures should be: the shortest path; the more chunks, the shorter."""
    lengths = np.full((count, count), np.inf)
    np.fill_diagonal(lengths, 0.0)
    for relation in relations:
        source, target = relation.ends
        if source != target:
            length = 1 / (1 + 0.5 * log(relation.weight))
            lengths[source, target] = lengths[target, source] = length
    # All shortest paths, by the algorithm of Floyd and Warshall.
    distances = lengths
    for via in range(count):
        np.minimum(distances, distances[:, via, None] + distances[via], out=distances)
    # Figures that no path connects get the median distance.
    finite = distances[np.isfinite(distances) & (distances > 0)]
    distances[~np.isfinite(distances)] = np.quantile(finite, 0.5) if finite.size else 1.0
    return distances


def _reduce_stress(distances: NDArray[np.float64], start: Points, fixed: int) -> Points:
    """Move points so that they come closer to the target distances; the first `fixed` stay."""
    points = start.copy()
    if len(points) - fixed < 1 or len(points) < 2:
        return points
    weights = np.divide(1.0, distances**2, where=distances > 0, out=np.zeros_like(distances))
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(laplacian[fixed:, fixed:], hermitian=True)
    from_fixed = laplacian[fixed:, :fixed] @ points[:fixed]
    middle = points[fixed:].mean(axis=0)
    for _ in range(STRESS_STEPS):
        apart = np.linalg.norm(points[:, None] - points[None], axis=-1)
        pulls = np.divide(weights * distances, apart, where=apart > 0, out=np.zeros_like(apart))
        towards = np.diag(pulls.sum(axis=1)) - pulls
        points[fixed:] = inverse @ ((towards @ points)[fixed:] - from_fixed)
        if not fixed:
            points += middle - points.mean(axis=0)
    return points


def _fit(points: Points) -> Points:
    """Scale points so that the main figures fill WIDTH and HEIGHT, stretched at most 1.5 times."""
    low, high = points[:MAIN_FIGURES].min(axis=0), points[:MAIN_FIGURES].max(axis=0)
    size = np.where(high > low, high - low, 1.0)
    scale = np.array([WIDTH, HEIGHT]) / size
    scale = np.minimum(scale, 1.5 * scale.min())
    return np.asarray((points - (low + high) / 2) * scale)


def _separate(start: Points, halves: Points, fixed: int, max_passes: int) -> Points:
    """Move rectangles apart by the axis on which they overlap less; the first `fixed` ones stay."""
    points = start.copy()
    rows = np.arange(len(points))
    free = (rows >= fixed).astype(float)
    # Two that may both move share the way; beside a fixed one the other moves all of it.
    shares = np.divide(
        free[:, None], free[:, None] + free, where=free[:, None] > 0, out=np.zeros((len(rows),) * 2)
    )
    before = np.where(rows[:, None] < rows, -1.0, 1.0)
    for _ in range(max_passes):
        apart = points[:, None] - points[None]
        overlap = halves[:, None] + halves[None] - np.abs(apart)
        meet = (overlap > 1e-6).all(axis=-1) & (rows[:, None] != rows)
        if not (meet & (shares > 0)).any():
            break
        is_across = overlap[..., 0] <= overlap[..., 1]
        for axis, chosen in enumerate((is_across, ~is_across)):
            side = np.sign(apart[..., axis])
            side = np.where(side == 0, before, side)
            pushes = np.where(meet & chosen, (overlap[..., axis] + 0.1) * side * shares, 0.0)
            times = np.maximum((pushes != 0).sum(axis=1), 1)
            points[:, axis] += pushes.sum(axis=1) / np.sqrt(times)
    return points
