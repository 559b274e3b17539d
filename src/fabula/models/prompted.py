"""An answerer that asks a chat model, with the prompts of `prompts/`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabula.models import NO_ANSWER, Chat, Prompt, Reply, Turn
from fabula.models.prompts import fill_prompt, number_texts, usual_text

WORDS_PER_TOKEN = 0.7
"""Words per token: prompts give limits in words, too, as models can't count tokens."""


@dataclass(frozen=True, slots=True)
class PromptedAnswerer:
    """An `Answerer` whose model answers from the passages alone, or writes NO_ANSWER."""

    chat: Chat
    temperature: float = 0.0
    answer_tokens: int = 500

    def answer(
        self, question: str, context: Sequence[str], history: Sequence[Turn] = ()
    ) -> Iterator[Reply]:
        """Yield pieces of an answer that cites the passages of `context` as [1], [2], ..."""
        conversation = (
            fill_prompt("continue", conversation=format_history(history)) + "\n\n"
            if history
            else ""
        )
        numbered = "\n\n".join(number_texts(context))
        request = Prompt(
            system=fill_prompt("answer_system"),
            user=conversation
            + fill_prompt(
                "answer",
                passages=numbered,
                question=question.strip(),
                words=round(WORDS_PER_TOKEN * self.answer_tokens),
                unanswered=NO_ANSWER,
            ),
            max_tokens=self.answer_tokens,
            temperature=self.temperature,
            placeholder=lambda: usual_text(f"[1] {question}", self.answer_tokens // 2),
        )
        return self.chat.stream(request)


def format_history(history: Sequence[Turn]) -> str:
    """Return the turns of a conversation as prompts have them."""
    return "\n\n".join(f"Question: {turn.question}\nAnswer: {turn.answer}" for turn in history)
