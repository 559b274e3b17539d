"""Ranking by an endpoint's own `/rerank`, as Cohere, Jina, vLLM and others have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabula.errors import BadReply
from fabula.models.budget import Budget, Budgets
from fabula.models.counted import Meter
from fabula.models.endpoint import Endpoint
from fabula.models.endpoint_errors import Role, Tries
from fabula.models.payload import count, number_of, part
from fabula.models.purpose import BUILD, Purpose
from fabula.models.usage import Usage
from fabula.text import tokens


@dataclass(frozen=True, slots=True)
class EndpointRanker:
    """A reranking model of an endpoint; its calls are within the budget, and counted."""

    endpoint: Endpoint
    model: str
    budget: Budget | Budgets
    meter: Meter
    purpose: Purpose = BUILD

    def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        """The relevance of each text, as the endpoint scores it. Raises ModelError, BadReply."""
        body = {"model": self.model, "query": question, "documents": list(texts)}
        role, tries = Role(self.model, "FABULA_RERANK_MODEL"), Tries()
        # The model reads the question with each text, and that is how it is charged for.
        expected = len(texts) * tokens.count(question) + sum(tokens.count_all(texts))
        with self.budget.call(expected) as bill:
            answer = self.endpoint.ask("/rerank", role, lambda _: body, tries, self.purpose)
            told = part(answer.get("usage"))
            asked = count(told.get("prompt_tokens")) or count(told.get("total_tokens")) or expected
            bill.add(asked)
        usage = Usage(1, asked, faults=tries.faults)
        self.meter.add("rerank", Usage.of_model(self.model, usage))
        results = answer.get("results")
        scores: dict[int, float] = {}
        for result in map(part, results if isinstance(results, list) else []):
            index, score = result.get("index"), number_of(result.get("relevance_score"))
            if type(index) is not int or score is None or index in scores:
                raise BadReply(f"{self.model}'s ranking holds what is none.")
            scores[index] = score
        if scores.keys() != {*range(len(texts))}:
            raise BadReply(f"{self.model} did not rank all of the {len(texts)} passages.")
        return [scores[place] for place in range(len(texts))]
