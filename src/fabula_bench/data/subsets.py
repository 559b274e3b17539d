"""Subsets of data sets that a publication used, and the counts that it gives for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fabula_bench.model import DataSet

Only = Literal["", "gutenberg"]
"""A subset of the texts: '' for all, 'gutenberg' for those of Project Gutenberg."""

ORIGIN = "the aspect graph's publication"


@dataclass(frozen=True, slots=True)
class PublishedCounts:
    """How many texts and questions a publication has of a subset of all parts of a data set.

    `hard` is the number of its questions of the hard subset; None if the data set has none.
    """

    texts: int
    questions: int
    hard: int | None = None


def compare_counts(
    data: DataSet, published: PublishedCounts, part: str, all_parts: str, *, hard: bool
) -> str:
    """Describe a subset as it was read beside its published counts, and why they differ.

    `part` are the parts that were read, as `dev` or `train+dev`, and `all_parts` all of them; the
    subset has hard questions alone if `hard`.
    """
    what = "hard questions" if hard else "questions"
    questions = published.hard if hard else published.questions
    counts = (len(data.texts), len(data.questions))
    found = f"{counts[0]:,} texts with {counts[1]:,} {what}"
    there = f"{published.texts:,} texts with {questions:,} {what}" if questions else ""
    sentences = [f"Project Gutenberg's texts of {data.name}, {part}: {found}."]
    if not there:
        return sentences[0]
    if counts == (published.texts, questions):
        return f"{sentences[0]} These are the counts of {ORIGIN}."
    sentences.append(f"They are not the counts of {ORIGIN}, which has {there}.")
    if part != all_parts:
        sentences.append(f"It took texts of all parts, and this is {part}: see --part all.")
    else:
        sentences.append("It chose the narratives among them by hand, and has no list of them.")
    unanswered = sum(not question.answers for question in data.questions)
    if unanswered:
        sentences.append(
            f"{unanswered:,} questions have no reference answer in the released files, so no "
            "measure of answers counts them."
        )
    return " ".join(sentences)
