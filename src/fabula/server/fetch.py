"""Fetch the private server's jars with jgo, and check each before it is used."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from fabula.errors import ServerError
from fabula.server.artifacts import Artifact
from fabula.server.disk_space import FULL_DISK_CODES, check_disk_space, write_error
from fabula.server.private_files import make_private, open_private
from fabula.server.progress import ProgressReport, ServerProgress

if TYPE_CHECKING:
    from jgo.maven import MavenContext

THREADS = 16
RETRY_SECONDS = (0.0, 0.5, 2.0)
"""How long to wait before each try of a file."""
TIMEOUT_SECONDS = 30
CHECKED_FILE = "checked.json"
"""The file beside the jars that records when each was changed before it was last checked."""
TIMES = TypeAdapter(dict[str, int])
SPARE_BYTES = 100_000_000
"""How many bytes to keep free for an empty database and its logs."""


def is_installed(artifacts: Sequence[Artifact], lib: Path) -> bool:
    """Return whether every artifact is in the folder `lib`, undamaged."""
    return not _missing(artifacts, lib)


def install(artifacts: Sequence[Artifact], lib: Path, doing: str, report: ProgressReport) -> None:
    """Fetch the missing artifacts.

    Jars that are in Maven's cache on this machine are linked and not fetched; those that are
    fetched are put into the cache as well.

    Args:
        artifacts: All artifacts of the server.
        lib: The folder of its jars.
        doing: How the progress calls this.
        report: Told of the progress.

    Raises:
        ServerError: There is no network, the disk is full, or a checksum is wrong.
    """
    missing = _missing(artifacts, lib)
    if not missing:
        return
    incoming = lib.parent / "incoming"
    try:
        shutil.rmtree(incoming, ignore_errors=True)
        for folder in (lib.parent, incoming, lib):
            make_private(folder)
        check_disk_space(lib, sum(jar.size for jar in missing) + SPARE_BYTES)
        fetcher = Fetcher(lib, incoming, {jar.filename: 0 for jar in missing})
        total = sum(jar.size for jar in artifacts)
        present = total - sum(jar.size for jar in missing)
        fetcher.run(missing, lambda done: report(ServerProgress(doing, present + done, total)))
        _missing(missing, lib)
    except OSError as error:
        raise write_error(error, lib) from error
    finally:
        shutil.rmtree(incoming, ignore_errors=True)


def _missing(artifacts: Sequence[Artifact], lib: Path) -> list[Artifact]:
    """Return the artifacts that are not in the folder `lib`, or are damaged."""
    files = {entry.name: entry.stat() for entry in os.scandir(lib)} if lib.is_dir() else {}
    record = lib.parent / CHECKED_FILE
    before = _read_times(record)
    valid: dict[str, int] = {}
    for jar in artifacts:
        file = files.get(jar.filename)
        if file is None or file.st_size != jar.size:
            continue
        # Hashing all jars takes a third of a second, too long for every start.
        is_unchanged = before.get(jar.filename) == file.st_mtime_ns
        if is_unchanged or _sha256(lib / jar.filename) == jar.sha256:
            valid[jar.filename] = file.st_mtime_ns
    if not valid.items() <= before.items():
        with suppress(OSError), open_private(record) as stream:  # it only saves time
            stream.write(json.dumps(before | valid).encode())
    return [jar for jar in artifacts if jar.filename not in valid]


def _read_times(record: Path) -> dict[str, int]:
    """Return when each jar was changed before its last check; nothing if the file is damaged."""
    try:
        return TIMES.validate_json(record.read_bytes())
    except (OSError, ValueError):
        return {}


@dataclass
class Fetcher:
    """Fetches jars into the folder `incoming` and moves complete ones to `lib`.

    `counted` holds how many bytes of each file have come; each is written by one thread.
    """

    lib: Path
    incoming: Path
    counted: dict[str, int]
    cancelled: bool = field(default=False, init=False)

    def run(self, artifacts: Sequence[Artifact], report: Callable[[int], None]) -> None:
        """Fetch all artifacts, `THREADS` at once; `report` gets the number of bytes so far."""
        cache, remote = self._contexts()
        pool = ThreadPoolExecutor(THREADS, thread_name_prefix="fetch")
        try:
            pending = {pool.submit(self._bring, jar, cache, remote) for jar in artifacts}
            while pending:
                done, pending = wait(pending, timeout=0.2, return_when=FIRST_EXCEPTION)
                _raise_first(done)
                report(sum(self.counted.values()))
        finally:
            # Also at Ctrl-C: what is being fetched ends at its next piece.
            self.cancelled = True
            pool.shutdown(cancel_futures=True)

    def _contexts(self) -> tuple[MavenContext, MavenContext]:
        """Return Maven's cache on this machine, which never fetches, and the repositories."""
        from jgo.config import GlobalSettings
        from jgo.constants import MAVEN_CENTRAL_URL
        from jgo.maven import MavenContext, PythonResolver

        settings = GlobalSettings.load()
        # The user's repositories come first, so that a mirror is used instead of its origin.
        repositories = {**settings.repositories}
        repositories.setdefault("central", MAVEN_CENTRAL_URL)
        cache = MavenContext(repo_cache=settings.repo_cache, offline=True)
        remote = MavenContext(
            resolver=PythonResolver(progress_callback=self._counting),
            repo_cache=self.incoming,
            remote_repos=repositories,
            timeout=TIMEOUT_SECONDS,
        )
        return cache, remote

    def _bring(self, artifact: Artifact, cache: MavenContext, remote: MavenContext) -> None:
        cached = _in(cache, artifact).cached_path
        target = self.lib / artifact.filename
        assert cached is not None
        if cached.is_file() and _sha256(cached) == artifact.sha256:
            _put(cached, target)
        else:
            fetched = self._fetch(artifact, remote)
            with suppress(OSError):  # the cache may be read-only, and is not needed
                cached.parent.mkdir(parents=True, exist_ok=True)
                _put(fetched, cached)
            fetched.replace(target)
        self.counted[artifact.filename] = artifact.size

    def _fetch(self, artifact: Artifact, remote: MavenContext) -> Path:
        """Return the checked file in `incoming`. A failed try is repeated from the beginning."""
        partial = _in(remote, artifact).cached_path
        assert partial is not None
        problem: Exception = ServerError("not tried")
        for pause in RETRY_SECONDS:
            time.sleep(pause)
            partial.unlink(missing_ok=True)
            self.counted[artifact.filename] = 0
            try:
                fetched: Path = _in(remote, artifact).resolve()
            except (OSError, RuntimeError, ValueError) as error:
                if self.cancelled or (
                    isinstance(error, OSError) and error.errno in FULL_DISK_CODES
                ):
                    raise
                problem = _unreachable(artifact, remote, error)
                continue
            if (sha256 := _sha256(fetched)) == artifact.sha256:
                return fetched
            problem = _wrong_checksum(artifact, remote, sha256)
        raise problem

    @contextmanager
    def _counting(self, filename: str, size: int) -> Iterator[Callable[[int], None]]:
        """Yield what jgo calls with the size of each piece; this is its hook for progress."""

        def count(piece: int) -> None:
            if self.cancelled:
                raise InterruptedError("another file failed")
            self.counted[filename] += piece

        yield count


def _in(context: MavenContext, artifact: Artifact):  # type: ignore[no-untyped-def]
    component = context.project(artifact.group, artifact.name).at_version(artifact.version)
    return component.artifact(artifact.classifier)


def _put(source: Path, target: Path) -> None:
    """Link or copy a file to `target`, completely or not at all."""
    part = target.with_name(f".{target.name}.{os.getpid()}")
    part.unlink(missing_ok=True)
    try:
        part.hardlink_to(source)
    except OSError:
        shutil.copyfile(source, part)
    part.replace(target)


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _raise_first(done: set[Future[None]]) -> None:
    for future in done:
        future.result()


def _unreachable(artifact: Artifact, remote: MavenContext, error: Exception) -> ServerError:
    where = " or ".join(remote.remote_repos.values())
    reason = "there is no connection" if isinstance(error, OSError) else "it does not exist there"
    return ServerError(
        f"{artifact.filename} can't be fetched from {where}: {reason}. Check the network (a proxy "
        "is named by HTTPS_PROXY, a mirror in the section [repositories] of ~/.config/jgo.conf) "
        "and try again: it continues where it stopped."
    )


def _wrong_checksum(artifact: Artifact, remote: MavenContext, sha256: str) -> ServerError:
    where = " or ".join(remote.remote_repos.values())
    return ServerError(
        f"{artifact.filename} from {where} is not the file that Fabula expects: its SHA-256 is "
        f"{sha256[:12]}… and should be {artifact.sha256[:12]}…. It was not used. Check the mirror "
        "or the proxy."
    )
