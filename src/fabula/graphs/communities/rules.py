"""Reports without a model: the sentences of a text that tell most of a community, as they stand.

A map of who belongs together, and no abstract of what happens among them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fabula.graphs.communities.values import RULES, CommunityReport, Network, ReportFinding
from fabula.models import Embedder
from fabula.models.offline.extracts import FEWEST_WORDS, embed, salience
from fabula.models.replies import shortened
from fabula.text import tokens
from fabula.text.document import Chunk
from fabula.text.ranking import inverse_document_frequencies, maximal_marginal_relevance, scaled
from fabula.text.sentences import spans
from fabula.text.stems import stemmer_of

LENGTH = 200
"""Tokens of a report by rules."""
BALANCE = 0.5
"""Of salience against likeness to what is chosen already."""
MOST_COMPARED = 60
"""Sentences of a community that are compared with each other: the most salient."""
HIGHEST = 10


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence on one line, that names at least two `members`."""

    text: str
    chunk: str
    members: frozenset[str]
    stems: tuple[str, ...]


Printed = Mapping[str, Sequence[tuple[int, str]]]
"""By chunks: where in the document's text members are named, and their ids."""


def read_sentences(chunks: Iterable[Chunk], language: str, printed: Printed) -> list[Sentence]:
    """The sentences that name two members or more, in text order."""
    stemmer = stemmer_of(language)
    found = []
    for chunk in chunks:
        named = sorted(printed.get(chunk.id, ()))
        if len({who for _, who in named}) < 2:
            continue
        for start, end in spans(chunk.text, language):
            within = (chunk.start + start, chunk.start + end)
            members = frozenset(who for place, who in named if within[0] <= place < within[1])
            text = " ".join(chunk.text[start:end].split())
            stems = tuple(stemmer.stems(text))
            if len(members) > 1 and len(stems) >= FEWEST_WORDS:
                found.append(Sentence(text, chunk.id, members, stems))
    return found


class Extracts:
    """Makes reports of the sentences of a text; `texts` are its chunks as bags of stems."""

    def __init__(
        self,
        network: Network,
        sentences: Sequence[Sentence],
        texts: Iterable[set[str]],
        embedder: Embedder,
    ) -> None:
        self._network, self._sentences, self._embedder = network, sentences, embedder
        self._idf = inverse_document_frequencies(texts)
        self._naming: dict[str, list[int]] = defaultdict(list)
        for row, sentence in enumerate(sentences):
            for who in sentence.members:
                self._naming[who].append(row)

    def report(self, members: frozenset[str], title: str, weight: float) -> CommunityReport:
        """Its sentences in text order, a finding each; the most salient one is its summary.

        Where no sentence names two of the members, what is told of their bonds.
        """
        counts = Counter(row for who in members for row in self._naming.get(who, ()))
        naming = sorted(row for row, count in counts.items() if count > 1)
        candidates = {self._sentences[row].text: self._sentences[row] for row in naming}
        some = list(candidates.values()) or self._told(members)
        kept, best = self._choose(some)
        findings = tuple(
            ReportFinding(
                shortened(one.text, LENGTH),
                "",
                cites=tuple(sorted(self._cited(one.members & members))),
                chunks=(one.chunk,),
            )
            for one in kept
        )
        why = f"its members are in {weight:.0%} as many chunks as those of the largest"
        importance = round(HIGHEST * weight, 1)
        return CommunityReport(title, findings[best].summary, findings, importance, why, RULES)

    def _choose(self, some: Sequence[Sentence]) -> tuple[list[Sentence], int]:
        """Those that say most and not the same, in text order, and which of them says most."""
        scores = salience([one.stems for one in some], self._idf)
        top = sorted(np.argsort(-scores, kind="stable")[:MOST_COMPARED].tolist())
        lengths = tokens.count_all([some[row].text for row in top])
        if len(top) == 1 or min(lengths) > LENGTH:
            best = int(scores[top].argmax())
            return [some[top[best]]], 0
        vectors = np.stack(list(embed([some[row].text for row in top], self._embedder)))
        picked = maximal_marginal_relevance(scaled(scores[top]), vectors, lengths, LENGTH, BALANCE)
        order = sorted(picked)
        return [some[top[row]] for row in order], order.index(picked[0])

    def _told(self, members: frozenset[str]) -> list[Sentence]:
        """What is told of bonds, each as a sentence."""
        found = []
        for bond in self._network.within(members):
            ends = (bond.source, bond.target)
            names = " – ".join(self._network.members[who].name for who in ends)
            text = " ".join(bond.text.split()) or names
            found.append(Sentence(text, bond.chunks[0], frozenset(ends), ()))
        return found

    def _cited(self, members: Iterable[str]) -> Iterable[str]:
        return (id for who in members for id in self._network.members[who].entities)
