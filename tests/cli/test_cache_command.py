"""`fabula cache`: what it says of the file, and how a part of it is deleted."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from click.testing import CliRunner

from fabula.cli import main
from fabula.models.cache import ResponseCache
from keeping import KEY, SAID, rows


def run(folder: Path, *arguments: str) -> str:
    flags = ["--cache-folder", str(folder)]
    invoked = CliRunner().invoke(main, ["cache", *arguments, *flags], catch_exceptions=False)
    assert invoked.exit_code == 0, invoked.output
    return invoked.output


def test_it_shows_the_limit_and_the_files_that_were_set_aside(tmp_path: Path) -> None:
    (tmp_path / "responses.sqlite").write_bytes(b"no database" * 100)
    with closing(ResponseCache(tmp_path)) as cache:
        cache.save_reply(KEY, "m", SAID)
    shown = run(tmp_path, "info", "--cache-max-gb", "2.5")
    assert "Replies     1" in shown
    assert "limit 2.5 GB" in shown
    assert f"Damaged     {tmp_path / 'damaged-1-responses.sqlite'}" in shown


def test_what_is_older_is_deleted_alone(tmp_path: Path) -> None:
    with closing(ResponseCache(tmp_path)) as cache:
        cache.save_vectors("e", rows(1, 5))
        cache.close()
        with closing(sqlite3.connect(cache.info().path)) as connection, connection:
            connection.execute("UPDATE day SET day = day - 40")
        cache.save_reply(KEY, "m", SAID)
    deleted = run(tmp_path, "clear", "--older-than", "30", "--yes")
    assert deleted.startswith("5 replies and embeddings deleted; 1 replies and 0 embeddings (")
    assert run(tmp_path, "clear", "--older-than", "30", "--yes").startswith("0 replies")


def test_it_is_trimmed_to_a_size_embeddings_first(tmp_path: Path) -> None:
    (tmp_path / "damaged-1-responses.sqlite").write_bytes(b"no database" * 100)
    with closing(ResponseCache(tmp_path)) as cache:
        cache.save_reply(KEY, "m", SAID)
        for number in range(40):
            cache.save_vectors("e", rows(number, 100))
        full = cache.info().bytes
    trimmed = run(tmp_path, "trim", "--to", "0.0005", "--yes")
    assert "1 replies" in trimmed
    with closing(ResponseCache(tmp_path)) as cache:
        left = cache.info()
        assert (left.replies, left.damaged) == (1, ())
        assert left.bytes < full
    assert run(tmp_path, "trim").startswith("0 replies and embeddings deleted")
    assert "0 replies and 0 embeddings" in run(tmp_path, "trim", "--to", "0", "--yes")
