"""The data of an experiment: texts with questions, and the results of systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fabula.models.usage import Usage
from fabula.text.metadata import Metadata

Need = Literal[
    "answers",
    "options",
    "evidence",
    "triples",
    "relevant",
    "answer",
    "context",
    "baseline",
    "judge",
    "embedder",
]
"""What a metric needs: from the question reference answers, options with the right one, evidence,
gold triples, or relevant texts; from the system an answer or a context; from the first system an
answer to the same question; and a chat model that judges, or an embedder."""
Triple = tuple[str, str, str]
"""A subject, a predicate and an object."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text of a data set; `metadata` are the fields that its document gets."""

    id: str
    title: str
    author: str
    language: str
    text: str
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GoldTriple:
    """A fact that a text states; each of its parts may have several names."""

    subject: tuple[str, ...]
    predicate: tuple[str, ...]
    object: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BenchQuestion:
    """A question about one text, with what is known about its answer.

    Without words it asks nothing of a system: its text's graph is compared with `triples`.

    Attributes:
        text: The id of the text.
        answers: Reference answers, each of which is complete.
        options: The options of a multiple-choice question.
        right: The index of the right option.
        evidence: Short statements that the answer is based on.
        is_hard: Whether it belongs to the hard subset; None if that isn't known.
        triples: The facts that a graph of the text should have.
        relevant: How relevant texts are to it, by their ids; 0 for those that aren't.
    """

    id: str
    text: str
    question: str
    answers: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    right: int | None = None
    evidence: tuple[str, ...] = ()
    kind: str = ""
    is_hard: bool | None = None
    triples: tuple[GoldTriple, ...] = ()
    relevant: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DataSet:
    """Texts and questions; `sha256` has the hashes of their files, by name.

    `subset` describes the subset of the texts that was asked for, with its published counts.
    """

    name: str
    texts: tuple[Text, ...]
    questions: tuple[BenchQuestion, ...]
    sha256: Mapping[str, str]
    subset: str = ""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """One passage of a context, as the answering model saw it.

    `cosine` is the score of the hit; a mode that fuses rankings gives a fused score, not a cosine.
    It is rounded to six digits. `source` is the id of the text that it is of.
    """

    id: str
    kind: str
    aspect: str
    level: int
    section: str
    start: int
    end: int
    cosine: float
    text: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one system for one question; a line of `results.jsonl`, with these names.

    Attributes:
        answer: Empty if only retrieval was asked for.
        choice: The index of the chosen option.
        cited: Numbers of the passages that the answer cites, from 1.
        calls: Model calls for this question, including those that the response cache answered, so
            that they don't depend on what was asked before; the same holds for tokens.
        seconds: From the question to the end of the answer.
        scores: Values by metric.
        spent: The usage of each model, and what the cache saved.
        judged: The usage of scoring.
        triples: What the graph of the text states, if graphs are compared.
    """

    system: str
    question: str
    answer: str
    choice: int | None
    context: tuple[Retrieved, ...]
    cited: tuple[int, ...]
    context_tokens: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    scores: Mapping[str, float] = field(default_factory=dict)
    asked: str = ""
    spent: Mapping[str, Usage] = field(default_factory=dict)
    judged: Mapping[str, Usage] = field(default_factory=dict)
    triples: tuple[Triple, ...] = ()
