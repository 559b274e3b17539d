"""A Writer and an Answerer that ask a chat model, with the texts of `prompts/`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fabula import tokens
from fabula.model import Aspect
from fabula.prompts import prompt
from fabula.providers import NO_ANSWER, Chat, Prompt, Reply
from fabula.replies import (
    DetailsReply,
    ask,
    aspects_reply,
    read_aspects,
    read_details,
    read_summary,
    shortened,
)

WORDS = 0.7
"""Words a token, told beside a limit in tokens, which models can't count."""
ROOM = 3
"""A reply may take so many times its limit: cut by us at a sentence, not by the endpoint."""
FAR_TOO_LONG = 1.5
"""Times its limit; a longer summary is asked for again."""


@dataclass(frozen=True, slots=True)
class PromptedWriter:
    """A `Writer` with a chat for each of its three tasks."""

    detecting: Chat
    summarising: Chat
    condensing: Chat
    temperature: float = 0.5
    summary_tokens: int = 200
    details: int = 2
    detail_tokens: int = 60

    def detect(self, text: str, aspects: Sequence[Aspect]) -> frozenset[str]:
        """The names of those `aspects` that are clearest in `text`. Raises ModelError."""
        names = tuple(aspect.name for aspect in aspects)
        listed = "\n".join(f"- {aspect.name}: {aspect.description}" for aspect in aspects)
        asked = Prompt(
            system=prompt("detect_system"),
            user=prompt("detect", aspects=listed, passages=text),
            max_tokens=100 + 2 * tokens.count(", ".join(names)),
            temperature=self.temperature,
            schema=aspects_reply(names),
        )
        return ask(self.detecting, asked, lambda reply: read_aspects(reply, names))

    def summarise(self, texts: Sequence[str], aspect: Aspect) -> str:
        """What `texts` tell about `aspect`, in whole sentences of at most `summary_tokens`."""
        size = {"tokens": self.summary_tokens, "words": round(WORDS * self.summary_tokens)}
        asked = Prompt(
            system=prompt("summarise_system"),
            user=prompt(
                "summarise",
                passages="\n\n".join(texts),
                aspect=aspect.name,
                description=aspect.description,
                focus=aspect.focus,
                **size,
            ),
            max_tokens=ROOM * self.summary_tokens,
            temperature=self.temperature,
        )
        summary = ask(self.summarising, asked, read_summary)
        if tokens.count(summary) > FAR_TOO_LONG * self.summary_tokens:
            shorter = prompt("shorter", reply=summary, **size)
            asked = replace(asked, user=f"{asked.user}\n\n{shorter}")
            summary = ask(self.summarising, asked, read_summary)
        return shortened(summary, self.summary_tokens)

    def condense(self, text: str) -> tuple[str, ...]:
        """At most `details` fragments of at most `detail_tokens`, none like another."""
        if not self.details:
            return ()
        asked = Prompt(
            system=prompt("condense_system"),
            user=prompt(
                "condense",
                passage=text,
                count=self.details,
                tokens=self.detail_tokens,
                words=round(WORDS * self.detail_tokens),
            ),
            max_tokens=100 + ROOM * self.details * self.detail_tokens,
            temperature=self.temperature,
            schema=DetailsReply,
        )
        details = ask(self.condensing, asked, lambda reply: read_details(reply, self.details))
        return tuple(shortened(detail, self.detail_tokens) for detail in details)


@dataclass(frozen=True, slots=True)
class PromptedAnswerer:
    """An `Answerer`: answers from the passages alone, or says NO_ANSWER."""

    chat: Chat
    temperature: float = 0.0
    answer_tokens: int = 500

    def answer(self, question: str, context: Sequence[str]) -> Iterator[Reply]:
        """Pieces of an answer that cites the passages of `context` as [1], [2], ..."""
        numbered = "\n\n".join(f"[{n}] {text.strip()}" for n, text in enumerate(context, 1))
        asked = Prompt(
            system=prompt("answer_system"),
            user=prompt(
                "answer",
                passages=numbered,
                question=question.strip(),
                words=round(WORDS * self.answer_tokens),
                unanswered=NO_ANSWER,
            ),
            max_tokens=self.answer_tokens,
            temperature=self.temperature,
        )
        return self.chat.stream(asked)
