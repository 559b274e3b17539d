"""Fetches the private server's jars through jgo: each is checked before it counts as there."""

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
from fabula.server.progress import Progress, Report

if TYPE_CHECKING:
    from jgo.maven import MavenContext

THREADS = 16
RETRY_SECONDS = (0.0, 0.5, 2.0)
"""Seconds before each try of one file."""
TIMEOUT_SECONDS = 30
CHECKED_FILE = "checked.json"
"""Beside the jars: what they were like when they were last checked."""
TIMES = TypeAdapter(dict[str, int])
SPARE_BYTES = 100_000_000
"""Bytes to keep free beside the jars: an empty database and its logs."""


def is_installed(artifacts: Sequence[Artifact], lib: Path) -> bool:
    """Whether every artifact is in `lib`, undamaged."""
    return not _missing(artifacts, lib)


def install(artifacts: Sequence[Artifact], lib: Path, doing: str, report: Report) -> None:
    """Brings what is missing into `lib`, and only that; `doing` heads the progress.

    Jars that Maven's cache on this machine holds already are linked, not fetched; what is fetched
    is put there too. Raises ServerError for no network, a full disk and a wrong checksum.
    """
    missing = _missing(artifacts, lib)
    if not missing:
        return
    incoming = lib.parent / "incoming"
    try:
        shutil.rmtree(incoming, ignore_errors=True)
        for folder in (lib.parent, incoming, lib):
            make_private(folder)
        check_disk_space(lib, sum(one.size for one in missing) + SPARE_BYTES)
        fetcher = Fetcher(lib, incoming, {one.filename: 0 for one in missing})
        total = sum(one.size for one in artifacts)
        there = total - sum(one.size for one in missing)
        fetcher.run(missing, lambda done: report(Progress(doing, there + done, total)))
        _missing(missing, lib)
    except OSError as error:
        raise write_error(error, lib) from error
    finally:
        shutil.rmtree(incoming, ignore_errors=True)


def _missing(artifacts: Sequence[Artifact], lib: Path) -> list[Artifact]:
    """The artifacts that are not in `lib`, or not as they should be.

    A jar is hashed when its time is not that of its last check. All together take a third of a
    second, too long for every start.
    """
    there = {entry.name: entry.stat() for entry in os.scandir(lib)} if lib.is_dir() else {}
    record = lib.parent / CHECKED_FILE
    before = _read_times(record)
    whole: dict[str, int] = {}
    for one in artifacts:
        found = there.get(one.filename)
        if found is None or found.st_size != one.size:
            continue
        if before.get(one.filename) == found.st_mtime_ns or (
            _sha256(lib / one.filename) == one.sha256
        ):
            whole[one.filename] = found.st_mtime_ns
    if not whole.items() <= before.items():
        with suppress(OSError), open_private(record) as stream:  # it only saves time
            stream.write(json.dumps(before | whole).encode())
    return [one for one in artifacts if one.filename not in whole]


def _read_times(record: Path) -> dict[str, int]:
    """When each jar was last changed before it was last checked; nothing where that is damaged."""
    try:
        return TIMES.validate_json(record.read_bytes())
    except (OSError, ValueError):
        return {}


@dataclass
class Fetcher:
    """Fetches into `incoming`, where jars may be halves, and moves whole ones to `lib`.

    `counted` holds the bytes that came of each file; each is written by one thread.
    """

    lib: Path
    incoming: Path
    counted: dict[str, int]
    cancelled: bool = field(default=False, init=False)

    def run(self, artifacts: Sequence[Artifact], report: Callable[[int], None]) -> None:
        """All of `artifacts`, `THREADS` at once; `report` gets the bytes so far."""
        cache, remote = self._contexts()
        pool = ThreadPoolExecutor(THREADS, thread_name_prefix="fetch")
        try:
            pending = {pool.submit(self._bring, one, cache, remote) for one in artifacts}
            while pending:
                done, pending = wait(pending, timeout=0.2, return_when=FIRST_EXCEPTION)
                _raise_first(done)
                report(sum(self.counted.values()))
        finally:
            # Also for Ctrl-C: what is under way breaks off at its next piece.
            self.cancelled = True
            pool.shutdown(cancel_futures=True)

    def _contexts(self) -> tuple[MavenContext, MavenContext]:
        """Maven's cache on this machine, never asked to fetch; and the repositories."""
        from jgo.config import GlobalSettings
        from jgo.constants import MAVEN_CENTRAL_URL
        from jgo.maven import MavenContext, PythonResolver

        settings = GlobalSettings.load()
        # The user's own repositories come first, so that a mirror is asked and not its origin.
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
            with suppress(OSError):  # the cache may be read-only: it is only a convenience
                cached.parent.mkdir(parents=True, exist_ok=True)
                _put(fetched, cached)
            fetched.replace(target)
        self.counted[artifact.filename] = artifact.size

    def _fetch(self, artifact: Artifact, remote: MavenContext) -> Path:
        """The checked file in `incoming`; a failed try is repeated, and nothing of it kept."""
        half = _in(remote, artifact).cached_path
        assert half is not None
        problem: Exception = ServerError("not tried")
        for pause in RETRY_SECONDS:
            time.sleep(pause)
            half.unlink(missing_ok=True)
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
            if (found := _sha256(fetched)) == artifact.sha256:
                return fetched
            problem = _changed(artifact, remote, found)
        raise problem

    @contextmanager
    def _counting(self, filename: str, size: int) -> Iterator[Callable[[int], None]]:
        """The hook jgo has for progress: yields what it calls with the size of each piece."""

        def count(piece: int) -> None:
            if self.cancelled:
                raise InterruptedError("another file failed")
            self.counted[filename] += piece

        yield count


def _in(context: MavenContext, artifact: Artifact):  # type: ignore[no-untyped-def]
    component = context.project(artifact.group, artifact.name).at_version(artifact.version)
    return component.artifact(artifact.classifier)


def _put(source: Path, target: Path) -> None:
    """`source` at `target` too, at once or not at all: a link where the disk allows it."""
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
    reason = "no connection" if isinstance(error, OSError) else "it is not there"
    return ServerError(
        f"{artifact.filename} can't be fetched from {where}: {reason}. Check the network (a proxy "
        "is named by HTTPS_PROXY, a mirror in the section [repositories] of ~/.config/jgo.conf) "
        "and try again: it continues where it was."
    )


def _changed(artifact: Artifact, remote: MavenContext, found: str) -> ServerError:
    where = " or ".join(remote.remote_repos.values())
    return ServerError(
        f"{artifact.filename} from {where} is not the file that Fabula expects: its SHA-256 is "
        f"{found[:12]}… and should be {artifact.sha256[:12]}…. It was not used. Check the mirror "
        "or the proxy on the way."
    )
