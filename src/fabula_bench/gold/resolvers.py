"""Who is whom by other ways than the resolver's: a baseline, and its principles left out.

A principle is right if it gains on books that it was not chosen on. So for each book the principles
are chosen on all other books, and the book is measured with these (leave one out, by books).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
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

    @cache
    def pairs_of(text: LitBankText, without: frozenset[str]) -> list[AliasPair]:
        return _pairs_of_persons(text, without)

    for text in texts:
        score_pairs(scores[text.name], BASELINE, _pairs_of_persons(text, None))
        chosen = frozenset(
            principle
            for principle in PRINCIPLES
            if _f1(pairs_of, texts, text, frozenset((principle,)))
            > _f1(pairs_of, texts, text, frozenset())
        )
        score_pairs(scores[text.name], CHOSEN, pairs_of(text, chosen))
        for principle in PRINCIPLES:
            pairs = pairs_of(text, frozenset((principle,)))
            score_pairs(scores[text.name], f"{GIVEN_PERSONS}, without {principle}", pairs)


def _f1(
    pairs_of: Callable[[LitBankText, frozenset[str]], Sequence[AliasPair]],
    texts: Sequence[LitBankText],
    left_out: LitBankText,
    without: frozenset[str],
) -> float:
    """The F1 of all texts but one."""
    counts = Counter(
        pair.verdict for text in texts if text != left_out for pair in pairs_of(text, without)
    )
    return 2 * counts["right"] / max(1, counts.total() + counts["right"])


def _pairs_of_persons(text: LitBankText, without: Collection[str] | None) -> list[AliasPair]:
    """The pairs of persons' names by the resolver, or by their words alone."""

    def join(names: Sequence[GivenName], text: str, language: str) -> Sequence[JoinedNames]:
        if without is None:
            return list(join_by_words(names))
        return join_names(names, text, language, without)

    return [pair for pair in pair_given_names(text, join) if pair.is_person]


def join_by_words(names: Sequence[GivenName]) -> Iterator[JoinedNames]:
    """Join names if the words of one, without titles, are within the other's: the baseline."""
    words = [{*name_key(name.name).split()} for name in names]
    for first, second in combinations(range(len(names)), 2):
        if words[first] <= words[second] or words[second] <= words[first]:
            yield JoinedNames(first, second, "words")
