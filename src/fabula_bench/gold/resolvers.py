"""Who is whom by other ways than the resolver's: a baseline, and its principles left out.

A principle is right if it gains on books that it was not chosen on. So for each book the principles
are chosen on all other books, and the book is measured with these (leave one out, by books).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations

from fabula.graph.findings import GivenName, JoinedNames
from fabula.graphs.entities.findings import join_names
from fabula.graphs.entities.names import name_key
from fabula.graphs.entities.resolve import FORBIDS, JOINS
from fabula_bench.gold.litbank import LitBankText
from fabula_bench.gold.novels import GIVEN_PERSONS, AliasPair, pair_given_names, score_pairs
from fabula_bench.gold.scores import TextScores

PRINCIPLES = tuple(
    name for name in (*JOINS, *FORBIDS) if name not in ("decisions", "aliases", "model")
)
"""What can be left out; people and models say nothing here."""
BASELINE = f"{GIVEN_PERSONS}, by the words of the name alone"
CHOSEN = f"{GIVEN_PERSONS}, principles chosen on other books"


def score_resolvers(texts: Sequence[LitBankText], scores: Mapping[str, TextScores]) -> None:
    """Add the scores of the baseline, of each principle left out, and of each book left out."""
    pairs = {
        principle: {text.name: _pairs_of_persons(text, (principle,)) for text in texts}
        for principle in ("", *PRINCIPLES)
    }
    verdicts = {
        principle: Counter(pair.verdict for of_text in of_texts.values() for pair in of_text)
        for principle, of_texts in pairs.items()
    }

    def f1_of_others(principle: str, text: str) -> float:
        own = Counter(pair.verdict for pair in pairs[principle][text])
        others = verdicts[principle] - own
        return 2 * others["right"] / max(1, others.total() + others["right"])

    for text in texts:
        score_pairs(scores[text.name], BASELINE, _pairs_of_persons(text, None))
        dropped = [
            principle
            for principle in PRINCIPLES
            if f1_of_others(principle, text.name) > f1_of_others("", text.name)
        ]
        score_pairs(scores[text.name], CHOSEN, _pairs_of_persons(text, dropped))
        for principle in PRINCIPLES:
            measure = f"{GIVEN_PERSONS}, without {principle}"
            score_pairs(scores[text.name], measure, pairs[principle][text.name])


def _pairs_of_persons(text: LitBankText, without: Collection[str] | None) -> list[AliasPair]:
    """The pairs of persons' names by the resolver, or by their words alone."""

    def join(names: Sequence[GivenName], language: str) -> Sequence[JoinedNames]:
        if without is None:
            return list(join_by_words(names))
        return join_names(names, language, without)

    return [pair for pair in pair_given_names(text, join) if pair.is_person]


def join_by_words(names: Sequence[GivenName]) -> Iterator[JoinedNames]:
    """Join names if the words of one, without titles, are within the other's: the baseline."""
    words = [{*name_key(name.name).split()} for name in names]
    for first, second in combinations(range(len(names)), 2):
        if words[first] <= words[second] or words[second] <= words[first]:
            yield JoinedNames(first, second, "words")
