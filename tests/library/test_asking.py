"""Questions as a program asks them: real models over HTTP, a real graph."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from database import name_server
from endpoint import Endpoint
from fabula import Fabula, Query
from fabula.errors import FabulaError, NotFound
from fabula.graph.trace import Trace
from fabula.models import NO_ANSWER
from fabula.server import Address
from isolation import name_endpoint, shared_graph
from stories import WINTER as STORY


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    """The model that the story was ingested with, and is asked about it."""
    with Endpoint() as server:
        yield server


@pytest.fixture(scope="module")
def filled(address: Address, endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("asking")
    (folder / "winter.txt").write_text(f"Title: Winter\nAuthor: Nobody\nLanguage: en\n\n{STORY}")
    with shared_graph(address, folder) as patch:
        name_endpoint(patch, endpoint)
        with Fabula() as fabula:
            [outcome] = fabula.ingest(folder / "winter.txt")
    assert outcome.status == "added"


@pytest.fixture
def online(
    filled: None, address: Address, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment names the model and the graph, which no test changes."""
    name_server(monkeypatch, address)
    name_endpoint(monkeypatch, endpoint)


@pytest.mark.journey
def test_an_answer_cites_the_passages_it_was_given(online: None) -> None:
    with Fabula() as fabula:
        answer = fabula.query("Where did Anna walk?")
    assert answer.text
    assert answer.cited
    assert set(answer.cited) <= {passage.number for passage in answer.context}
    assert len(answer.hits) == 5
    assert [hit.score for hit in answer.hits] == sorted(
        (hit.score for hit in answer.hits), reverse=True
    )
    assert answer.usage["answer"].calls == 1


@pytest.mark.journey
def test_an_answer_comes_in_pieces(online: None) -> None:
    with Fabula() as fabula:
        stream = fabula.stream("Where did Anna walk?")
        pieces = list(stream)
        assert len(pieces) > 3
        assert stream.answer.text == "".join(pieces).strip()


def test_words_count_beside_an_encoder_too(online: None) -> None:
    path = Trace()
    with Fabula() as fabula:
        fabula.retrieve("Where did Anna walk?", path=path)
    [retrieved] = path.root.steps
    assert (retrieved.name, retrieved.note) == ("retrieve", "hybrid")
    assert "by scores, words 0.5" in [step.note for step in retrieved.steps]


def test_retrieval_alone_asks_no_chat_model(online: None, endpoint: Endpoint) -> None:
    with Fabula(top_k=3) as fabula:
        calls = endpoint.calls
        hits = fabula.retrieve("Who went to the mill?", kinds=("chunk",))
    assert [hit.kind for hit in hits] == ["chunk"] * 3
    assert endpoint.calls == calls + 1


def test_a_span_of_a_chunk_is_where_its_text_is(online: None) -> None:
    with Fabula(top_k=20) as fabula:
        hits = fabula.retrieve("day 3 of the long winter", kinds=("chunk",))
    text = STORY
    assert all(text[hit.start : hit.end] == hit.text for hit in hits)


def test_a_context_that_is_empty_is_answered_without_a_model(
    online: None, endpoint: Endpoint
) -> None:
    with Fabula() as fabula:
        calls = endpoint.calls
        answer = fabula.query("Who?", levels=(5, 9))
    assert (answer.text, answer.context) == (NO_ANSWER, ())
    assert endpoint.calls == calls + 1


def test_unknown_names_are_told_with_the_known_ones(online: None) -> None:
    with Fabula() as fabula:
        with pytest.raises(NotFound, match=r"no document 'Summer'.*Winter"):
            fabula.retrieve("Who?", document="Summer")
        with pytest.raises(NotFound, match=r"aspect 'plott'; there are: .*plot"):
            fabula.retrieve("Who?", aspects=("plott",))


def test_questions_may_be_asked_from_many_threads(online: None) -> None:
    texts: list[str] = []
    with Fabula() as fabula:
        threads = [
            threading.Thread(target=lambda: texts.append(fabula.query("Where did Anna walk?").text))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(texts) == 8
    assert len(set(texts)) == 1


def test_a_books_own_numbers_in_brackets_are_not_read_as_citations(
    online: None, endpoint: Endpoint, tmp_path: Path
) -> None:
    noted = tmp_path / "noted.txt"
    noted.write_text("Anna [2] walked to the mill.\n\n" + STORY, encoding="utf-8")
    with Fabula(top_k=2, collection="noted") as fabula:
        fabula.ingest(noted)
        answer = fabula.query("Anna walked to the mill", kinds=("chunk",))
    content = endpoint.bodies[-1]["messages"][-1]["content"]
    assert "Anna (2) walked" in content
    assert any("Anna [2] walked" in passage.text for passage in answer.context)


def test_a_query_is_asked_as_it_is_but_for_what_is_given_beside_it(online: None) -> None:
    with Fabula() as fabula:
        query = Query.of("Who walked?", fabula.settings, mode="hybrid", k=3)
        assert len(fabula.retrieve(query)) == 3
        assert {hit.kind for hit in fabula.retrieve(query, k=2, kinds=["chunk"])} == {"chunk"}
        assert len(fabula.retrieve(query, k=2)) == 2
        with pytest.raises(TypeError, match=r"has no option 'colour'"):
            fabula.retrieve(query, colour="red")
        with pytest.raises(FabulaError, match="is empty"):
            fabula.retrieve(replace(query, question=" "))
