"""Ask a system a question, and record the context, the answer and the usage."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabula.config.model_factory import ModelFactory
from fabula.graph.hits import Passage
from fabula.library.collection import Collection
from fabula.models import Chat, Prompt
from fabula.models.counted import Meter
from fabula.models.prompts import fill_prompt, number_texts
from fabula.models.replies import ask, read_choice
from fabula.models.schemas import ChoiceReply
from fabula.models.usage import Usage
from fabula.text import tokens
from fabula_bench.model import BenchQuestion, Result, Retrieved
from fabula_bench.plan import TestedSystem
from fabula_bench.suite import Scope

CHOICE_TOKENS = 100
"""Enough for a number in JSON and a few words before it."""

COSINE_DIGITS = 6
"""Decimal digits of a recorded score. Neo4j adds up a product of vectors in another order once Java
has compiled the loop, so the last digits of a score differ between two runs of one question."""


@dataclass(frozen=True, slots=True)
class QuestionRunner:
    """Asks a system questions, each within its document, or in all documents.

    `documents` are those of the texts, by the texts' ids.
    """

    system: TestedSystem
    collection: Collection
    models: ModelFactory
    documents: Mapping[str, str]
    scope: Scope

    def __call__(self, question: BenchQuestion) -> Result:
        """Return the result, not scored yet; errors of the collection and models are raised."""
        began = time.monotonic()
        where: dict[str, Any] = dict(self.system.filters)
        where["document"] = self.documents[question.text] if self.scope == "document" else ""
        answer = ""
        choice: int | None = None
        cited: tuple[int, ...] = ()
        context: Sequence[Passage] = ()
        usage: dict[str, Usage] = {}
        triples: list[tuple[str, str, str]] = []
        if self.system.ask == "build":
            triples = self.collection.open_store().triples(self.collection.name, where["document"])
        elif self.system.ask == "answer":
            whole = self.collection.query(question.question, **where)
            answer, cited = whole.text, whole.cited
            context = whole.context
            usage = dict(whole.usage)
        else:
            meter = Meter()
            context = self.collection.context(question.question, meter=meter, **where)
            if self.system.ask == "choose":
                chat = self.models.chat(meter, "choose")
                choice = choose(chat, question, [passage.text for passage in context])
            usage = meter.usage()
        total = sum(usage.values(), Usage()).uncached
        texts = {document: text for text, document in self.documents.items()}
        return Result(
            system=self.system.name,
            question=question.id,
            answer=answer,
            choice=choice,
            context=tuple(_make_retrieved(passage, texts) for passage in context),
            cited=cited,
            context_tokens=sum(tokens.count_all([passage.text for passage in context])),
            calls=total.calls,
            prompt_tokens=total.prompt_tokens,
            completion_tokens=total.completion_tokens,
            seconds=time.monotonic() - began,
            asked=question.question,
            spent=self.system.settings.by_model(usage),
            triples=tuple(triples),
        )


def _make_retrieved(passage: Passage, texts: Mapping[str, str]) -> Retrieved:
    hit = passage.hit
    return Retrieved(
        id=hit.id,
        kind=hit.kind,
        aspect=hit.aspect,
        level=hit.level,
        section=hit.section,
        start=hit.start,
        end=hit.end,
        cosine=round(hit.score, COSINE_DIGITS),
        text=passage.text,
        source=texts.get(hit.document, ""),
    )


def choose(chat: Chat, question: BenchQuestion, context: Sequence[str]) -> int:
    """Return the index of the option that the model chooses. May raise ModelError."""
    numbered = "\n\n".join(number_texts(context))
    listed = "\n".join(f"{n}. {option}" for n, option in enumerate(question.options, 1))
    request = Prompt(
        system=fill_prompt("choose_system"),
        user=fill_prompt("choose", passages=numbered, question=question.question, options=listed),
        max_tokens=CHOICE_TOKENS,
        temperature=0,
        schema=ChoiceReply,
        placeholder=lambda: '{"choice": 1}',
    )
    return ask(chat, request, lambda reply: read_choice(reply, len(question.options))) - 1
