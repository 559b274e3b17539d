"""neo4j-graphrag as its documentation shows it: SimpleKGPipeline, then a vector-Cypher retriever.

Runs inside the peer's environment, on a Neo4j of its own, which it empties before it indexes. Its
merging of equal entities needs the APOC plugin; without it on the server, it is left out.
"""

from __future__ import annotations

import asyncio
import os

import neo4j
from neo4j_graphrag.embeddings import OpenAIEmbeddings
from neo4j_graphrag.experimental.pipeline.kg_builder import SimpleKGPipeline
from neo4j_graphrag.generation import GraphRAG
from neo4j_graphrag.indexes import create_vector_index
from neo4j_graphrag.llm import OpenAILLM
from neo4j_graphrag.retrievers import VectorCypherRetriever

INDEX = "chunks"
TOP_K = 5
NEIGHBOURS = """
OPTIONAL MATCH (node)<-[:FROM_CHUNK]-(entity)-[relation]-(other)
WHERE NOT other:Chunk AND NOT other:Document
WITH node, score, [fact IN collect(DISTINCT
  coalesce(entity.name, '') + ' - ' + type(relation) + ' - ' + coalesce(other.name, ''))
  WHERE fact IS NOT NULL] AS facts
RETURN node.text + '\n' + reduce(told = '', fact IN facts[..20] | told + fact + '\n') AS text
"""
"""A chunk and what its entities are tied to, as the documentation's example retrieves them."""


class Peer:
    """One graph in the server that the environment names."""

    def __init__(self) -> None:
        self.driver = neo4j.GraphDatabase.driver(
            os.environ["NEO4J_URI"],
            auth=(os.environ["NEO4J_USERNAME"], os.environ["NEO4J_PASSWORD"]),
        )
        self.llm = OpenAILLM(os.environ["PEER_MODEL"], model_params={"temperature": 0})
        self.embedder = OpenAIEmbeddings(os.environ["PEER_EMBEDDING_MODEL"])

    def index(self, texts: list[str]) -> None:
        self._empty()
        create_vector_index(
            self.driver,
            INDEX,
            label="Chunk",
            embedding_property="embedding",
            dimensions=int(os.environ["PEER_DIMENSIONS"]),
            similarity_fn="cosine",
        )
        pipeline = SimpleKGPipeline(
            llm=self.llm,
            driver=self.driver,
            embedder=self.embedder,
            from_file=False,
            perform_entity_resolution=self._has_apoc(),
        )
        for text in texts:
            asyncio.run(pipeline.run_async(text=text))
        self.driver.execute_query("CALL db.awaitIndexes()")

    def ask(self, question: str) -> tuple[str, list[str]]:
        retriever = VectorCypherRetriever(self.driver, INDEX, NEIGHBOURS, self.embedder)
        rag = GraphRAG(retriever=retriever, llm=self.llm)
        found = rag.search(question, retriever_config={"top_k": TOP_K}, return_context=True)
        assert found.retriever_result is not None, "it was asked for"
        return found.answer, [str(item.content) for item in found.retriever_result.items]

    def _empty(self) -> None:
        with self.driver.session() as session:
            session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS").consume()
            session.run(f"DROP INDEX {INDEX} IF EXISTS").consume()

    def _has_apoc(self) -> bool:
        found, _, _ = self.driver.execute_query(
            "SHOW PROCEDURES YIELD name WHERE name = $name RETURN count(*) AS n",
            name="apoc.refactor.mergeNodes",
        )
        return bool(found[0]["n"])
