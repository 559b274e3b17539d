"""What is damaged is counted by kind and renewed; what is sound is left as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from database import cypher
from endpoint import Endpoint
from fabula import Fabula
from fabula.cli import main
from fabula.config.settings import STATIC
from fabula.errors import FabulaError
from fabula.models.stop import Stop
from fabula.store import Store
from reembedding import COLLECTION, KNOWN, STORY

pytestmark = pytest.mark.replans

SOUND = {"indexes": 0, "vectors": 0, "content": 0, "gaps": 0, "stale": 0}
CHUNKS = f"MATCH (n:Chunk {{collection: '{COLLECTION}'}})"
NO_VECTOR = CHUNKS + " WHERE n.index < 3 REMOVE n.embedding"
NO_LENGTH = CHUNKS + " WHERE n.index = 3 SET n.embedding = [x IN range(1, 256) | 0.0]"
OLDER = (
    "MATCH (part:Part {graph: 'entities'}) "
    'SET part.made_from = replace(part.made_from, \'"prompts": ""\', \'"prompts": "older"\')'
)
NO_LABEL = CHUNKS + " WHERE n.index = 4 REMOVE n:Passage256"


@pytest.fixture
def story(tmp_path: Path) -> Path:
    path = tmp_path / "winter.txt"
    path.write_text(f"Title: Winter\nAuthor: Nobody\nLanguage: en\n\n{STORY}")
    return path


@pytest.fixture
def library(graph_url: str, store: Store, story: Path) -> Iterator[Fabula]:
    with Fabula(
        embedding_model=STATIC, **KNOWN | {"levels": 1}, graphs="aspects,entities"
    ) as found:
        found.ingest(story)
        yield found


def vectors(store: Store) -> dict[str, list[float]]:
    rows = cypher(store, f"{CHUNKS} RETURN n.id AS id, n.embedding AS embedding")
    return {row["id"]: row["embedding"] for row in rows}


def test_each_kind_of_damage_is_counted_and_renewed(library: Fabula, store: Store) -> None:
    assert library.check().counts == SOUND
    before = vectors(store)
    for statement in (NO_VECTOR, NO_LENGTH, NO_LABEL):
        cypher(store, statement)
    cypher(store, "DROP INDEX element_texts")
    cypher(store, "MATCH (:Summary)-[edge:SUMMARIZES]->() DELETE edge")
    cypher(store, OLDER)
    found = library.check()
    assert found.counts == SOUND | {
        "indexes": 1,
        "vectors": 5,
        "content": found.counts["content"],
        "stale": 1,
    }
    assert found.counts["content"] > 0
    assert all(f"fabula renew --collection {COLLECTION}" in each.cure for each in found.violations)

    planned = library.renew(dry=True)
    assert library.check().counts == found.counts, "a dry run changes nothing"
    done = library.renew()
    assert [each.source for each in done] == [each.source for each in planned]
    assert [each.graphs for each in done] == [(), (), ("aspects",), ("entities",)]
    assert library.check().counts == SOUND
    assert library.check().violations == ()
    after = vectors(store)
    assert after.keys() == before.keys()
    assert all(after[id] == pytest.approx(before[id], abs=1e-6) for id in before)
    assert library.renew() == [], "what is sound is left as it is"


def test_one_kind_is_renewed_alone(library: Fabula, store: Store) -> None:
    cypher(store, NO_VECTOR)
    cypher(store, OLDER)
    assert library.renew("gaps") == []
    [outcome] = library.renew("vectors")
    assert outcome.counts == {"vector": 3}
    assert library.check().counts == SOUND | {"stale": 1}


def test_only_damaged_vectors_are_paid_for_and_a_stopped_run_goes_on(
    graph_url: str, store: Store, story: Path
) -> None:
    with Endpoint(dimensions=48) as endpoint:
        known = KNOWN | {"embedding_batch": 2, "concurrency": 1}
        with Fabula(
            embedding_model="m", base_url=endpoint.url, api_key="sk-test", **known
        ) as library:
            library.ingest(story)
            cypher(store, CHUNKS + " WHERE n.index < 7 REMOVE n.embedding")
            calls = endpoint.calls
            [planned] = library.renew(dry=True)
            assert (planned.counts, planned.usage.calls) == ({"vector": 7}, 4)
            assert endpoint.calls == calls, "the price is said before anything is asked"
            stop = Stop()
            stop.set()
            with pytest.raises(FabulaError):
                library.renew(stop=stop)
            cypher(store, CHUNKS + " WHERE n.index < 2 SET n.embedding = [x IN range(1, 48) | 1.0]")
            [done] = library.renew()
            assert (done.counts, done.usage.calls) == ({"vector": 5}, 3)
            assert endpoint.calls == calls + 3
            assert library.check().counts == SOUND


def test_the_command_says_the_price_and_asks(
    graph_url: str, store: Store, story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Endpoint(dimensions=48) as endpoint:
        named = {"FABULA_MODEL": "offline", "FABULA_EMBEDDING_MODEL": "m", "FABULA_LEVELS": "0"}
        for name, value in named.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")

        def run(*words: str, answer: str = "") -> str:
            typed = [*words, "--collection", COLLECTION]
            return CliRunner().invoke(main, typed, input=answer).output

        run("ingest", str(story))
        cypher(store, CHUNKS + " WHERE n.index = 0 REMOVE n.embedding")
        assert "vectors 1; `fabula renew` renews it" in run("check")
        assert "embed" in (output := run("renew", answer="n\n"))
        assert output.endswith("Aborted!\n")
        assert "vectors 1" in run("check")
        assert "1 replaced; 1 call" in run("renew", answer="y\n")
        assert "No errors" in run("check")
        assert "Nothing to do; no model calls." in run("renew")
