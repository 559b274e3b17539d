"""Entities, chunks and what ties them, in memory: what is walked to rank them for a question.

A network is that of a collection, or of one document of it. Entities of different documents are one
row here where identities say so, or, undecided, where their keys are equal and no person is taken
for a place, so that what two books say of the same person comes together. Rows are in the order of
ids, so that what is equal comes in the order of ids, too.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

# It imports scipy.sparse when that is first used: who walks nothing is spared 0.1 s.
import scipy
from numpy.typing import NDArray

from fabula.graphs.entities.resolve import kind
from fabula.text.ranking import Scores, inverse_document_frequencies
from fabula.text.stems import stemmer_of, words

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Rows = NDArray[np.int64]
"""Numbers of rows."""
CLOSE = 1e-8
"""The change, summed over all nodes, at which a ranking is taken to be the one it comes to."""
STEPS = 200


@dataclass(frozen=True)
class Links:
    """What ties two entities each, as relations or facts do.

    `ends`: rows of entities, shape (links, 2); `counts`: how often, shape (links,); `chunks`: which
    chunks say so, shape (links, chunks), of ones; `keywords`: of each.
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
    """Who and what is told of, where, and what ties them.

    `entities`: the ids of those that are one, a row each, what most chunks mention first; `names`:
    their printed forms and how often each stands in the text, the usual one first; `types`: what
    each is; `mentions`: which chunks mention whom, shape (entities, chunks), of ones; `language`:
    that of most documents; `without_facts`: how many documents have relations, but no facts;
    `few_facts`: those that rules found, which stand beside relations and not in their place.
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
    few_facts: Links | None = None

    def name(self, row: int) -> str:
        """What an entity is usually called."""
        return next(iter(self.names[row]), "")

    def ids(self, rows: Iterable[int]) -> tuple[str, ...]:
        """The ids of entities in the order of these rows, of each document that has one."""
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
        """How many others each entity is related to, shape (entities,)."""
        return np.diff(self.ties.indptr).astype(np.float64)

    @cached_property
    def walk(self) -> csr_array:
        """Entities and, after them, chunks: the graph of HippoRAG 2 (Gutiérrez et al. 2025), 3.1.

        A chunk and whom it mentions are tied once, and two entities twice for each chunk that
        states a fact of them, as the published code ties them once in each direction.
        """
        linked = 2 * tie(self.linked, len(self.entities))
        empty = scipy.sparse.csr_array((len(self.chunks),) * 2, dtype=np.float64)
        joined = scipy.sparse.block_array(
            [[linked, self.mentions], [self.mentions.T, empty]], format="csr"
        )
        return scipy.sparse.csr_array(joined)

    @cached_property
    def linked(self) -> Links:
        """Facts; or, where no facts were asked for, relations and what few facts rules found."""
        if self.facts.ids:
            return self.facts
        return joined(self.relations, self.few_facts) if self.few_facts else self.relations

    @cached_property
    def incident(self) -> csr_array:
        """Which relations each entity has, shape (entities, relations), of ones."""
        ends = self.relations.ends
        at = np.repeat(np.arange(len(ends)), 2)
        return _ones(ends.ravel(), at, (len(self.entities), len(ends)))

    @cached_property
    def by_type(self) -> Mapping[str, Sequence[int]]:
        """The rows of each type, the commonest type first, and in it what most chunks mention."""
        found: dict[str, list[int]] = {}
        for row in np.argsort(-self.chunk_counts, kind="stable").tolist():
            found.setdefault(self.types[row], []).append(row)
        return {
            type: found[type] for type in sorted(found, key=lambda one: (-len(found[one]), one))
        }

    @cached_property
    def spelt(self) -> Mapping[tuple[str, ...], tuple[int, bool]]:
        """Who is called so, by the words of a name, and whether it is never without capitals.

        Where several are, it is whom the text calls so most often.
        """
        best: dict[tuple[str, ...], tuple[int, int]] = {}
        small: set[tuple[str, ...]] = set()
        for row, forms in enumerate(self.names):
            for form, count in forms.items():
                key = spell(form)
                if not key:
                    continue
                if not has_capital(form):
                    small.add(key)
                if key not in best or best[key][0] < count:
                    best[key] = (count, row)
        return {key: (row, key not in small) for key, (_, row) in best.items()}

    @cached_property
    def longest(self) -> int:
        """How many words the longest name has."""
        return max(map(len, self.spelt), default=0)

    @cached_property
    def stemmed(self) -> Mapping[tuple[str, ...], tuple[int, bool]]:
        """As `spelt`, by the stems of the words: an inflected form may stand in no chunk."""
        stem = stemmer_of(self.language).stems
        found: dict[tuple[str, ...], tuple[int, bool]] = {}
        for key, who in self.spelt.items():
            found.setdefault(tuple(chain.from_iterable(map(stem, key))), who)
        return found

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """How rare each stem is among names and keywords (inverse document frequency)."""
        terms = stemmer_of(self.language).content
        named = (terms(" ".join(forms)) for forms in self.names)
        about = (terms(" ".join(one)) for one in self.relations.keywords)
        return inverse_document_frequencies(chain(named, about))

    @cached_property
    def most_weight(self) -> float:
        """The largest of the `weights`."""
        return max(self.weights.values(), default=1.0)

    def prepare(self) -> Network:
        """Makes what most questions need of the names: once, where the network is kept."""
        _ = self.spelt, self.most_weight
        return self


def joined(one: Links, other: Links) -> Links:
    """Links of both, over the same entities and chunks; those of `one` are the first rows."""
    return Links(
        one.ids + other.ids,
        np.concatenate([one.ends, other.ends]),
        np.concatenate([one.counts, other.counts]),
        scipy.sparse.csr_array(scipy.sparse.vstack([one.chunks, other.chunks], format="csr")),
        one.keywords + other.keywords,
    )


def spell(name: str) -> tuple[str, ...]:
    """The words of a name as names are compared: in small letters, possessives off."""
    folded = unicodedata.normalize("NFKC", name)
    return tuple(word.removesuffix("'s") for word in words(folded))


def has_capital(text: str) -> bool:
    """Whether any letter is a capital one; scripts without such have none."""
    return text != text.lower()


def tie(links: Links, entities: int) -> csr_array:
    """How often entities are linked, shape (entities, entities): symmetric, none to itself."""
    apart = links.ends[:, 0] != links.ends[:, 1]
    one, other, counts = links.ends[apart, 0], links.ends[apart, 1], links.counts[apart]
    both = (np.concatenate([one, other]), np.concatenate([other, one]))
    tied = scipy.sparse.coo_array(
        (np.concatenate([counts, counts]), both), shape=(entities, entities)
    )
    return scipy.sparse.csr_array(tied)


def pagerank(weights: csr_array, seeds: Scores, damping: float) -> Scores:
    """How often each node is met by who walks along the edges, and at times begins anew.

    Personalised PageRank (Page et al. 1999; Haveliwala 2002): `damping` is the probability of
    following an edge, by its weight; else the walk begins at one of the `seeds`, by theirs, as it
    does where no edge leads on. `weights`: symmetric, without loops. Neither seeds nor weights are
    negative, and not all seeds are 0. Shape (nodes,), of sum 1.
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
    """The rows of the highest scores above 0, at most `limit`, equal ones in order."""
    order = np.argsort(-scores, kind="stable")[:limit]
    return [row for row in order.tolist() if scores[row] > 0]


def within(weights: csr_array, rows: Sequence[int], hops: int) -> NDArray[np.bool_]:
    """Which nodes are at most so many hops from each of `rows`, shape (rows, nodes)."""
    count = weights.shape[0]
    reached = _ones(np.arange(len(rows)), np.asarray(rows, np.int64), (len(rows), count))
    for _ in range(hops):
        reached = scipy.sparse.csr_array((reached + reached @ weights) > 0).astype(np.float64)
    return np.asarray(reached.toarray() > 0)


def columns_of(matrix: csr_array, row: int) -> list[int]:
    """The columns of a row that are not 0, in order: its neighbours, its chunks, its relations."""
    found: list[int] = np.sort(matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]).tolist()
    return found


def per_chunk(chunks: csr_array, scores: Scores, *, shared: bool = False) -> Scores:
    """The sums of scores in each chunk, shape (chunks,); `shared` among the chunks of each."""
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
    few_facts: Mapping[str, Sequence[Any]] | None = None,
    identities: Mapping[str, str] | None = None,
) -> Network:
    """A network from columns, as statements return them.

    `cast`: `ids`, `documents`, `keys`, `names`, `counts`, `types` and `sources` of entities;
    `relations` and `facts`, and `few_facts` of rules: `ids`, `starts`, `ends` (ids of entities),
    `counts`, `sources` and `keywords`. What leads to nothing that is there is left out: it went
    while this was read. `identities`: who that entity is, by the ids of those of whom it is
    decided.
    """
    ids = sorted(range(len(cast["ids"])), key=lambda one: cast["ids"][one])
    whose = _identities(cast, identities or {})
    rows: dict[tuple[str, ...], int] = {}
    members: list[list[int]] = []
    for one in ids:
        row = rows.setdefault(whose[one], len(rows))
        if row == len(members):
            members.append([])
        members[row].append(one)
    of = {cast["ids"][one]: row for row, some in enumerate(members) for one in some}
    ordered = sorted(chunks)
    chunk_row = {id: row for row, id in enumerate(ordered)}
    mentioned = [(of[id], some) for id, some in zip(cast["ids"], cast["sources"], strict=True)]
    return Network(
        entities=tuple(_ids(cast, some) for some in members),
        names=tuple(_forms(cast, some) for some in members),
        types=tuple(_type(cast, some) for some in members),
        chunks=tuple(ordered),
        mentions=_incidence(mentioned, chunk_row, len(members)),
        relations=_links(relations, of, chunk_row),
        facts=_links(facts, of, chunk_row),
        language=language,
        few_facts=_links(few_facts, of, chunk_row) if few_facts else None,
    )


def _identities(
    cast: Mapping[str, Sequence[Any]], decided: Mapping[str, str]
) -> list[tuple[str, ...]]:
    """Who each entity is: what is decided, or else who has its key, if that is not several.

    A person and a place of one key are two. What is of neither kind may be either, unless there are
    both.
    """
    columns = [*zip(cast["ids"], cast["keys"], map(kind, cast["types"]), strict=True)]
    kinds: dict[str, set[str]] = defaultdict(set)
    namesakes: dict[str, dict[str, set[str]]] = defaultdict(dict)
    for id, key, of in columns:
        kinds[key] |= {of} - {""}
        if id in decided:
            namesakes[key].setdefault(decided[id], set()).update({of} - {""})
    found: list[tuple[str, ...]] = []
    for id, key, of in columns:
        own = {of} - {""}
        known = [one for one, whose in namesakes[key].items() if len(own | whose) < 2]
        if id in decided:
            found.append(("identity", decided[id]))
        elif len(known) == 1:
            found.append(("identity", known[0]))
        else:
            found.append(("key", key, of if len(kinds[key]) > 1 else ""))
    return found


def _ids(cast: Mapping[str, Sequence[Any]], members: Sequence[int]) -> tuple[str, ...]:
    order = sorted(members, key=lambda one: (-len(cast["sources"][one]), cast["ids"][one]))
    return tuple(cast["ids"][one] for one in order)


def _forms(cast: Mapping[str, Sequence[Any]], members: Sequence[int]) -> Mapping[str, int]:
    if len(members) == 1:
        [one] = members
        return dict(zip(cast["names"][one], cast["counts"][one], strict=True))
    forms: Counter[str] = Counter()
    for one in members:
        forms.update(dict(zip(cast["names"][one], cast["counts"][one], strict=True)))
    return dict(sorted(forms.items(), key=lambda form: (-form[1], form[0])))


def _type(cast: Mapping[str, Sequence[Any]], members: Sequence[int]) -> str:
    """What most of its chunks take it for."""
    votes: Counter[str] = Counter()
    for one in members:
        votes[cast["types"][one]] += len(cast["sources"][one])
    return min(votes, key=lambda type: (-votes[type], type))


def _links(
    columns: Mapping[str, Sequence[Any]], of: Mapping[str, int], chunk: Mapping[str, int]
) -> Links:
    names = ("ids", "starts", "ends", "counts", "sources", "keywords")
    there = (
        (id, (of[start], of[end]), *told)
        for id, start, end, *told in zip(*(columns[name] for name in names), strict=True)
        if start in of and end in of
    )
    found = sorted(there, key=lambda one: one[0])
    return Links(
        ids=tuple(one[0] for one in found),
        ends=np.array([one[1] for one in found], np.int64).reshape(-1, 2),
        counts=np.array([one[2] for one in found], np.float64),
        chunks=_incidence([(row, one[3]) for row, one in enumerate(found)], chunk, len(found)),
        keywords=tuple(tuple(one[4]) for one in found),
    )


def _incidence(
    sources: Sequence[tuple[int, Sequence[str]]], chunk: Mapping[str, int], count: int
) -> csr_array:
    """Which chunks each row rests on, of ones, whichever of them are there."""
    sizes = [len(some) for _, some in sources]
    rows = np.repeat(np.array([row for row, _ in sources], np.int64), sizes)
    told = chain.from_iterable(some for _, some in sources)
    columns = np.fromiter((chunk.get(id, -1) for id in told), np.int64, len(rows))
    known = columns >= 0
    return _ones(rows[known], columns[known], (count, len(chunk)))


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
