"""Soft clusters of passages: Gaussian mixtures over reduced embeddings, each within a token cap."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from fabula.errors import SettingsError

if TYPE_CHECKING:
    from sklearn.mixture import GaussianMixture

    from fabula.text.document import Vectors

Rows = NDArray[np.intp]
Reals = NDArray[np.float64]

# Measured on 65 texts: blocks of this size keep Ward's square of distances small and cost no
# coherence; text order was needed for no real text before this depth.
BLOCK_ROWS = 1000
BLOCK_DIMENSIONS = 10
LOWEST_FLOOR = 1e-3
DEEPEST = 6
MOST_BY_BIC = 50
FEWEST_MORE = 5

# Limits and warnings are the whole process's, and trees of several aspects grow side by side.
_alone = threading.Lock()


@dataclass(frozen=True, slots=True)
class Clustering:
    """How to cluster.

    `size`: passages aimed at in a cluster; `tokens`: most tokens of a cluster's text; `count`:
    whether `size` or the Bayesian information criterion chooses the number of clusters;
    `reduction`: how the vectors are brought down to `dimensions`;
    `membership`: the probability above which a passage joins a further cluster;
    `variance_floor`: floor of the mixture's variance, in mean column variances.
    """

    size: int
    tokens: int
    count: Literal["size", "bic"]
    reduction: Literal["pca", "umap"]
    dimensions: int
    membership: float
    variance_floor: float
    seed: int


@dataclass(frozen=True, slots=True)
class Cluster:
    """Row numbers in text order, and each one's membership probability."""

    members: tuple[int, ...]
    weights: tuple[float, ...]


def cluster(vectors: Vectors, tokens: Sequence[int], knobs: Clustering) -> list[Cluster]:
    """Soft clusters in text order of their first member; every row is in at least one.

    `vectors`: shape (rows, dimensions); `tokens`: the length of each row's text. No cluster is
    longer than `knobs.tokens`, unless it is one row that alone is. The same input gives the same
    clusters. Soft clustering of summaries' sources is RAPTOR's (Sarthi et al. 2024, arXiv
    2401.18059, section 3; `count='bic'` is its choice of the number); PCA, a start from Ward's
    tree and a high variance floor take the place of UMAP.
    """
    if len(vectors) != len(tokens):
        raise ValueError(f"{len(vectors)} vectors but {len(tokens)} token counts")
    if not len(vectors):
        return []
    level = _Level(_unit(vectors), np.asarray(tokens, dtype=np.int64), knobs)
    rows = np.arange(len(vectors))
    if level.is_one(rows):
        return [_whole(rows)]
    merged: dict[tuple[int, ...], tuple[float, ...]] = {}
    with one_thread():
        for found in level.divided(rows):
            # Two components can end with the same members: that is one cluster.
            known = merged.get(found.members, found.weights)
            merged[found.members] = tuple(map(max, known, found.weights))
    return [Cluster(members, merged[members]) for members in sorted(merged)]


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """The passages of one level: unit vectors (or zeros), tokens, and the knobs."""

    vectors: Vectors
    tokens: NDArray[np.int64]
    knobs: Clustering

    def divided(self, rows: Rows, depth: int = 0) -> Iterator[Cluster]:
        """Clusters of `rows`, each within the token cap."""
        if self.is_one(rows):
            yield _whole(rows)
            return
        distinct = len(np.unique(self.vectors[rows].round(6), axis=0))
        if depth > DEEPEST or distinct < 2:
            yield from self.pieces(rows)
        elif len(rows) > BLOCK_ROWS:
            blocks = self.blocks(rows, distinct)
            for block in blocks:
                yield from self.divided(block, depth + 1 if len(blocks) > 1 else DEEPEST + 1)
        else:
            shares = self.shares(rows, distinct)
            yield from self.pieces(rows) if shares is None else self.gathered(rows, shares, depth)

    def gathered(self, rows: Rows, shares: Reals, depth: int) -> Iterator[Cluster]:
        """Clusters from membership probabilities (rows, components).

        A row is in its best cluster, and in every other above the threshold that has room.
        """
        best = shares.argmax(axis=1)
        for component in range(shares.shape[1]):
            share, own = shares[:, component], best == component
            if not self.fits(rows[own]):
                yield from self.divided(rows[own], depth + 1)
            elif own.any():
                room = self.knobs.tokens - self.tokens[rows[own]].sum()
                guests = np.flatnonzero(~own & (share > self.knobs.membership))
                for guest in guests[np.argsort(-share[guests], kind="stable")]:
                    if self.tokens[rows[guest]] <= room:
                        own[guest] = True
                        room -= self.tokens[rows[guest]]
                yield Cluster(tuple(rows[own].tolist()), tuple(share[own].tolist()))

    def shares(self, rows: Rows, distinct: int) -> Reals | None:
        """Membership probabilities (rows, components), or None where nothing divides the rows."""
        points = placed(self.vectors[rows], self.knobs)
        floor = self.knobs.variance_floor
        while floor >= min(LOWEST_FLOOR, self.knobs.variance_floor):
            mixture = self.mixture(rows, points, distinct, floor * float(points.var(axis=0).mean()))
            shares = np.asarray(mixture.predict_proba(points))
            divides = len(np.unique(shares.argmax(axis=1))) > 1
            if divides or (mixture.n_components == 1 and self.fits(rows)):
                return shares
            floor /= 10
        return None

    def mixture(self, rows: Rows, points: Reals, distinct: int, floor: float) -> GaussianMixture:
        """The mixture with as many components as `knobs.count` says."""
        knobs = self.knobs
        if knobs.count == "size":
            by_cap = math.ceil(self.tokens[rows].sum() / knobs.tokens)
            count = min(distinct, max(2, by_cap, round(len(rows) / knobs.size)))
            return _mixture(points, count, floor, knobs.seed)
        fewest = 1 if self.fits(rows) else 2
        counts = range(fewest, min(MOST_BY_BIC, distinct, max(2, len(rows) - 1)) + 1)
        fitted = [_mixture(points, count, floor, knobs.seed) for count in counts]
        return min(fitted, key=lambda mixture: float(mixture.bic(points)))

    def blocks(self, rows: Rows, distinct: int) -> list[Rows]:
        """Hard parts of some 500 rows, which are then clustered each on its own."""
        from sklearn.mixture import GaussianMixture

        points = reduced(self.vectors[rows], BLOCK_DIMENSIONS, self.knobs.seed)
        mixture = GaussianMixture(
            min(distinct, math.ceil(2 * len(rows) / BLOCK_ROWS)),
            covariance_type="diag",
            reg_covar=LOWEST_FLOOR * points.var(axis=0).mean(),
            random_state=self.knobs.seed,
        )
        best = mixture.fit(points).predict(points)
        return [rows[best == one] for one in np.unique(best)]

    def pieces(self, rows: Rows) -> Iterator[Cluster]:
        """Near-equal runs in text order, as few as fit the cap."""
        tokens = self.tokens[rows]
        fewest = len(_runs(tokens, self.knobs.tokens))
        low, high = 0, self.knobs.tokens
        while low < high:
            limit = (low + high) // 2
            low, high = (low, limit) if len(_runs(tokens, limit)) <= fewest else (limit + 1, high)
        yield from map(_whole, np.split(rows, _runs(tokens, low)[1:]))

    def is_one(self, rows: Rows) -> bool:
        """Whether `rows` are too few to divide."""
        return self.fits(rows) and len(rows) < 1.5 * self.knobs.size

    def fits(self, rows: Rows) -> bool:
        return len(rows) < 2 or bool(self.tokens[rows].sum() <= self.knobs.tokens)


def _runs(tokens: NDArray[np.int64], limit: int) -> list[int]:
    """Where each run begins when runs of at most `limit` tokens are filled one by one."""
    begins, total = [0], 0
    for position, count in enumerate(tokens.tolist()):
        if total + count > limit and position > begins[-1]:
            begins.append(position)
            total = 0
        total += count
    return begins


def _whole(rows: Rows) -> Cluster:
    return Cluster(tuple(rows.tolist()), (1.0,) * len(rows))


def _unit(vectors: Vectors) -> Vectors:
    """Rows of unit length; what is not a number is 0, and a zero row stays one."""
    finite = np.nan_to_num(np.asarray(vectors, np.float32), nan=0.0, posinf=0.0, neginf=0.0)
    # By the largest entry first: squares of very large or small ones leave float32.
    largest = np.abs(finite).max(axis=1, keepdims=True, initial=0.0)
    scaled = finite / np.where(largest > 0, largest, 1)
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(norms > 0, norms, 1), np.float32)


def placed(vectors: Vectors, knobs: Clustering) -> Reals:
    """The rows in the few dimensions that they are clustered in."""
    # UMAP's layout needs a few more rows than dimensions.
    if knobs.reduction == "umap" and len(vectors) > knobs.dimensions + FEWEST_MORE:
        return _laid_out(vectors, knobs)
    return reduced(vectors, knobs.dimensions, knobs.seed)


def _laid_out(vectors: Vectors, knobs: Clustering) -> Reals:
    """By UMAP (McInnes et al. 2018, arXiv 1802.03426), with RAPTOR's number of neighbours."""
    try:
        from umap import UMAP
    except ImportError as error:
        raise SettingsError(
            "`cluster_reduction = umap` needs the extra: run `pip install 'fabula[umap]'`."
        ) from error
    layout = UMAP(
        n_components=knobs.dimensions,
        n_neighbors=max(2, math.isqrt(len(vectors) - 1)),
        metric="cosine",
        random_state=knobs.seed,
        n_jobs=1,
    )
    return np.asarray(layout.fit_transform(vectors), np.float64)


def reduced(vectors: Vectors, dimensions: int, seed: int) -> Reals:
    """The rows in at most so many principal dimensions."""
    from sklearn.decomposition import PCA

    rows, columns = vectors.shape
    solver = "covariance_eigh" if columns <= 512 else "randomized"
    reduction = PCA(min(dimensions, rows - 1, columns), svd_solver=solver, random_state=seed)
    return np.asarray(reduction.fit_transform(vectors.astype(np.float64)))


def _mixture(points: Reals, count: int, floor: float, seed: int) -> GaussianMixture:
    """A spherical mixture that starts from the means of Ward's clusters."""
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.mixture import GaussianMixture

    ones = np.zeros(len(points), np.intp)
    start = ones if count < 2 else AgglomerativeClustering(count).fit_predict(points)
    sizes = np.bincount(start, minlength=count)
    means = np.stack([points[start == one].mean(axis=0) for one in range(count)])
    within = float(np.square(points - means[start]).mean())
    mixture = GaussianMixture(
        count,
        covariance_type="spherical",
        reg_covar=floor,
        max_iter=30,
        init_params="random_from_data",
        weights_init=sizes / sizes.sum(),
        means_init=means,
        precisions_init=np.full(count, 1 / (within + floor)),
        random_state=seed,
    )
    return mixture.fit(points)


@contextmanager
def one_thread() -> Iterator[None]:
    """Matrices this small gain nothing from threads, and on a busy machine they wait for them.

    Measured on two busy cores: 987 rows in 0.3 s, and in 3 to 5 with BLAS's own threads.
    """
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with _alone, threadpool_limits(limits=1), warnings.catch_warnings():
        # Thirty steps are the recipe; more change nothing that was measured.
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
