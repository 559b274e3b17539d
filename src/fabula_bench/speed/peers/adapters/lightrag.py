"""LightRAG as its documentation shows it: mode "mix", defaults of the release.

Runs inside the peer's environment. Context: the entities, relations and chunks that it returns
with the answer.
"""

from __future__ import annotations

import asyncio
import os
from functools import partial

from lightrag import LightRAG, QueryParam  # type: ignore[import-not-found]
from lightrag.llm.openai import openai_complete_if_cache, openai_embed  # type: ignore[import-not-found]
from lightrag.utils import EmbeddingFunc  # type: ignore[import-not-found]

MODE = "mix"
LOOP = asyncio.new_event_loop()
asyncio.set_event_loop(LOOP)


class Peer:
    """One LightRAG in the working folder."""

    def __init__(self) -> None:
        # It doesn't know OPENAI_BASE_URL.
        url = os.environ["OPENAI_BASE_URL"]
        model = os.environ["PEER_MODEL"]
        embedding_model = os.environ["PEER_EMBEDDING_MODEL"]
        self.rag = LightRAG(
            working_dir="index",
            llm_model_func=partial(openai_complete_if_cache, model, base_url=url),
            llm_model_name=model,
            embedding_func=EmbeddingFunc(
                embedding_dim=int(os.environ["PEER_DIMENSIONS"]),
                # Its chunks are short enough; it would download a tokenizer to see that.
                func=partial(
                    openai_embed.func, model=embedding_model, base_url=url, max_token_size=0
                ),
            ),
        )
        LOOP.run_until_complete(self.rag.initialize_storages())

    def index(self, texts: list[str]) -> None:
        names = [f"text-{number}.txt" for number, _ in enumerate(texts, 1)]
        LOOP.run_until_complete(self.rag.ainsert(texts, ids=names, file_paths=names))
        # Failures are kept as a status, and raised by nobody.
        states = LOOP.run_until_complete(self.rag.doc_status.get_by_ids(names))
        failed = [state for state in states if state["status"].value != "processed"]
        if failed:
            why = failed[0].get("error_msg")
            raise RuntimeError(f"{len(failed)} of {len(texts)} texts were not indexed: {why}")

    def ask(self, question: str) -> tuple[str, list[str]]:
        parameters = QueryParam(mode=MODE, enable_rerank=False)
        reply = LOOP.run_until_complete(self.rag.aquery_llm(question, parameters))
        answer, found = reply["llm_response"]["content"], reply.get("data") or {}
        if answer is None:
            raise RuntimeError(reply.get("message"))
        entities = [
            f"{entry['entity_name']}: {entry['description']}" for entry in found.get("entities", [])
        ]
        relations = [
            f"{entry['src_id']} - {entry['tgt_id']}: {entry['description']}"
            for entry in found.get("relationships", [])
        ]
        chunks = [entry["content"] for entry in found.get("chunks", [])]
        return str(answer), entities + relations + chunks
