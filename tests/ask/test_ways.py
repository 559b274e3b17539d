"""Several modes at once, on a real Neo4j."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from casts import Cast, put_cast
from database import connect, name_server, wipe
from fabula import Fabula
from fabula.cli import main
from fabula.errors import NotFound
from fabula.graph.trace import Trace as Steps
from fabula.server import Address
from fabula.text import tokens
from hits import rounded

FACT, WHY = "Who gave Boris the lamp?", "Why did Boris stay at the mill?"
STORY = """Title: {title}
Language: en

CHAPTER I

Anna lived at the mill with her brother Boris. The mill stood by the river.

CHAPTER II

Clara came from the harbour with a lamp. She gave the lamp to Boris at the mill.

CHAPTER III

Rain fell for a week upon the fields. The road to the south was closed to all carts.
"""
CAST: Cast = {
    "Boris": ("person", {"Boris": "I II"}, "Boris is Anna's brother."),
    "Clara": ("person", {"Clara": "II"}, "Clara brings a lamp from the harbour."),
}
TIES = {("Boris", "Clara"): ("II", "Clara gives Boris the lamp.")}


@pytest.fixture(scope="module")
def books(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A book with a cast, and in another collection beside one without."""
    folder = tmp_path_factory.mktemp("books")
    for title in ("Mill", "Bare"):
        (folder / f"{title}.txt").write_text(STORY.format(title=title))
    with connect(address) as store, pytest.MonkeyPatch.context() as patch:
        wipe(store)
        _reached(address, patch)
        with Fabula(collection="one", graphs=(), cache=False) as fabula:
            fabula.ingest(folder / "Mill.txt")
            put_cast(fabula, "Mill", CAST, TIES)
        with Fabula(collection="two", graphs=(), cache=False) as fabula:
            fabula.ingest(folder)
            put_cast(fabula, "Mill", CAST, TIES)
        yield


@pytest.fixture(autouse=True)
def reached(books: None, address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names the tests' Neo4j."""
    _reached(address, monkeypatch)


def _reached(address: Address, patch: pytest.MonkeyPatch) -> None:
    name_server(patch, address)
    patch.setenv("FABULA_CHUNK_TOKENS", "24")


def asked(collection: str, question: str, mode: str, document: str = "") -> list[str]:
    """The steps of a question: the names and notes of those that say how it was asked."""
    path = Steps()
    with Fabula(collection=collection) as fabula:
        fabula.retrieve(question, mode=mode, document=document, path=path)
    return [f"{step.name}: {step.note}" for step in path.root.steps]


# Several


@pytest.mark.journey
def test_several_modes_answer_within_one_budget_and_no_sentence_comes_twice() -> None:
    with Fabula(collection="one", context="passages") as fabula:
        alone = {name: fabula.retrieve(FACT, mode=name, k=9) for name in ("light", "hybrid")}
        path = Steps()
        both = fabula.retrieve(FACT, mode="light, hybrid", k=9, path=path)
        context = fabula.context(FACT, mode="light,hybrid", context_tokens=60)
        again = fabula.retrieve(FACT, mode="light,hybrid", k=9)
    found = {hit.id: hit.kind for hits in alone.values() for hit in hits}
    assert {hit.id: hit.kind for hit in both} == found
    assert [hit.score for hit in both] == sorted((hit.score for hit in both), reverse=True)
    assert rounded(both) == rounded(again)
    said = [part.strip() for passage in context for part in passage.text.split(". ")]
    assert len(said) == len(set(said))
    assert sum(tokens.count(passage.text) for passage in context) <= 60
    [way] = path.root.steps
    assert (way.name, way.note) == ("retrieve", "light,hybrid")
    assert [(step.name, step.note) for step in way.steps] == [
        ("mode", "light"),
        ("mode", "hybrid"),
        ("fuse", "by ranks"),
    ]


def test_a_mode_whose_graph_is_not_there_is_left_out_with_a_word() -> None:
    assert asked("one", FACT, "hippo,top-down") == [
        "leave out: top-down: the graph 'aspects' is not built",
        "retrieve: hippo",
    ]
    assert asked("two", FACT, "hippo,naive", "Bare")[1] == "retrieve: naive"
    with pytest.raises(NotFound, match="Mode top-down needs the graph 'aspects', which no"):
        asked("one", FACT, "top-down,bottom-up")


def test_the_command_line_and_the_chat_take_several() -> None:
    words = ["query", FACT, "-c", "one", "--mode", "hippo,hybrid", "--explain", "--json"]
    body = json.loads(CliRunner().invoke(main, words).stdout)
    assert body["quotes"]
    assert [one["step"] for one in body["path"]] == ["retrieve", "context"]
    chat = CliRunner().invoke(main, ["chat", "-c", "one"], input=f"/mode hippo, hybrid\n{FACT}\n")
    assert "Mode: hippo,hybrid. Available: agent, annotations, bottom-up, " in chat.stderr
    assert "[1] Mill" in chat.stdout
    wrong = CliRunner().invoke(main, ["query", FACT, "-c", "one", "--mode", "hippo,hybrd"])
    assert "There is no mode 'hybrd'. Did you mean hybrid?" in wrong.stderr
