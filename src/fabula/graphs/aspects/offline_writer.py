"""The offline writer: summaries and details made of the document's own words; no model is asked."""

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
from fabula.models.offline.extracts import MIN_WORDS, embed, salience, sentence_lines
from fabula.text.document import Vector, Vectors
from fabula.text.ranking import (
    Scores,
    inverse_document_frequencies,
    maximal_marginal_relevance,
    scale,
)
from fabula.text.stems import Stemmer
from fabula.text.tokens import count, count_all, cut

if TYPE_CHECKING:
    from fabula.graphs.aspects.values import Aspect

BALANCE = 0.5
"""The weight of salience against similarity to sentences that are already chosen. Measured on 45
stories against reference answers: it finds a third more of their words than the sentences nearest
to the centroid do."""
ASPECT_WEIGHT = 0.2
"""The weight of an aspect's likeness in a sentence's relevance; more costs a point (measured)."""
MAX_DETECTED = 3
"""How many aspects a cluster may have."""
MIN_DEVIATION = 1e-3
"""Lower bound of a cosine's standard deviation, which is 0 in a document of one chunk."""
CACHE_SIZE = 128
"""How many clusters and aspects are remembered: a cluster is summarised once for each aspect."""


@dataclass(frozen=True, slots=True, eq=False)
class _Sentence:
    """A sentence on one line; `place` orders the document's sentences."""

    text: str
    place: int
    tokens: int
    stems: tuple[str, ...]
    # A long book has half a million sentences: half precision chooses the same ones in half the
    # memory.
    vector: NDArray[np.float16]


@dataclass(frozen=True, slots=True, eq=False)
class _Cluster:
    """The distinct sentences of one cluster in text order, with their salience."""

    sentences: tuple[_Sentence, ...]
    salience: Scores
    vectors: Vectors


class ExtractiveWriter:
    """A `Writer` for one document that quotes it and never invents a word."""

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
        """Read a document.

        Args:
            texts: The texts of its chunks.
            language: Its language.
            embedder: Compares sentences, thousands of them; meant for static embeddings, whatever
                the graph's own are.
            summary_tokens: Maximum tokens of a summary.
            details: Maximum number of details of a chunk.
            detail_tokens: Maximum tokens of a detail.
        """
        self._language, self._embedder = language, embedder
        self._summary_tokens, self._details = summary_tokens, (details, detail_tokens)
        self._stemmer = Stemmer(language)
        self._lock = threading.Lock()
        self._by_text: dict[str, tuple[_Sentence, ...]] = {}
        self._by_line: dict[str, _Sentence] = {}
        self._places = itertools.count()
        self._read(texts)
        self._idf = inverse_document_frequencies(self._stemmer.content(text) for text in texts)
        self._directions = np.array(
            [_direction(chunk) for text in texts if (chunk := self._by_text[text])]
        )
        self._cluster = functools.lru_cache(CACHE_SIZE)(self._make_cluster)
        self._aspect_vector = functools.lru_cache(CACHE_SIZE)(self._embed_aspect)
        self._likeness = functools.lru_cache(CACHE_SIZE)(self._measure_likeness)

    def detect(self, text: str, aspects: Sequence[Aspect], sample: int = 0) -> dict[str, str]:
        """Return the one to three aspects whose descriptions a text is nearest to, each with ''.

        The cosine with each aspect counts in standard deviations from the document's own mean for
        that aspect, and then against the text's mean over all aspects. So an aspect is chosen that
        is clearer here than elsewhere in the document, and clearer than the others.
        """
        if not aspects or not text.strip():
            return {}
        [vector] = embed([text], self._embedder)
        vectors, mean, deviation = self._likeness(tuple(aspects))
        clearness = (vectors @ vector - mean) / deviation
        clearness -= clearness.mean()
        first, *others = np.argsort(-clearness, kind="stable")[:MAX_DETECTED].tolist()
        return {aspects[row].name: "" for row in (first, *others) if clearness[row] >= 0}

    def summarise(self, texts: Sequence[str], aspect: Aspect | None) -> str:
        """Return the most salient sentences of a cluster, with a bias to an aspect, in text order.

        The summary is empty only if all texts are.

        Args:
            texts: Chunks of the document, or summaries that were made of them.
            aspect: The aspect; None for a summary of all that the texts say.
        """
        limit = self._summary_tokens
        cluster = self._cluster(tuple(texts))
        if not cluster.sentences:
            return cut(" ".join(" ".join(texts).split()), limit)
        relevance = cluster.salience
        if aspect is not None:
            near = scale(np.asarray(cluster.vectors @ self._aspect_vector(aspect), np.float64))
            relevance = (1 - ASPECT_WEIGHT) * cluster.salience + ASPECT_WEIGHT * near
        tokens = [sentence.tokens for sentence in cluster.sentences]
        picked = maximal_marginal_relevance(relevance, cluster.vectors, tokens, limit, BALANCE)
        if not picked:
            return cut(cluster.sentences[int(relevance.argmax())].text, limit)
        # Joined sentences may have a token more than the sum of theirs.
        while count(_join(cluster, picked)) > limit and len(picked) > 1:
            picked.pop()
        return _join(cluster, picked)

    def condense(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the densest clauses of each chunk in text order, as key facts."""
        chunks = ([sentence.text for sentence in self._sentences([text])] for text in texts)
        return [fragments(chunk, self._stemmer, self._idf, *self._details) for chunk in chunks]

    def _make_cluster(self, texts: tuple[str, ...]) -> _Cluster:
        distinct = {
            sentence.text.casefold(): sentence for sentence in reversed(self._sentences(texts))
        }
        in_order = sorted(distinct.values(), key=lambda sentence: sentence.place)
        # "Yes." would fill what is left of a summary's length, and say nothing there.
        long_enough = [sentence for sentence in in_order if len(sentence.stems) >= MIN_WORDS]
        sentences = long_enough or in_order
        scores = scale(salience([sentence.stems for sentence in sentences], self._idf))
        vectors = np.array([sentence.vector for sentence in sentences], np.float32)
        return _Cluster(tuple(sentences), scores, vectors)

    def _measure_likeness(self, aspects: tuple[Aspect, ...]) -> tuple[Vectors, Vector, Vector]:
        """Return the aspects' vectors, and means and deviations of the chunks' cosines to them."""
        vectors = np.stack([self._aspect_vector(aspect) for aspect in aspects])
        if not len(self._directions):
            return vectors, np.zeros(len(aspects), np.float32), np.ones(len(aspects), np.float32)
        cosines = self._directions @ vectors.T
        return vectors, cosines.mean(axis=0), np.maximum(cosines.std(axis=0), MIN_DEVIATION)

    def _embed_aspect(self, aspect: Aspect) -> Vector:
        [vector] = embed([f"{aspect.name}. {aspect.description} {aspect.focus}"], self._embedder)
        return vector

    def _sentences(self, texts: Sequence[str]) -> list[_Sentence]:
        self._read(texts)
        return [sentence for text in texts for sentence in self._by_text[text]]

    def _read(self, texts: Sequence[str]) -> None:
        """Split and embed the texts that were not read before, all at once."""
        with self._lock:
            new = [text for text in dict.fromkeys(texts) if text not in self._by_text]
            split = {text: sentence_lines(text, self._language) for text in new}
            unread = [line for text in new for line in split[text] if line not in self._by_line]
            made = iter(self._make_sentences(unread))
            # The sentences that a summary shares with chunks keep their place.
            read = {
                text: tuple(self._by_line.get(line) or next(made) for line in split[text])
                for text in new
            }
            self._by_text.update(read)
            for sentence in itertools.chain.from_iterable(read.values()):
                self._by_line.setdefault(sentence.text, sentence)

    def _make_sentences(self, unread: Sequence[str]) -> list[_Sentence]:
        embedded = zip(unread, count_all(unread), embed(unread, self._embedder), strict=True)
        return [
            _Sentence(
                text=line,
                place=next(self._places),
                tokens=tokens,
                stems=tuple(self._stemmer.stems(line)),
                vector=vector.astype(np.float16),
            )
            for line, tokens, vector in embedded
        ]


def _join(cluster: _Cluster, rows: Sequence[int]) -> str:
    return " ".join(cluster.sentences[row].text for row in sorted(rows))


def _direction(chunk: Sequence[_Sentence]) -> Vector:
    """Return about the embedding of a chunk: the mean of its sentences, weighted by tokens."""
    vectors = [sentence.vector for sentence in chunk]
    mean = np.average(vectors, axis=0, weights=[sentence.tokens for sentence in chunk])
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), np.float32)
