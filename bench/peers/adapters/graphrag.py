"""Microsoft GraphRAG as its `init`, `index` and local search do it, with their defaults.

Runs inside the peer's environment. Context: the texts, reports, entities and relations that the
local search put before the model.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-not-found,import-untyped,unused-ignore]
from graphrag import api  # type: ignore[import-not-found]
from graphrag.cli.initialize import initialize_project_at  # type: ignore[import-not-found]
from graphrag.config import defaults  # type: ignore[import-not-found]
from graphrag.config.load_config import load_config  # type: ignore[import-not-found]

ROOT = Path()
LEVEL, FORM = 2, "Multiple Paragraphs"
"""What its command line searches with, unless it is told otherwise."""
TABLES = ("entities", "communities", "community_reports", "text_units", "relationships")
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
        tables = {name: pd.read_parquet(ROOT / "output" / f"{name}.parquet") for name in TABLES}
        answer, found = asyncio.run(
            api.local_search(
                config=self.config,
                covariates=None,
                community_level=LEVEL,
                response_type=FORM,
                query=question,
                **tables,
            )
        )
        return str(answer), [told for kind, table in found.items() for told in _words(kind, table)]


def _words(kind: str, table: Any) -> list[str]:
    """The rows of a table in words; those of other kinds are bookkeeping."""
    if kind not in WORDS:
        return []
    columns = [name for name in WORDS[kind] if name in table]
    return [": ".join(str(row[name]) for name in columns) for _, row in table.iterrows()]
