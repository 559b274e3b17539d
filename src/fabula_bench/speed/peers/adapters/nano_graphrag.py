"""nano-graphrag with its defaults: local search over its own graph and vector files.

Runs inside the peer's environment. Its models are named in its code: the functions that ask them
are given others. Context: the tables that its local search put before the model, as one passage.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from nano_graphrag import GraphRAG, QueryParam  # type: ignore[import-not-found]
from nano_graphrag._llm import get_openai_async_client_instance, openai_complete_if_cache  # type: ignore[import-not-found]
from nano_graphrag._utils import EmbeddingFunc  # type: ignore[import-not-found]

MODE = "local"
TABLES, AFTER = "---Data tables---", "---Goal---"
"""What its prompt has before and after the context."""


SEEN: list[str] = []
"""The system prompts that were sent. Out here, as nano-graphrag copies what its functions hold."""


async def complete(prompt: str, system_prompt: str | None = None, **how: Any) -> str:
    """Asks as its own functions do it, another model."""
    SEEN.append(system_prompt or "")
    model = os.environ["PEER_MODEL"]
    return str(await openai_complete_if_cache(model, prompt, system_prompt, **how))


async def embedded(texts: list[str]) -> Any:
    """Vectors as its own function gets them, of another model."""
    reply = await get_openai_async_client_instance().embeddings.create(
        model=os.environ["PEER_EMBEDDING_MODEL"], input=texts, encoding_format="float"
    )
    return np.array([row.embedding for row in reply.data])


class Peer:
    """One graph in the working folder."""

    def __init__(self) -> None:
        self.rag = GraphRAG(
            working_dir="index",
            best_model_func=complete,
            cheap_model_func=complete,
            embedding_func=EmbeddingFunc(
                embedding_dim=int(os.environ["PEER_DIMENSIONS"]), max_token_size=8192, func=embedded
            ),
        )

    def index(self, texts: list[str]) -> None:
        self.rag.insert(texts)
        # It goes on without any, and then answers every question with an apology.
        if not self.rag.chunk_entity_relation_graph._graph.number_of_nodes():
            raise RuntimeError("No entity was found.")

    def ask(self, question: str) -> tuple[str, list[str]]:
        SEEN.clear()
        answer = self.rag.query(question, QueryParam(mode=MODE))
        context = "".join(SEEN[-1:]).partition(TABLES)[2].rpartition(AFTER)[0].strip()
        return str(answer), [context] if context else []
