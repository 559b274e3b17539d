"""Reports without a model: the sentences of a text that say most about a community, as printed.

Such a report shows who belongs together; it is no abstract of what happens among them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fabula.graphs.communities.values import RULES, CommunityReport, MemberNetwork, ReportFinding
from fabula.models import Embedder
from fabula.models.offline.extracts import MIN_WORDS, embed, salience
from fabula.models.replies import shorten
from fabula.text import tokens
from fabula.text.document import Chunk
from fabula.text.ranking import inverse_document_frequencies, maximal_marginal_relevance, scale
from fabula.text.sentences import spans
from fabula.text.stems import stemmer_of

MAX_TOKENS = 200
"""Maximum length of a report by rules."""
BALANCE = 0.5
"""The weight of salience against similarity to sentences that are already chosen."""
MAX_COMPARED = 60
"""How many sentences of a community are compared with each other: the most salient ones."""
MAX_IMPORTANCE = 10


@dataclass(frozen=True, slots=True)
class MemberSentence:
    """A sentence, on one line, that names at least two members."""

    text: str
    chunk: str
    members: frozenset[str]
    """The ids of the members that it names."""
    stems: tuple[str, ...]


Printed = Mapping[str, Sequence[tuple[int, str]]]
"""Mentions by chunk id: offsets in the document's text, and the ids of the members named there."""


def read_sentences(
    chunks: Iterable[Chunk], language: str, printed: Printed
) -> list[MemberSentence]:
    """Return the sentences that name two members or more, in text order."""
    stemmer = stemmer_of(language)
    sentences = []
    for chunk in chunks:
        mentions = sorted(printed.get(chunk.id, ()))
        if len({member for _, member in mentions}) < 2:
            continue
        for start, end in spans(chunk.text, language):
            first, last = chunk.start + start, chunk.start + end
            members = frozenset(member for offset, member in mentions if first <= offset < last)
            text = " ".join(chunk.text[start:end].split())
            stems = tuple(stemmer.stems(text))
            if len(members) > 1 and len(stems) >= MIN_WORDS:
                sentences.append(MemberSentence(text, chunk.id, members, stems))
    return sentences


class ExtractReporter:
    """Makes reports of the sentences of a text."""

    def __init__(
        self,
        network: MemberNetwork,
        sentences: Sequence[MemberSentence],
        texts: Iterable[set[str]],
        embedder: Embedder,
    ) -> None:
        """Prepare reports on the communities of a network.

        Args:
            network: The network of members.
            sentences: All sentences that name two members or more.
            texts: The text's chunks, each as the set of its stems, to tell rare stems from common.
            embedder: Embeds the sentences that are compared, `MAX_COMPARED` for each report.

        """
        self._network, self._sentences, self._embedder = network, sentences, embedder
        self._idf = inverse_document_frequencies(texts)
        self._rows_by_member: dict[str, list[int]] = defaultdict(list)
        for row, sentence in enumerate(sentences):
            for member in sentence.members:
                self._rows_by_member[member].append(row)

    def make_report(self, members: frozenset[str], title: str, weight: float) -> CommunityReport:
        """Return a report whose findings are sentences, in text order.

        The most salient one is also its summary. Where no sentence names two of the members, the
        descriptions of their relations take the place of sentences.

        Args:
            members: The ids of the community's members, which are related to each other.
            title: The report's title.
            weight: The community's weight, from 0 to 1, which gives the report's importance.

        """
        counts = Counter(row for member in members for row in self._rows_by_member.get(member, ()))
        naming_two = sorted(row for row, count in counts.items() if count > 1)
        distinct = {self._sentences[row].text: self._sentences[row] for row in naming_two}
        candidates = list(distinct.values()) or self._relations_as_sentences(members)
        chosen, best = self._choose(candidates)
        findings = tuple(
            ReportFinding(
                shorten(sentence.text, MAX_TOKENS),
                "",
                cites=tuple(sorted(self._entities_of(sentence.members & members))),
                chunks=(sentence.chunk,),
            )
            for sentence in chosen
        )
        why = f"its members are in {weight:.0%} as many chunks as those of the largest"
        importance = round(MAX_IMPORTANCE * weight, 1)
        return CommunityReport(title, findings[best].summary, findings, importance, why, RULES)

    def _choose(self, candidates: Sequence[MemberSentence]) -> tuple[list[MemberSentence], int]:
        """Return salient sentences that differ from each other, in text order.

        Also the position of the most salient one among them.
        """
        scores = salience([sentence.stems for sentence in candidates], self._idf)
        top = sorted(np.argsort(-scores, kind="stable")[:MAX_COMPARED].tolist())
        texts = [candidates[row].text for row in top]
        lengths = tokens.count_all(texts)
        if len(top) == 1 or min(lengths) > MAX_TOKENS:
            best = int(scores[top].argmax())
            return [candidates[top[best]]], 0
        vectors = np.stack(list(embed(texts, self._embedder)))
        picked = maximal_marginal_relevance(
            scale(scores[top]), vectors, lengths, MAX_TOKENS, BALANCE
        )
        order = sorted(picked)
        return [candidates[top[row]] for row in order], order.index(picked[0])

    def _relations_as_sentences(self, members: frozenset[str]) -> list[MemberSentence]:
        sentences = []
        for relation in self._network.relations_within(members):
            ends = (relation.source, relation.target)
            names = " – ".join(self._network.members[end].name for end in ends)
            text = " ".join(relation.text.split()) or names
            sentences.append(MemberSentence(text, relation.chunks[0], frozenset(ends), ()))
        return sentences

    def _entities_of(self, members: Iterable[str]) -> Iterable[str]:
        return (id for member in members for id in self._network.members[member].entity_ids)
