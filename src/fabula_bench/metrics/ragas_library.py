"""Answer correctness and similarity, by the library that defines them.

The library asks our chat and our embedder: retries, limits, cache and counting stay ours, and
nothing that reports its use to its makers is called.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from fabula.errors import BadReply, first_problem
from fabula.models import Chat, Embedder, Prompt
from fabula.models.replies import ask
from fabula_bench.metrics.judging import USUAL_REASON
from fabula_bench.metrics.measure import Judges, Metric, best_score
from fabula_bench.model import BenchQuestion, Result

SYSTEM = "You judge texts. Reply with JSON alone."
REPLY_TOKENS = 4_000
"""Room for the verdicts on all statements of a long answer and its reference."""

Shape = TypeVar("Shape", bound=BaseModel)


def _answer_correctness(question: BenchQuestion, result: Result, judges: Judges) -> float:
    from ragas.metrics.collections import AnswerCorrectness

    assert judges.chat and judges.embedder
    metric = AnswerCorrectness(llm=_judge(judges.chat), embeddings=_embeddings(judges.embedder))

    def correctness(answer: str, reference: str) -> float:
        inputs = {"user_input": question.question, "response": answer, "reference": reference}
        return float(metric.score(**inputs).value)

    return best_score(result.answer, question.answers, correctness)


def _answer_similarity(question: BenchQuestion, result: Result, judges: Judges) -> float:
    from ragas.metrics.collections import SemanticSimilarity

    assert judges.embedder
    metric = SemanticSimilarity(embeddings=_embeddings(judges.embedder))

    def similarity(answer: str, reference: str) -> float:
        return float(metric.score(response=answer, reference=reference).value)

    return best_score(result.answer, question.answers, similarity)


def _judge(chat: Chat) -> Any:
    """`chat` as the library takes a model that replies in a shape."""
    from ragas.llms.base import InstructorBaseRagasLLM

    class Judge(InstructorBaseRagasLLM):  # type: ignore[misc]
        def generate(self, prompt: str, response_model: type[Shape]) -> Shape:
            # The prompt tells the shape; as a schema the library's are not strict enough to send.
            request = Prompt(
                *(SYSTEM, prompt),
                max_tokens=REPLY_TOKENS,
                temperature=0,
                placeholder=lambda: json.dumps(make_example(response_model.model_json_schema())),
            )
            return ask(chat, request, lambda reply: _parse(reply, response_model))

        async def agenerate(self, prompt: str, response_model: type[Shape]) -> Shape:
            return self.generate(prompt, response_model)

    return Judge()


def make_example(schema: Mapping[str, Any], definitions: Mapping[str, Any] | None = None) -> Any:
    """Return a reply that fits a JSON schema, with two items in each list, for a dry run."""
    definitions = definitions or schema.get("$defs", {})
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            fields = schema.get("properties", {})
            return {name: make_example(field, definitions) for name, field in fields.items()}
        case "array":
            return [make_example(schema["items"], definitions)] * 2
        case "string":
            return USUAL_REASON
        case _:
            return 1


def _embeddings(embedder: Embedder) -> Any:
    """`embedder` as the library takes one."""
    from ragas.embeddings.base import BaseRagasEmbedding

    class Embeddings(BaseRagasEmbedding):  # type: ignore[misc]
        def embed_text(self, text: str, **_: Any) -> list[float]:
            return [float(value) for value in embedder.embed([text], "passage").vectors[0]]

        async def aembed_text(self, text: str, **_: Any) -> list[float]:
            return self.embed_text(text)

    return Embeddings()


def _parse(reply: str, shape: type[Shape]) -> Shape:
    """The JSON in a reply; nothing is repaired, as half a list of verdicts would pass for all."""
    try:
        return shape.model_validate_json(reply[reply.find("{") : reply.rfind("}") + 1])
    except ValidationError as error:
        raise BadReply(f"That is not the JSON asked for: {first_problem(error)}.") from error


METRICS = (
    Metric(
        name="answer_correctness",
        lowest=-0.25,
        source="RAGAS (Es et al. 2023, arXiv 2309.15217), by the library ragas: "
        "0.75 x F1 of statements + 0.25 x similarity",
        blind=(
            "It is as good as its judge; an answer that is right but longer than the reference "
            "loses, and one that states nothing at all counts as all right in its F1."
        ),
        needs=frozenset({"answers", "answer", "judge", "embedder"}),
        how=_answer_correctness,
        library="ragas",
        extra="ragas",
    ),
    Metric(
        name="answer_similarity",
        lowest=-1.0,
        source="RAGAS (Es et al. 2023, arXiv 2309.15217), by the library ragas: the cosine of the "
        "embeddings of answer and reference",
        blind=(
            "It can't tell right from wrong: an answer with a wrong name or a 'not' is nearly as "
            "similar; figures of two embedding models can't be compared."
        ),
        needs=frozenset({"answers", "answer", "embedder"}),
        how=_answer_similarity,
        library="ragas",
        extra="ragas",
    ),
)
