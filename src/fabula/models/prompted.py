"""An answerer that asks a chat model, with the prompts of `prompts/`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabula.models import NO_ANSWER, Chat, NumberedText, Prompt, Reply, Turn
from fabula.models.prompts import fill_prompt, list_passages, usual_text

WORDS_PER_TOKEN = 0.7
"""Words per token: prompts give limits in words, too, as models can't count tokens."""
TEXT_ORDER = "They are in the order of the text; [...] stands where a part is left out."
RANK_ORDER = "The most relevant ones come first."


@dataclass(frozen=True, slots=True)
class PromptedAnswerer:
    """Answers by a model, which answers from the passages alone, or writes NO_ANSWER."""

    chat: Chat
    temperature: float = 0.0
    answer_tokens: int = 500

    def answer(
        self,
        question: str,
        context: Sequence[NumberedText],
        history: Sequence[Turn] = (),
        brief: str = "",
        *,
        in_text_order: bool = False,
    ) -> Iterator[Reply]:
        """Yield pieces of an answer that cites the passages of `context` by their numbers.

        Args:
            question: The question to answer.
            context: The passages, in the order in which they are given.
            history: The conversation's previous turns.
            brief: What the works are about as wholes; it is no evidence, and is not cited.
            in_text_order: Whether the passages are in the order of the text; otherwise best first.
        """
        before = []
        if history:
            before.append(fill_prompt("continue", conversation=format_history(history)))
        if brief:
            before.append(fill_prompt("brief", overview=brief))
        request = Prompt(
            system=fill_prompt("answer_system"),
            user="".join(f"{part}\n\n" for part in before)
            + fill_prompt(
                "answer",
                order=TEXT_ORDER if in_text_order else RANK_ORDER,
                passages="\n\n".join(list_passages(context)),
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
