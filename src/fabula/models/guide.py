"""What retrieval may ask of a model: a question in other words, and a ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fabula.models import Chat, Prompt, Rewriting, Turn
from fabula.models.prompted import tell
from fabula.models.prompts import prompt
from fabula.models.replies import ask, read_queries, read_question, read_ranking, read_summary
from fabula.models.schemas import QueriesReply, RankingReply
from fabula.text import tokens

QUERIES = 3
"""Other wordings of a question."""
ANSWER_TOKENS = 200
RANKED_TOKENS = 300
"""Of each passage that is ranked: enough to judge it by."""

Rank = Callable[[str, Sequence[str]], list[float]]


@dataclass(frozen=True, slots=True)
class PromptedGuide:
    """A `Guide` that asks a chat; it ranks with `ranker`, an endpoint for that, if there is one."""

    chat: Chat
    ranker: Rank | None = None

    def rewrite(self, question: str, form: Rewriting) -> list[str]:
        """Other wordings of the question, or one made-up answer (Gao et al. 2022, HyDE)."""
        if form == "answer":
            asked = Prompt(
                system=prompt("suppose_system"),
                user=prompt("suppose", question=question),
                max_tokens=ANSWER_TOKENS,
                temperature=0,
            )
            return [ask(self.chat, asked, read_summary)]
        asked = Prompt(
            system=prompt("reword_system"),
            user=prompt("reword", question=question, count=QUERIES),
            max_tokens=100 + QUERIES * 2 * tokens.count(question),
            temperature=0,
            schema=QueriesReply,
        )
        return list(ask(self.chat, asked, lambda reply: read_queries(reply, QUERIES)))

    def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text serves the question, higher is better; all asked for at once."""
        if self.ranker is not None:
            return self.ranker(question, texts)
        heads = [tokens.cut(text, RANKED_TOKENS) for text in texts]
        numbered = [f"[passage {n}] {head}" for n, head in enumerate(heads, 1)]
        asked = Prompt(
            system=prompt("rank_system"),
            user=prompt("rank", passages="\n\n".join(numbered), question=question),
            max_tokens=100 + 6 * len(texts),
            temperature=0,
            schema=RankingReply,
        )
        best_first = ask(self.chat, asked, lambda reply: read_ranking(reply, len(texts)))
        scores = {number: 1 - place / len(texts) for place, number in enumerate(best_first)}
        # What the model left out keeps its order, behind the rest.
        return [scores.get(n, -n / len(texts)) for n in range(1, len(texts) + 1)]

    def stand_alone(self, question: str, history: Sequence[Turn]) -> str:
        """The question in words that need no history: LangChain's "condense question"."""
        asked = Prompt(
            system=prompt("stand_alone_system"),
            user=prompt("stand_alone", conversation=tell(history), question=question),
            max_tokens=100 + 2 * tokens.count(question),
            temperature=0,
        )
        return ask(self.chat, asked, read_question)
