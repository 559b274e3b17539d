"""Other people's packages find passages in our graph: the examples of docs/other-readers.md, run.

Each example runs as its reader runs it, as a script of its own.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from database import cypher, name_server
from fabula.server import Address
from fabula.store import Store
from shared_library import shared_library

pytestmark = [pytest.mark.journey, pytest.mark.shared_library]

PAGE = Path(__file__).parents[2] / "docs" / "other-readers.md"
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHARED = "Common code"
PACKAGES = {
    "neo4j-graphrag": "neo4j_graphrag",
    "LangChain": "langchain_neo4j",
    "LlamaIndex": "llama_index.vector_stores.neo4jvector",
}
IDS = {
    "neo4j-graphrag": "[ast.literal_eval(item.content)['id'] for item in found.items]",
    "LangChain": "[passage.metadata['id'] for passage in found]",
    "LlamaIndex": "[node.node_id for node in found.nodes]",
}
"""How the ids are read from what a package has found."""
TELL = """
import ast, json
print(json.dumps([embed(QUESTION), *({ids} for found in (nearest, filtered, hybrid))]))
"""


@pytest.fixture(scope="module", params=PACKAGES)
def package(request: pytest.FixtureRequest) -> str:
    """A package that is installed; it comes before the graph, which is not made for none."""
    pytest.importorskip(PACKAGES[request.param])
    return str(request.param)


@pytest.fixture(scope="module")
def store(address: Address) -> Iterator[Store]:
    """Two collections of one story each, made without a model."""
    with shared_library(address, "default", "winter tales") as app:
        yield app.connect()


def test_the_example_of_a_package_finds_the_nearest_passages(
    package: str, store: Store, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    name_server(monkeypatch, address)
    examples = read_examples()
    script = examples[SHARED] + examples[package] + TELL.format(ids=IDS[package])
    question, nearest, filtered, hybrid = run(script)

    passages = {
        row["id"]: row
        for row in cypher(
            store,
            "MATCH (n:Passage256) RETURN n.id AS id, n.collection AS collection, n.kind AS kind, "
            "n.embedding AS embedding",
        )
    }
    cosines = {id: float(np.dot(row["embedding"], question)) for id, row in passages.items()}
    inside = {
        id: cosines[id]
        for id, row in passages.items()
        if (row["collection"], row["kind"]) == ("default", "chunk")
    }
    assert len(inside) > 5 and len(passages) > len(inside) + 5
    assert [cosines[id] for id in nearest] == pytest.approx(highest(cosines), abs=1e-4)
    assert [inside[id] for id in filtered] == pytest.approx(highest(inside), abs=1e-4)
    assert len(set(hybrid) & passages.keys()) == 5


def read_examples() -> dict[str, str]:
    """The page's examples by their headings."""
    _, *parts = HEADING.split(PAGE.read_text(encoding="utf-8"))
    return {
        heading: "".join(EXAMPLE.findall(text))
        for heading, text in zip(parts[::2], parts[1::2], strict=True)
    }


def run(script: str) -> list[Any]:
    """What a script's last line holds."""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    body: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return body


def highest(cosines: dict[str, float]) -> list[float]:
    """The five highest, from the highest on."""
    return sorted(cosines.values(), reverse=True)[:5]
