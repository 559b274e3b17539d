"""Ranking by the `/rerank` of an endpoint, as Cohere, Jina, vLLM and others offer it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabula.errors import BadReply
from fabula.models.budget import Budget, Budgets
from fabula.models.counted import Meter
from fabula.models.endpoint.call import ModelCall
from fabula.models.endpoint.endpoint import Endpoint
from fabula.models.endpoint.errors import NamedModel, Tries
from fabula.models.endpoint.payload import finite_number, object_or_empty, token_count
from fabula.models.purpose import BUILD, Purpose
from fabula.models.usage import Usage
from fabula.text import tokens


@dataclass(frozen=True, slots=True)
class EndpointRanker:
    """A reranking model at an endpoint; its calls are charged to a budget and counted."""

    endpoint: Endpoint
    model: str
    budget: Budget | Budgets
    meter: Meter
    purpose: Purpose = BUILD

    def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the relevance of each text as the endpoint scores it; higher is better.

        Raises:
            ModelError: The endpoint did not answer, or refused the call.
            BadReply: The answer does not have one score for each text.
            BudgetSpent: The budget does not allow another call.
        """
        body = {"model": self.model, "query": question, "documents": list(texts)}
        role, tries = NamedModel(self.model, "FABULA_RERANK_MODEL"), Tries()
        # The model reads the question together with each text, and is paid for that.
        expected = len(texts) * tokens.count(question) + sum(tokens.count_all(texts))
        with self.budget.call(expected, model=self.model) as bill:
            answer = self.endpoint.ask(
                ModelCall("/rerank", role, lambda _: body, tries, self.purpose)
            )
            counts = object_or_empty(answer.get("usage"))
            reported = token_count(counts.get("prompt_tokens"))
            sent = reported or token_count(counts.get("total_tokens")) or expected
            bill.add(sent)
        usage = Usage(1, sent, faults=tries.faults)
        self.meter.add("rerank", Usage.of_model(self.model, usage))
        # Voyage has the list in `data`, SGLang has it alone, and with `score`.
        results = answer.get("results") or answer.get("data")
        scores: dict[int, float] = {}
        for result in map(object_or_empty, results if isinstance(results, list) else []):
            index = result.get("index")
            score = finite_number(result.get("relevance_score", result.get("score")))
            if type(index) is not int or score is None or index in scores:
                raise BadReply(
                    f"The ranking of {self.model} has an entry without a new index and a score."
                )
            scores[index] = score
        if scores.keys() != {*range(len(texts))}:
            raise BadReply(f"{self.model} did not rank all of the {len(texts)} passages.")
        return [scores[index] for index in range(len(texts))]
