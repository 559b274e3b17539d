"""Fast GraphRAG with the services its documentation names for an OpenAI-compatible endpoint.

Runs inside the peer's environment. The domain, the queries and the types of entities, which it
can't do without, are those of its own example, which is of a novel too.
"""

from __future__ import annotations

import os

from fast_graphrag import GraphRAG, QueryParam  # type: ignore[import-not-found]
from fast_graphrag._llm import OpenAIEmbeddingService, OpenAILLMService  # type: ignore[import-not-found]

DOMAIN = (
    "Analyze this story and identify the characters. Focus on how they interact with each other, "
    "the locations they explore, and their relationships."
)
QUERIES = [
    "What is the significance of this event in the story?",
    "How does the setting contribute to the story's themes?",
    "Describe the chain of events that leads to a character's change of heart.",
    "What does this place represent?",
    "How and why is this character being manipulated?",
]
TYPES = ["Character", "Animal", "Place", "Object", "Activity", "Event"]


class Peer:
    """One graph in the working folder."""

    def __init__(self) -> None:
        url, key = os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]
        llm = OpenAILLMService(model=os.environ["PEER_MODEL"], base_url=url, api_key=key)
        embedding = OpenAIEmbeddingService(
            model=os.environ["PEER_EMBEDDING_MODEL"],
            base_url=url,
            api_key=key,
            embedding_dim=int(os.environ["PEER_DIMENSIONS"]),
        )
        self.rag = GraphRAG(
            working_dir="index",
            domain=DOMAIN,
            example_queries="\n".join(QUERIES),
            entity_types=TYPES,
            config=GraphRAG.Config(llm_service=llm, embedding_service=embedding),
        )

    def index(self, texts: list[str]) -> None:
        entities, _, chunks = self.rag.insert(texts, show_progress=False)
        if not entities:
            raise RuntimeError(f"No entity was found in {chunks} chunks.")

    def ask(self, question: str) -> tuple[str, list[str]]:
        reply = self.rag.query(question, QueryParam())
        found = reply.context
        entities = [f"{entry.name}: {entry.description}" for entry, _ in found.entities]
        relations = [
            f"{entry.source} - {entry.target}: {entry.description}" for entry, _ in found.relations
        ]
        return reply.response, entities + relations + [entry.content for entry, _ in found.chunks]
