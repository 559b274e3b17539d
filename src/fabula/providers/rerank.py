"""Ranking by an endpoint's own `/rerank`, as Cohere, Jina, vLLM and others have it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fabula.errors import BadReply
from fabula.providers.endpoint import Endpoint
from fabula.providers.trouble import Role, Tries
from fabula.providers.wire import part


@dataclass(frozen=True, slots=True)
class EndpointRanker:
    """A reranking model of an endpoint."""

    endpoint: Endpoint
    model: str

    def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        """The relevance of each text, as the endpoint scores it. Raises ModelError, BadReply."""
        body = {"model": self.model, "query": question, "documents": list(texts)}
        role = Role(self.model, "FABULA_RERANK_MODEL")
        answer = self.endpoint.ask("/rerank", role, lambda _: body, Tries())
        results = answer.get("results")
        scores = [math.nan] * len(texts)
        for result in map(part, results if isinstance(results, list) else []):
            index, score = result.get("index"), result.get("relevance_score")
            if (
                isinstance(index, int)
                and 0 <= index < len(texts)
                and isinstance(score, int | float)
            ):
                scores[index] = float(score)
        if any(map(math.isnan, scores)):
            raise BadReply(f"{self.model} did not rank all of the {len(texts)} passages.")
        return scores
