"""Uploaded files: stored under their SHA-256, and deleted when nobody needs them any more.

The name that a client gives a file is only a label, and never becomes a path.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
import unicodedata
import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Self

from fabula.errors import BadValue, Conflict, FabulaError, LoadError, NotFound, TooLarge
from fabula.jobs.callers import Caller
from fabula.jobs.job import Item
from fabula.library import App
from fabula.load import find_in_zip
from fabula.text.names import SOURCE_FOLDER, quote_name

UNNAMED = "unnamed"
MAX_LABEL_CHARACTERS = 200
MIN_FREE_BYTES = 256_000_000
"""How much of the disk is left free."""
MAX_ITEMS = 2_000
"""How many documents one job may have."""
MIN_AGE_SECONDS = 3600.0
"""How old a file must be to be deleted: the request that names a new one may still come."""
HOUR_MILLISECONDS = 3_600_000
LOAN_MILLISECONDS = 24 * HOUR_MILLISECONDS
"""How long a caller may start jobs with a file that was sent for an estimate."""
RETRY_MILLISECONDS = 7 * 24 * HOUR_MILLISECONDS
"""How long the files of a job that failed or was cancelled are kept for a retry."""


class DiskFull(FabulaError):
    """The disk of the service is full."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was uploaded."""

    sha256: str
    size: int
    """Bytes."""
    name: str
    """The label that the client gave it."""


class Uploads:
    """The uploaded files, in a folder of this user alone. Safe to share between threads."""

    def __init__(self, app: App, folder: Path | None) -> None:
        self._app = app
        settings = app.settings
        self.folder = folder or settings.home / "uploads"
        self.max_bytes = settings.max_file_mb * 1_000_000
        """The largest file that is accepted."""

    def id(self) -> str:
        """Return the id of this folder, which is the same on every machine that mounts it."""
        path = self._make(self.folder) / "folder-id"
        if not path.exists():
            handle, temporary = tempfile.mkstemp(dir=self.folder)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(uuid.uuid4().hex)
            # Atomic: if two processes create the file at the same time, one wins.
            try:
                os.link(temporary, path)
            except FileExistsError:
                pass
            except OSError:  # a file system without hard links
                Path(temporary).replace(path)
            Path(temporary).unlink(missing_ok=True)
        return path.read_text(encoding="ascii").strip()

    def path(self, sha256: str) -> Path:
        """Return the path that a file has or would have. Raises NotFound for an invalid SHA-256."""
        if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
            raise NotFound(f"There is no uploaded file {quote_name(sha256)}.")
        return self.folder / sha256[:2] / sha256

    def begin(self, name: str) -> IncomingFile:
        """Begin to receive a file. Raises DiskFull if there is too little space."""
        folder = self._make(self.folder / "arriving")
        if shutil.disk_usage(folder).free < MIN_FREE_BYTES + self.max_bytes:
            raise DiskFull("The disk of this service has no space for more files.")
        return IncomingFile(self, folder, label(name))

    def take(self, stream: Iterable[bytes], name: str) -> Upload:
        """Store a file. Raises TooLarge if it is larger than allowed."""
        with self.begin(name) as file:
            for piece in stream:
                file.write(piece)
            file.finish()
            [upload] = self.keep([file])
            return upload

    def keep(self, incoming: Iterable[IncomingFile]) -> list[Upload]:
        """Store files that have arrived whole, so that they survive a power cut.

        The files of a form are synced to the disk together at its end, which is early enough: only
        the files of a job must survive, and the job is added after its form. Synced one by one as
        they arrived, each file waited for the disk twice.
        """
        files = list(incoming)
        for file in files:
            file.sync()
        folders = {file.move_into_place() for file in files}
        for folder in folders:
            _sync_folder(folder)
        return [file.upload for file in files]

    def lend(self, caller: Caller, uploads: Iterable[Upload]) -> None:
        """Let a caller start jobs with files for a day without sending them again."""
        for upload in uploads:
            self._app.connect().rows(
                "jobs/save_upload",
                id=f"{caller.id}/{upload.sha256}",
                sha256=upload.sha256,
                caller=caller.id,
            )

    def refuse_unlent(self, caller: Caller, sha256s: Iterable[str]) -> None:
        """Raise NotFound for a file that this caller has not sent, or more than a day ago."""
        requested = sorted(set(sha256s))
        ids = [f"{caller.id}/{sha256}" for sha256 in requested]
        lent = {row["sha256"] for row in self._app.connect().rows("jobs/find_uploads", ids=ids)}
        for sha256 in requested:
            if sha256 not in lent or not self.path(sha256).is_file():
                raise NotFound(
                    f"There is no uploaded file {quote_name(sha256)} of yours: send it again."
                )
            # So that it is not deleted before the job is added.
            os.utime(self.path(sha256))

    def items(self, uploads: Sequence[Upload]) -> list[Item]:
        """Return the documents in uploaded files; of a zip, those that can be read.

        Raises:
            Conflict: Two different files have one name, so each would replace the other's document.
            TooLarge: There are more than MAX_ITEMS.
        """
        by_source: dict[str, Item] = {}
        for upload in uploads:
            for item in self._items(upload):
                if by_source.setdefault(item.source, item) != item:
                    name = item.source.removeprefix(f"{SOURCE_FOLDER}/")
                    raise Conflict(f"Two different files are both called {quote_name(name)}.")
        if len(by_source) > MAX_ITEMS:
            raise TooLarge(
                f"There are {len(by_source):,} documents, and one job may have {MAX_ITEMS:,}."
            )
        return [*by_source.values()]

    def sweep(self) -> None:
        """Delete the files that nobody needs any more, and those that never arrived whole."""
        store = self._app.connect()
        store.rows("jobs/clear_uploads", milliseconds=LOAN_MILLISECONDS)
        old = [
            path
            for path in self.folder.glob("*/*")
            if time.time() - _modified_at(path) > MIN_AGE_SECONDS
        ]
        names = [path.name for path in old]
        rows = store.rows("jobs/find_needed_uploads", sha256=names, milliseconds=RETRY_MILLISECONDS)
        needed = {row["sha256"] for row in rows}
        for path in old:
            if path.name not in needed:
                path.unlink(missing_ok=True)

    def _items(self, upload: Upload) -> list[Item]:
        source = f"{SOURCE_FOLDER}/{upload.name}"
        whole = Item(source, upload.sha256)
        if not is_zip(upload.name):
            return [whole]
        try:
            books, others = find_in_zip(self.path(upload.sha256), source)
        except LoadError:
            # The error is reported when the file is read, as for any other file.
            return [whole]
        # The names within a zip are a stranger's, too: only the labels made of them are used here.
        readable = {*books}
        return [
            Item(
                f"{source}/{label(name)}",
                upload.sha256,
                name,
                state="queued" if name in readable else "skipped",
            )
            for name in (*books, *others)
        ]

    def _make(self, folder: Path) -> Path:
        for path in (self.folder, folder):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder


class IncomingFile:
    """A file that arrives piece by piece, in a temporary file until `Uploads.keep` stores it."""

    def __init__(self, uploads: Uploads, folder: Path, name: str) -> None:
        self._uploads, self.name = uploads, name
        # Readable for this user alone, and with a name that nobody can guess.
        handle, path = tempfile.mkstemp(dir=folder)
        self._file, self._path = os.fdopen(handle, "wb"), Path(path)
        self._digest = hashlib.sha256()
        self.size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.discard()

    def write(self, piece: bytes | memoryview) -> None:
        """Add a piece. Raises TooLarge once the file is larger than allowed."""
        self.size += len(piece)
        if self.size > self._uploads.max_bytes:
            raise TooLarge(
                f"{quote_name(self.name)} is larger than {self._uploads.max_bytes / 1e6:,.0f} MB: "
                "split it, or have max_file_mb (FABULA_MAX_FILE_MB) of this service raised."
            )
        self._digest.update(piece)
        self._file.write(piece)

    def finish(self) -> None:
        """Close the file: nothing more of it will arrive."""
        self._file.close()

    @property
    def upload(self) -> Upload:
        """The file as far as it has arrived."""
        return Upload(self._digest.hexdigest(), self.size, self.name)

    def sync(self) -> None:
        """Wait until the file is on the disk. Raises BadValue if it was deleted."""
        try:
            with self._path.open("rb") as file:
                os.fsync(file.fileno())
        except FileNotFoundError:
            # `sweep` deletes files that have been arriving for longer than MIN_AGE_SECONDS.
            raise BadValue("The files took too long to arrive: send them again.") from None

    def move_into_place(self) -> Path:
        """Move the file to the path of its SHA-256; return the folder that it is in now."""
        path = self._uploads.path(self.upload.sha256)
        self._uploads._make(path.parent)
        # A file that is sent again replaces itself, and has a new time.
        self._path.replace(path)
        return path.parent

    def discard(self) -> None:
        """Delete the temporary file. A file that was stored stays."""
        with suppress(OSError):
            self._file.close()
        self._path.unlink(missing_ok=True)


def is_zip(name: str) -> bool:
    """Return whether a file's name is that of a zip."""
    return PurePosixPath(name).suffix.lower() == ".zip"


def label(name: str) -> str:
    """Return a client's name of a file as one short line of visible characters.

    It may have folders in it, but no `..`, and is never used as a path.
    """
    visible = "".join(
        " " if unicodedata.category(letter).startswith("Z") else letter
        for letter in unicodedata.normalize("NFC", name).replace("\\", "/")
        if unicodedata.category(letter)[0] != "C"
    )
    parts = [" ".join(part.split()) for part in visible.split("/")]
    cleaned = "/".join(part for part in parts if part.strip(". "))
    if len(cleaned) > MAX_LABEL_CHARACTERS:
        suffix = PurePosixPath(cleaned).suffix[:10]
        cleaned = cleaned[-MAX_LABEL_CHARACTERS:][: -len(suffix) or None].lstrip("/ ") + suffix
    return cleaned or UNNAMED


def _modified_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()


def _sync_folder(folder: Path) -> None:
    """Wait until the names of a folder's files are on the disk."""
    if os.name == "nt":
        return  # Windows opens no folder as a file, and its file system keeps a journal of names
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
