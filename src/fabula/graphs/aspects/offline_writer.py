"""The offline writer: summaries and details made of the document's own words, no model asked."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fabula.graphs.aspects.offline_details import fragments
from fabula.models import Embedder
from fabula.models.offline.extracts import FEWEST_WORDS, embed, lines, salience
from fabula.text.document import Vector, Vectors
from fabula.text.ranking import (
    Scores,
    inverse_document_frequencies,
    maximal_marginal_relevance,
    scaled,
)
from fabula.text.stems import Stemmer
from fabula.text.tokens import count, count_all, cut

if TYPE_CHECKING:
    from fabula.graphs.aspects.values import Aspect

# Measured on 45 stories against reference answers: this balance finds a third more of their
# words than the sentences nearest to the centroid; more weight on the aspect costs a point.
BALANCE = 0.5
ASPECT_WEIGHT = 0.2
MOST_DETECTED = 3
FLATTEST = 1e-3
"""Least deviation of a cosine; a document of one chunk has none."""
KEPT = 128
"""Clusters and aspects remembered, as a cluster is summarised once for each of its aspects."""


@dataclass(frozen=True, slots=True, eq=False)
class _Sentence:
    """A sentence on one line; `place` orders the document's sentences.

    A long book has half a million of them: half precision chooses the same and halves the memory.
    """

    text: str
    place: int
    tokens: int
    stems: tuple[str, ...]
    vector: NDArray[np.float16]


@dataclass(frozen=True, slots=True, eq=False)
class _Cluster:
    """The sentences of one cluster in text order, none twice, scored for salience."""

    sentences: tuple[_Sentence, ...]
    salience: Scores
    vectors: Vectors


class ExtractiveWriter:
    """A `Writer` for one document, whose chunks' texts it is given; it never invents a word.

    It compares sentences with `embedder`, thousands of them: meant for static vectors, whatever
    the graph's are. How much it writes the settings of the same names say.
    """

    def __init__(
        self,
        texts: Sequence[str],
        language: str,
        embedder: Embedder,
        *,
        summary_tokens: int,
        details: int,
        detail_tokens: int,
    ) -> None:
        self._language, self._embedder = language, embedder
        self._summary_tokens, self._details = summary_tokens, (details, detail_tokens)
        self._stemmer = Stemmer(language)
        self._reading = threading.Lock()
        self._known: dict[str, tuple[_Sentence, ...]] = {}
        self._by_text: dict[str, _Sentence] = {}
        self._places = itertools.count()
        self._read(texts)
        self._idf = inverse_document_frequencies(self._stemmer.content(text) for text in texts)
        self._directions = np.array(
            [_direction(chunk) for text in texts if (chunk := self._known[text])]
        )
        self._cluster = functools.lru_cache(KEPT)(self._gather)
        self._aspect = functools.lru_cache(KEPT)(self._describe)
        self._usual = functools.lru_cache(KEPT)(self._likeness)

    def detect(self, text: str, aspects: Sequence[Aspect], sample: int = 0) -> dict[str, str]:
        """The one to three `aspects` whose descriptions the text is nearest to.

        Nearest against the document's own mean for each aspect, in its deviations, and against
        the text's mean over all aspects: clearer here than elsewhere, and than the others.
        """
        if not aspects or not text.strip():
            return {}
        [vector] = embed([text], self._embedder)
        wanted, mean, deviation = self._usual(tuple(aspects))
        clear = (wanted @ vector - mean) / deviation
        clear -= clear.mean()
        first, *others = np.argsort(-clear, kind="stable")[:MOST_DETECTED].tolist()
        return {aspects[one].name: "" for one in (first, *others) if clear[one] >= 0}

    def summarise(self, texts: Sequence[str], aspect: Aspect) -> str:
        """The most salient sentences of a cluster, drawn towards `aspect`, in text order.

        `texts` are chunks of the document, or summaries that were made of them. The summary is
        never empty, unless all of them are.
        """
        limit = self._summary_tokens
        cluster = self._cluster(tuple(texts))
        if not cluster.sentences:
            return cut(" ".join(" ".join(texts).split()), limit)
        near = scaled(np.asarray(cluster.vectors @ self._aspect(aspect), np.float64))
        relevance = (1 - ASPECT_WEIGHT) * cluster.salience + ASPECT_WEIGHT * near
        tokens = [one.tokens for one in cluster.sentences]
        picked = maximal_marginal_relevance(relevance, cluster.vectors, tokens, limit, BALANCE)
        if not picked:
            return cut(cluster.sentences[int(relevance.argmax())].text, limit)
        # Sentences may take a token more together than they do one by one.
        while count(_join(cluster, picked)) > limit and len(picked) > 1:
            picked.pop()
        return _join(cluster, picked)

    def condense(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """The densest clauses of each chunk, as fragments in text order, none like another."""
        told = ([one.text for one in self._sentences([text])] for text in texts)
        return [fragments(one, self._stemmer, self._idf, *self._details) for one in told]

    def _gather(self, texts: tuple[str, ...]) -> _Cluster:
        unique = {one.text.casefold(): one for one in reversed(self._sentences(texts))}
        found = sorted(unique.values(), key=lambda one: one.place)
        # "Yes." would fill what is left of a summary's length, and says nothing there.
        kept = [one for one in found if len(one.stems) >= FEWEST_WORDS] or found
        scores = scaled(salience([one.stems for one in kept], self._idf))
        vectors = np.array([one.vector for one in kept], np.float32)
        return _Cluster(tuple(kept), scores, vectors)

    def _likeness(self, aspects: tuple[Aspect, ...]) -> tuple[Vectors, Vector, Vector]:
        """The aspects' vectors, and the chunks' mean cosine to each with its deviation."""
        wanted = np.stack([self._aspect(aspect) for aspect in aspects])
        if not len(self._directions):
            return wanted, np.zeros(len(aspects), np.float32), np.ones(len(aspects), np.float32)
        cosines = self._directions @ wanted.T
        return wanted, cosines.mean(axis=0), np.maximum(cosines.std(axis=0), FLATTEST)

    def _describe(self, aspect: Aspect) -> Vector:
        [vector] = embed([f"{aspect.name}. {aspect.description} {aspect.focus}"], self._embedder)
        return vector

    def _sentences(self, texts: Sequence[str]) -> list[_Sentence]:
        self._read(texts)
        return [one for text in texts for one in self._known[text]]

    def _read(self, texts: Sequence[str]) -> None:
        """Splits and embeds those texts that were not read before, all in one go.

        A text that is none of the document's chunks is a summary of them: the sentences it shares
        with them keep their place.
        """
        with self._reading:
            new = [text for text in dict.fromkeys(texts) if text not in self._known]
            split = {text: lines(text, self._language) for text in new}
            unread = [line for text in new for line in split[text] if line not in self._by_text]
            made = iter(self._make(unread))
            read = {
                text: tuple(self._by_text.get(line) or next(made) for line in split[text])
                for text in new
            }
            self._known.update(read)
            for one in itertools.chain.from_iterable(read.values()):
                self._by_text.setdefault(one.text, one)

    def _make(self, unread: Sequence[str]) -> list[_Sentence]:
        told = zip(unread, count_all(unread), embed(unread, self._embedder), strict=True)
        return [
            _Sentence(
                text=line,
                place=next(self._places),
                tokens=tokens,
                stems=tuple(self._stemmer.stems(line)),
                vector=vector.astype(np.float16),
            )
            for line, tokens, vector in told
        ]


def _join(cluster: _Cluster, rows: Sequence[int]) -> str:
    return " ".join(cluster.sentences[row].text for row in sorted(rows))


def _direction(chunk: Sequence[_Sentence]) -> Vector:
    """The embedding of a chunk, near enough: the mean of its sentences by their tokens."""
    mean = np.average([one.vector for one in chunk], axis=0, weights=[one.tokens for one in chunk])
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), np.float32)
