"""A guide of retrieval that asks a chat model: other wordings of a question, and rankings."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fabula.models import Chat, Prompt, Rewriting, Turn
from fabula.models.prompted import format_history
from fabula.models.prompts import fill_prompt, number_texts, usual_text
from fabula.models.replies import ask, read_queries, read_question, read_ranking, read_summary
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
            return [ask(self.chat, request, read_summary)]
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
        return list(ask(self.chat, request, lambda reply: read_queries(reply, QUERY_COUNT)))

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
        return ask(self.chat, request, read_question)
