"""Soft clusters of passages: Gaussian mixtures over reduced embeddings, each within a token cap.

RAPTOR's soft clustering (Sarthi et al. 2024, arXiv 2401.18059, section 3) with three changes of
ours: PCA takes the place of UMAP, the mixture starts from the clusters of Ward's hierarchical
clustering, and its variance has a high floor. The defaults set the number of clusters by their
size. `reduction="umap"`, `count="bic"`, `passes="two"` and `mixture="full"` are RAPTOR's own
choices. With one pass, something like RAPTOR's two passes, global and then local, takes place only
above `BLOCK_ROWS` passages.
"""

from __future__ import annotations

import math
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from fabula.errors import SettingsError

if TYPE_CHECKING:
    from sklearn.mixture import GaussianMixture

    from fabula.text.document import Vectors

Rows = NDArray[np.intp]
"""Row numbers of passages."""
Floats = NDArray[np.float64]

# Measured on 65 texts: blocks of this size keep the square matrix of distances that Ward's method
# needs small, and cost no coherence. No real text needed the split in text order before MAX_DEPTH.
BLOCK_ROWS = 1000
BLOCK_DIMENSIONS = 10
MAX_DEPTH = 6
MIN_VARIANCE_FLOOR = 1e-3
MAX_COMPONENTS_BY_BIC = 50
LOCAL_NEIGHBOURS = 10
"""UMAP's neighbours in the second of two passes, as in RAPTOR's code; otherwise they are the square
root of the number of passages."""
UMAP_EXTRA_ROWS = 5
"""UMAP needs this many rows more than the dimensions it reduces to."""
MIN_DIVIDED = 1.5
"""Passages that fit the token cap are divided from this multiple of the wanted size on."""
NO_UMAP = (
    "`cluster_reduction = umap`, which the preset `thesis` sets, needs the extra: run "
    "`pip install 'fabula[umap]'`, or set `cluster_reduction = pca`."
)

# Thread limits and warning filters are set for the whole process, while the trees of several
# aspects grow side by side. So only one clustering runs at a time.
_process_settings = threading.Lock()


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """How to cluster."""

    size: int
    """The number of passages to aim at in a cluster."""
    tokens: int
    """Maximum number of tokens of a cluster's text."""
    count: Literal["size", "bic"]
    """What chooses the number of clusters: `size`, or the Bayesian information criterion."""
    reduction: Literal["pca", "umap"]
    """How the vectors are reduced to `dimensions`."""
    dimensions: int
    membership: float
    """The probability, from 0 to 1, above which a passage also joins a further cluster."""
    variance_floor: float
    """Lower bound of a spherical mixture's variance, in units of the columns' mean variance."""
    seed: int
    passes: Literal["one", "two"] = "one"
    """`two`: first clusters of all passages, then clusters within each of these, as in RAPTOR."""
    mixture: Literal["spherical", "full"] = "spherical"
    """The components' covariances; `full` as in RAPTOR, which starts from k-means."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster of passages."""

    members: tuple[int, ...]
    """Row numbers, in text order."""
    weights: tuple[float, ...]
    """The membership probability of each, above 0, at most 1."""


def cluster(vectors: Vectors, tokens: Sequence[int], options: ClusterOptions) -> list[Cluster]:
    """Cluster passages softly, so that every passage is in at least one cluster.

    The same input gives the same clusters.

    Args:
        vectors: The passages' embeddings, shape (passages, dimensions). They need not be of length
            1; numbers that are not finite count as 0.
        tokens: The length of each passage.
        options: How to cluster.

    Returns:
        Clusters in text order of their first members. None is longer than `options.tokens`, unless
        it is a single passage that is longer itself.

    Raises:
        SettingsError: `reduction` is "umap", and the library is not installed.
    """
    if len(vectors) != len(tokens):
        raise ValueError(f"{len(vectors)} vectors but {len(tokens)} token counts")
    if not len(vectors):
        return []
    level = _Level(_unit(vectors), np.asarray(tokens, dtype=np.int64), options)
    rows = np.arange(len(vectors))
    if level.is_one_cluster(rows):
        return [_whole(rows)]
    merged: dict[tuple[int, ...], tuple[float, ...]] = {}
    with single_thread():
        for each in level.divide(rows):
            # Two components can end with the same members: that is one cluster.
            weights = merged.get(each.members, each.weights)
            merged[each.members] = tuple(map(max, weights, each.weights))
    return [Cluster(members, merged[members]) for members in sorted(merged)]


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """The passages of one level of a tree: unit vectors (or zeros), tokens, and the options."""

    vectors: Vectors
    tokens: NDArray[np.int64]
    options: ClusterOptions

    def divide(self, rows: Rows, depth: int = 0) -> Iterator[Cluster]:
        """Yield clusters of rows, each within the token cap."""
        if self.is_one_cluster(rows):
            yield _whole(rows)
            return
        distinct = len(np.unique(self.vectors[rows].round(6), axis=0))
        if depth > MAX_DEPTH or distinct < 2:
            yield from self.split_in_order(rows)
        elif self.options.passes == "two":
            yield from self.divide_in_two_passes(rows, distinct, depth)
        elif len(rows) > BLOCK_ROWS:
            blocks = self.split_in_blocks(rows, distinct)
            # A single block is no progress: the next step then splits in text order.
            next_depth = depth + 1 if len(blocks) > 1 else MAX_DEPTH + 1
            for block in blocks:
                yield from self.divide(block, next_depth)
        else:
            shares = self.memberships(rows, distinct)
            if shares is None:
                yield from self.split_in_order(rows)
            else:
                yield from self.make_clusters(rows, shares, depth)

    def make_clusters(self, rows: Rows, shares: Floats, depth: int) -> Iterator[Cluster]:
        """Yield clusters by membership probabilities, shape (rows, components).

        A row is in its best cluster, and in every other one above the threshold that has room.
        """
        best = shares.argmax(axis=1)
        for component in range(shares.shape[1]):
            share, inside = shares[:, component], best == component
            if not self.fits(rows[inside]):
                yield from self.divide(rows[inside], depth + 1)
            elif inside.any():
                room = self.options.tokens - self.tokens[rows[inside]].sum()
                guests = np.flatnonzero(~inside & (share > self.options.membership))
                for guest in guests[np.argsort(-share[guests], kind="stable")]:
                    if self.tokens[rows[guest]] <= room:
                        inside[guest] = True
                        room -= self.tokens[rows[guest]]
                yield Cluster(tuple(rows[inside].tolist()), tuple(share[inside].tolist()))

    def divide_in_two_passes(self, rows: Rows, distinct: int, depth: int) -> Iterator[Cluster]:
        """Yield clusters as RAPTOR's code makes them, each within the token cap.

        All rows are clustered, and then the rows of each of these global clusters. In both passes a
        row is in every cluster above the membership threshold, and in its best one. A local cluster
        beyond the cap is divided again in the same way.
        """
        whole = self.soft_clusters(rows, distinct, None)
        if whole is None:
            yield from self.split_in_order(rows)
            return
        for members, weights in whole:
            # RAPTOR's code takes a global cluster of so few passages as it is.
            few = len(members) <= self.options.dimensions + 1
            parts = None
            if not few:
                local_distinct = len(np.unique(self.vectors[members].round(6), axis=0))
                if local_distinct > 1:
                    parts = self.soft_clusters(members, local_distinct, LOCAL_NEIGHBOURS)
            for inside, shares in parts or [(members, weights)]:
                if self.fits(inside):
                    yield Cluster(tuple(inside.tolist()), tuple(shares.tolist()))
                else:
                    # Nothing was divided: the next step splits in text order.
                    is_stuck = len(inside) == len(rows)
                    yield from self.divide(inside, MAX_DEPTH + 1 if is_stuck else depth + 1)

    def soft_clusters(
        self, rows: Rows, distinct: int, neighbours: int | None
    ) -> list[tuple[Rows, Floats]] | None:
        """Return the rows of each component with their probabilities; None as `memberships` does.

        No cap of tokens is applied.
        """
        shares = self.memberships(rows, distinct, neighbours)
        if shares is None:
            return None
        best = shares.argmax(axis=1)
        clusters = []
        for component in range(shares.shape[1]):
            share = shares[:, component]
            inside = (best == component) | (share > self.options.membership)
            if (best == component).any():
                clusters.append((rows[inside], share[inside]))
        return clusters

    def memberships(
        self, rows: Rows, distinct: int, neighbours: int | None = None
    ) -> Floats | None:
        """Return membership probabilities, shape (rows, components).

        Where the mixture puts all rows into one component, it is tried again with a lower variance
        floor. None if even the lowest floor divides nothing that has to be divided.
        """
        points = reduce_dimensions(self.vectors[rows], self.options, neighbours)
        if self.options.mixture == "full":
            mixture = self.fit_mixture(rows, points, distinct, 0.0)
            shares = np.asarray(mixture.predict_proba(points))
            is_enough = self.fits(rows) or len(np.unique(shares.argmax(axis=1))) > 1
            return shares if is_enough else None
        floor = self.options.variance_floor
        while floor >= min(MIN_VARIANCE_FLOOR, self.options.variance_floor):
            variance = floor * float(points.var(axis=0).mean())
            mixture = self.fit_mixture(rows, points, distinct, variance)
            shares = np.asarray(mixture.predict_proba(points))
            is_divided = len(np.unique(shares.argmax(axis=1))) > 1
            if is_divided or (mixture.n_components == 1 and self.fits(rows)):
                return shares
            floor /= 10
        return None

    def fit_mixture(
        self, rows: Rows, points: Floats, distinct: int, floor: float
    ) -> GaussianMixture:
        """Fit a mixture with as many components as `options.count` asks for."""
        options = self.options

        def fit(count: int) -> GaussianMixture:
            if options.mixture == "full":
                return _fit_full(points, count, options.seed)
            return _fit(points, count, floor, options.seed)

        if options.count == "size":
            by_cap = math.ceil(self.tokens[rows].sum() / options.tokens)
            return fit(min(distinct, max(2, by_cap, round(len(rows) / options.size))))
        fewest = 1 if self.fits(rows) else 2
        most = min(MAX_COMPONENTS_BY_BIC, distinct, max(2, len(rows) - 1))
        mixtures = [fit(count) for count in range(fewest, most + 1)]
        return min(mixtures, key=lambda mixture: float(mixture.bic(points)))

    def split_in_blocks(self, rows: Rows, distinct: int) -> list[Rows]:
        """Split into disjoint parts of some 500 rows, each to be clustered on its own."""
        from sklearn.mixture import GaussianMixture

        points = project_by_pca(self.vectors[rows], BLOCK_DIMENSIONS, self.options.seed)
        mixture = GaussianMixture(
            min(distinct, math.ceil(2 * len(rows) / BLOCK_ROWS)),
            covariance_type="diag",
            reg_covar=MIN_VARIANCE_FLOOR * points.var(axis=0).mean(),
            random_state=self.options.seed,
        )
        labels = mixture.fit(points).predict(points)
        return [rows[labels == label] for label in np.unique(labels)]

    def split_in_order(self, rows: Rows) -> Iterator[Cluster]:
        """Yield runs of rows in text order, of near-equal length, as few as fit the cap."""
        tokens = self.tokens[rows]
        fewest = len(_run_starts(tokens, self.options.tokens))
        # The lowest limit that needs no more runs makes them near-equal.
        low, high = 0, self.options.tokens
        while low < high:
            limit = (low + high) // 2
            if len(_run_starts(tokens, limit)) <= fewest:
                high = limit
            else:
                low = limit + 1
        yield from map(_whole, np.split(rows, _run_starts(tokens, low)[1:]))

    def is_one_cluster(self, rows: Rows) -> bool:
        """Tell whether rows are too few to be divided."""
        return self.fits(rows) and len(rows) < MIN_DIVIDED * self.options.size

    def fits(self, rows: Rows) -> bool:
        """Tell whether rows are within the token cap; a single row always is."""
        return len(rows) < 2 or bool(self.tokens[rows].sum() <= self.options.tokens)


def _run_starts(tokens: NDArray[np.int64], limit: int) -> list[int]:
    """Return where each run begins, if runs of at most `limit` tokens are filled one by one."""
    starts, total = [0], 0
    for position, count in enumerate(tokens.tolist()):
        if total + count > limit and position > starts[-1]:
            starts.append(position)
            total = 0
        total += count
    return starts


def _whole(rows: Rows) -> Cluster:
    return Cluster(tuple(rows.tolist()), (1.0,) * len(rows))


def _unit(vectors: Vectors) -> Vectors:
    """Return rows of unit length; what is not finite becomes 0, and a zero row stays zero."""
    finite = np.nan_to_num(np.asarray(vectors, np.float32), nan=0.0, posinf=0.0, neginf=0.0)
    # Divided by the largest entry first: squares of very large or very small entries leave float32.
    largest = np.abs(finite).max(axis=1, keepdims=True, initial=0.0)
    scaled = finite / np.where(largest > 0, largest, 1)
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(norms > 0, norms, 1), np.float32)


def reduce_dimensions(
    vectors: Vectors, options: ClusterOptions, neighbours: int | None = None
) -> Floats:
    """Project vectors to the few dimensions in which they are clustered.

    Args:
        vectors: Shape (rows, dimensions).
        options: Their `reduction`, `dimensions` and `seed`.
        neighbours: UMAP's number of neighbours; None for the square root of the number of rows.

    Returns:
        Shape (rows, at most `options.dimensions`).
    """
    if options.reduction == "umap" and len(vectors) > options.dimensions + UMAP_EXTRA_ROWS:
        return _project_by_umap(vectors, options, neighbours)
    return project_by_pca(vectors, options.dimensions, options.seed)


def check_reduction(reduction: str) -> None:
    """Raise SettingsError if the library of a reduction is missing, before any call is paid."""
    # An entry None in `sys.modules` forbids the import; `find_spec` raises ValueError for it.
    is_forbidden = "umap" in sys.modules and sys.modules["umap"] is None
    if reduction == "umap" and (is_forbidden or find_spec("umap") is None):
        raise SettingsError(NO_UMAP)


def _project_by_umap(vectors: Vectors, options: ClusterOptions, neighbours: int | None) -> Floats:
    """Project by UMAP (McInnes et al. 2018, arXiv 1802.03426), with RAPTOR's neighbour counts."""
    with warnings.catch_warnings():
        # That it lacks Tensorflow, and that the graph of neighbours of few passages is not
        # connected. `single_thread` keeps other threads from the filters.
        warnings.simplefilter("ignore")
        try:
            from umap import UMAP
        except ImportError as error:
            raise SettingsError(NO_UMAP) from error
        layout = UMAP(
            n_components=options.dimensions,
            n_neighbors=neighbours or max(2, math.isqrt(len(vectors) - 1)),
            metric="cosine",
            # With "spectral", ARPACK may begin with random vectors, which no seed controls.
            init="pca",
            random_state=options.seed,
            n_jobs=1,
        )
        return np.asarray(layout.fit_transform(vectors), np.float64)


def project_by_pca(vectors: Vectors, dimensions: int, seed: int) -> Floats:
    """Project vectors to their principal components, at most `dimensions` of them."""
    from sklearn.decomposition import PCA

    rows, columns = vectors.shape
    solver = "covariance_eigh" if columns <= 512 else "randomized"
    pca = PCA(min(dimensions, rows - 1, columns), svd_solver=solver, random_state=seed)
    return np.asarray(pca.fit_transform(vectors.astype(np.float64)))


def _fit(points: Floats, count: int, floor: float, seed: int) -> GaussianMixture:
    """Fit a spherical mixture that starts from the means of Ward's clusters."""
    from sklearn.cluster import AgglomerativeClustering, KMeans
    from sklearn.mixture import GaussianMixture

    if count < 2:
        labels = np.zeros(len(points), np.intp)
    elif len(points) > BLOCK_ROWS:
        labels = KMeans(count, n_init=1, random_state=seed).fit_predict(points)
    else:
        labels = AgglomerativeClustering(count).fit_predict(points)
    sizes = np.bincount(labels, minlength=count)
    means = np.stack([points[labels == label].mean(axis=0) for label in range(count)])
    within = float(np.square(points - means[labels]).mean())
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


def _fit_full(points: Floats, count: int, seed: int) -> GaussianMixture:
    """Fit a mixture of full covariances that starts from k-means, as RAPTOR's code does."""
    from sklearn.mixture import GaussianMixture

    # Points that are all alike have no variance: the floor of 1e-6 is then what divides them.
    return GaussianMixture(count, covariance_type="full", random_state=seed).fit(points)


@contextmanager
def single_thread() -> Iterator[None]:
    """Run the block with one thread for matrices, and no other such block beside it.

    Matrices this small gain nothing from more threads, which wait for each other on a busy machine.
    Measured on two busy cores: 987 rows take 0.3 s, and 3 to 5 s with BLAS's own threads.
    """
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with _process_settings, threadpool_limits(limits=1), warnings.catch_warnings():
        # Thirty iterations are enough by measurement: more changed nothing.
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
