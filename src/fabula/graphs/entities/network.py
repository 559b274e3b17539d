"""Entities, chunks and what ties them, in memory: what modes walk to rank passages for a question.

A network is that of a collection, or of one document of it. Entities of different documents that
`group_across_documents` takes for one are one row here, so that what two books say of the same
person comes together. Rows are in the order of ids, so that equal scores come in that order, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

# Its submodule `sparse` is imported when it is first used: a question that walks no network is
# spared 0.1 s.
import scipy
from numpy.typing import NDArray

from fabula.graphs.entities.across_documents import DocumentEntity, group_across_documents
from fabula.graphs.entities.names import Names
from fabula.text.ranking import Scores, inverse_document_frequencies
from fabula.text.stems import stemmer_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Rows = NDArray[np.int64]
"""Numbers of rows."""
CLOSE = 1e-8
"""The change of a step, summed over all nodes, below which `pagerank` stops."""
STEPS = 200
"""The most steps of `pagerank`."""


@dataclass(frozen=True)
class Links:
    """Links between two entities each: the relations of a network, or its facts.

    Attributes:
        ids: The ids of the relations or facts.
        ends: The rows of the two entities, shape (links, 2).
        counts: How many chunks state each, shape (links,).
        chunks: Which chunks state each, shape (links, chunks), of ones.
        keywords: The keywords of each.
    """

    ids: tuple[str, ...]
    ends: Rows
    counts: Scores
    chunks: csr_array
    keywords: tuple[tuple[str, ...], ...]

    @cached_property
    def row(self) -> Mapping[str, int]:
        """The row of each, by its id."""
        return {id: row for row, id in enumerate(self.ids)}


@dataclass(frozen=True)
class Network:
    """Entities, the chunks that mention them, and the relations and facts between them.

    Attributes:
        entities: The ids of each row's entities, that of the document whose most chunks mention it
            first.
        names: The printed forms of each row and how often each is printed, the usual one first.
        types: The type of each row.
        chunks: The ids of all chunks.
        mentions: Which chunks mention which row, shape (entities, chunks), of ones.
        relations: The relations.
        facts: The facts: triples, and typed facts.
        language: The language of most documents.
        without_facts: How many documents have relations, but no facts.
    """

    entities: tuple[tuple[str, ...], ...]
    names: tuple[Mapping[str, int], ...]
    types: tuple[str, ...]
    chunks: tuple[str, ...]
    mentions: csr_array
    relations: Links
    facts: Links
    language: str = ""
    without_facts: int = 0

    def name(self, row: int) -> str:
        """Return the usual name of a row."""
        return next(iter(self.names[row]), "")

    def ids(self, rows: Iterable[int]) -> tuple[str, ...]:
        """Return the ids of all entities of these rows, in their order."""
        return tuple(dict.fromkeys(chain.from_iterable(self.entities[row] for row in rows)))

    @cached_property
    def row(self) -> Mapping[str, int]:
        """The row of each entity, by its id."""
        return {id: row for row, ids in enumerate(self.entities) for id in ids}

    @cached_property
    def chunk_row(self) -> Mapping[str, int]:
        """The row of each chunk, by its id."""
        return {id: row for row, id in enumerate(self.chunks)}

    @cached_property
    def chunk_counts(self) -> Scores:
        """How many chunks mention each entity, shape (entities,)."""
        return _sums(self.mentions)

    @cached_property
    def ties(self) -> csr_array:
        """How often two entities are related, shape (entities, entities), symmetric."""
        return tie(self.relations, len(self.entities))

    @cached_property
    def degrees(self) -> Scores:
        """How many entities each is related to, shape (entities,)."""
        return np.diff(self.ties.indptr).astype(np.float64)

    @cached_property
    def walk(self) -> csr_array:
        """Entities and, after them, chunks: the graph of HippoRAG 2 (Gutiérrez et al. 2025), 3.1.

        A chunk is tied once to each entity that it mentions. Two entities are tied twice for each
        chunk that states a fact of them, as the published code ties them once in each direction.
        """
        linked = 2 * tie(self.linked, len(self.entities))
        empty = scipy.sparse.csr_array((len(self.chunks),) * 2, dtype=np.float64)
        joined = scipy.sparse.block_array(
            [[linked, self.mentions], [self.mentions.T, empty]], format="csr"
        )
        return scipy.sparse.csr_array(joined)

    @cached_property
    def linked(self) -> Links:
        """Facts; or, where there are none, relations."""
        return self.facts if self.facts.ids else self.relations

    @cached_property
    def incident(self) -> csr_array:
        """Which relations each entity has, shape (entities, relations), of ones."""
        ends = self.relations.ends
        relations = np.repeat(np.arange(len(ends)), 2)
        return _ones(ends.ravel(), relations, (len(self.entities), len(ends)))

    @cached_property
    def by_type(self) -> Mapping[str, Sequence[int]]:
        """The rows of each type: the commonest type first, in it what most chunks mention first."""
        rows: dict[str, list[int]] = {}
        for row in np.argsort(-self.chunk_counts, kind="stable").tolist():
            rows.setdefault(self.types[row], []).append(row)
        return {
            type: rows[type] for type in sorted(rows, key=lambda type: (-len(rows[type]), type))
        }

    @cached_property
    def by_name(self) -> Names[int]:
        """The rows of entities by what they are called."""
        return Names(dict(enumerate(self.names)), self.language)

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """How rare each stem is among names and keywords (inverse document frequency)."""
        terms = stemmer_of(self.language).content
        of_names = (terms(" ".join(forms)) for forms in self.names)
        of_keywords = (terms(" ".join(keywords)) for keywords in self.relations.keywords)
        return inverse_document_frequencies(chain(of_names, of_keywords))

    @cached_property
    def most_weight(self) -> float:
        """The largest of the `weights`."""
        return max(self.weights.values(), default=1.0)

    def prepare(self) -> Network:
        """Compute what most questions need, once, before the network is cached."""
        _ = self.by_name.longest, self.most_weight
        return self


def tie(links: Links, entities: int) -> csr_array:
    """Return how often entities are linked.

    Shape (entities, entities), symmetric; what links an entity to itself is left out.
    """
    differ = links.ends[:, 0] != links.ends[:, 1]
    sources, targets = links.ends[differ, 0], links.ends[differ, 1]
    counts = np.concatenate([links.counts[differ]] * 2)
    places = (np.concatenate([sources, targets]), np.concatenate([targets, sources]))
    matrix = scipy.sparse.coo_array((counts, places), shape=(entities, entities))
    return scipy.sparse.csr_array(matrix)


def pagerank(weights: csr_array, seeds: Scores, damping: float) -> Scores:
    """Return how often a random walk that now and then begins anew is at each node.

    Personalised PageRank (Page et al. 1999; Haveliwala 2002).

    Args:
        weights: The weights of the edges, shape (nodes, nodes): symmetric, without loops, none
            negative.
        seeds: How likely the walk is to begin at each node, shape (nodes,), of any sum above 0;
            none negative.
        damping: The probability of following an edge, by its weight. Otherwise, and where no edge
            leads on, the walk begins anew.

    Returns:
        The shares of the nodes, shape (nodes,), of sum 1.
    """
    reset = seeds / seeds.sum()
    degrees = _sums(weights)
    stuck = degrees == 0
    shares = np.divide(1.0, degrees, where=~stuck, out=np.zeros_like(degrees))
    ranks: Scores = reset
    for _ in range(STEPS):
        onward = weights @ (ranks * shares)
        after = damping * (onward + ranks[stuck].sum() * reset) + (1 - damping) * reset
        change = np.abs(after - ranks).sum()
        ranks = after
        if change < CLOSE:
            break
    return ranks


def best(scores: Scores, limit: int) -> list[int]:
    """Return the rows of the highest scores above 0, at most `limit`; equal ones by their rows."""
    order = np.argsort(-scores, kind="stable")[:limit]
    return [row for row in order.tolist() if scores[row] > 0]


def within(weights: csr_array, rows: Sequence[int], hops: int) -> NDArray[np.bool_]:
    """Return which nodes are at most a number of hops from each of `rows`, shape (rows, nodes)."""
    count = weights.shape[0]
    reached = _ones(np.arange(len(rows)), np.asarray(rows, np.int64), (len(rows), count))
    for _ in range(hops):
        reached = scipy.sparse.csr_array((reached + reached @ weights) > 0).astype(np.float64)
    return np.asarray(reached.toarray() > 0)


def columns_of(matrix: csr_array, row: int) -> list[int]:
    """Return the columns of a row that are not 0, in order.

    In this way an entity's neighbours, chunks and relations are read from their matrices.
    """
    columns = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
    in_order: list[int] = np.sort(columns).tolist()
    return in_order


def per_chunk(chunks: csr_array, scores: Scores, *, shared: bool = False) -> Scores:
    """Add up the scores of what is in each chunk.

    Args:
        chunks: Which chunks each row is in, shape (rows, chunks), of ones.
        scores: The scores of the rows, shape (rows,).
        shared: Whether a row's score is divided among its chunks.

    Returns:
        The sums, shape (chunks,).
    """
    if shared:
        counts = _sums(chunks)
        scores = np.divide(scores, counts, where=counts > 0, out=np.zeros_like(scores))
    return np.asarray(scores @ chunks)


def make_network(
    cast: Mapping[str, Sequence[Any]],
    chunks: Iterable[str],
    relations: Mapping[str, Sequence[Any]],
    facts: Mapping[str, Sequence[Any]],
    language: str,
    identities: Mapping[str, str] | None = None,
) -> Network:
    """Make a network from columns, as statements return them.

    What refers to an entity or a chunk that is not there is left out: it was removed while the
    columns were read.

    Args:
        cast: `ids`, `documents`, `keys`, `names`, `counts`, `types` and `sources` of entities.
        chunks: The ids of all chunks.
        relations: `ids`, `starts`, `ends` (ids of entities), `counts`, `sources` and `keywords`.
        facts: The same columns of the facts.
        language: The language of most documents.
        identities: The id of an identity by the ids of its entities.
    """
    order = sorted(range(len(cast["ids"])), key=lambda position: cast["ids"][position])
    entities = [
        DocumentEntity(*(cast[name][position] for name in ("ids", "keys", "types")))
        for position in order
    ]
    groups = [
        [order[position] for position in group]
        for group in group_across_documents(entities, identities or {})
    ]
    row_of = {cast["ids"][position]: row for row, group in enumerate(groups) for position in group}
    chunk_ids = sorted(chunks)
    chunk_row = {id: row for row, id in enumerate(chunk_ids)}
    sources = [(row_of[id], ids) for id, ids in zip(cast["ids"], cast["sources"], strict=True)]
    return Network(
        entities=tuple(_ids(cast, group) for group in groups),
        names=tuple(_forms(cast, group) for group in groups),
        types=tuple(_type(cast, group) for group in groups),
        chunks=tuple(chunk_ids),
        mentions=_incidence(sources, chunk_row, len(groups)),
        relations=_links(relations, row_of, chunk_row),
        facts=_links(facts, row_of, chunk_row),
        language=language,
    )


def _ids(cast: Mapping[str, Sequence[Any]], group: Sequence[int]) -> tuple[str, ...]:
    order = sorted(group, key=lambda entity: (-len(cast["sources"][entity]), cast["ids"][entity]))
    return tuple(cast["ids"][entity] for entity in order)


def _forms(cast: Mapping[str, Sequence[Any]], group: Sequence[int]) -> Mapping[str, int]:
    columns = [zip(cast["names"][entity], cast["counts"][entity], strict=True) for entity in group]
    if len(columns) == 1:
        return dict(columns[0])
    forms: Counter[str] = Counter()
    for counts in columns:
        forms.update(dict(counts))
    return dict(sorted(forms.items(), key=lambda form: (-form[1], form[0])))


def _type(cast: Mapping[str, Sequence[Any]], group: Sequence[int]) -> str:
    """The type that most chunks give it."""
    votes: Counter[str] = Counter()
    for entity in group:
        votes[cast["types"][entity]] += len(cast["sources"][entity])
    return min(votes, key=lambda type: (-votes[type], type))


def _links(
    columns: Mapping[str, Sequence[Any]], row_of: Mapping[str, int], chunk_row: Mapping[str, int]
) -> Links:
    order = ("ids", "starts", "ends", "counts", "sources", "keywords")
    rows = sorted(
        zip(*(columns[name] for name in order), strict=True), key=lambda columns: columns[0]
    )
    links = [
        (id, (row_of[start], row_of[end]), *about)
        for id, start, end, *about in rows
        if start in row_of and end in row_of
    ]
    ids, ends, counts, sources, keywords = zip(*links, strict=True) if links else ((),) * 5
    return Links(
        ids=ids,
        ends=np.array(ends, np.int64).reshape(-1, 2),
        counts=np.array(counts, np.float64),
        chunks=_incidence([*enumerate(sources)], chunk_row, len(links)),
        keywords=tuple(map(tuple, keywords)),
    )


def _incidence(
    sources: Sequence[tuple[int, Sequence[str]]], chunk_row: Mapping[str, int], count: int
) -> csr_array:
    """Which chunks each row rests on, of ones; chunks that are not there are left out."""
    sizes = [len(ids) for _, ids in sources]
    rows = np.repeat(np.array([row for row, _ in sources], np.int64), sizes)
    chunk_ids = chain.from_iterable(ids for _, ids in sources)
    columns = np.fromiter((chunk_row.get(id, -1) for id in chunk_ids), np.int64, len(rows))
    known = columns >= 0
    return _ones(rows[known], columns[known], (count, len(chunk_row)))


def _ones(rows: Rows, columns: Rows, shape: tuple[int, int]) -> csr_array:
    """A matrix of ones at these places, each once."""
    matrix = scipy.sparse.csr_array(
        scipy.sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    )
    matrix.data[:] = 1.0
    return matrix


def _sums(matrix: csr_array) -> Scores:
    """The sum of each row."""
    return np.asarray(matrix.sum(axis=1), np.float64).ravel()
