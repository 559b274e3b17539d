"""The response cache: what was paid for once is there, whatever happens to process and file."""

from __future__ import annotations

import contextlib
import logging
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from endpoint import Endpoint, every, listed
from fabula import Fabula
from fabula.cli import main
from fabula.errors import BadReply, ModelError
from fabula.model import Usage
from fabula.providers import Embeddings, Prompt, Reply
from fabula.providers.cache import ResponseCache, chat_key, embedding_key
from fabula.providers.cached import CachedChat, CachedEmbedder
from fabula.providers.openai import OpenAIEmbedder
from fabula.replies import ask, ask_once, read_summary
from fabula.shapes import AspectsReply, DetailsReply, aspects_reply
from reach import SUMMARY, chat, reach

ASKED = Prompt("Be brief.", "Who is dead?", 100, 0.5)
SAID = Reply("Marley.", 12, 3)
KEY = chat_key("m", ASKED)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[ResponseCache]:
    cache = ResponseCache(tmp_path / "kept")
    yield cache
    cache.close()


@pytest.fixture
def heard(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.WARNING, "fabula")
    return caplog


def rows(seed: int, count: int, dimensions: int = 64) -> dict[bytes, np.ndarray]:
    drawn = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    return {embedding_key("e", f"{seed} {n}"): row for n, row in enumerate(drawn)}


# The keys


@pytest.mark.parametrize(
    "other",
    [
        replace(ASKED, system="Be long."),
        replace(ASKED, user="Who lives?"),
        replace(ASKED, system="", user="Be brief.Who is dead?"),
        replace(ASKED, max_tokens=101),
        replace(ASKED, temperature=0.6),
        replace(ASKED, schema=DetailsReply),
        replace(ASKED, schema=AspectsReply),
        replace(ASKED, schema=aspects_reply(("plot",))),
        replace(ASKED, schema=aspects_reply(("plot", "style"))),
        replace(ASKED, user="Who is dead?\ud800"),
        replace(ASKED, user="Who is dead?\0"),
    ],
)
def test_each_part_of_a_request_makes_another_key(other: Prompt) -> None:
    assert chat_key("m", other) != KEY
    assert len(chat_key("m", other)) == 32


def test_schemas_of_one_name_and_other_lists_are_told_apart() -> None:
    keys = {
        chat_key("m", replace(ASKED, schema=schema))
        for schema in (None, AspectsReply, aspects_reply(("plot",)), aspects_reply(("style",)))
    }
    assert len(keys) == 4


def test_models_are_told_apart_and_corrections_are_not() -> None:
    assert chat_key("other", ASKED) != KEY
    assert chat_key("m", replace(ASKED, correction="That was no JSON.")) == KEY
    assert chat_key("m", replace(ASKED, temperature=1)) == chat_key(
        "m", replace(ASKED, temperature=1.0)
    )
    assert embedding_key("e", "text") not in (embedding_key("f", "text"), embedding_key("e", "t"))


# What is kept


def test_a_reply_comes_back_as_it_was_marked_as_cached(cache: ResponseCache) -> None:
    assert cache.reply(KEY) is None
    cache.keep_reply(KEY, "m", SAID)
    assert cache.reply(KEY) == replace(SAID, cached=True)
    cache.keep_reply(KEY, "m", Reply("Scrooge.", 12, 3))
    assert cache.reply(KEY) == Reply("Scrooge.", 12, 3, cached=True)
    cache.forget(KEY)
    assert cache.reply(KEY) is None


@pytest.mark.parametrize(
    "text", ["", "a\0b", "half \ud800 a pair", "猫 e\u0301 \u202e", "x" * 10**6]
)
def test_any_text_is_kept(cache: ResponseCache, text: str) -> None:
    cache.keep_reply(KEY, "m\ud800", Reply(text))
    assert cache.reply(KEY) == Reply(text, cached=True)
    assert cache.info().models == {"m?": 1}


def test_vectors_come_back_byte_for_byte(cache: ResponseCache) -> None:
    kept = rows(1, 40)
    cache.keep_vectors("e", kept)
    found = cache.vectors([*kept, b"x" * 32])
    assert found.keys() == kept.keys()
    for key, row in kept.items():
        assert found[key].dtype == np.float32
        assert found[key].tobytes() == row.tobytes()


def test_nothing_is_made_before_something_is_kept(cache: ResponseCache, tmp_path: Path) -> None:
    assert cache.reply(KEY) is None
    assert cache.vectors([KEY]) == {}
    cache.forget(KEY)
    assert (cache.info().replies, cache.info().bytes) == (0, 0)
    cache.clear()
    assert not (tmp_path / "kept").exists()


def test_info_counts_and_clear_deletes(cache: ResponseCache) -> None:
    cache.keep_reply(KEY, "m", SAID)
    cache.keep_vectors("e", rows(1, 200))
    found = cache.info()
    assert (found.replies, found.vectors, found.models) == (1, 200, {"e": 200, "m": 1})
    assert found.bytes > 200 * 64 * 4
    assert cache.clear() == found
    left = cache.info()
    assert (left.replies, left.vectors, left.models) == (0, 0, {})
    assert left.bytes < found.bytes / 2
    cache.keep_reply(KEY, "m", SAID)
    assert cache.reply(KEY)


def test_a_closed_cache_keeps_what_arrives_late(cache: ResponseCache) -> None:
    cache.keep_reply(KEY, "m", SAID)
    cache.close()
    assert cache.reply(KEY)


def test_the_folder_may_be_deleted_at_any_time(cache: ResponseCache) -> None:
    cache.keep_reply(KEY, "m", SAID)
    for file in cache.info().path.parent.iterdir():
        file.unlink()
    cache.info().path.parent.rmdir()
    assert cache.reply(KEY) is None
    cache.keep_reply(KEY, "m", SAID)
    assert ResponseCache(cache.info().path.parent).reply(KEY)


# Threads and processes


def test_threads_share_a_cache(cache: ResponseCache) -> None:
    wrong: list[int] = []

    def work(number: int) -> None:
        for n in range(50):
            key = chat_key("m", replace(ASKED, user=f"{number} {n}"))
            cache.keep_reply(key, "m", Reply(f"{number} {n}"))
            if cache.reply(key) != Reply(f"{number} {n}", cached=True):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert cache.info().replies == 400


KEEPER = """
import sys
from pathlib import Path
import numpy as np
from fabula.providers import Prompt, Reply
from fabula.providers.cache import ResponseCache, chat_key, embedding_key
cache, name, count = ResponseCache(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3])
for n in range(count):
    cache.keep_reply(chat_key("m", Prompt("", f"{name} {n}", 1, 0)), "m", Reply(f"{name} {n}"))
    batch = {embedding_key("e", f"{name} {n} {row}"): np.ones(64, np.float32) for row in range(16)}
    cache.keep_vectors("e", batch)
    print(n, flush=True)
"""


def keeper(cache: ResponseCache, name: str, count: int) -> subprocess.Popen[str]:
    """A process that keeps replies as fast as it can, and prints the number of each."""
    command = [sys.executable, "-c", KEEPER, str(cache.info().path.parent), name, str(count)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    )


def test_processes_that_begin_and_write_at_once_lose_nothing(cache: ResponseCache) -> None:
    running = [keeper(cache, name, 100) for name in "abc"]
    for process in running:
        _, complaints = process.communicate(timeout=60)
        assert (process.returncode, complaints) == (0, "")
    found = cache.info()
    assert (found.replies, found.vectors, found.aside) == (300, 300 * 16, ())


def test_what_a_killed_process_kept_is_there(cache: ResponseCache) -> None:
    with keeper(cache, "a", 100_000) as process:
        assert process.stdout
        told = [int(process.stdout.readline()) for _ in range(200)]
        process.kill()
    for n in told:
        asked = Prompt("", f"a {n}", 1, 0)
        assert cache.reply(chat_key("m", asked)) == Reply(f"a {n}", cached=True)
        assert len(cache.vectors([embedding_key("e", f"a {n} {row}") for row in range(16)])) == 16


# Damage


def garbage_header(path: Path) -> None:
    path.write_bytes(b"<html>Welcome to the hotel's network</html>" * 200)


def garbage_pages(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(1000)
        file.write(os.urandom(path.stat().st_size - 1000))


def altered_rows(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE chat SET reply = x'616263'")
        connection.execute("UPDATE embedding SET vector = zeroblob(5)")
    connection.close()


def another_version(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()


def another_program(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()


def lost_tables(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE chat")
        connection.execute("DROP TABLE embedding")
    connection.close()


def cut_short(path: Path) -> None:
    os.truncate(path, 5000)


DAMAGES = [
    garbage_header,
    garbage_pages,
    altered_rows,
    another_version,
    another_program,
    lost_tables,
    cut_short,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_file_is_set_aside_with_one_warning(
    damage: object, cache: ResponseCache, heard: pytest.LogCaptureFixture
) -> None:
    kept = rows(1, 50)
    cache.keep_reply(KEY, "m", SAID)
    cache.keep_vectors("e", kept)
    path = cache.info().path
    cache.close()
    assert callable(damage)
    damage(path)
    assert cache.reply(KEY) is None
    assert cache.vectors([*kept]) == {}
    cache.keep_reply(KEY, "m", SAID)
    cache.keep_vectors("e", kept)
    assert cache.reply(KEY)
    assert len(cache.vectors([*kept])) == 50
    [record] = heard.records
    [aside] = cache.info().aside
    assert record.levelname == "WARNING"
    assert str(aside) in record.getMessage()
    assert cache.clear().aside == (aside,)
    assert not aside.exists()


def test_a_file_damaged_while_it_is_open_is_set_aside(
    cache: ResponseCache, heard: pytest.LogCaptureFixture
) -> None:
    for n in range(50):
        cache.keep_vectors("e", rows(n, 20, 512))
    cache.close()
    cache.keep_reply(KEY, "m", SAID)
    garbage_pages(cache.info().path)
    for n in range(50):
        cache.vectors([*rows(n, 20, 512)])
    cache.keep_reply(KEY, "m", SAID)
    assert cache.reply(KEY)
    assert len(heard.records) == 1


def test_random_damage_never_gives_a_wrong_reply(tmp_path: Path) -> None:
    dice = np.random.default_rng(1)
    kept = rows(1, 30)
    for trial in range(40):
        cache = ResponseCache(tmp_path / str(trial))
        cache.keep_reply(KEY, "m", SAID)
        cache.keep_vectors("e", kept)
        path = cache.info().path
        cache.close()
        data = bytearray(path.read_bytes())
        for place in dice.integers(0, len(data), 20):
            data[place] = dice.integers(0, 256)
        path.write_bytes(data)
        assert cache.reply(KEY) in (None, replace(SAID, cached=True))
        for key, row in cache.vectors([*kept]).items():
            assert row.tobytes() == kept[key].tobytes()
        cache.keep_reply(KEY, "m", SAID)
        cache.info()
        cache.close()


# No room, no right


def test_a_folder_that_cannot_be_made_is_told_once_and_nothing_is_raised(
    tmp_path: Path, heard: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("not a folder")
    cache = ResponseCache(tmp_path / "file" / "kept")
    for _ in range(3):
        cache.keep_reply(KEY, "m", SAID)
        cache.keep_vectors("e", rows(1, 2))
        cache.forget(KEY)
        assert cache.reply(KEY) is None
    assert cache.clear().replies == 0
    [record] = heard.records
    assert "FABULA_CACHE_FOLDER" in record.getMessage()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_told_once(
    tmp_path: Path, heard: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "kept"
    folder.mkdir(mode=0o500)
    cache = ResponseCache(folder)
    cache.keep_reply(KEY, "m", SAID)
    cache.keep_reply(KEY, "m", SAID)
    assert cache.reply(KEY) is None
    assert len(heard.records) == 1


def test_a_full_disk_is_told_once_and_what_was_kept_is_still_read(cache: ResponseCache) -> None:
    cache.keep_reply(KEY, "m", SAID)
    cache.close()
    keeping = keeper_on_a_full_disk(cache)
    assert keeping.returncode == 0, keeping.stderr
    assert keeping.stderr.count("can't be used") == 1
    assert "Traceback" not in keeping.stderr
    assert cache.reply(KEY)
    assert cache.info().aside == ()


def keeper_on_a_full_disk(cache: ResponseCache) -> subprocess.CompletedProcess[str]:
    def fill() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    folder = str(cache.info().path.parent)
    return subprocess.run(
        [sys.executable, "-B", "-c", KEEPER, folder, "a", "200"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=fill,
    )


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
    told = Telling("Marley ", "is.")
    one = CachedChat(told, cache, "m")
    assert [piece.text for piece in one.stream(ASKED)] == ["Marley ", "is.", ""]
    assert [*one.stream(ASKED)] == [Reply("Marley is.", 5, 2, cached=True)]
    assert one.complete(ASKED) == Reply("Marley is.", 5, 2, cached=True)
    assert CachedChat(told, cache, "other").complete(ASKED) == Reply("Marley is.", 5, 2)
    assert told.log == ["stream", "closed", "complete"]


def test_a_stream_that_was_cut_or_left_is_not_kept(cache: ResponseCache) -> None:
    told = Telling("Marley ", "is.", fails=True)
    with pytest.raises(ModelError):
        [*CachedChat(told, cache, "m").stream(ASKED)]
    left = CachedChat(told, cache, "m").stream(ASKED)
    assert next(left).text == "Marley "
    assert isinstance(left, Generator)
    left.close()
    assert told.log == ["stream", "closed"] * 2
    assert cache.reply(KEY) is None


def test_a_rejected_reply_is_forgotten_unless_it_is_to_stay(cache: ResponseCache) -> None:
    told = Telling("fine.")
    one = CachedChat(told, cache, "m")
    one.complete(ASKED)
    one.reject(ASKED, forget=False)
    assert cache.reply(KEY)
    one.reject(ASKED, forget=True)
    assert cache.reply(KEY) is None
    assert told.log == ["complete", "reject False", "reject True"]


def test_a_reply_that_had_to_be_asked_again_is_kept_for_the_first_prompt(
    cache: ResponseCache,
) -> None:
    with Endpoint(plan=listed("empty", None)) as server:
        one = CachedChat(chat(server), cache, "m")
        first = ask(one, SUMMARY, read_summary)
        assert server.calls == 2
        assert ask(one, SUMMARY, read_summary) == first
        assert server.calls == 2


def test_what_is_asked_in_another_way_is_not_paid_again_for_an_empty_reply(
    cache: ResponseCache,
) -> None:
    with Endpoint(plan=every(1, "refusal")) as server:
        one = CachedChat(chat(server), cache, "m")
        for _ in range(2):
            with pytest.raises(BadReply):
                ask_once(one, SUMMARY, read_summary)
        assert server.calls == 1


def test_threads_that_ask_the_same_at_once_pay_once(cache: ResponseCache) -> None:
    with Endpoint(delay=0.1) as server, ThreadPoolExecutor(8) as threads:
        model, embedder = chat(server), OpenAIEmbedder(reach(server.url), "e")
        replies = list(
            threads.map(lambda _: CachedChat(model, cache, "m").complete(SUMMARY), range(8))
        )
        assert server.calls == 1
        assert len({reply.text for reply in replies}) == 1
        texts = [["a ghost", "a goose"], ["a goose", "a bell"]] * 4
        list(threads.map(CachedEmbedder(embedder, cache).embed, texts))
        assert sum(len(body["input"]) for body in server.bodies[1:]) == 3


class Lengths:
    """An embedder of texts by their length, and what it was asked."""

    model, batch = "e", 16

    def __init__(self, dimensions: int = 4) -> None:
        self.dimensions, self.asked = dimensions, list[list[str]]()

    def embed(self, texts: Sequence[str]) -> Embeddings:
        self.asked.append([*texts])
        drawn = [np.random.default_rng(len(text)).random(self.dimensions) for text in texts]
        return Embeddings(np.asarray(drawn, np.float32), 10 * len(texts), faults=1)


def test_only_texts_that_are_not_kept_are_embedded_each_once(cache: ResponseCache) -> None:
    inner = Lengths()
    one = CachedEmbedder(inner, cache)
    assert (one.model, one.batch) == ("e", 16)
    one.embed(["a", "bb"])
    found = one.embed(["ccc", "a", "ccc", "dddd\ud800", "bb"])
    assert inner.asked == [["a", "bb"], ["ccc", "dddd\ud800"]]
    assert (found.tokens, found.faults, found.cached) == (20, 1, False)
    again = one.embed(["ccc", "a", "ccc", "dddd\ud800", "bb"])
    assert (again.tokens, again.faults, again.cached) == (0, 0, True)
    assert again.vectors.dtype == np.float32
    assert again.vectors.tobytes() == found.vectors.tobytes()
    plain = Lengths().embed(["ccc", "a", "ccc", "dddd\ud800", "bb"]).vectors
    assert found.vectors.tobytes() == plain.tobytes()


def test_vectors_of_another_model_of_that_name_are_embedded_again(cache: ResponseCache) -> None:
    CachedEmbedder(Lengths(4), cache).embed(["a", "bb"])
    inner = Lengths(8)
    assert CachedEmbedder(inner, cache).embed(["a", "ccc"]).vectors.shape == (2, 8)
    assert inner.asked == [["ccc"], ["a", "ccc"]]


# A service with a cache

STORY = "\n\n".join(
    f"CHAPTER {number}\n\nAnna walked to the harbour on day {number}. Boris slept at the mill. "
    f"Clara rang the bell {number} times, and nobody knew why."
    for number in range(1, 7)
)


@pytest.fixture
def online(graph_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with Endpoint() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("FABULA_CHUNK_TOKENS", "40")
        yield server


def test_a_document_that_was_removed_is_built_again_without_a_call(online: Endpoint) -> None:
    with Fabula() as fabula:
        first = fabula.ingest_text(STORY, source="note")
        fabula.remove("note")
    calls = online.calls
    with Fabula() as fabula:
        again = fabula.ingest_text(STORY, source="note")
        fabula.remove("note")
    assert online.calls == calls
    assert (again.status, again.usage.calls, again.usage.prompt_tokens) == ("added", 0, 0)
    assert again.usage.saved >= first.usage.calls
    assert (again.chunks, again.summaries) == (first.chunks, first.summaries)
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
    assert again.usage == {"embeddings": Usage(saved=1), "answer": Usage(saved=1)}


def test_the_doctor_asks_the_models_themselves(online: Endpoint) -> None:
    with Fabula() as fabula:
        for _ in range(2):
            for _, _, call in fabula.roles():
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
    told = run("cache", "info")
    assert "gpt-4.1-mini: " in told
    assert str(tmp_path / "cache") in told
    run("remove", "note.txt")
    calls = online.calls
    run("ingest", "note.txt", "--no-cache")
    assert online.calls > calls
    run("cache", "clear", answer="n\n", code=1)
    assert run("cache", "info") == told
    assert "deleted" in run("cache", "clear", "--yes")
    assert "Replies     0\nEmbeddings  0" in run("cache", "info")
