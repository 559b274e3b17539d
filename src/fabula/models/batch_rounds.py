"""Send collected calls as batches, find out where the batches are, and take in what they brought.

Each step is written to the file of batches before it is done, so that a process may end anywhere:
the next one goes on from there, and pays for nothing twice.
"""

from __future__ import annotations

import json
import logging
import re
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from fabula.errors import BudgetSpent, FabulaError, ModelError
from fabula.models.batch_interface import InterfaceRefused
from fabula.models.batch_options import BatchOptions, BatchProgress
from fabula.models.batch_store import MAX_FILE_BYTES, MAX_LINES, BatchRow
from fabula.models.batched import BatchCalls
from fabula.models.endpoint.client import Method
from fabula.models.endpoint.openai import CHAT_PATH, EMBEDDINGS_PATH
from fabula.models.endpoint.payload import object_or_empty, text_or_empty
from fabula.models.purpose import Purpose

LOG = logging.getLogger("fabula")
LOCK_FILE = "batches.lock"
LOCK_SECONDS = 0.2
"""How often it is checked whether another process has left the file of batches."""
METADATA_KEY = "fabula"
"""The key of a batch's metadata whose value is its mark."""
LISTED = 100
"""How many batches the endpoint lists at once."""
ENDED = ("completed", "expired", "cancelled", "failed")
"""The endpoint's states of a batch that has ended."""
TOO_LARGE = re.compile(
    r"token[_\s-]?limit|enqueued|too (?:large|big|many|long)|exceed|max(?:imum)?\b|limit", re.I
)
"""How endpoints say that a file or a batch is larger than they take."""
QUEUE_FULL = re.compile(r"enqueued|queue", re.I)
"""How they say that other batches fill their queue: what is refused now is taken later."""
NO_MONEY = re.compile(r"quota|billing|credit|payment|spend", re.I)
"""How they say that the account can't pay, which also speaks of limits."""
CREATE_SECONDS = 120.0
"""How long a batch whose creation was not answered is only looked for. The endpoint may create it
after it hung up, and may list it later still: a second one would be paid for as well."""
LOST_SECONDS = 48 * 3600.0
"""How long it is believed that a batch is still there, whatever the endpoint says: it has a day to
end, and an endpoint knows nothing of it while the key is another account's."""
ANSWER_BYTES_PER_LINE = 1_000_000
"""The largest answer of one call that is read, as a bound of the whole file."""
NO_INTERFACE = (
    "Its documentation says whether it has one; without --batch, builds call it directly."
)


class UnexpectedAnswer(InterfaceRefused):
    """The endpoint answered well, but not what it was asked for: a proxy may have answered."""

    def __init__(self, url: str, what: str) -> None:
        super().__init__(f"{url} did not answer {what} as expected.", 0)


@dataclass
class BatchRounds:
    """Sends the calls of a run by batches, round after round.

    Attributes:
        calls: Where calls are collected.
        min_tokens: Embeddings of a round with fewer tokens are asked for at once.
        min_calls: If a round has fewer calls to chat models, they are made at once.
        options: Whether the run waits, and what is called with the state of its batches.
    """

    calls: BatchCalls
    min_tokens: int = 0
    min_calls: int = 0
    options: BatchOptions = field(default_factory=BatchOptions)
    _builds: list[BatchCalls] = field(default_factory=list)
    """Those of the builds that are under way or wait."""
    _awaited: set[int] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin_round(self) -> None:
        """Take in what batches have brought meanwhile; builds ask for what is missing again.

        Raises:
            InterfaceRefused: The endpoint has no batches, or can't be reached.
        """
        for build in self._builds:
            build.pending.clear()
            build.refusals.clear()
        if self.calls.store.exists:
            self.advance(self._awaited)

    def begin_build(self) -> BatchCalls:
        """Return what answers and collects the calls of one build."""
        calls = self.calls.for_build()
        with self._lock:
            self._builds.append(calls)
        return calls

    def end_build(self, calls: BatchCalls) -> None:
        """Send no calls of a build that has ended."""
        with self._lock:
            self._builds = [each for each in self._builds if each is not calls]

    def submit(self) -> bool:
        """Send what the builds wait for.

        A build some of whose calls are in a batch already waits for these first: else its calls
        would be scattered over many small batches.

        Returns:
            Whether some calls are so few that they are made at once: the builds can go on.

        Raises:
            InterfaceRefused: The endpoint has no batches, or can't be reached.
        """
        store = self.calls.store
        with self._hold():
            pending = {id for build in self._builds for id in build.pending}
            flying = store.in_flight(pending)
            new = {
                id
                for build in self._builds
                if flying.keys().isdisjoint(build.pending)
                for id in build.pending
            }
            self._awaited = {*flying.values()}
            direct = self._choose_direct(new)
            self._awaited |= {*store.plan(new - direct, self._max_lines)}
            self._advance(self._awaited)
        self._tell()
        return bool(direct)

    def refusal(self) -> BudgetSpent | None:
        """Return why this round did not collect all of its calls, if the budget is the reason."""
        return next((error for build in self._builds for error in build.refusals), None)

    @property
    def is_waiting(self) -> bool:
        """Whether one of the batches that this round waits for has not ended."""
        return any(row.number in self._awaited for row in self._open())

    def wait_for_batches(self) -> bool:
        """Wait until all batches have ended that this round waits for, or one is cancelled.

        Returns:
            Whether the run goes on: not where somebody has cancelled a batch.

        Raises:
            Stopped: The run was stopped; the batches go on.
        """
        waking = threading.Event()
        with self.calls.stop.calling(waking.set):
            while self.is_waiting:
                waking.wait(self.options.poll_seconds)
                self.calls.stop.check()
                try:
                    self.advance(self._awaited)
                except InterfaceRefused as error:
                    if not error.is_temporary:
                        raise
                    # The batches go on, whether they can be asked about or not.
                    LOG.warning("%s Asked again in %g s.", error, self.options.poll_seconds)
                self._tell()
                if self.progress(self._awaited).cancelled:
                    return False
        return True

    def advance(self, own: Collection[int] | None = None) -> None:
        """Take every batch that has not ended as far as it goes without waiting.

        Args:
            own: The numbers of the batches whose errors are raised: others are of other runs, and
                perhaps of other people. None for all.

        Raises:
            InterfaceRefused: The endpoint has no batches, or can't be reached.
            ModelError: It has refused a batch.
        """
        with self._hold():
            self._advance(own)

    def cancel(self, number: int) -> None:
        """Cancel a batch; what it has answered by then is taken in later, as it is paid for.

        Raises:
            ModelError: The endpoint can't be reached; or the batch was begun a moment ago, and the
                endpoint does not show it yet.
        """
        with self._hold():
            row = self._row(number)
            if row is not None and row.state == "creating":
                self._search(row)
                row = self._row(number)
                if row is not None and row.state == "creating" and not _is_overdue(row):
                    raise ModelError(
                        f"Batch {number} is being created, and {row.endpoint} does not show it yet."
                        f" Cancel it in {CREATE_SECONDS:.0f} seconds."
                    )
            if row is None:
                return
            if not row.remote:
                self.calls.store.receive(number, {}, (), status="cancelled")
                return
            try:
                self._request("POST", f"/batches/{row.remote}/cancel")
                self.calls.store.update(number, status="cancelling")
            except InterfaceRefused as error:
                # It has ended already, or is gone.
                if error.status not in (400, 404, 409):
                    raise
            self._look(row, is_cancelled=True)

    def _choose_direct(self, ids: set[str]) -> set[str]:
        """Return those calls of a round that are too few to wait for, as a batch may take a day."""
        calls = self.calls.store.find_unsent(ids)
        chats = {id for id, path, _ in calls if path == CHAT_PATH}
        texts = {id: tokens for id, path, tokens in calls if path == EMBEDDINGS_PATH}
        direct = chats if len(chats) < self.min_calls else set()
        if sum(texts.values()) < self.min_tokens:
            direct |= texts.keys()
        self.calls.direct.update(direct)
        self.calls.store.drop(direct)
        return direct

    # One batch

    def _advance(self, own: Collection[int] | None) -> None:
        raised: ModelError | None = None
        # A run's own batches come first: those of others can't keep it from looking at them.
        for row in sorted(self._open(), key=lambda row: own is not None and row.number not in own):
            try:
                self._take_on(row)
            except ModelError as error:
                if own is None or row.number in own:
                    raised = raised or error
                else:
                    LOG.warning(
                        "Batch %d can't be taken on now: `fabula batches --all` says why.",
                        row.number,
                    )
                is_unreached = isinstance(error, InterfaceRefused) and error.status == 0
                if is_unreached and not isinstance(error, UnexpectedAnswer):
                    # Each of the others would be tried as patiently.
                    break
        if raised is not None:
            raise raised

    def _open(self) -> list[BatchRow]:
        return self.calls.store.batches(self.calls.endpoint.url)

    def _row(self, number: int) -> BatchRow | None:
        """Return a batch as it stands now; None if it has ended."""
        return next((row for row in self._open() if row.number == number), None)

    def _take_on(self, row: BatchRow) -> None:
        """Do all steps of a batch that can be done now."""
        if row.state == "new":
            if self._max_lines(row.model) is not None and self._is_busy(row):
                # The endpoint holds only so much of a model at once: one after the other.
                return
            self._upload(row)
            uploaded = self._row(row.number)
            if uploaded is not None and uploaded.state == "uploaded":
                self._create(uploaded)
        elif row.state == "uploaded":
            self._create(row)
        elif row.state == "creating":
            if not self._search(row) and _is_overdue(row):
                self._create(row)
        else:
            self._look(row)

    def _search(self, row: BatchRow) -> bool:
        """Look for a batch that may have been created. Returns whether it was found."""
        found = self._find(row)
        if found is not None:
            self.calls.store.update(row.number, state="sent", **_progress_of(found))
        return found is not None

    def _is_busy(self, row: BatchRow) -> bool:
        """Whether another batch of the same model is at the endpoint."""
        return any(
            each.model == row.model and each.number != row.number and each.state != "new"
            for each in self._open()
        )

    def _upload(self, row: BatchRow) -> None:
        """Upload the file of a batch. A second upload of it costs nothing."""
        store = self.calls.store
        with tempfile.TemporaryFile() as file:
            file.writelines(store.lines(row.number))
            try:
                name = f"fabula-{row.mark}.jsonl"
                content = self.calls.endpoint.batches.upload(name, file, self._purpose)
            except InterfaceRefused as error:
                if error.status == 413 or (error.status == 400 and _is_too_large(str(error))):
                    self._split(row, str(error))
                    return
                raise self._explain(row, error) from error
        file_id = text_or_empty(_object(content).get("id"))
        if not file_id:
            raise self._explain_missing(row)
        store.update(row.number, state="uploaded", file=file_id)

    def _create(self, row: BatchRow) -> None:
        """Create a batch of an uploaded file. It is created once, or it is found."""
        store = self.calls.store
        store.update(row.number, state="creating")
        body = {
            "input_file_id": row.file,
            "endpoint": f"/v1{row.path}",
            "completion_window": "24h",
            "metadata": {METADATA_KEY: row.mark},
        }
        try:
            content = self.calls.endpoint.batches.request(
                "POST", "/batches", body=body, retry=False, purpose=self._purpose
            )
            remote = self._read_batch("POST /batches", content)
        except InterfaceRefused as error:
            if error.status == 429 and not NO_MONEY.search(str(error)):
                # It was not created: it is tried again at the next look.
                LOG.warning("%s It is sent later.", error)
                store.update(row.number, state="uploaded")
            elif error.status in (0, 408, 409) or error.status >= 500:
                # It may have been created: the next look searches for it.
                LOG.warning("%s It is looked for and created later.", error)
            else:
                # The file is uploaded again, as it may be gone.
                store.update(row.number, state="new", file="")
                if not _is_too_large(str(error)):
                    raise self._explain(row, error) from error
                self._split(row, str(error))
            return
        store.update(row.number, state="sent", **_progress_of(remote))

    def _find(self, row: BatchRow) -> dict[str, Any] | None:
        """Return the batch at the endpoint that was created for a row, if one was."""
        query = {"limit": str(LISTED)}
        while True:
            page = _object(self._request("GET", "/batches", query))
            data = page.get("data")
            if not isinstance(data, list):
                raise UnexpectedAnswer(row.endpoint, "GET /batches")
            listed = [object_or_empty(each) for each in data]
            for each in listed:
                mark = object_or_empty(each.get("metadata")).get(METADATA_KEY)
                is_own = mark == row.mark or each.get("input_file_id") == row.file
                if is_own and text_or_empty(each.get("id")):
                    return each
            # The newest are first: what is older than the row by a day can't be its own.
            ages = [each.get("created_at") for each in listed]
            is_older = any(isinstance(at, int) and at < row.created - 86400 for at in ages)
            if not listed or not page.get("has_more") or is_older:
                return None
            query["after"] = text_or_empty(listed[-1].get("id"))

    def _look(self, row: BatchRow, *, is_cancelled: bool = False) -> None:
        """Ask where a batch is, and take in what it brought once it has ended."""
        path = f"/batches/{row.remote}"
        try:
            remote = self._read_batch(f"GET {path}", self._request("GET", path), row.remote)
        except InterfaceRefused as error:
            if error.status != 404:
                raise
            # With `is_cancelled`, a batch that the endpoint does not know has ended.
            self._take_unknown(row, is_cancelled=is_cancelled)
            return
        progress = _progress_of(remote)
        status = progress["status"]
        if status not in ENDED:
            self.calls.store.update(row.number, **progress, note="")
            return
        outputs = [text_or_empty(remote.get(name)) for name in ("output_file_id", "error_file_id")]
        if status == "failed" and not any(outputs):
            # Before the failure is reported, as that may end the run.
            self._delete([row.file])
            self._take_failure(row, remote)
        elif self._take_in(row, progress, outputs):
            self._delete([row.file, *outputs])

    def _take_unknown(self, row: BatchRow, *, is_cancelled: bool) -> None:
        """Take in that the endpoint does not know a batch."""
        store = self.calls.store
        if is_cancelled:
            note = f"{row.endpoint} does not know it."
            store.receive(row.number, {}, (), status="cancelled", note=note)
        elif time.time() - row.created < LOST_SECONDS:
            note = f"{row.endpoint} does not know it: is the key another account's?"
            LOG.warning("Batch %d, %s: %s", row.number, row.remote, note)
            store.update(row.number, note=note)
        else:
            note = f"{row.endpoint} does not know it any more, or the key is another account's."
            LOG.warning("Batch %s: %s Its calls are sent again.", row.remote, note)
            store.receive(row.number, {}, (), status="lost", note=note)

    def _delete(self, files: Sequence[str]) -> None:
        """Delete files at the endpoint."""
        for file in files:
            # The text of a book is not left there. What can't be deleted does no harm.
            if file:
                with suppress(ModelError):
                    self.calls.endpoint.batches.request(
                        "DELETE", f"/files/{file}", retry=False, purpose=self._purpose
                    )

    def _take_in(self, row: BatchRow, progress: dict[str, Any], files: Sequence[str]) -> bool:
        """Save what a batch brought and free its other calls; False if a file may yet come."""
        store = self.calls.store
        lines, gone = self._lines(row, progress, files)
        if gone and not (row.status in ENDED and _is_overdue(row)):
            # The endpoint may have it in a moment. From now on it is known when that began.
            if row.status not in ENDED:
                store.update(row.number, **progress)
            LOG.warning("Batch %s: %s does not have its files yet.", row.remote, row.endpoint)
            return False
        ids = {*store.ids(row.number)}
        answers, tried, strange = self._read_lines(row, ids, lines)
        missing = ids - answers.keys()
        if progress["status"] == "completed":
            tried |= missing
        note = _describe_end(progress["status"], len(ids), len(missing), strange)
        if gone:
            note = f"A file of its answers is gone. {note}".strip()
        if note:
            again = " The missing ones are sent again." if missing else ""
            LOG.warning("Batch %s: %s%s", row.remote, note, again)
        store.receive(row.number, answers, tried & missing, **progress, note=note)
        if progress["status"] == "completed":
            self._allow_more(row)
        return True

    def _allow_more(self, row: BatchRow) -> None:
        """Try larger batches after one of the largest size: others may fill the queue no more."""
        limit = self._max_lines(row.model)
        if limit is not None and row.lines >= limit:
            more = limit * 2 if limit * 2 < MAX_LINES else None
            self.calls.endpoint.behaviour.limit_lines(row.model, more)

    def _max_lines(self, model: str) -> int | None:
        return self.calls.endpoint.behaviour.of(model).batch_lines

    def _read_lines(
        self, row: BatchRow, ids: Collection[str], lines: Sequence[dict[str, Any]]
    ) -> tuple[dict[str, tuple[int, Any]], set[str], int]:
        """Return the answers to the calls of a batch, the calls that failed, and strange lines."""
        answers: dict[str, tuple[int, Any]] = {}
        tried: set[str] = set()
        strange = 0
        for line in lines:
            id = line.get("custom_id")
            if not isinstance(id, str) or id not in ids:
                strange += 1
            elif answers.get(id, (0, None))[0] != 200:
                answer = self._read_line(row, id, line)
                if answer is not None:
                    answers[id] = answer
                elif not self._is_unprocessed(line):
                    tried.add(id)
        return answers, tried, strange

    def _read_line(self, row: BatchRow, id: str, line: dict[str, Any]) -> tuple[int, Any] | None:
        """Return the status and body that a line has for a call; None if a new try may help."""
        response = object_or_empty(line.get("response"))
        status, body = response.get("status_code"), response.get("body")
        if status == 200 and isinstance(body, dict):
            return 200, body
        if not isinstance(status, int) or status == 200:
            return None
        return None if self._may_ask_again(row, id, status, body) else (status, body)

    def _may_ask_again(self, row: BatchRow, id: str, status: int, body: Any) -> bool:
        """Whether an error of a line may be gone at the next try."""
        endpoint, store = self.calls.endpoint, self.calls.store
        # OpenAI has been seen to complete batches with lines of the status 0.
        if status < 400 or status in (408, 409, 429) or status >= 500:
            return True
        name = endpoint.batches.find_refused(status, body, store.request(id) or {})
        if not name:
            return False
        accepted = endpoint.parameters(row.model)
        fewer = accepted.without(name)
        endpoint.behaviour.learn(row.model, accepted, fewer, f"it refuses {name}")
        return True

    def _is_unprocessed(self, line: dict[str, Any]) -> bool:
        """Whether a line says that the endpoint did not come to its call."""
        code = text_or_empty(object_or_empty(line.get("error")).get("code"))
        return bool(re.search("expired|cancel", code))

    def _lines(
        self, row: BatchRow, progress: dict[str, Any], files: Sequence[str]
    ) -> tuple[list[dict[str, Any]], bool]:
        """Return the lines of a batch's files, {} for a bad one, and whether a file is gone."""
        lines: list[dict[str, Any]] = []
        is_gone = False
        for number, file in enumerate(files):
            if not file:
                continue
            limit = MAX_FILE_BYTES + ANSWER_BYTES_PER_LINE * row.lines
            try:
                content = self._request("GET", f"/files/{file}/content", max_bytes=limit)
            except InterfaceRefused as error:
                if error.status not in (404, 410):
                    raise
                is_gone = True
                continue
            found = [_object(line) for line in content.splitlines()]
            must_have = bool(content.strip()) or (number == 0 and progress["done"] > 0)
            is_recent = time.time() - row.created < LOST_SECONDS
            if must_have and is_recent and not any("custom_id" in line for line in found):
                raise UnexpectedAnswer(row.endpoint, f"GET /files/{file}/content")
            lines += found
        return lines, is_gone

    def _take_failure(self, row: BatchRow, remote: dict[str, Any]) -> None:
        """Take in that the endpoint refused a whole batch, which costs nothing."""
        errors = [
            object_or_empty(each)
            for each in object_or_empty(remote.get("errors")).get("data") or ()
        ]
        why = " ".join(
            f"{text_or_empty(each.get('message')) or each.get('code')}" for each in errors[:3]
        )
        ids = self.calls.store.ids(row.number)
        wrong = {
            ids[each["line"] - 1]: (400, {"error": {"message": each.get("message")}})
            for each in errors
            if isinstance(each.get("line"), int) and 1 <= each["line"] <= len(ids)
        }
        if wrong:
            note = f"{len(wrong):,} of its calls were refused: {why}"
            LOG.warning("Batch %s: %s The others are sent again.", row.remote, note)
            self.calls.store.receive(row.number, wrong, (), status="failed", note=note)
            return
        text = " ".join(f"{each.get('code')} {each.get('message')}" for each in errors)
        if _is_too_large(text):
            self._split(row, why)
            return
        # A try, so that what is refused for ever is not sent for ever.
        self.calls.store.receive(row.number, {}, ids, status="failed", note=why)
        raise ModelError(f"{row.endpoint} refused the batch {row.remote} of {row.model}: {why}")

    def _split(self, row: BatchRow, why: str) -> None:
        """Take apart a batch that is too large, and remember how large one may be."""
        store = self.calls.store
        if row.lines == 1:
            [id] = store.ids(row.number)
            is_recent = time.time() - row.created < LOST_SECONDS
            if self._is_busy(row) or (QUEUE_FULL.search(why) and is_recent):
                # What is at the endpoint already fills its queue; it may be another program's.
                store.update(row.number, state="new", file="", remote="", status="")
                return
            # One call that is refused alone is answered by that.
            refused = {id: (400, {"error": {"message": why}})}
            store.receive(row.number, refused, (), status="failed", note=why)
            return
        limit = (row.lines + 1) // 2
        LOG.warning(
            "A batch of %d calls to %s was refused as too large: it is sent in parts. %s",
            *(row.lines, row.model, why),
        )
        self.calls.endpoint.behaviour.limit_lines(row.model, limit)
        ids = store.ids(row.number)
        store.receive(row.number, {}, (), status="failed", note=why)
        numbers = store.plan(ids, self._max_lines)
        if row.number in self._awaited:
            self._awaited |= {*numbers}
        for number in numbers:
            if (part := self._row(number)) is not None:
                self._take_on(part)

    # The endpoint and the lock

    def _read_batch(self, what: str, content: bytes, id: str = "") -> dict[str, Any]:
        """Return the batch that the endpoint answers with."""
        remote = _object(content)
        found = text_or_empty(remote.get("id"))
        if not found or (id and found != id):
            raise UnexpectedAnswer(self.calls.endpoint.url, what)
        return remote

    @property
    def _purpose(self) -> Purpose:
        return Purpose(stop=self.calls.stop)

    def _request(
        self,
        method: Method,
        path: str,
        query: dict[str, str] | None = None,
        max_bytes: int = MAX_FILE_BYTES,
    ) -> bytes:
        return self.calls.endpoint.batches.request(
            method, path, query=query, max_bytes=max_bytes, purpose=self._purpose
        )

    def _explain(self, row: BatchRow, error: InterfaceRefused) -> ModelError:
        """Return the error for a batch that could not be sent."""
        return self._explain_missing(row) if error.status in (404, 405, 501) else error

    def _explain_missing(self, row: BatchRow) -> ModelError:
        """Give a batch up that the endpoint has no interface for; return the error."""
        why = f"{row.endpoint} has no interface for batches."
        # Its calls are free again: they are made directly, or collected by a later run.
        self.calls.store.receive(row.number, {}, (), status="failed", note=why)
        return ModelError(f"{why} {NO_INTERFACE}")

    @contextmanager
    def _hold(self) -> Iterator[None]:
        """Keep other processes from sending the same batches; wait for one that does."""
        path = Path(self.calls.store.path).with_name(LOCK_FILE)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(str(path))
        while True:
            self.calls.stop.check()
            try:
                lock.acquire(timeout=LOCK_SECONDS)
                break
            except Timeout:
                continue
            except OSError as error:
                raise FabulaError(f"{path} can't be locked: {error}.") from error
        try:
            yield
        finally:
            lock.release()

    def progress(self, numbers: Collection[int]) -> BatchProgress:
        """Return how those of these batches stand that have not ended."""
        every = self.calls.store.batches(self.calls.endpoint.url, open_only=False)
        chosen = [row for row in every if row.number in numbers]
        rows = [row for row in chosen if row.state != "done"]
        cancelled = sum(row.state == "done" and row.status == "cancelled" for row in chosen)
        lines, done = sum(row.lines for row in rows), sum(row.done for row in rows)
        return BatchProgress(len(rows), lines, done, tuple(row.number for row in rows), cancelled)

    def _tell(self) -> None:
        self.options.report(self.progress(self._awaited))


def _is_overdue(row: BatchRow) -> bool:
    """Return whether what a batch waited for since its last step would have come by now."""
    return time.time() - row.updated >= CREATE_SECONDS


def _is_too_large(message: str) -> bool:
    """Return whether a refusal is about the size of a file or a batch, or a full queue."""
    return bool(TOO_LARGE.search(message)) and not NO_MONEY.search(message)


def _describe_end(status: str, calls: int, missing: int, strange: int) -> str:
    """Return what was unusual about how a batch ended, in full sentences; or ''."""
    notes = []
    if status in ("expired", "cancelled"):
        ended = {"expired": "It expired", "cancelled": "It was cancelled"}[status]
        notes.append(f"{ended}, with {calls - missing:,} of {calls:,} calls answered.")
    elif missing:
        notes.append(f"{missing:,} of {calls:,} calls were not answered.")
    if strange:
        notes.append(f"{strange:,} lines belong to no call, and were ignored.")
    return " ".join(notes)


def _object(content: bytes) -> dict[str, Any]:
    try:
        return object_or_empty(json.loads(content))
    except (ValueError, RecursionError):
        return {}


def _progress_of(remote: dict[str, Any]) -> dict[str, Any]:
    """Return what a batch at the endpoint says of itself, as properties of its row."""
    counts = object_or_empty(remote.get("request_counts"))
    numbers = {
        name: value if isinstance(value := counts.get(key), int) else 0
        for name, key in (("done", "completed"), ("failed", "failed"))
    }
    return {
        "remote": text_or_empty(remote.get("id")),
        "status": text_or_empty(remote.get("status")) or "validating",
        **numbers,
    }
