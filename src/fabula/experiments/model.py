"""What flows through an experiment: texts with questions, a system's results, what they score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fabula.models.usage import Usage

Need = Literal["answers", "options", "evidence", "answer", "context", "judge", "embedder"]
"""What a metric can't do without: reference answers, options with the right one known, or evidence
of the question; an answer or a context of the system; a chat model that judges; an embedder."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text that questions are about, as its data set gives it."""

    id: str
    title: str
    author: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one text, with what is known of its answer.

    `answers`: reference answers, each good on its own; `options` and the index of the right one,
    for multiple choice; `evidence`: short statements that the answer rests on; `kind`: the data
    set's own; `is_hard`: whether it belongs to the hard subset, None where that is not known.
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


@dataclass(frozen=True, slots=True)
class DataSet:
    """Texts and questions; `sha256` is of the files they were read from, by file name."""

    name: str
    texts: tuple[Text, ...]
    questions: tuple[Question, ...]
    sha256: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """One passage of a context, as the answering model saw it."""

    id: str
    kind: str
    aspect: str
    level: int
    section: str
    start: int
    end: int
    cosine: float
    text: str


@dataclass(frozen=True, slots=True)
class Result:
    """What one system did with one question; one line of `results.jsonl`.

    `answer` is empty where only retrieval was asked for; `choice` is the index of the option that
    was chosen; `cited` are the numbers of the passages that the answer cites, from 1.
    `context_tokens` counts the context; calls and tokens are those of this question alone, also
    where the response cache answered, so that they don't depend on what was asked before. `seconds`
    are from the question to the end of the answer, as they were. `spent` is what was asked of each
    model and what the cache saved, and `judged` what its scores cost beside. `asked` are the
    question's words.
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
