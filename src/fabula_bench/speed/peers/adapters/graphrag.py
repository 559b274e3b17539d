"""Microsoft GraphRAG as its `init`, `index` and one of its searches do it, with their defaults.

Runs inside the peer's environment; PEER_SEARCH says which search. Context: the texts, reports,
entities and relations that were put before the model: of `global` the reports of all its map calls,
of `drift` what each of its local searches read. What DRIFT's primer reads, it tells nobody.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-not-found,import-untyped,unused-ignore]
from graphrag import api  # type: ignore[import-not-found]
from graphrag.callbacks.noop_query_callbacks import NoopQueryCallbacks  # type: ignore[import-not-found]
from graphrag.cli.initialize import initialize_project_at  # type: ignore[import-not-found]
from graphrag.config import defaults  # type: ignore[import-not-found]
from graphrag.config.load_config import load_config  # type: ignore[import-not-found]

ROOT = Path()
LEVEL, FORM = 2, "Multiple Paragraphs"
"""What its command line searches with, unless it is told otherwise."""
READ = ("entities", "communities", "community_reports")
TEXTS = ("text_units", "relationships")
SEARCHES: dict[str, tuple[Any, tuple[str, ...], dict[str, Any]]] = {
    "local": (api.local_search, (*READ, *TEXTS), {"covariates": None}),
    "global": (api.global_search, READ, {"dynamic_community_selection": False}),
    "drift": (api.drift_search, (*READ, *TEXTS), {}),
}
"""Each search, the tables that it reads, and what else it must be told."""
WORDS = {
    "reports": ("content",),
    "entities": ("entity", "description"),
    "relationships": ("source", "target", "description"),
    "sources": ("text",),
}
"""The columns of what was found that say something."""


class Peer:
    """One project in the working folder."""

    def __init__(self) -> None:
        os.environ["GRAPHRAG_API_KEY"] = os.environ["OPENAI_API_KEY"]
        models = os.environ["PEER_MODEL"], os.environ["PEER_EMBEDDING_MODEL"]
        if not (ROOT / "settings.yaml").is_file():
            initialize_project_at(ROOT, False, *models)
        url = {"api_base": os.environ["OPENAI_BASE_URL"]}
        self.config = load_config(
            ROOT,
            {
                "completion_models": {defaults.DEFAULT_COMPLETION_MODEL_ID: url},
                "embedding_models": {defaults.DEFAULT_EMBEDDING_MODEL_ID: url},
                "vector_store": {"vector_size": int(os.environ["PEER_DIMENSIONS"])},
            },
        )

    def index(self, texts: list[str]) -> None:
        (ROOT / "input").mkdir(exist_ok=True)
        for number, text in enumerate(texts, 1):
            (ROOT / "input" / f"text-{number}.txt").write_text(text, encoding="utf-8")
        for done in asyncio.run(api.build_index(self.config)):
            if done.error:
                raise RuntimeError(f"{done.workflow}: {done.error}")

    def ask(self, question: str) -> tuple[str, list[str]]:
        search, names, more = SEARCHES[os.environ["PEER_SEARCH"]]
        tables = {name: pd.read_parquet(ROOT / "output" / f"{name}.parquet") for name in names}
        # What the search returns itself is, of DRIFT, the context of its last step alone.
        contexts: list[dict[str, Any]] = []
        listener = NoopQueryCallbacks()
        listener.on_context = contexts.append
        answer, _ = asyncio.run(
            search(
                config=self.config,
                community_level=LEVEL,
                response_type=FORM,
                query=question,
                callbacks=[listener],
                **tables,
                **more,
            )
        )
        read = [
            word
            for group in contexts
            for kind, table in group.items()
            for word in _words(kind, table)
        ]
        return str(answer), list(dict.fromkeys(read))


def _words(kind: str, table: Any) -> list[str]:
    """The rows of a table in words; those of other kinds are bookkeeping."""
    if kind not in WORDS:
        return []
    columns = [name for name in WORDS[kind] if name in table]
    return [": ".join(str(row[name]) for name in columns) for _, row in table.iterrows()]
