"""One OpenAI-compatible endpoint, asked by all threads; retries have their one home here."""

from __future__ import annotations

import logging
import queue
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import httpx2
import openai
import tenacity

from fabula.errors import BadReply, ModelError, Stopped, TextRefused
from fabula.models.address import checked_key, checked_url, shown_url
from fabula.models.endpoint_errors import PASSING, Role, Tries, Trouble, allowances, wait_asked
from fabula.models.limiter import Limiter, Patience
from fabula.models.parameters import Dialect, refused_parameter, sent
from fabula.models.payload import Json, ends, part, says
from fabula.models.purpose import BUILD, Purpose
from fabula.models.rate_limit import Call
from fabula.models.stop import Stop
from fabula.models.transport import (
    BYTES_A_TEXT,
    MOST_BYTES,
    WHOLE,
    Border,
    Bounds,
    Elsewhere,
    Unfit,
)

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
_BROKEN = (openai.APIError, httpx2.TransportError)
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


class _Unusable(_Passing):
    """An answer that can't be used: it fails its own call, as the next one may be well."""


class _Complaint(Exception):
    """An error that the endpoint answered with; `within` an answer, or instead of one."""

    def __init__(
        self, trouble: Trouble, headers: Mapping[str, str], *, within: bool = False
    ) -> None:
        super().__init__(trouble.message)
        self.trouble, self.headers, self.within = trouble, headers, within


class Endpoint:
    """One endpoint: one client for all threads, whose calls share one limiter."""

    def __init__(
        self,
        base_url: str | None,
        api_key: str | None,
        limiter: Limiter,
        patience: Patience,
    ) -> None:
        url, key = checked_url(base_url), checked_key(api_key)
        self.url = shown_url(url)
        self._patience, self._limiter = patience, limiter
        self._border = Border(url, key)
        timeout = openai.Timeout(patience.timeout, connect=min(patience.timeout, CONNECT_SECONDS))
        self._client = openai.OpenAI(
            base_url=url,
            api_key=key,
            timeout=timeout,
            http_client=self._border.client(timeout),
            # The client retries twice by itself; retries have one home, `_retrying`.
            max_retries=0,
        )
        self._dialects: dict[str, Dialect] = {}
        self._learning = threading.Lock()
        self._leaving = threading.Lock()
        self._under_way, self._is_closed = 0, False
        self._answered: set[str] = set()
        self._taken: dict[str, set[str]] = {}
        """The optional parameters that each model has been asked with and answered."""
        self._warned_at = -WARN_EVERY

    def limits(self) -> dict[str, float]:
        """How many calls may be under way at once, how many are, and seconds between two."""
        return self._limiter.limits()

    def close(self) -> None:
        """Ends all waiting; the connections are closed by the last call that is under way."""
        self._limiter.close()
        with self._leaving:
            self._is_closed = True
            if not self._under_way:
                self._client.close()

    @contextmanager
    def _turn(self, purpose: Purpose, cut: Stop | None) -> Iterator[Call]:
        """A turn of the limiter, for a call that is ended by `cut`.

        The client is not closed during it: a connection that is just being opened then would stay
        open.
        """
        with self._limiter.slot(purpose) as call:
            call.cut = cut
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

    def ask(
        self, path: str, role: Role, body: Body, tries: Tries, purpose: Purpose = BUILD
    ) -> Json:
        """The endpoint's answer, retried while its trouble may pass.

        `tries` counts the failures. Raises ModelError, and Stopped once the `purpose` is.
        """

        def once() -> Json:
            with self._turn(purpose, purpose.cut) as call, self._translating(role, call):
                answer = self._post(path, role, body, call, tries, stream=False)
                if not isinstance(answer, dict):
                    # A proxy's page in the middle of a run goes as it came.
                    has_answered = role.model in self._answered
                    raise (_Unusable if has_answered else ModelError)(
                        f"{self.url} does not answer as an OpenAI-compatible endpoint: "
                        "check OPENAI_BASE_URL, which often ends with /v1."
                    )
                return answer

        return self._patiently(once, role, tries, purpose)

    def events(
        self, path: str, role: Role, body: Body, tries: Tries, purpose: Purpose = BUILD
    ) -> Iterator[Json]:
        """The events of a streamed answer, retried as long as none has said anything.

        A thread of its own takes them in as they come, so that a reader who pauses holds no turn.
        One who leaves ends the call at once, and so does the stop of an urgent `purpose`.
        """
        cut = Stop()
        with (purpose.cut or Stop()).telling(cut.set):
            first, rest, turn = self._patiently(
                lambda: self._open(path, role, body, tries, purpose, cut), role, tries, purpose
            )
            # No bound: a reply has its own, and a reader that it waited for would hold the turn.
            arrived: _Arrived = queue.SimpleQueue()

            def take_in() -> None:
                try:
                    with turn:
                        self._take_in(rest, arrived, cut, finished=ends(first[-1]))
                except BaseException as error:  # noqa: BLE001  whoever reads the answer is told
                    arrived.put(error)
                else:
                    arrived.put(None)

            threading.Thread(
                target=copy_context().run, args=(take_in,), name="fabula-stream", daemon=True
            ).start()
            try:
                with cut.telling(lambda: arrived.put(Stopped())):
                    yield from first
                    while (event := arrived.get()) is not None:
                        if isinstance(event, BaseException):
                            raise event
                        yield event
            finally:
                cut.set()

    def _open(
        self, path: str, role: Role, body: Body, tries: Tries, purpose: Purpose, cut: Stop
    ) -> tuple[list[Json], Iterator[Json], ExitStack]:
        """A stream's events until one says something, those that follow, and the turn they take.

        The turn is kept until the last event has come, unless this try fails.
        """
        with ExitStack() as turn:
            call = turn.enter_context(self._turn(purpose, cut))
            with self._translating(role, call):
                stream, bounds = self._post(path, role, body, call, tries, stream=True)
                turn.callback(stream.close)
                events, silent = self._read(stream, bounds), []
                for event in events:
                    silent.append(event)
                    if says(event):
                        return silent, events, turn.pop_all()
                raise _Unusable(f"{self.url} sent nothing.")

    def _take_in(
        self, events: Iterator[Json], arrived: _Arrived, cut: Stop, *, finished: bool
    ) -> None:
        """Hands on what comes until the end, or until the call is cut off. Raises ModelError."""
        try:
            for event in events:
                finished = finished or ends(event)
                arrived.put(event)
        except (*_BROKEN, Unfit) as error:
            if cut.is_set():
                return
            why = self._border.line(error).rstrip(".")
            raise BadReply(f"{self.url} cut the answer short: {why}.") from error
        if not finished:
            raise BadReply(f"{self.url} cut the answer short: ask again.")

    def leave_room(self, role: Role, used: Dialect) -> bool:
        """Whether a model that spent its reply on thinking is to be asked again, with more.

        Not where it was asked, in the dialect `used`, with room to think.
        """
        if used.thinks:
            return False
        self._learn(role, used, replace(used, thinks=True), "it thinks before it replies")
        return True

    def _post(
        self, path: str, role: Role, body: Body, call: Call, tries: Tries, *, stream: bool
    ) -> Any:
        """One request, put otherwise as long as the endpoint refuses a parameter of it.

        What it names is left out. Where it names nothing, each parameter that it never took is,
        until the trouble is gone; after an error of its own, only at the last try.
        """
        used = dialect = self._dialects.get(role.model, Dialect())
        taken = self._taken.setdefault(role.model, set())
        refused = []
        while True:
            said = body(dialect)
            try:
                answer = self._send(path, said, call, stream=stream)
                break
            except _Complaint as complaint:
                trouble = complaint.trouble
                if not trouble.about_request(role.model):
                    raise
                own = trouble.status >= 500
                name = self._blamed(trouble, said)
                if name and not (own and name in taken):
                    refused.append(name)
                    dialect = dialect.without(name)
                    continue
                is_last = tries.failed + 1 >= self._most_tries(role)
                if trouble.parameter or (own and not is_last):
                    raise
                found = self._try_without(path, body, call, dialect, taken, stream=stream)
                if found is None:
                    raise
                answer, better = found
                after = body(better)
                refused += [one for one in sent(said) if said[one] != after.get(one)]
                dialect = better
                break
        taken.update(sent(body(dialect)))
        self._learn(role, used, dialect, *(f"it refuses {name}" for name in refused))
        return answer

    def _blamed(self, trouble: Trouble, said: Json) -> str | None:
        """The parameter that an endpoint complains of."""
        return refused_parameter(trouble.parameter, trouble.message, said) or (
            refused_parameter(None, trouble.details, said) if not trouble.parameter else None
        )

    def _try_without(
        self,
        path: str,
        body: Body,
        call: Call,
        dialect: Dialect,
        taken: set[str],
        *,
        stream: bool,
    ) -> tuple[Any, Dialect] | None:
        """The first answer that comes without some of the parameters, and without which."""
        for better in dialect.alternatives(body(dialect), taken):
            try:
                return self._send(path, body(better), call, stream=stream), better
            except _Complaint as complaint:
                if complaint.trouble.status in PASSING:
                    raise
        body(dialect)
        return None

    def _send(self, path: str, said: Json, call: Call, *, stream: bool) -> Any:
        """The value of an answer, or its stream and what it is bound to. Raises _Complaint."""
        texts = len(said.get("input") or ())
        end = time.monotonic() + WHOLE * self._patience.timeout
        bounds = Bounds(end, MOST_BYTES + BYTES_A_TEXT * texts, call.cut)
        try:
            with bounds.hold():
                # `post` and plain dictionaries: the typed methods cost half as much CPU again.
                if stream:
                    events = self._client.post(
                        path, body=said, cast_to=object, stream=True, stream_cls=_EVENTS
                    )
                    self._heed(events.response.headers, call)
                    return events, bounds
                response = self._client.post(path, body=said, cast_to=httpx2.Response)
        except openai.APIStatusError as error:
            raise self._complaint(error.response) from error
        except openai.APITimeoutError as error:
            self._end_at_deadline(bounds, error)
            raise
        self._heed(response.headers, call)
        kind = response.headers.get("content-type", "").split(";")[0].strip()
        if not kind.endswith("json"):
            return None
        answer = self._border.json(response.content)
        if isinstance(answer, dict) and answer.get("error"):
            trouble = Trouble.of(500, answer)
            if re.fullmatch(r"[45]\d\d", trouble.code):
                trouble = replace(trouble, status=int(trouble.code))
            raise _Complaint(trouble, response.headers, within=True)
        return answer

    def _complaint(self, response: httpx2.Response) -> _Complaint:
        said: Any
        try:
            said = self._border.json(response.content)
        except Unfit:
            said = self._border.line(response.text) or response.reason_phrase
        return _Complaint(Trouble.of(response.status_code, said), response.headers)

    def _end_at_deadline(self, bounds: Bounds, error: Exception) -> None:
        """Raises BadReply for a call that did not end in time, though something came."""
        if bounds.over:
            whole = WHOLE * self._patience.timeout
            raise BadReply(
                f"{self.url} did not finish its answer within {whole:g} s, {WHOLE} times "
                "FABULA_TIMEOUT."
            ) from error

    def _read(self, stream: Any, bounds: Bounds) -> Iterator[Json]:
        """A stream's events. Raises Unfit for what is none."""
        try:
            for event in stream:
                yield part(self._border.value(event))
        except openai.APITimeoutError as error:
            self._end_at_deadline(bounds, error)
            raise
        except (*_BROKEN, Unfit):
            raise
        except Exception as error:
            raise Unfit(f"its stream can't be read: {self._border.line(error)}") from error

    def _heed(self, headers: Mapping[str, str], call: Call) -> None:
        """Tells the limiter what is left; where nothing is for long, the next refusal says so."""
        for left, reset in allowances(headers):
            if reset <= LONGEST_WAIT:
                self._limiter.told(call, left, reset)

    def _learn(self, role: Role, used: Dialect, better: Dialect, *reasons: str) -> bool:
        """Remember for all threads; what another one has learned meanwhile stays."""
        with self._learning:
            if better == used or self._dialects.get(role.model, Dialect()) != used:
                return False
            self._dialects[role.model] = better
        for why in reasons:
            LOG.info("%s at %s is asked otherwise from now on: %s.", role.model, self.url, why)
        return True

    @contextmanager
    def _translating(self, role: Role, call: Call) -> Iterator[None]:
        """Makes the client's errors ours: those that pass and those that do not."""
        try:
            yield
        except _Complaint as error:
            raise self._outcome(error, role, call) from error
        except Elsewhere as error:
            kind = _Unusable if role.model in self._answered else ModelError
            raise kind(f"{self.url} can't be used: {self._border.line(error)}.") from error
        except Unfit as error:
            why = self._border.line(error)
            raise _Unusable(f"{self.url} sent what can't be used: {why}.") from error
        except openai.APITimeoutError as error:
            # A small server that is asked too much at once answers late, not with 429.
            self._limiter.late(call)
            raise _Passing(
                f"{self.url} did not answer within {self._patience.timeout:g} s (FABULA_TIMEOUT)."
            ) from error
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            why = self._border.line(cause)
            message = f"{self.url} can't be reached, or hung up: {why} (OPENAI_BASE_URL)."
            # What always hangs up is not there; one that has answered sent something odd.
            if isinstance(cause, httpx2.RemoteProtocolError) and role.model in self._answered:
                raise _Unusable(message) from error
            raise _Passing(message) from error
        except _BROKEN as error:
            why = self._border.line(error).rstrip(".")
            raise _Unusable(f"{self.url} failed: {why}.") from error

    def _outcome(self, complaint: _Complaint, role: Role, call: Call) -> ModelError:
        """What an error that the endpoint answered with is for the call."""
        trouble, after = complaint.trouble, wait_asked(complaint.headers)
        message = self._border.text(trouble.explained(self.url, role))
        has_answered = role.model in self._answered
        if not trouble.passing:
            if trouble.filtered or trouble.too_long:
                return TextRefused(message)
            # Where the model has answered, what is refused now is this one text.
            own = has_answered and trouble.about_request(role.model)
            return (BadReply if own else ModelError)(message)
        if after is not None and after > LONGEST_WAIT:
            wait = f"It asks to wait {after / 60:.0f} minutes: try again then."
            return ModelError(f"{message} {wait}")
        if trouble.status == 429:
            self._limiter.refused(call, after)
            return _Refused(message, after)
        if complaint.within and has_answered:
            return _Unusable(message, after)
        return _Passing(message, after)

    def _patiently(
        self, work: Callable[[], Result], role: Role, tries: Tries, purpose: Purpose
    ) -> Result:
        """`work`, tried again while its trouble may pass and the purpose waits for it."""

        def may_pass(error: BaseException) -> bool:
            tries.refused += isinstance(error, _Refused)
            tries.failed += isinstance(error, _Passing) and not isinstance(error, _Refused)
            return isinstance(error, _Passing) and not purpose.stop.is_set()

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(may_pass),
            stop=lambda state: self._hopeless(state, role, tries),
            wait=lambda state: self._wait(state, tries),
            sleep=partial(self._limiter.pause, purpose=purpose),
            before_sleep=lambda state: self._log_retry(state, tries),
            reraise=True,
        )
        try:
            result = retrying(work)
        except _Passing as error:
            if purpose.stop.is_set():
                raise Stopped from error
            kind = BadReply if isinstance(error, _Unusable) else ModelError
            raise kind(f"{error} Given up after {tries.faults} tries.") from error
        self._answered.add(role.model)
        return result

    def _hopeless(self, state: tenacity.RetryCallState, role: Role, tries: Tries) -> bool:
        """Whether a call is given up: too many failures, or nothing but refusals for long."""
        if state.outcome and isinstance(state.outcome.exception(), _Refused):
            waited = min(self._limiter.silent_for, time.monotonic() - state.start_time)
            most = self._patience.refusals
            return waited >= (most if role.model in self._answered else min(most, FIRST_REFUSALS))
        return tries.failed >= self._most_tries(role)

    def _most_tries(self, role: Role) -> int:
        most = self._patience.attempts
        return most if role.model in self._answered else min(FIRST_TRIES, most)

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
