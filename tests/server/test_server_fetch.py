"""The private server's jars: fetched once, checked, and gone on with after an interruption."""

from __future__ import annotations

import gc
import hashlib
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fabula.errors import ServerError
from fabula.server import ServerProgress, ignore_progress
from fabula.server import fetch as fetching
from fabula.server.artifacts import Artifact, read_lock, write_lock
from fabula.server.fetch import install, is_installed

# A small Maven repository over HTTP on loopback, which can also fail in the ways real ones do.


class Repository:
    """Serves jars by their path; `requests` counts requests for each, `cuts` is left to cut off.

    `before` is called with the name of each jar before it is sent.
    """

    def __init__(self) -> None:
        self.jars: dict[str, bytes] = {}
        self.requests: Counter[str] = Counter()
        self.cuts: Counter[str] = Counter()
        self.before: Callable[[str], None] = lambda _: None
        self.url = ""

    def add(self, name: str, size: int = 50_000) -> Artifact:
        """A jar of `size` bytes, as the lock list would name it."""
        content = (name.encode() * size)[:size]
        artifact = Artifact("org.test", name, "1.0", "", hashlib.sha256(content).hexdigest(), size)
        self.jars[artifact.filename] = content
        return artifact

    @contextmanager
    def served(self) -> Iterator[Repository]:
        """Answers requests until the end of the block."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        server.daemon_threads = True
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        repository = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.rsplit("/", 1)[-1]
                content = repository.jars.get(name)
                if content is None:
                    self.send_error(404)
                    return
                repository.requests[name] += 1
                repository.before(name)
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if repository.cuts[name] > 0:
                    repository.cuts[name] -= 1
                    self.wfile.write(content[: len(content) // 2])
                    self.close_connection = True
                    return
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                """Keeps the tests' output quiet."""

        return Handler


CUT_FOR_GOOD = 99
PATIENCE = 120.0
"""Seconds for what takes none: a machine may have other work to do."""

# The library under jgo leaves a connection that was cut to the garbage collector.
pytestmark = [
    pytest.mark.waits,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    with Repository().served() as repository:
        config = tmp_path / "jgo.conf"
        config.write_text(
            f"[settings]\nrepo_cache = {tmp_path / 'm2'}\n"
            f"[repositories]\ncentral = {repository.url}\n"
        )
        monkeypatch.setenv("JGO_CONFIG_FILE", str(config))
        monkeypatch.setattr("fabula.server.fetch.RETRY_SECONDS", (0.0, 0.0, 0.0))
        yield repository
        gc.collect()


def fetch(artifacts: list[Artifact], home: Path) -> list[ServerProgress]:
    seen: list[ServerProgress] = []
    install(artifacts, home / "lib", "Fetching", seen.append)
    return seen


def cached(tmp_path: Path, artifact: Artifact) -> Path:
    return tmp_path / "m2" / "org" / "test" / artifact.name / "1.0" / artifact.filename


def test_all_jars_are_fetched_from_the_users_own_repository(
    repository: Repository, tmp_path: Path
) -> None:
    artifacts = [repository.add(f"jar{number}") for number in range(40)]
    fetch(artifacts, tmp_path)
    assert is_installed(artifacts, tmp_path / "lib")
    assert {jar.name: jar.read_bytes() for jar in (tmp_path / "lib").iterdir()} == repository.jars


def test_progress_ends_with_all_bytes_done(repository: Repository, tmp_path: Path) -> None:
    artifacts = [repository.add("a", 3_000_000), repository.add("b", 1_000_000)]
    seen = fetch(artifacts, tmp_path)
    assert seen[-1] == ServerProgress("Fetching", 4_000_000, 4_000_000)
    assert [progress.done for progress in seen] == sorted(progress.done for progress in seen)


def test_what_is_there_is_not_fetched_again(repository: Repository, tmp_path: Path) -> None:
    artifacts = [repository.add("a"), repository.add("b")]
    fetch(artifacts, tmp_path)
    assert fetch(artifacts, tmp_path) == []
    assert set(repository.requests.values()) == {1}


def test_another_home_takes_the_jars_from_mavens_cache(
    repository: Repository, tmp_path: Path
) -> None:
    artifacts = [repository.add("a")]
    fetch(artifacts, tmp_path / "one")
    fetch(artifacts, tmp_path / "two")
    assert is_installed(artifacts, tmp_path / "two" / "lib")
    assert repository.requests["a-1.0.jar"] == 1


def test_a_connection_cut_once_is_tried_again(repository: Repository, tmp_path: Path) -> None:
    artifact = repository.add("a")
    repository.cuts[artifact.filename] = 1
    fetch([artifact], tmp_path)
    assert is_installed([artifact], tmp_path / "lib")


def test_an_interrupted_download_goes_on_where_it_was(
    repository: Repository, tmp_path: Path
) -> None:
    whole, broken = repository.add("whole"), repository.add("broken")
    repository.cuts[broken.filename] = CUT_FOR_GOOD

    def wait_for_whole(name: str) -> None:
        # The broken one ends the run, and with it whatever is still on its way.
        late = time.monotonic() + PATIENCE
        while name == broken.filename and not (tmp_path / "lib" / whole.filename).exists():
            assert time.monotonic() < late, "the whole one does not arrive"
            time.sleep(0.01)

    repository.before = wait_for_whole
    with pytest.raises(ServerError, match=r"broken-1\.0\.jar .* try again"):
        fetch([whole, broken], tmp_path)
    assert not is_installed([whole, broken], tmp_path / "lib")
    repository.cuts.clear()
    repository.requests.clear()
    fetch([whole, broken], tmp_path)
    assert is_installed([whole, broken], tmp_path / "lib")
    assert repository.requests == {broken.filename: 1}


def test_a_half_file_among_the_jars_is_fetched_again(
    repository: Repository, tmp_path: Path
) -> None:
    artifact = repository.add("a")
    fetch([artifact], tmp_path)
    jar = tmp_path / "lib" / artifact.filename
    half = jar.read_bytes()[:1000]
    jar.unlink()
    jar.write_bytes(half)
    assert not is_installed([artifact], tmp_path / "lib")
    fetch([artifact], tmp_path)
    assert jar.read_bytes() == repository.jars[artifact.filename]


def test_a_damaged_jar_of_the_right_size_is_fetched_again(
    repository: Repository, tmp_path: Path
) -> None:
    artifact = repository.add("a")
    fetch([artifact], tmp_path)
    jar = tmp_path / "lib" / artifact.filename
    content = jar.read_bytes()
    jar.write_bytes(content[:-1] + b"?")  # in Maven's cache too, where it is the same file
    assert not is_installed([artifact], tmp_path / "lib")
    fetch([artifact], tmp_path)
    assert jar.read_bytes() == content
    assert is_installed([artifact], tmp_path / "lib")


def test_a_jar_is_hashed_again_only_once_it_was_changed(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifacts = [repository.add("a"), repository.add("b")]
    fetch(artifacts, tmp_path)
    hashed: list[Path] = []
    sha256 = fetching._sha256

    def counted(file: Path) -> str:
        hashed.append(file)
        return sha256(file)

    monkeypatch.setattr(fetching, "_sha256", counted)
    assert is_installed(artifacts, tmp_path / "lib")
    assert hashed == []
    touched = tmp_path / "lib" / artifacts[0].filename
    os.utime(touched, (1, 1))
    assert is_installed(artifacts, tmp_path / "lib")
    assert is_installed(artifacts, tmp_path / "lib")
    assert hashed == [touched]


@pytest.mark.parametrize("damage", ["", "[" * 100_000, '{"a-1.0.jar": 1e400}', "\0"])
def test_a_damaged_record_of_the_jars_only_costs_another_look(
    damage: str, repository: Repository, tmp_path: Path
) -> None:
    artifact = repository.add("a")
    fetch([artifact], tmp_path)
    (tmp_path / fetching.CHECKED_FILE).write_text(damage)
    assert is_installed([artifact], tmp_path / "lib")
    assert fetch([artifact], tmp_path) == []


def test_java_is_given_the_jars_of_the_list_and_no_others() -> None:
    lock_list = read_lock()
    names = [artifact.filename for artifact in lock_list.artifacts]
    assert lock_list.class_path.split(os.pathsep) == names
    assert not re.search(r"[*/\\]", lock_list.class_path)


def test_a_half_file_in_mavens_cache_is_not_used_but_mended(
    repository: Repository, tmp_path: Path
) -> None:
    artifact = repository.add("a")
    in_cache = cached(tmp_path, artifact)
    in_cache.parent.mkdir(parents=True)
    in_cache.write_bytes(b"half")
    fetch([artifact], tmp_path)
    content = repository.jars[artifact.filename]
    assert (tmp_path / "lib" / artifact.filename).read_bytes() == content
    assert in_cache.read_bytes() == content


def test_a_jar_with_another_checksum_is_refused(repository: Repository, tmp_path: Path) -> None:
    artifact = repository.add("a")
    repository.jars[artifact.filename] = b"x" * artifact.size
    with pytest.raises(ServerError, match=r"a-1\.0\.jar .* SHA-256 .* was not used"):
        fetch([artifact], tmp_path)
    assert list((tmp_path / "lib").iterdir()) == []
    assert not cached(tmp_path, artifact).exists()


def test_a_jar_that_is_nowhere_is_one_clear_line(repository: Repository, tmp_path: Path) -> None:
    artifact = replace(repository.add("a"), name="gone")
    with pytest.raises(
        ServerError, match=f"gone-1.0.jar .* {repository.url}: it does not exist there"
    ):
        fetch([artifact], tmp_path)


def test_no_network_is_one_clear_line(repository: Repository, tmp_path: Path) -> None:
    artifact = repository.add("a")
    config = tmp_path / "jgo.conf"
    # Port 1 of loopback: nobody listens there.
    config.write_text(re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:1", config.read_text()))
    with pytest.raises(ServerError, match=r"no connection\. Check the network"):
        fetch([artifact], tmp_path)


def test_a_disk_without_room_is_told_before_anything_is_fetched(
    repository: Repository, tmp_path: Path
) -> None:
    artifact = replace(repository.add("a"), size=10**18)
    with pytest.raises(ServerError, match=r"disk of .* is full"):
        fetch([artifact], tmp_path)
    assert not repository.requests


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    artifact = Artifact("org.test", "a", "1.0", "", "0" * 64, 1)
    with pytest.raises(ServerError, match=r"can't be written"):
        install([artifact], tmp_path / "file" / "lib", "Fetching", ignore_progress)


def test_the_shipped_lock_list_names_each_file_once_with_its_checksum() -> None:
    lock_list = read_lock()
    artifacts = lock_list.artifacts
    assert len({artifact.filename for artifact in artifacts}) == len(artifacts) > 200
    assert all(re.fullmatch("[0-9a-f]{64}", artifact.sha256) for artifact in artifacts)
    assert {"neo4j", "neo4j-server", "neo4j-browser"} <= {artifact.name for artifact in artifacts}
    assert lock_list.version.startswith("2026.")


def test_a_lock_list_is_read_as_it_was_written(tmp_path: Path) -> None:
    artifacts = (
        Artifact("org.test", "plain", "1.0", "", "a" * 64, 1),
        Artifact("org.test", "native", "1.0", "linux-x86_64", "b" * 64, 2),
    )
    write_lock(artifacts, tmp_path / "lock")
    assert read_lock(tmp_path / "lock").artifacts == artifacts
