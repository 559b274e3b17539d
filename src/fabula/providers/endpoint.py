"""One OpenAI-compatible endpoint, asked by all threads; retries have their one home here."""

from __future__ import annotations

import json
import logging
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import httpx2
import openai
import tenacity

from fabula.errors import BadReply, ModelError
from fabula.providers.address import checked_key, checked_url
from fabula.providers.dialect import Dialect, refused_parameter
from fabula.providers.limiter import Limiter, Patience
from fabula.providers.rate_limit import Call
from fabula.providers.trouble import Role, Tries, Trouble, allowances, wait_asked
from fabula.providers.wire import Json, ends, says

LOG = logging.getLogger("fabula")
CONNECT_SECONDS = 10.0
LONGEST_WAIT = 600.0
"""Seconds; an endpoint that asks for more has refused."""
FIRST_TRIES = 3
"""Tries for a model that never answered: then it is not there, rather than in trouble."""
FIRST_REFUSALS = 90.0
"""Seconds of nothing but refusals until such a model is given up."""
WARN_EVERY = 30.0
"""Seconds: what many calls wait for is told once."""

Body = Callable[[Dialect], Json]
"""Makes a request's body in the words that the model accepts."""
_EVENTS = openai.Stream[Any]
_BROKEN = (openai.APIError, httpx2.TransportError, json.JSONDecodeError)
"""A connection or an answer that ends too early; some clients let their transport's errors out."""
_Arrived = queue.SimpleQueue[Json | BaseException | None]
"""Events of a stream; then why it ended too early, or None."""
Result = TypeVar("Result")


class _Passing(ModelError):
    """Trouble that may be gone at the next try, `after` so many seconds where it says so."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class _Refused(_Passing):
    """A call too many; its next try waits for its turn."""


class Endpoint:
    """One endpoint: one client for all threads, whose calls share one limiter."""

    def __init__(
        self,
        base_url: str | None,
        api_key: str | None,
        limiter: Limiter,
        patience: Patience,
    ) -> None:
        self.url = checked_url(base_url)
        self._patience, self._limiter = patience, limiter
        self._client = openai.OpenAI(
            base_url=self.url,
            api_key=checked_key(api_key),
            timeout=openai.Timeout(
                patience.timeout, connect=min(patience.timeout, CONNECT_SECONDS)
            ),
            # The client retries twice by itself; retries have one home, `_retrying`.
            max_retries=0,
        )
        self._dialects: dict[str, Dialect] = {}
        self._learning = threading.Lock()
        self._leaving = threading.Lock()
        self._under_way, self._is_closed = 0, False
        self._answered: set[str] = set()
        self._warned_at = -WARN_EVERY

    def close(self) -> None:
        """Ends all waiting; the connections are closed by the last call that is under way."""
        self._limiter.close()
        with self._leaving:
            self._is_closed = True
            if not self._under_way:
                self._client.close()

    @contextmanager
    def _turn(self) -> Iterator[Call]:
        """A turn of the limiter. The client is not closed during it: a connection that is just
        being opened then would stay open.
        """
        with self._limiter.slot() as call:
            with self._leaving:
                if self._is_closed:
                    raise ModelError("Model calls were stopped.")
                self._under_way += 1
            try:
                yield call
            finally:
                with self._leaving:
                    self._under_way -= 1
                    if self._is_closed and not self._under_way:
                        self._client.close()

    def ask(self, path: str, role: Role, body: Body, tries: Tries) -> Json:
        """The endpoint's answer, retried while its trouble may pass. Raises ModelError.

        `tries` counts the failures.
        """

        def once() -> Json:
            with self._turn() as call, self._translating(role, call):
                answer = self._post(path, role, body, call, stream=False)
                if not isinstance(answer, dict):
                    # A proxy's page in the middle of a run goes as it came.
                    has_answered = role.model in self._answered
                    raise (_Passing if has_answered else ModelError)(
                        f"{self.url} does not answer as an OpenAI-compatible endpoint: "
                        "check OPENAI_BASE_URL, which often ends with /v1."
                    )
                if answer.get("error"):
                    raise _Passing(f"{self.url} failed: {str(answer['error'])[:300]}")
                return answer

        return self._patiently(once, role, tries)

    def events(self, path: str, role: Role, body: Body, tries: Tries) -> Iterator[Json]:
        """The events of a streamed answer, retried as long as none has said anything.

        A thread of its own takes them in as they come, so that a reader who pauses holds no turn.
        One who stops ends the call at the next event.
        """
        first, rest, turn = self._patiently(lambda: self._open(path, role, body), role, tries)
        # No bound: a reply has its own, and a reader that it waited for would hold the turn.
        arrived: _Arrived = queue.SimpleQueue()
        left = threading.Event()

        def take_in() -> None:
            try:
                with turn:
                    self._take_in(rest, arrived, left, finished=ends(first[-1]))
            except BaseException as error:  # noqa: BLE001  whoever reads the answer is told
                arrived.put(error)
            else:
                arrived.put(None)

        threading.Thread(target=take_in, name="fabula-stream", daemon=True).start()
        try:
            yield from first
            while (event := arrived.get()) is not None:
                if isinstance(event, BaseException):
                    raise event
                yield event
        finally:
            left.set()

    def _open(
        self, path: str, role: Role, body: Body
    ) -> tuple[list[Json], Iterator[Json], ExitStack]:
        """A stream's events until one says something, those that follow, and the turn they take.

        The turn is kept until the last event has come, unless this try fails.
        """
        with ExitStack() as turn:
            call = turn.enter_context(self._turn())
            with self._translating(role, call):
                stream = self._post(path, role, body, call, stream=True)
                turn.callback(stream.close)
                events, silent = iter(stream), []
                for event in events:
                    silent.append(event)
                    if says(event):
                        return silent, events, turn.pop_all()
                raise _Passing(f"{self.url} sent nothing.")

    def _take_in(
        self, events: Iterator[Json], arrived: _Arrived, left: threading.Event, *, finished: bool
    ) -> None:
        """Hands on what comes until the end, or until the reader has left. Raises ModelError."""
        try:
            for event in events:
                if left.is_set():
                    return
                finished = finished or ends(event)
                arrived.put(event)
        except _BROKEN as error:
            raise ModelError(f"{self.url} cut the answer short: {error}") from error
        if not finished:
            raise ModelError(f"{self.url} cut the answer short: ask again.")

    def leave_room(self, role: Role, used: Dialect) -> bool:
        """Whether a model that spent its reply on thinking is to be asked again, with more.

        Not where it was asked, in the dialect `used`, with room to think.
        """
        if used.thinks:
            return False
        self._learn(role, used, replace(used, thinks=True), "it thinks before it replies")
        return True

    def _post(self, path: str, role: Role, body: Body, call: Call, *, stream: bool) -> Any:
        """One request, put otherwise as long as the endpoint refuses a parameter of it."""
        while True:
            dialect = self._dialects.get(role.model, Dialect())
            said = body(dialect)
            try:
                # `post` and plain dictionaries: the typed methods cost half as much CPU again.
                if not stream:
                    response = self._client.post(path, body=said, cast_to=httpx2.Response)
                    self._heed(response.headers, call)
                    kind = response.headers.get("content-type", "").split(";")[0]
                    return response.json() if kind.endswith("json") else response.text
                events = self._client.post(
                    path, body=said, cast_to=object, stream=True, stream_cls=_EVENTS
                )
                self._heed(events.response.headers, call)
                return events
            except openai.APIStatusError as error:
                trouble = _trouble(error)
                if trouble.status not in (400, 422) or trouble.too_long or trouble.filtered:
                    raise
                refused = refused_parameter(trouble.parameter, trouble.message, said)
                if refused is None:
                    raise
                self._learn(role, dialect, dialect.without(refused), f"it refuses {refused}")

    def _heed(self, headers: Mapping[str, str], call: Call) -> None:
        """Tells the limiter what is left; where nothing is for long, the next refusal says so."""
        for left, reset in allowances(headers):
            if reset <= LONGEST_WAIT:
                self._limiter.told(call, left, reset)

    def _learn(self, role: Role, used: Dialect, better: Dialect, why: str) -> bool:
        """Remember for all threads; what another one has learned meanwhile stays."""
        with self._learning:
            if better == used or self._dialects.get(role.model, Dialect()) != used:
                return False
            self._dialects[role.model] = better
        LOG.info("%s at %s is asked otherwise from now on: %s.", role.model, self.url, why)
        return True

    @contextmanager
    def _translating(self, role: Role, call: Call) -> Iterator[None]:
        """Makes the client's errors ours: those that pass and those that do not."""
        try:
            yield
        except openai.APIStatusError as error:
            trouble, after = _trouble(error), wait_asked(error.response.headers)
            message = trouble.explained(self.url, role)
            if not trouble.passing:
                raise (BadReply if trouble.filtered else ModelError)(message) from error
            if after is not None and after > LONGEST_WAIT:
                wait = f"It asks to wait {after / 60:.0f} minutes: try again then."
                raise ModelError(f"{message} {wait}") from error
            if trouble.status == 429:
                self._limiter.refused(call, after)
                raise _Refused(message, after) from error
            raise _Passing(message, after) from error
        except openai.APITimeoutError as error:
            # A small server that is asked too much at once answers late, not with 429.
            self._limiter.late(call)
            raise _Passing(
                f"{self.url} did not answer within {self._patience.timeout:g} s (FABULA_TIMEOUT)."
            ) from error
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            raise _Passing(
                f"{self.url} can't be reached, or hung up: {cause} (OPENAI_BASE_URL)."
            ) from error
        except _BROKEN as error:
            raise _Passing(f"{self.url} failed: {error}") from error

    def _patiently(self, work: Callable[[], Result], role: Role, tries: Tries) -> Result:
        """`work`, tried again while its trouble may pass."""

        def may_pass(error: BaseException) -> bool:
            tries.refused += isinstance(error, _Refused)
            tries.failed += isinstance(error, _Passing) and not isinstance(error, _Refused)
            return isinstance(error, _Passing)

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(may_pass),
            stop=lambda state: self._hopeless(state, role, tries),
            wait=lambda state: self._wait(state, tries),
            sleep=self._limiter.pause,
            before_sleep=lambda state: self._log_retry(state, tries),
            reraise=True,
        )
        try:
            result = retrying(work)
        except _Passing as error:
            raise ModelError(f"{error} Given up after {tries.faults} tries.") from error
        self._answered.add(role.model)
        return result

    def _hopeless(self, state: tenacity.RetryCallState, role: Role, tries: Tries) -> bool:
        """Whether a call is given up: too many failures, or nothing but refusals for long."""
        if state.outcome and isinstance(state.outcome.exception(), _Refused):
            waited = min(self._limiter.silent_for, time.monotonic() - state.start_time)
            most = self._patience.refusals
            return waited >= (most if role.model in self._answered else min(most, FIRST_REFUSALS))
        first = self._patience.attempts if role.model in self._answered else FIRST_TRIES
        return tries.failed >= min(first, self._patience.attempts)

    def _wait(self, state: tenacity.RetryCallState, tries: Tries) -> float:
        """Seconds before the next try; spread, so that threads do not come back as one."""
        outcome = state.outcome.exception() if state.outcome else None
        if isinstance(outcome, _Passing) and outcome.after is not None:
            return outcome.after * (1 + random.random() / 4)
        if isinstance(outcome, _Refused):
            return 0.0
        doubled = self._patience.first_wait * 2.0 ** min(tries.failed - 1, 6)
        return doubled * (0.75 + random.random() / 2)

    def _log_retry(self, state: tenacity.RetryCallState, tries: Tries) -> None:
        if state.outcome is None or state.next_action is None:
            return
        trouble, seconds = state.outcome.exception(), state.next_action.sleep
        # By the third try people wonder what is being waited for.
        level = logging.INFO
        if tries.faults >= FIRST_TRIES and time.monotonic() >= self._warned_at + WARN_EVERY:
            level, self._warned_at = logging.WARNING, time.monotonic()
        LOG.log(level, "%s Trying again in %.1f s.", trouble, seconds)


def _trouble(error: openai.APIStatusError) -> Trouble:
    told = error.body.get("message") if isinstance(error.body, dict) else None
    message = told if isinstance(told, str) else error.message
    return Trouble(error.status_code, message, error.code or "", error.param)
