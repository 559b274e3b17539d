"""NarrativeQA's measures: ROUGE-L, BLEU and METEOR of an answer against its references."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from fabula_bench.metrics.measure import Metric, Scoring, nonempty, remove_citations, score_nearest

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics.bleu import BLEU

NARRATIVEQA = "Kočiský et al. 2018, NarrativeQA (arXiv 1712.07040)"

_WORD = re.compile(r"[^\W_]+")


class StemmedWords:
    """The words of a text as rouge-score takes them with its stemmer, in any script.

    The library's own tokenizer has no letters but a to z.
    """

    def tokenize(self, text: str) -> list[str]:
        """Return words in lower case; of more than three letters, their stems by Porter."""
        stem = _porter().stem
        return [stem(word) if len(word) > 3 else word for word in words(text)]


class NoSynonyms:
    """A WordNet without entries: its data comes with no library, and scores are to be the same
    wherever they are taken.
    """

    def synsets(self, _: str) -> tuple[()]:
        """Return no synset."""
        return ()


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation, as NarrativeQA's authors."""
    return _WORD.findall(text.lower())


def rouge_l(answer: str, reference: str) -> float:
    """Return the F measure of the longest common subsequence of stemmed words, 0 to 1."""
    return float(_rouge().score(reference, answer)["rougeL"].fmeasure)


def bleu(answer: str, references: tuple[str, ...], order: int) -> float:
    """Return BLEU of an answer up to n-grams of `order`, against all references; 0 to 1."""
    targets = [" ".join(words(reference)) for reference in nonempty(references)]
    # The library's logarithms leave a rest: 100.00000000000004.
    return min(1.0, _bleu(order).sentence_score(" ".join(words(answer)), targets).score / 100)


def meteor(answer: str, reference: str) -> float:
    """Return METEOR by equal words and equal stems, 0 to 1."""
    from nltk.translate.meteor_score import single_meteor_score

    synonyms: Any = NoSynonyms()
    return float(single_meteor_score(words(reference), words(answer), wordnet=synonyms))


@functools.cache
def _porter() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


@functools.cache
def _rouge() -> RougeScorer:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], tokenizer=StemmedWords())


@functools.cache
def _bleu(order: int) -> BLEU:
    from sacrebleu.metrics.bleu import BLEU

    # A sentence may be shorter than the order; sacrebleu counts the orders that it has then.
    return BLEU(tokenize="none", max_ngram_order=order, effective_order=True)


def _bleu_of(order: int) -> Scoring:
    return lambda question, result, _: bleu(
        remove_citations(result.answer), question.answers, order
    )


_BLEU_BLIND = {
    1: "It is a mean of answers' own scores, where the paper counts over all answers at once: "
    "compare systems by it, not with published figures.",
    4: "Of answers of a few words it says next to nothing, as they have hardly a run of four; "
    "like bleu_1 it is a mean of answers' own scores, not the paper's over all at once.",
}

METRICS = (
    Metric(
        name="rouge_l",
        source=f"{NARRATIVEQA}; rouge-score 0.1 with its stemmer, as GraphRAG-Bench takes it",
        blind=(
            "It rewards the reference's words in the reference's order: an answer in other words "
            "scores low, and one in long sentences lower than the same in a few words."
        ),
        needs=frozenset({"answers", "answer"}),
        how=score_nearest(rouge_l),
        library="rouge_score",
        extra="bench",
    ),
    *(
        Metric(
            name=f"bleu_{order}",
            source=f"{NARRATIVEQA}; Papineni et al. 2002, by sacrebleu",
            blind=blind,
            needs=frozenset({"answers", "answer"}),
            how=_bleu_of(order),
            library="sacrebleu",
            extra="bench",
        )
        for order, blind in _BLEU_BLIND.items()
    ),
    Metric(
        name="meteor",
        source=f"{NARRATIVEQA}; Lavie and Agarwal 2007, by nltk, without synonyms",
        blind=(
            "It matches equal words and stems only, no synonyms, so it lies below published "
            "figures; the right answer in one word gets 0.5, as its penalty takes half."
        ),
        needs=frozenset({"answers", "answer"}),
        how=score_nearest(meteor),
        library="nltk",
        extra="bench",
    ),
)
