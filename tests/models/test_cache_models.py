"""Models and a service with a response cache: nothing is asked for twice."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from endpoint import Endpoint, every, listed
from fabula import Fabula
from fabula.cli import main
from fabula.errors import BadReply, ModelError
from fabula.models import Embeddings, Prompt, Reply, TextKind
from fabula.models.cache import ResponseCache
from fabula.models.counted import Meter
from fabula.models.endpoint.openai import OpenAIEmbedder
from fabula.models.replies import ask, ask_once, read_summary
from fabula.models.usage import Usage
from fabula.operations.documents import remove_document
from fabula.text import tokens
from keeping import ASKED, KEY, URL, cached_chat, cached_embedder
from reach import SUMMARY, chat, reach

# Models with a cache


class Telling:
    """A chat whose stream can be watched, and a line for each thing that happens."""

    def __init__(self, *pieces: str, fails: bool = False) -> None:
        self.pieces, self.fails, self.log = pieces, fails, list[str]()

    def complete(self, prompt: Prompt) -> Reply:
        self.log.append("complete")
        return Reply("".join(self.pieces), 5, 2)

    def stream(self, prompt: Prompt) -> Generator[Reply, None, None]:
        self.log.append("stream")
        try:
            for piece in self.pieces:
                yield Reply(piece)
            if self.fails:
                raise ModelError("cut")
            yield Reply("", 5, 2)
        finally:
            self.log.append("closed")

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        self.log.append(f"reject {forget}")


def test_a_reply_is_asked_for_once_whether_streamed_or_not(cache: ResponseCache) -> None:
    telling = Telling("Marley ", "is.")
    model = cached_chat(telling, cache, URL, "m")
    assert [piece.text for piece in model.stream(ASKED)] == ["Marley ", "is.", ""]
    assert [*model.stream(ASKED)] == [Reply("Marley is.", 5, 2, cached=True)]
    assert model.complete(ASKED) == Reply("Marley is.", 5, 2, cached=True)
    assert cached_chat(telling, cache, URL, "other").complete(ASKED) == Reply("Marley is.", 5, 2)
    assert telling.log == ["stream", "closed", "complete"]


def test_two_endpoints_with_a_model_of_one_name_share_nothing(cache: ResponseCache) -> None:
    with Endpoint(dimensions=8) as endpoint, Endpoint(dimensions=16) as other:
        for server in (endpoint, other):
            cached_chat(chat(server), cache, server.url, "m").complete(SUMMARY)
            model = OpenAIEmbedder(reach(server.url), "e")
            rows = cached_embedder(model, cache, server.url).embed(["a ghost"]).vectors
            assert rows.shape == (1, server.dimensions)
        assert (endpoint.calls, other.calls) == (2, 2)


def test_a_stream_that_was_cut_or_left_is_not_kept(cache: ResponseCache) -> None:
    telling = Telling("Marley ", "is.", fails=True)
    with pytest.raises(ModelError):
        [*cached_chat(telling, cache, URL, "m").stream(ASKED)]
    left = cached_chat(telling, cache, URL, "m").stream(ASKED)
    assert next(left).text == "Marley "
    assert isinstance(left, Generator)
    left.close()
    assert telling.log == ["stream", "closed"] * 2
    assert cache.reply(KEY) is None


def test_a_rejected_reply_is_forgotten_unless_it_is_to_stay(cache: ResponseCache) -> None:
    telling = Telling("fine.")
    model = cached_chat(telling, cache, URL, "m")
    model.complete(ASKED)
    model.reject(ASKED, forget=False)
    assert cache.reply(KEY)
    model.reject(ASKED, forget=True)
    assert cache.reply(KEY) is None
    assert telling.log == ["complete", "reject False", "reject True"]


def test_a_reply_that_had_to_be_asked_again_is_kept_for_the_first_prompt(
    cache: ResponseCache,
) -> None:
    with Endpoint(plan=listed("empty", None)) as server:
        model = cached_chat(chat(server), cache, URL, "m")
        first = ask(model, SUMMARY, read_summary)
        assert server.calls == 2
        assert ask(model, SUMMARY, read_summary) == first
        assert server.calls == 2


def test_what_is_asked_in_another_way_is_not_paid_again_for_an_empty_reply(
    cache: ResponseCache,
) -> None:
    with Endpoint(plan=every(1, "refusal")) as server:
        model = cached_chat(chat(server), cache, URL, "m")
        for _ in range(2):
            with pytest.raises(BadReply):
                ask_once(model, SUMMARY, read_summary)
        assert server.calls == 1


def test_threads_that_ask_the_same_at_once_pay_once(cache: ResponseCache) -> None:
    with Endpoint(delay=0.1) as server, ThreadPoolExecutor(8) as threads:
        model, embedder = chat(server), OpenAIEmbedder(reach(server.url), "e")
        replies = list(
            threads.map(lambda _: cached_chat(model, cache, URL, "m").complete(SUMMARY), range(8))
        )
        assert server.calls == 1
        assert len({reply.text for reply in replies}) == 1
        texts = [["a ghost", "a goose"], ["a goose", "a bell"]] * 4
        list(threads.map(cached_embedder(embedder, cache, URL).embed, texts))
        assert sum(len(body["input"]) for body in server.bodies[1:]) == 3


class Lengths:
    """An embedder of texts by their length, and what it was asked."""

    model, batch = "e", 16

    def __init__(self, dimensions: int = 4) -> None:
        self.dimensions, self.texts = dimensions, list[list[str]]()

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        self.texts.append([*texts])
        drawn = [np.random.default_rng(len(text)).random(self.dimensions) for text in texts]
        return Embeddings(np.asarray(drawn, np.float32), 10 * len(texts), faults=1)


def test_only_texts_that_are_not_kept_are_embedded_each_once(cache: ResponseCache) -> None:
    inner = Lengths()
    embedder = cached_embedder(inner, cache, URL)
    assert (embedder.model, embedder.batch) == ("e", 16)
    embedder.embed(["a", "bb"])
    found = embedder.embed(["ccc", "a", "ccc", "dddd\ud800", "bb"])
    assert inner.texts == [["a", "bb"], ["ccc", "dddd\ud800"]]
    assert (found.tokens, found.faults, found.cached) == (20, 1, False)
    again = embedder.embed(["ccc", "a", "ccc", "dddd\ud800", "bb"])
    assert (again.tokens, again.faults, again.cached) == (0, 0, True)
    assert again.vectors.dtype == np.float32
    assert again.vectors.tobytes() == found.vectors.tobytes()
    plain = Lengths().embed(["ccc", "a", "ccc", "dddd\ud800", "bb"]).vectors
    assert found.vectors.tobytes() == plain.tobytes()


class Silent(Lengths):
    """One whose endpoint counts no tokens."""

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        return Embeddings(super().embed(texts, kind).vectors)


def test_what_was_asked_for_is_the_same_whoever_came_first(cache: ResponseCache) -> None:
    def asked(texts: list[str], *, streamed: bool) -> Usage:
        meter = Meter()
        model = cached_chat(Telling("Marley ", "is."), cache, URL, "m", meter)
        if streamed:
            list(model.stream(ASKED))
        else:
            model.complete(ASKED)
        cached_embedder(Silent(), cache, URL, meter).embed(texts)
        return meter.total()

    first = asked(["a goose"], streamed=True)
    some, all = (asked(["a goose", "a bell"], streamed=streamed) for streamed in (True, False))
    words = [tokens.count("a goose"), tokens.count("a bell")]
    assert first == Usage(2, 5 + words[0], 2)
    assert some == Usage(
        1, words[1], saved=1, saved_prompt_tokens=5 + words[0], saved_completion_tokens=2
    )
    assert all == Usage(saved=2, saved_prompt_tokens=5 + sum(words), saved_completion_tokens=2)
    assert some.uncached == all.uncached == Usage(2, 5 + sum(words), 2)


def test_vectors_of_another_model_of_that_name_are_embedded_again(cache: ResponseCache) -> None:
    cached_embedder(Lengths(4), cache, URL).embed(["a", "bb"])
    inner = Lengths(8)
    assert cached_embedder(inner, cache, URL).embed(["a", "ccc"]).vectors.shape == (2, 8)
    assert inner.texts == [["ccc"], ["a", "ccc"]]


# A service with a cache

STORY = "\n\n".join(
    f"CHAPTER {number}\n\nAnna walked to the harbour on day {number}. Boris slept at the mill. "
    f"Clara rang the bell {number} times, and nobody knew why."
    for number in range(1, 7)
)


@pytest.fixture
def online(online: None, endpoint: Endpoint) -> Endpoint:
    """The endpoint that the environment names."""
    return endpoint


def test_a_document_that_was_removed_is_built_again_without_a_call(online: Endpoint) -> None:
    with Fabula() as fabula:
        first = fabula.ingest_text(STORY, source="note")
        remove_document(fabula, "note")
    calls = online.calls
    with Fabula() as fabula:
        again = fabula.ingest_text(STORY, source="note")
        remove_document(fabula, "note")
    assert online.calls == calls
    assert (again.status, again.usage.calls, again.usage.prompt_tokens) == ("added", 0, 0)
    assert again.usage.saved >= first.usage.calls
    assert again.counts == first.counts
    with Fabula(cache=False) as fabula:
        paid = fabula.ingest_text(STORY, source="note")
    assert paid.usage.calls > 0
    assert paid.usage.saved == 0


def test_a_question_is_paid_for_once(online: Endpoint) -> None:
    with Fabula() as fabula:
        fabula.ingest_text(STORY, source="note")
        calls = online.calls
        first, again = (fabula.query("Where did Anna walk?") for _ in range(2))
    assert online.calls == calls + 2, "the question's embedding and its answer"
    assert (again.text, again.cited) == (first.text, first.cited)
    for step in ("embeddings", "answer"):
        assert (again.usage[step].calls, again.usage[step].saved) == (0, 1)
    assert again.usage["answer"].uncached == first.usage["answer"]


def test_the_doctor_asks_the_models_themselves(online: Endpoint) -> None:
    with Fabula() as fabula:
        for _ in range(2):
            for _, _, call in fabula.app.models.roles():
                with contextlib.suppress(BadReply):
                    call()
    assert online.calls == 6


def test_the_cache_is_looked_at_and_emptied_at_the_command_line(
    online: Endpoint, tmp_path: Path
) -> None:
    def run(*arguments: str, answer: str = "", code: int = 0) -> str:
        result = CliRunner().invoke(main, [*arguments], input=answer)
        assert result.exit_code == code, result.output
        return result.output

    assert "There is nothing in" in run("cache", "clear")
    (tmp_path / "note.txt").write_text(STORY)
    run("ingest", "note.txt")
    output = run("cache", "info")
    assert "gpt-4.1-mini: " in output
    assert str(tmp_path / "cache") in output
    run("remove", "note.txt", "--yes")
    calls = online.calls
    run("ingest", "note.txt", "--no-cache")
    assert online.calls > calls
    run("cache", "clear", answer="n\n", code=1)
    assert run("cache", "info") == output
    assert "deleted" in run("cache", "clear", "--yes")
    assert "Replies     0\nEmbeddings  0" in run("cache", "info")
