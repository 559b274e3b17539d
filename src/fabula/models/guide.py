"""A guide of retrieval that asks a chat model: other wordings of a question, and rankings."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fabula.errors import BadReply
from fabula.models import Chat, Prompt, Rewriting, Turn
from fabula.models.prompted import format_history
from fabula.models.prompts import fill_prompt, number_texts, read_prompt, usual_text
from fabula.models.replies import (
    ECHO,
    ask,
    is_echo,
    read_queries,
    read_question,
    read_ranking,
    read_summary,
)
from fabula.models.schemas import QueriesReply, RankingReply
from fabula.text import tokens

QUERY_COUNT = 3
"""The number of other wordings of a question."""
ANSWER_TOKENS = 200
MAX_RANKED_TOKENS = 300
"""How much of a passage is sent to be ranked: enough to judge it by."""

Rank = Callable[[str, Sequence[str]], list[float]]


@dataclass(frozen=True, slots=True)
class PromptedGuide:
    """A `Guide` that asks a chat model.

    Passages are ranked by `ranker`, an endpoint's reranking model, if there is one.
    """

    chat: Chat
    ranker: Rank | None = None

    def rewrite(self, question: str, form: Rewriting) -> list[str]:
        """Return other wordings of the question, or one invented answer.

        Searching with an invented answer is HyDE (Gao et al. 2022).
        """
        if form == "answer":
            request = Prompt(
                system=fill_prompt("suppose_system"),
                user=fill_prompt("suppose", question=question),
                max_tokens=ANSWER_TOKENS,
                temperature=0,
                placeholder=lambda: usual_text(question, ANSWER_TOKENS // 2),
            )
            return [ask(self.chat, request, lambda reply: _read_passage(reply, "suppose"))]
        request = Prompt(
            system=fill_prompt("reword_system"),
            user=fill_prompt("reword", question=question, count=QUERY_COUNT),
            max_tokens=100 + QUERY_COUNT * 2 * tokens.count(question),
            temperature=0,
            schema=QueriesReply,
            placeholder=lambda: json.dumps(
                {"queries": [f"{question} {number}" for number in range(QUERY_COUNT)]}
            ),
        )
        instructions = _instructions("reword")
        return [
            *ask(self.chat, request, lambda reply: read_queries(reply, QUERY_COUNT, instructions))
        ]

    def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return how relevant each text is, higher is better; all are ranked in one call."""
        if self.ranker is not None:
            return self.ranker(question, texts)
        heads = [tokens.cut(text, MAX_RANKED_TOKENS) for text in texts]
        numbered = number_texts(heads, "passage ")
        request = Prompt(
            system=fill_prompt("rank_system"),
            user=fill_prompt("rank", passages="\n\n".join(numbered), question=question),
            max_tokens=100 + 6 * len(texts),
            temperature=0,
            schema=RankingReply,
            placeholder=lambda: json.dumps({"ranking": [*range(1, len(texts) + 1)]}),
        )
        best_first = ask(self.chat, request, lambda reply: read_ranking(reply, len(texts)))
        scores = {number: 1 - rank / len(texts) for rank, number in enumerate(best_first)}
        # Passages that the model left out keep their order, after the others.
        return [scores.get(n, -n / len(texts)) for n in range(1, len(texts) + 1)]

    def stand_alone(self, question: str, history: Sequence[Turn]) -> str:
        """Return the question in words that need no history, as LangChain's "condense question"."""
        request = Prompt(
            system=fill_prompt("stand_alone_system"),
            user=fill_prompt(
                "stand_alone", conversation=format_history(history), question=question
            ),
            max_tokens=100 + 2 * tokens.count(question),
            temperature=0,
            placeholder=lambda: question,
        )
        instructions = _instructions("stand_alone")
        return ask(self.chat, request, lambda reply: read_question(reply, instructions))


def _read_passage(reply: str, name: str) -> str:
    """Return a made-up passage. Raises BadReply if it repeats the instructions of its prompt."""
    passage = read_summary(reply)
    if is_echo(passage, _instructions(name)):
        raise BadReply(ECHO)
    return passage


def _instructions(name: str) -> str:
    """Return what a prompt says beside the texts that it is about, with its system message."""
    return f"{read_prompt(f'{name}_system')}\n{read_prompt(name)}"
