"""Every statement in `cypher/`: its header tells the truth, and the server understands it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fabula.queries import FOLDER, SCHEMA, query
from fabula.store import Store, reembedding

FILES = sorted(FOLDER.glob("*.cypher"))
NAMES = [path.stem for path in FILES]
VERBS = ("schema_", "save_", "find_", "count_", "clear_", "switch_", "check_")


def parts(name: str) -> tuple[str, str]:
    lines = query(name).splitlines()
    header = [line for line in lines if line.startswith("//")]
    return "\n".join(header), "\n".join(line for line in lines if not line.startswith("//"))


@pytest.mark.parametrize("name", NAMES)
def test_the_header_lists_every_parameter(name: str) -> None:
    header, body = parts(name)
    assert header.splitlines()[0].removeprefix("// ").endswith("."), "first what comes back"
    assert set(re.findall(r"\$(\w+)", header)) == set(re.findall(r"\$(\w+)", body))


@pytest.mark.parametrize("name", NAMES)
def test_a_statement_is_named_by_a_verb(name: str) -> None:
    assert name.startswith(VERBS)


@pytest.mark.parametrize("name", NAMES)
def test_the_server_understands_it(name: str, store: Store) -> None:
    store.prepare("test-model", 8)
    if name == "find_nearest_next":  # its index is there only while a graph is re-embedded
        reembedding.index(store, 8)
    statement = query(name)
    values = {"dimensions": 8, "limit": 5, "depth": 50, "rows": [], "aspects": [], "kinds": []}
    values |= {"vector": [0.1] * 8, "properties": {}, "lowest": 0, "highest": 9}
    values |= {"embeddings": False, "documents": [], "summaries": [], "passages": []}
    values |= {"width": 5, "starts": 20, "covering": 0.1}
    parameters = {key: values.get(key, "x") for key in re.findall(r"\$(\w+)", statement)}
    explained = re.sub(r"(?m)^(CYPHER \d+)$", r"\1 EXPLAIN", statement)
    assert "EXPLAIN" in explained
    with store._driver.session() as session:
        summary = session.run(explained, parameters).consume()
    assert summary.query_type is not None
    store.rows("schema_drop_passage_vectors_next")


def test_every_statement_is_used() -> None:
    source = Path(__file__).parents[1] / "src" / "fabula"
    code = "\n".join(path.read_text() for path in source.rglob("*.py"))
    assert [name for name in NAMES if f'"{name}"' not in code] == []


def test_the_schema_names_files() -> None:
    assert set(SCHEMA) <= set(NAMES)
