"""Questions as a program asks them: real models over HTTP, a real graph."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from endpoint import Endpoint
from fabula import Fabula
from fabula.errors import FabulaError, NotFound
from fabula.graph.trace import Trace
from fabula.models import NO_ANSWER
from stories import WINTER as STORY


@pytest.mark.journey
def test_an_answer_cites_the_passages_it_was_given(online: None, story: Path) -> None:
    with Fabula() as fabula:
        fabula.ingest(story)
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
def test_an_answer_comes_in_pieces(online: None, story: Path) -> None:
    with Fabula() as fabula:
        fabula.ingest(story)
        stream = fabula.stream("Where did Anna walk?")
        pieces = list(stream)
        assert len(pieces) > 3
        assert stream.answer.text == "".join(pieces).strip()


def test_words_count_beside_an_encoder_too(online: None, story: Path) -> None:
    path = Trace()
    with Fabula() as fabula:
        fabula.ingest(story)
        fabula.retrieve("Where did Anna walk?", path=path)
    [retrieved] = path.root.steps
    assert (retrieved.name, retrieved.note) == ("retrieve", "hybrid")
    assert "by scores, words 0.5" in [step.note for step in retrieved.steps]


def test_retrieval_alone_asks_no_chat_model(online: None, endpoint: Endpoint, story: Path) -> None:
    with Fabula(top_k=3) as fabula:
        fabula.ingest(story)
        calls = endpoint.calls
        hits = fabula.retrieve("Who went to the mill?", kinds=("chunk",))
    assert [hit.kind for hit in hits] == ["chunk"] * 3
    assert endpoint.calls == calls + 1


def test_a_span_of_a_chunk_is_where_its_text_is(online: None, story: Path) -> None:
    with Fabula(top_k=20) as fabula:
        fabula.ingest(story)
        hits = fabula.retrieve("day 3 of the long winter", kinds=("chunk",))
    text = STORY
    assert all(text[hit.start : hit.end] == hit.text for hit in hits)


def test_a_context_that_is_empty_is_answered_without_a_model(
    online: None, endpoint: Endpoint, story: Path
) -> None:
    with Fabula() as fabula:
        fabula.ingest(story)
        calls = endpoint.calls
        answer = fabula.query("Who?", levels=(5, 9))
    assert (answer.text, answer.context) == (NO_ANSWER, ())
    assert endpoint.calls == calls + 1


def test_an_empty_graph_says_what_to_do(online: None, endpoint: Endpoint) -> None:
    with (
        Fabula() as fabula,
        pytest.raises(NotFound, match=r"'default' yet: .* Run `fabula ingest BOOK"),
    ):
        fabula.query("Who?")
    assert endpoint.calls == 0


def test_an_empty_collection_says_nothing_of_the_others(online: None, story: Path) -> None:
    with Fabula(collection="novels") as fabula:
        fabula.ingest(story)
    with (
        Fabula() as fabula,
        pytest.raises(NotFound, match="'default' yet: add documents") as caught,
    ):
        fabula.query("Who?")
    assert "novels" not in str(caught.value)


def test_unknown_names_are_told_with_the_known_ones(online: None, story: Path) -> None:
    with Fabula() as fabula:
        fabula.ingest(story)
        with pytest.raises(NotFound, match=r"no document 'Summer'.*Winter"):
            fabula.retrieve("Who?", document="Summer")
        with pytest.raises(NotFound, match=r"aspect 'plott'; there are: .*plot"):
            fabula.retrieve("Who?", aspects=("plott",))


def test_questions_may_be_asked_from_many_threads(online: None, story: Path) -> None:
    texts: list[str] = []
    with Fabula() as fabula:
        fabula.ingest(story)
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


def test_a_document_of_another_collection_is_not_asked_in_silence(
    graph_url: str, story: Path
) -> None:
    with Fabula(collection="tales") as fabula:
        fabula.ingest(story)
        [entry] = fabula.documents()
    other = story.with_name("other.txt")
    other.write_text("Title: Other\n\nThe miller woke.")
    with Fabula() as fabula:
        fabula.ingest(other)
        for name in (story.name, entry.id, "Winter"):
            with pytest.raises(NotFound, match=r"no document .* in collection 'default'") as caught:
                fabula.retrieve("Who?", document=name)
            assert "tales" not in str(caught.value)


def test_a_question_of_any_length_is_looked_up(graph_url: str, story: Path) -> None:
    with Fabula(mode="hybrid") as fabula:
        fabula.ingest(story)
        assert fabula.retrieve(" ".join(f"word{n}" for n in range(3000)))
        assert fabula.retrieve("猫" * 3000)
        with pytest.raises(FabulaError, match="empty"):
            fabula.retrieve(" ")


def test_a_books_own_numbers_in_brackets_are_not_read_as_citations(
    online: None, endpoint: Endpoint, tmp_path: Path
) -> None:
    noted = tmp_path / "noted.txt"
    noted.write_text("Anna [2] walked to the mill.\n\n" + STORY, encoding="utf-8")
    with Fabula(top_k=2) as fabula:
        fabula.ingest(noted)
        answer = fabula.query("Anna walked to the mill", kinds=("chunk",))
    told = endpoint.bodies[-1]["messages"][-1]["content"]
    assert "Anna (2) walked" in told
    assert any("Anna [2] walked" in passage.text for passage in answer.context)
