"""An Answerer that asks a chat model, with the texts of `prompts/`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabula.models import NO_ANSWER, Chat, Prompt, Reply, Turn
from fabula.models.prompts import prompt

WORDS = 0.7
"""Words a token, told beside a limit in tokens, which models can't count."""


@dataclass(frozen=True, slots=True)
class PromptedAnswerer:
    """An `Answerer`: answers from the passages alone, or says NO_ANSWER."""

    chat: Chat
    temperature: float = 0.0
    answer_tokens: int = 500

    def answer(
        self, question: str, context: Sequence[str], history: Sequence[Turn] = ()
    ) -> Iterator[Reply]:
        """Pieces of an answer that cites the passages of `context` as [1], [2], ..."""
        before = prompt("continue", conversation=tell(history)) + "\n\n" if history else ""
        numbered = "\n\n".join(f"[{n}] {text.strip()}" for n, text in enumerate(context, 1))
        asked = Prompt(
            system=prompt("answer_system"),
            user=before
            + prompt(
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


def tell(history: Sequence[Turn]) -> str:
    """A conversation's turns as prompts have them."""
    return "\n\n".join(f"Question: {one.question}\nAnswer: {one.answer}" for one in history)
