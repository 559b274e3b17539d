"""The response cache in trouble: a damaged file is set aside, and nothing is ever raised.

Only damage sets a file aside; what can be read of it is saved.
"""

from __future__ import annotations

import logging
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from caches import OpenCache
from fabula.models import Reply
from fabula.models.cache import ResponseCache, chat_key
from keeping import ASKED, KEEPER, KEY, SAID, URL, rows


@pytest.fixture
def heard(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.WARNING, "fabula")
    return caplog


# Damage


def garbage_header(path: Path) -> None:
    path.write_bytes(b"<html>Welcome to the hotel's network</html>" * 200)


def garbage_pages(path: Path, seed: int = 0) -> None:
    with path.open("r+b") as file:
        file.seek(1000)
        file.write(random.Random(seed).randbytes(path.stat().st_size - 1000))


def garbage_length(path: Path) -> None:
    """Bytes that SQLite takes for a text of over a gigabyte: of garbage, one in 400 is so."""
    garbage_pages(path, seed=415)


def altered_rows(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE response SET data = x'616263'")
    connection.close()


def cut_short(path: Path) -> None:
    os.truncate(path, 5000)


DAMAGES = [
    garbage_header,
    garbage_pages,
    garbage_length,
    altered_rows,
    cut_short,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_file_is_set_aside_with_one_warning(
    damage: object, cache: ResponseCache, heard: pytest.LogCaptureFixture
) -> None:
    kept = rows(1, 50)
    cache.save_reply(KEY, "m", SAID)
    cache.save_vectors("e", kept)
    path = cache.info().path
    cache.close()
    assert callable(damage)
    damage(path)
    assert cache.reply(KEY) in (None, replace(SAID, cached=True))
    assert len(cache.vectors([*kept])) < 50
    cache.save_reply(KEY, "m", SAID)
    cache.save_vectors("e", kept)
    assert cache.reply(KEY)
    assert len(cache.vectors([*kept])) == 50
    [record] = heard.records
    [aside] = cache.info().damaged
    assert record.levelname == "WARNING"
    assert str(aside) in record.getMessage()
    assert cache.info().bytes > aside.stat().st_size > 0
    cache.clear()
    assert [*path.parent.iterdir()] == []


def test_what_can_be_read_of_damaged_files_is_saved_and_each_keeps_its_name(
    cache: ResponseCache, heard: pytest.LogCaptureFixture
) -> None:
    keys = [chat_key(URL, "m", replace(ASKED, user=str(n))) for n in range(1000)]
    for round in (1, 2):
        for key in keys:
            cache.save_reply(key, "m", Reply(f"{key.hex()} " * 5))
        path = cache.info().path
        cache.close()
        with path.open("r+b") as file:
            file.seek(path.stat().st_size // 2)
            file.write(random.Random(round).randbytes(8192))
        for key in keys:
            cache.reply(key)
        found = [key for key in keys if cache.reply(key)]
        assert 500 < len(found) < 1000
        assert len(heard.records) == len(cache.info().damaged) == round
        assert f"the {len(found)} replies" in heard.messages[-1]


def test_a_file_with_a_column_more_is_used(
    cache: ResponseCache, heard: pytest.LogCaptureFixture
) -> None:
    cache.save_reply(KEY, "m", SAID)
    alter(cache, "ALTER TABLE response ADD COLUMN mood TEXT")
    other = chat_key(URL, "m", replace(ASKED, user="Who else?"))
    cache.save_reply(other, "m", SAID)
    assert cache.reply(KEY)
    assert cache.reply(other)
    assert not heard.records


def test_a_file_of_another_layout_is_reported_and_left_as_it_is(
    cache: ResponseCache, heard: pytest.LogCaptureFixture
) -> None:
    cache.save_reply(KEY, "m", SAID)
    alter(cache, "ALTER TABLE response RENAME COLUMN data TO reply")
    for _ in range(2):
        cache.save_reply(KEY, "m", SAID)
        assert cache.reply(KEY) is None
    assert not cache.info().damaged
    assert all("Another version of Fabula" in message for message in heard.messages)
    assert len(heard.messages) == len(set(heard.messages))


def alter(cache: ResponseCache, statement: str) -> None:
    cache.close()
    with closing(sqlite3.connect(cache.info().path)) as connection, connection:
        connection.execute(statement)


def test_a_file_damaged_while_it_is_open_is_set_aside(
    cache: ResponseCache, heard: pytest.LogCaptureFixture
) -> None:
    for n in range(50):
        cache.save_vectors("e", rows(n, 20, 512))
    cache.close()
    cache.save_reply(KEY, "m", SAID)
    garbage_pages(cache.info().path)
    for n in range(50):
        cache.vectors([*rows(n, 20, 512)])
    cache.save_reply(KEY, "m", SAID)
    assert cache.reply(KEY)
    assert len(cache.info().damaged) == len(heard.records) == 1


def test_random_damage_never_gives_a_wrong_reply(tmp_path: Path, open_cache: OpenCache) -> None:
    dice = np.random.default_rng(1)
    kept = rows(1, 30)
    for trial in range(40):
        cache = open_cache(tmp_path / str(trial))
        cache.save_reply(KEY, "m", SAID)
        cache.save_vectors("e", kept)
        path = cache.info().path
        cache.close()
        data = bytearray(path.read_bytes())
        for place in dice.integers(0, len(data), 20):
            data[place] = dice.integers(0, 256)
        path.write_bytes(data)
        assert cache.reply(KEY) in (None, replace(SAID, cached=True))
        for key, row in cache.vectors([*kept]).items():
            assert row.tobytes() == kept[key].tobytes()
        cache.save_reply(KEY, "m", SAID)
        cache.info()
        cache.close()


# No room, no right


def test_a_folder_that_cannot_be_made_is_told_once_and_nothing_is_raised(
    tmp_path: Path, heard: pytest.LogCaptureFixture, open_cache: OpenCache
) -> None:
    (tmp_path / "file").write_text("not a folder")
    cache = open_cache(tmp_path / "file" / "kept")
    for _ in range(3):
        cache.save_reply(KEY, "m", SAID)
        cache.save_vectors("e", rows(1, 2))
        cache.forget(KEY)
        assert cache.reply(KEY) is None
    assert cache.info().replies == 0
    [record] = heard.records
    assert "FABULA_CACHE_FOLDER" in record.getMessage()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_told_once(
    tmp_path: Path, heard: pytest.LogCaptureFixture, open_cache: OpenCache
) -> None:
    folder = tmp_path / "kept"
    folder.mkdir(mode=0o500)
    cache = open_cache(folder)
    cache.save_reply(KEY, "m", SAID)
    cache.save_reply(KEY, "m", SAID)
    assert cache.reply(KEY) is None
    assert len(heard.records) == 1


def test_a_full_disk_is_told_once_and_what_was_kept_is_still_read(cache: ResponseCache) -> None:
    cache.save_reply(KEY, "m", SAID)
    cache.close()
    keeping = keeper_on_a_full_disk(cache)
    assert keeping.returncode == 0, keeping.stderr
    assert keeping.stderr.count("can't be used") == 1
    assert "Traceback" not in keeping.stderr
    assert cache.reply(KEY)
    assert not [*cache.info().path.parent.glob("damaged-*")]


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
