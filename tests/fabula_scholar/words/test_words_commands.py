"""Concordances, collocates, key words and n-grams of a collection: commands, queries and HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner, Result

from database import connect, name_server, wipe
from fabula.app import App
from fabula.cli import main
from fabula.config.settings import STATIC
from fabula.server import Address
from served import Served, served, server_of

WHALE = """CHAPTER I

The white whale swam. A whale! The old whale saw the boat.

CHAPTER II

The whale sank it."""
KING = "The old king sat. The king saw the boat, and the old king wept."


@pytest.fixture(scope="module")
def it(address: Address) -> Iterator[Served]:
    with connect(address) as store:
        wipe(store)
    offline: dict[str, Any] = {"model": "offline", "embedding_model": STATIC, "graphs": "aspects"}
    with App(**server_of(address), **offline) as app:
        books = app.collection("default")
        books.ingest_text(WHALE, source="w.txt", title="The Whale", language="en")
        books.ingest_text(KING, source="k.txt", title="The King", language="en")
        app.collection("other").ingest_text(KING * 3, source="k.txt", title="Other", language="en")
        with served(app) as it:
            yield it


@pytest.fixture
def run(it: Served, address: Address, monkeypatch: pytest.MonkeyPatch) -> Any:
    name_server(monkeypatch, address)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments)

    return run


def test_a_concordance_has_every_place_of_the_words(run: Any) -> None:
    result = run("concordance", "whale", "--json")
    found = json.loads(result.stdout)
    assert (found["total"], found["documents"]) == (4, {"The Whale": 4})
    assert [WHALE[row["start"] : row["end"]] for row in found["rows"]] == ["whale"] * 4
    assert found["rows"][3]["section"] == "CHAPTER II"
    by_right = json.loads(run("concordance", "whale", "--sort", "right", "--json").stdout)
    rights = [row["right"] for row in by_right["rows"]]
    assert [text.strip("! ").split()[0].strip(".") for text in rights] == [
        *("sank", "saw", "swam", "The"),
    ]


def test_a_line_is_opened_by_its_number_and_a_place_is_obeyed(run: Any) -> None:
    assert "whale" in run("concordance", "wh?le", "--document", "The Whale").output
    assert "The whale sank it." in run("read", "4").output
    early = run("concordance", "whale", "--document", "The Whale", "--until", "CHAPTER I", "--json")
    assert json.loads(early.stdout)["total"] == 3
    assert run("concordance", "dragon").exit_code == 1
    assert run("concordance", "(", "--regex").exit_code == 1
    of_pattern = json.loads(run("concordance", "--regex", r"[Tt]he \w+ king", "--json").stdout)
    assert [row["node"] for row in of_pattern["rows"]] == ["The old king", "the old king"]
    csv = run("concordance", "king", "--csv").stdout.splitlines()
    assert csv[0].startswith("document,title,section,start,end,left,node,right")
    assert len(csv) == 4


def test_collocates_and_key_words_and_ngrams(run: Any) -> None:
    near = json.loads(run("collocates", "king", "--left", "1", "--right", "0", "--json").stdout)
    assert near["nodes"] == 3
    [old] = [row for row in near["rows"] if row["word"] == "old"]
    assert (old["count"], old["left"], old["total"]) == (2, 2, 3)
    key = json.loads(run("keyness", "The Whale", "--json").stdout)
    assert (key["rows"][0]["word"], key["rows"][0]["reference_count"]) == ("whale", 0)
    against = run("keyness", "The Whale", "--against-collection", "other", "--negative", "--json")
    assert json.loads(against.stdout)["rows"][0]["word"] == "king"
    itself = run("keyness", "The Whale", "--against", "The Whale")
    assert "can't be compared with itself" in itself.output
    grams = json.loads(run("ngrams", "The King", "--size", "2", "--json").stdout)
    assert grams["rows"][0] == {"words": "old king", "count": 2, "documents": 1}
    assert (grams["tokens"], grams["types"]) == (14, 8)
    content = json.loads(run("ngrams", "--content-words", "--with", "wh*", "--json").stdout)
    assert [row["words"] for row in content["rows"]] == ["whale", "white"]
    assert "type-token ratio" in run("ngrams").output


def test_the_query_for_analysts_has_the_same_lines(run: Any) -> None:
    rows = json.loads(run("cypher", "concordance", "--param", "words=whale", "--json").stdout)
    assert [WHALE[row["start"] :][:5] for row in rows] == ["whale"] * 4
    assert (rows[1]["left"][-2:], rows[1]["node"], rows[1]["right"][:5]) == ("A ", "whale", "! The")


@pytest.mark.journey
def test_the_routes_return_what_the_commands_print(it: Served, run: Any) -> None:
    client, base = it.client("read"), "/api/v1/collections/default"
    [whale] = [e for e in it.state.app.collection("default").documents() if "Whale" in e.title]
    found = client.get(f"{base}/concordance", params={"words": "whale", "until": "CHAPTER I"})
    assert found.status_code == 404  # a place of which document?
    asked: dict[str, Any] = {
        "words": "whale",
        "until": "CHAPTER I",
        "document": whale.id,
        "limit": 2,
    }
    reply = client.get(f"{base}/concordance", params=asked).json()
    assert (reply["total"], len(reply["rows"])) == (3, 2)
    printed = json.loads(run("collocates", "whale", "--json").stdout)
    assert client.get(f"{base}/collocates", params={"words": "whale"}).json() == {
        "nodes": printed["nodes"],
        "rows": printed["rows"],
    }
    key = client.get(f"{base}/documents/{whale.id}/keyness").json()
    assert key == json.loads(run("keyness", "The Whale", "--json").stdout)["rows"]
    grams = client.get(f"{base}/ngrams", params={"size": 2}).json()
    assert grams["rows"] == json.loads(run("ngrams", "--size", "2", "--json").stdout)["rows"]
    assert client.get(f"{base}/concordance", params={"words": "*a*a*a*a*a"}).status_code == 400
