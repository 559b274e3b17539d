"""Uploaded files: kept under their SHA-256, counted while they arrive, gone when nobody needs them.

What a client calls a file is a label, and never a path of ours.
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
from typing import TYPE_CHECKING, Self

from fabula.errors import LoadError, NotFound
from fabula.load import find_in_zip
from fabula.service.core.errors import Conflict, Problem, TooBig
from fabula.service.core.jobs.job import Item
from fabula.text.names import quoted

if TYPE_CHECKING:
    from fabula.app import App
    from fabula.service.core.callers import Caller

WITHIN = "uploads"
"""What the sources of uploaded documents begin with, as `uploads/winter.txt`."""
UNNAMED = "unnamed"
LONGEST = 200
"""Characters of a label."""
ROOM = 256_000_000
"""Bytes that are left free on the disk."""
MOST_ITEMS = 2_000
"""Documents of one job."""
YOUNG = 3600.0
"""Seconds that a file is left alone, as whoever has just sent it may not have said what for."""
HOUR = 3_600_000
UNUSED = 24 * HOUR
"""Milliseconds that a file may be used by whoever sent it to be estimated."""
RETRY = 7 * 24 * HOUR
"""Milliseconds that the files of a job that failed, or was cancelled, are kept for a retry."""


class NoRoom(Problem):
    """The disk is as good as full."""

    status, name = 507, "no-room"


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was uploaded, and what whoever sent it calls it."""

    sha256: str
    size: int
    name: str


class Uploads:
    """The files under one folder, which only this user may enter. Safe to share between threads."""

    def __init__(self, app: App, folder: Path | None) -> None:
        self._app = app
        settings = app.settings
        self.folder = folder or settings.home / "uploads"
        self.most = settings.max_file_mb * 1_000_000
        """Bytes of one file."""

    def id(self) -> str:
        """Return what tells this folder from another, wherever it is mounted; made once for it."""
        path = self._make(self.folder) / "folder-id"
        if not path.exists():
            handle, aside = tempfile.mkstemp(dir=self.folder)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(uuid.uuid4().hex)
            # Whole at once, and of two processes that make it one is first.
            try:
                os.link(aside, path)
            except FileExistsError:
                pass
            except OSError:  # a file system without hard links
                Path(aside).replace(path)
            Path(aside).unlink(missing_ok=True)
        return path.read_text(encoding="ascii").strip()

    def path(self, sha256: str) -> Path:
        """Where a file is, if it is."""
        if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
            raise NotFound(f"There is no uploaded file {quoted(sha256)}.")
        return self.folder / sha256[:2] / sha256

    def begin(self, name: str) -> Arriving:
        """A file that is going to arrive."""
        aside = self._make(self.folder / "arriving")
        if shutil.disk_usage(aside).free < ROOM + self.most:
            raise NoRoom("There is no room for more files on the disk of this service.")
        return Arriving(self, aside, label(name))

    def take(self, stream: Iterable[bytes], name: str) -> Upload:
        """Keeps a file. Raises TooBig as soon as it is."""
        with self.begin(name) as arriving:
            for piece in stream:
                arriving.write(piece)
            arriving.finish()
            [upload] = self.keep([arriving])
            return upload

    def keep(self, arrived: Iterable[Arriving]) -> list[Upload]:
        """Put files that have arrived whole in their places, so that they survive a power cut.

        Only what a job names must survive, and no job is there before its whole form is: so all
        files of a form are written out together at its end. One after the other, as they arrived,
        each waited for the disk twice.
        """
        files = list(arrived)
        for file in files:
            file.write_out()
        folders = {file.take_place() for file in files}
        for folder in folders:
            _write_out_folder(folder)
        return [file.upload for file in files]

    def lend(self, caller: Caller, uploads: Iterable[Upload]) -> None:
        """Lets a caller begin a job with files for a day without sending them again."""
        for one in uploads:
            self._app.store.rows(
                "service/save_upload",
                id=f"{caller.id}/{one.sha256}",
                sha256=one.sha256,
                caller=caller.id,
            )

    def refuse_unlent(self, caller: Caller, asked: Iterable[str]) -> None:
        """Raises NotFound for a file that this caller has not sent, or too long ago."""
        wanted = sorted(set(asked))
        ids = [f"{caller.id}/{one}" for one in wanted]
        found = self._app.store.rows("service/find_uploads", ids=ids)
        lent = {row["sha256"] for row in found}
        for one in wanted:
            if one not in lent or not self.path(one).is_file():
                raise NotFound(f"There is no uploaded file {quoted(one)} of yours: send it again.")
            # It is not swept before the job is there.
            os.utime(self.path(one))

    def items(self, uploads: Sequence[Upload]) -> list[Item]:
        """The documents in uploaded files: of a zip, those that can be read.

        Raises Conflict for two different files of one name, as each would take the other's place,
        and TooBig for more than MOST_ITEMS.
        """
        found: dict[str, Item] = {}
        for one in uploads:
            for item in self._items(one):
                if found.setdefault(item.source, item) != item:
                    name = item.source.removeprefix(f"{WITHIN}/")
                    raise Conflict(f"Two different files are both called {quoted(name)}.")
        if len(found) > MOST_ITEMS:
            raise TooBig(f"There are {len(found):,} documents, and {MOST_ITEMS:,} go into one job.")
        return [*found.values()]

    def sweep(self) -> None:
        """Deletes what nobody needs any more, and what never arrived whole."""
        store = self._app.store
        store.rows("service/clear_uploads", milliseconds=UNUSED)
        old = [one for one in self.folder.glob("*/*") if time.time() - _touched(one) > YOUNG]
        names = [one.name for one in old]
        rows = store.rows("service/find_needed_uploads", sha256=names, milliseconds=RETRY)
        needed = {row["sha256"] for row in rows}
        for one in old:
            if one.name not in needed:
                one.unlink(missing_ok=True)

    def _items(self, upload: Upload) -> list[Item]:
        source = f"{WITHIN}/{upload.name}"
        whole = Item(source, upload.sha256)
        if not is_zip(upload.name):
            return [whole]
        try:
            books, others = find_in_zip(self.path(upload.sha256), source)
        except LoadError:
            # Said of it when it is read, as of any other file.
            return [whole]
        # Their names are a stranger's, too, and what unpacks them has the real ones.
        inside = [(one, f"{source}/{label(one)}") for one in (*books, *others)]
        read = {*books}
        return [
            Item(name, upload.sha256, one, state="queued" if one in read else "skipped")
            for one, name in inside
        ]

    def _make(self, folder: Path) -> Path:
        for one in (self.folder, folder):
            one.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder


class Arriving:
    """A file that arrives piece by piece, aside; without `keep` nothing is left of it."""

    def __init__(self, uploads: Uploads, aside: Path, name: str) -> None:
        self._uploads, self.name = uploads, name
        # Made for this user alone, and with a name that nobody can know.
        handle, path = tempfile.mkstemp(dir=aside)
        self._file, self._path = os.fdopen(handle, "wb"), Path(path)
        self._digest = hashlib.sha256()
        self.size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.discard()

    def write(self, piece: bytes | memoryview) -> None:
        """More of it. Raises TooBig as soon as it is."""
        self.size += len(piece)
        if self.size > self._uploads.most:
            raise TooBig(
                f"{quoted(self.name)} is larger than {self._uploads.most / 1e6:,.0f} MB: split it, "
                "or have max_file_mb (FABULA_MAX_FILE_MB) of this service raised."
            )
        self._digest.update(piece)
        self._file.write(piece)

    def finish(self) -> None:
        """Close the file: nothing more of it will arrive."""
        self._file.close()

    @property
    def upload(self) -> Upload:
        """What has arrived."""
        return Upload(self._digest.hexdigest(), self.size, self.name)

    def write_out(self) -> None:
        """Wait until the disk has the file. Raises Problem where it is gone."""
        try:
            with self._path.open("rb") as file:
                os.fsync(file.fileno())
        except FileNotFoundError:
            # What arrives for longer than YOUNG is swept as what never arrived whole.
            raise Problem("The files took too long to arrive: send them again.") from None

    def take_place(self) -> Path:
        """Give the file the name of its SHA-256; return the folder that it is in now."""
        place = self._uploads.path(self.upload.sha256)
        self._uploads._make(place.parent)
        # The same again takes the place of itself, and is young.
        self._path.replace(place)
        return place.parent

    def discard(self) -> None:
        """Nothing of it stays, unless it was kept."""
        with suppress(OSError):
            self._file.close()
        self._path.unlink(missing_ok=True)


def is_zip(name: str) -> bool:
    """Whether a file is called a zip."""
    return PurePosixPath(name).suffix.lower() == ".zip"


def label(name: str) -> str:
    """What a client calls a file, as one line of signs that can be seen, and not too long.

    It may have folders in it, but leads nowhere.
    """
    seen = "".join(
        " " if unicodedata.category(one).startswith("Z") else one
        for one in unicodedata.normalize("NFC", name).replace("\\", "/")
        if unicodedata.category(one)[0] != "C"
    )
    parts = [" ".join(part.split()) for part in seen.split("/")]
    bare = "/".join(part for part in parts if part.strip(". "))
    if len(bare) > LONGEST:
        suffix = PurePosixPath(bare).suffix[:10]
        bare = bare[-LONGEST:][: -len(suffix) or None].lstrip("/ ") + suffix
    return bare or UNNAMED


def _touched(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()


def _write_out_folder(folder: Path) -> None:
    """Wait until the disk has the names of a folder's files."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
