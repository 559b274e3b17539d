"""An OpenAI-compatible endpoint, shared by all threads. All retries of model calls are here."""

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
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2
import openai
import tenacity

from fabula.errors import BadReply, ModelError, Stopped, TextRefused
from fabula.models.address import EndpointAddress, redact_url, validate_key
from fabula.models.endpoint_errors import (
    TEMPORARY_STATUSES,
    EndpointError,
    NamedModel,
    Tries,
    allowances,
    requested_wait,
)
from fabula.models.limiter import Limiter, RetryPolicy
from fabula.models.manners import Manners
from fabula.models.parameters import (
    Parameters,
    lost_parameters,
    optional_parameters,
    refused_parameter,
)
from fabula.models.payload import Json, ends_reply, has_content, object_or_empty, reported_error
from fabula.models.purpose import BUILD, Purpose
from fabula.models.rate_limit import Call
from fabula.models.stop import Stop
from fabula.models.transport import (
    MAX_ANSWER_BYTES,
    MAX_BYTES_PER_TEXT,
    TIMEOUTS_PER_CALL,
    Bounds,
    EndpointTransport,
    RedirectRefused,
    UnusableAnswer,
)

LOG = logging.getLogger("fabula")
CONNECT_SECONDS = 10.0
MAX_WAIT_SECONDS = 600.0
"""The longest wait that an endpoint may ask for; if it asks for more, the call fails."""
FIRST_TRIES = 3
"""Tries for a model that has never answered: it is probably not there at all."""
FIRST_REFUSAL_SECONDS = 90.0
"""How long a model that has never answered may refuse all calls with 429."""
WARNING_INTERVAL_SECONDS = 30.0
"""The shortest time between two warnings about retries: many calls wait for the same thing."""

TOKEN = "eyJ"
"""How a token of Microsoft Entra begins. It is a JWT, and is sent as a Bearer also at Azure."""

if TYPE_CHECKING:
    from fabula.models.cache import ResponseCache

Body = Callable[[Parameters], Json]
"""Makes a request's body with the parameters that the model accepts."""
_EVENTS = openai.Stream[Any]
_BROKEN = (openai.APIError, httpx2.TransportError)
"""Errors of a connection or an answer that ends too early; not all are wrapped by the client."""
_Arrived = queue.SimpleQueue[Json | BaseException | None]
"""The events of a stream, then the error that ended it, or None."""
Result = TypeVar("Result")


class _Temporary(ModelError):
    """An error that may be gone at the next try, `after` seconds if the endpoint says so."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class _RateLimited(_Temporary):
    """The endpoint is called too often (429); the limiter decides when the next try starts."""


class _UnusableAnswer(_Temporary):
    """An answer that can't be used. If it stays so, only this call fails, not the run."""


class _ErrorResponse(Exception):
    """An error that the endpoint answered with, by its status or `in_body` of a good answer."""

    def __init__(
        self, error: EndpointError, headers: Mapping[str, str], *, in_body: bool = False
    ) -> None:
        super().__init__(error.message)
        self.error, self.headers, self.in_body = error, headers, in_body


def error_reported(exception: BaseException) -> EndpointError | None:
    """Return the error that an endpoint answered a call with, for which `exception` was raised."""
    cause: BaseException | None = exception
    while cause is not None:
        if isinstance(cause, _ErrorResponse):
            return cause.error
        cause = cause.__cause__
    return None


class Endpoint:
    """An endpoint with one client for all threads, whose calls share one limiter."""

    def __init__(
        self,
        base_url: str | None,
        api_key: str | None,
        limiter: Limiter,
        patience: RetryPolicy,
        memory: ResponseCache | None = None,
    ) -> None:
        """Prepare a client; nothing is called yet.

        Args:
            base_url: The endpoint's URL; OpenAI's if it is None or empty.
            api_key: The key; None if the endpoint needs none.
            limiter: Decides when calls start.
            patience: How long to wait for answers, and how often to try.
            memory: Where what was learned of models is saved.

        Raises:
            SettingsError: The URL or the key can't be used.

        """
        self._address, key = EndpointAddress.of(base_url), validate_key(api_key)
        self.url = redact_url(self._address.url)
        self.manners = Manners(self._address.url, memory)
        """What was learned of the models here, beside the parameters that they accept."""
        self._patience, self._limiter = patience, limiter
        self._transport = EndpointTransport(self._address.url, key)
        timeout = openai.Timeout(patience.timeout, connect=min(patience.timeout, CONNECT_SECONDS))
        has_api_key = self._address.has_api_key_header and not key.startswith(TOKEN)
        self._client = openai.OpenAI(
            base_url=self._address.base,
            default_query=self._address.query,
            default_headers={"api-key": key} if has_api_key else {},
            api_key=key,
            timeout=timeout,
            http_client=self._transport.client(timeout, bearer=not has_api_key),
            # The client would retry twice by itself; all retries are in `_retry`.
            max_retries=0,
        )
        self._parameters: dict[str, Parameters] = {}
        self._lock = threading.Lock()
        self._closing = threading.Lock()
        self._under_way, self._is_closed = 0, False
        self._answered: set[str] = set()
        self._accepted: dict[str, set[str]] = {}
        """The optional parameters that each model has accepted in an answered call."""
        self._warned_at = -WARNING_INTERVAL_SECONDS

    def _path(self, path: str, role: NamedModel) -> str:
        return self._address.path(path, role.model, is_main=role.setting == "FABULA_MODEL")

    def limits(self) -> dict[str, float]:
        """Return the limiter's present limits; see `Limiter.limits`."""
        return self._limiter.limits()

    def close(self) -> None:
        """End all waiting; the last call under way closes the connections."""
        self._limiter.close()
        with self._closing:
            self._is_closed = True
            if not self._under_way:
                self._client.close()

    @contextmanager
    def _slot(self, purpose: Purpose, cut: Stop | None) -> Iterator[Call]:
        """Wait for a slot of the limiter and hold it for a call that `cut` can end.

        The client is not closed meanwhile: a connection that is just being opened would stay open.
        """
        with self._limiter.slot(purpose) as call:
            call.cut = cut
            with self._closing:
                if self._is_closed:
                    raise ModelError("Model calls were stopped.")
                self._under_way += 1
            try:
                yield call
            finally:
                with self._closing:
                    self._under_way -= 1
                    if self._is_closed and not self._under_way:
                        self._client.close()

    def ask(
        self, path: str, role: NamedModel, body: Body, tries: Tries, purpose: Purpose = BUILD
    ) -> Json:
        """Return the endpoint's answer; errors that may be temporary are retried.

        Args:
            path: The path below the endpoint's URL, as /embeddings.
            role: The model, and the setting that names it.
            body: Makes the request's body.
            tries: Counts the failed tries.
            purpose: What the call is for; its stop ends all waiting.

        Raises:
            ModelError: The call failed for good. It is a BadReply where the next one may succeed.
            Stopped: The purpose was stopped.

        """
        path = self._path(path, role)

        def try_once() -> Json:
            with self._slot(purpose, purpose.cut) as call, self._translate_errors(role, call):
                answer = self._post(path, role, body, call, tries, stream=False)
                if not isinstance(answer, dict):
                    # In the middle of a run it is a proxy's error page, which is temporary.
                    has_answered = role.model in self._answered
                    raise (_UnusableAnswer if has_answered else ModelError)(
                        f"{self.url} does not answer as an OpenAI-compatible endpoint: "
                        "check OPENAI_BASE_URL, which often ends with /v1."
                    )
                return answer

        return self._retry(try_once, role, tries, purpose)

    def events(
        self, path: str, role: NamedModel, body: Body, tries: Tries, purpose: Purpose = BUILD
    ) -> Iterator[Json]:
        """Yield the events of a streamed answer; it is retried until the first one with content.

        A thread receives the events as they come, so that a reader who pauses holds no slot of the
        limiter. A reader who leaves ends the call at once, and so does the stop of an urgent
        `purpose`. Arguments and errors are those of `ask`.
        """
        path, cut = self._path(path, role), Stop()
        with (purpose.cut or Stop()).calling(cut.set):
            first, rest, slot = self._retry(
                lambda: self._open(path, role, body, tries, purpose, cut), role, tries, purpose
            )
            # Unbounded: a reply's length is bounded, and waiting for the reader would hold the
            # slot.
            arrived: _Arrived = queue.SimpleQueue()

            def receive() -> None:
                try:
                    with slot:
                        self._receive(rest, arrived, cut, finished=ends_reply(first[-1]))
                except BaseException as error:  # noqa: BLE001  it is raised to the reader
                    arrived.put(error)
                else:
                    arrived.put(None)

            threading.Thread(
                target=copy_context().run, args=(receive,), name="fabula-stream", daemon=True
            ).start()
            try:
                with cut.calling(lambda: arrived.put(Stopped())):
                    yield from first
                    while (event := arrived.get()) is not None:
                        if isinstance(event, BaseException):
                            raise event
                        yield event
            finally:
                cut.set()

    def _open(
        self, path: str, role: NamedModel, body: Body, tries: Tries, purpose: Purpose, cut: Stop
    ) -> tuple[list[Json], Iterator[Json], ExitStack]:
        """Open a stream: its events up to the first with content, the others, and its slot.

        The slot is held until the last event has come, unless this try fails.
        """
        with ExitStack() as slot:
            call = slot.enter_context(self._slot(purpose, cut))
            with self._translate_errors(role, call):
                stream, bounds = self._post(path, role, body, call, tries, stream=True)
                slot.callback(stream.close)
                events, first = self._read(stream, bounds), []
                for event in events:
                    first.append(event)
                    if has_content(event):
                        return first, events, slot.pop_all()
                raise _UnusableAnswer(f"{self.url} sent nothing.")

    def _receive(
        self, events: Iterator[Json], arrived: _Arrived, cut: Stop, *, finished: bool
    ) -> None:
        """Pass on the events until the end, or until the call is cut off."""
        try:
            for event in events:
                finished = finished or ends_reply(event)
                arrived.put(event)
        except (*_BROKEN, UnusableAnswer, _ErrorResponse) as error:
            if cut.is_set():
                return
            why = self._transport.line(error).rstrip(".")
            raise BadReply(f"{self.url} cut the answer short: {why}.") from error
        if not finished:
            raise BadReply(f"{self.url} cut the answer short: ask again.")

    def leave_room(self, role: NamedModel, used: Parameters) -> bool:
        """Give a model that spent its whole reply on thinking more tokens from now on.

        Returns:
            Whether to ask again; False if the call, made with the parameters `used`, had them.

        """
        if used.thinks:
            return False
        self._learn(role, used, replace(used, thinks=True), "it thinks before it replies")
        return True

    def _post(
        self, path: str, role: NamedModel, body: Body, call: Call, tries: Tries, *, stream: bool
    ) -> Any:
        """Send one request; where the endpoint refuses a parameter of it, send it without.

        A parameter that the error names is left out. Where it names none, those that the model has
        never accepted are left out in turn, until the error is gone; after a server error (5xx),
        which is seldom about parameters, only at the last try.
        """
        used = parameters = self._parameters.get(role.model, Parameters())
        accepted = self._accepted.setdefault(role.model, set())
        refused = []
        while True:
            request = body(parameters)
            try:
                answer = self._send(path, request, call, stream=stream)
                break
            except _ErrorResponse as response:
                error = response.error
                is_about_texts = error.too_many_texts and len(request.get("input", ())) > 1
                if is_about_texts or not error.about_request(role.model):
                    raise
                is_server_error = error.status >= 500
                name = self._refused_parameter(error, request)
                if name and not (is_server_error and name in accepted):
                    refused.append(name)
                    parameters = parameters.without(name)
                    continue
                is_last = tries.failed + 1 >= self._max_tries(role)
                if error.parameter or (is_server_error and not is_last):
                    raise
                success = self._try_without(path, body, call, parameters, accepted, stream=stream)
                if success is None:
                    raise
                answer, parameters = success
                refused += lost_parameters(request, body(parameters))
                break
        accepted.update(optional_parameters(body(parameters)))
        self._learn(role, used, parameters, *(f"it refuses {name}" for name in refused))
        return answer

    def _refused_parameter(self, error: EndpointError, request: Json) -> str | None:
        """The parameter that an endpoint's error is about, if it names one."""
        return refused_parameter(error.parameter, error.message, request) or (
            refused_parameter(None, error.details, request) if not error.parameter else None
        )

    def _try_without(
        self,
        path: str,
        body: Body,
        call: Call,
        parameters: Parameters,
        accepted: set[str],
        *,
        stream: bool,
    ) -> tuple[Any, Parameters] | None:
        """The first answer to a request with fewer parameters, and those parameters."""
        for fewer in parameters.alternatives(body(parameters), accepted):
            try:
                return self._send(path, body(fewer), call, stream=stream), fewer
            except _ErrorResponse as response:
                if response.error.status in TEMPORARY_STATUSES:
                    raise
        # `body` remembers the parameters that it was called with last.
        body(parameters)
        return None

    def _send(self, path: str, request: Json, call: Call, *, stream: bool) -> Any:
        """The value of an answer, or its stream and the bounds of it. Raises _ErrorResponse."""
        texts = len(request.get("input") or ())
        end = time.monotonic() + TIMEOUTS_PER_CALL * self._patience.timeout
        max_bytes = MAX_ANSWER_BYTES + MAX_BYTES_PER_TEXT * texts
        bounds = Bounds(end, max_bytes, call.cut, is_stream=stream)
        try:
            with bounds.hold():
                # `post` with plain dictionaries: the client's typed methods take 1.5 times the CPU.
                if stream:
                    events = self._client.post(
                        path, body=request, cast_to=object, stream=True, stream_cls=_EVENTS
                    )
                    self._apply_headers(events.response.headers, call)
                    return events, bounds
                response = self._client.post(path, body=request, cast_to=httpx2.Response)
        except openai.APIStatusError as error:
            raise self._error_response(error.response) from error
        except openai.APITimeoutError as error:
            self._end_at_deadline(bounds, error)
            raise
        self._apply_headers(response.headers, call)
        answer = self._transport.answer(response)
        if isinstance(answer, dict) and (reported := reported_error(answer)):
            raise self._error_within(reported, response.headers)
        return answer

    def _error_within(self, body: object, headers: Mapping[str, str]) -> _ErrorResponse:
        """The error in an answer whose status is that of a good one."""
        reported = EndpointError.of(500, body)
        if re.fullmatch(r"[45]\d\d", reported.code):
            reported = replace(reported, status=int(reported.code))
        return _ErrorResponse(reported, headers, in_body=True)

    def _error_response(self, response: httpx2.Response) -> _ErrorResponse:
        body: Any
        try:
            body = self._transport.json(response.content)
        except UnusableAnswer:
            body = self._transport.line(response.text) or response.reason_phrase
        return _ErrorResponse(EndpointError.of(response.status_code, body), response.headers)

    def _end_at_deadline(self, bounds: Bounds, error: Exception) -> None:
        """Raise BadReply if the call had its whole time, rather than a byte that came too late."""
        if bounds.over:
            seconds = TIMEOUTS_PER_CALL * self._patience.timeout
            raise BadReply(
                f"{self.url} did not finish its answer within {seconds:g} s, {TIMEOUTS_PER_CALL} "
                "times FABULA_TIMEOUT."
            ) from error

    def _read(self, stream: Any, bounds: Bounds) -> Iterator[Json]:
        """The events of a stream. Raises UnusableAnswer for one that can't be read."""
        try:
            for event in stream:
                value = object_or_empty(self._transport.value(event))
                if reported := reported_error(value):
                    raise self._error_within(reported, stream.response.headers)
                yield value
        except openai.APITimeoutError as error:
            self._end_at_deadline(bounds, error)
            raise
        except _ErrorResponse:
            raise
        except openai.APIError as error:
            if type(error) is openai.APIError and error.body:
                # The client's own exception for an event that is an error.
                body = {"error": self._transport.value(error.body)}
                raise self._error_within(body, stream.response.headers) from error
            raise
        except (*_BROKEN, UnusableAnswer):
            raise
        except Exception as error:
            raise UnusableAnswer(
                f"its stream can't be read: {self._transport.line(error)}"
            ) from error

    def _apply_headers(self, headers: Mapping[str, str], call: Call) -> None:
        """Pass on to the limiter what an answer's headers say is left of the endpoint's limits."""
        for left, reset in allowances(headers):
            # Where the reset is farther away, the next call's refusal says so, and ends the run.
            if reset <= MAX_WAIT_SECONDS:
                self._limiter.allowance(call, left, reset)

    def _learn(self, role: NamedModel, used: Parameters, better: Parameters, *reasons: str) -> None:
        """Remember a model's parameters, unless another thread has changed them meanwhile."""
        with self._lock:
            if better == used or self._parameters.get(role.model, Parameters()) != used:
                return
            self._parameters[role.model] = better
        for reason in reasons:
            LOG.info("Requests to %s at %s are changed: %s.", role.model, self.url, reason)

    @contextmanager
    def _translate_errors(self, role: NamedModel, call: Call) -> Iterator[None]:
        """Translate the client's errors into ours, temporary ones and others."""
        try:
            yield
        except _ErrorResponse as error:
            raise self._error_for(error, role, call) from error
        except RedirectRefused as error:
            kind = _UnusableAnswer if role.model in self._answered else ModelError
            raise kind(f"{self.url} can't be used: {self._transport.line(error)}.") from error
        except UnusableAnswer as error:
            why = self._transport.line(error)
            raise _UnusableAnswer(f"{self.url} sent an unusable answer: {why}.") from error
        except openai.APITimeoutError as error:
            # A small server with too many calls at once answers late, and not with 429.
            self._limiter.late(call)
            raise _Temporary(
                f"{self.url} did not answer within {self._patience.timeout:g} s (FABULA_TIMEOUT)."
            ) from error
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            why = self._transport.line(cause)
            message = f"{self.url} can't be reached, or hung up: {why} (OPENAI_BASE_URL)."
            # A server that has answered before, and breaks the protocol now, sent something odd.
            if isinstance(cause, httpx2.RemoteProtocolError) and role.model in self._answered:
                raise _UnusableAnswer(message) from error
            raise _Temporary(message) from error
        except _BROKEN as error:
            why = self._transport.line(error).rstrip(".")
            raise _UnusableAnswer(f"{self.url} failed: {why}.") from error

    def _error_for(self, response: _ErrorResponse, role: NamedModel, call: Call) -> ModelError:
        """The exception for an error that the endpoint answered with."""
        error, after = response.error, requested_wait(response.headers)
        message = self._transport.text(error.explain(self.url, role))
        has_answered = role.model in self._answered
        if not error.temporary:
            if error.filtered or error.too_long:
                return TextRefused(message)
            # If the model has answered other calls, it is this one text that it refuses.
            is_about_text = has_answered and error.about_request(role.model)
            return (BadReply if is_about_text else ModelError)(message)
        if after is not None and after > MAX_WAIT_SECONDS:
            wait = f"It asks to wait {after / 60:.0f} minutes: try again after that."
            return ModelError(f"{message} {wait}")
        if error.status == 429:
            self._limiter.refused(call, after)
            return _RateLimited(message, after)
        if response.in_body and has_answered:
            return _UnusableAnswer(message, after)
        return _Temporary(message, after)

    def _retry(
        self, work: Callable[[], Result], role: NamedModel, tries: Tries, purpose: Purpose
    ) -> Result:
        """The result of `work`, tried again while its error is temporary and it is waited for."""

        def is_temporary(error: BaseException) -> bool:
            tries.refused += isinstance(error, _RateLimited)
            tries.failed += isinstance(error, _Temporary) and not isinstance(error, _RateLimited)
            return isinstance(error, _Temporary) and not purpose.stop.is_set()

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(is_temporary),
            stop=lambda state: self._give_up(state, role, tries),
            wait=lambda state: self._wait(state, tries),
            sleep=partial(self._limiter.pause, purpose=purpose),
            before_sleep=lambda state: self._log_retry(state, tries),
            reraise=True,
        )
        try:
            result = retrying(work)
        except _Temporary as error:
            if purpose.stop.is_set():
                raise Stopped from error
            kind = BadReply if isinstance(error, _UnusableAnswer) else ModelError
            raise kind(f"{error} Given up after {tries.faults} tries.") from error
        self._answered.add(role.model)
        return result

    def _give_up(self, state: tenacity.RetryCallState, role: NamedModel, tries: Tries) -> bool:
        """Whether to stop trying: after too many failures, or too long a time of refusals."""
        if state.outcome and isinstance(state.outcome.exception(), _RateLimited):
            waited = min(self._limiter.silent_for, time.monotonic() - state.start_time)
            limit = self._patience.refusals
            if role.model not in self._answered:
                limit = min(limit, FIRST_REFUSAL_SECONDS)
            return waited >= limit
        return tries.failed >= self._max_tries(role)

    def _max_tries(self, role: NamedModel) -> int:
        tries = self._patience.attempts
        return tries if role.model in self._answered else min(FIRST_TRIES, tries)

    def _wait(self, state: tenacity.RetryCallState, tries: Tries) -> float:
        """Seconds before the next try; random, so that threads do not all come back at once."""
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, _Temporary) and error.after is not None:
            return error.after * (1 + random.random() / 4)
        if isinstance(error, _RateLimited):
            return 0.0
        doubled = self._patience.first_wait * 2.0 ** min(tries.failed - 1, 6)
        return doubled * (0.75 + random.random() / 2)

    def _log_retry(self, state: tenacity.RetryCallState, tries: Tries) -> None:
        if state.outcome is None or state.next_action is None:
            return
        error, seconds = state.outcome.exception(), state.next_action.sleep
        # The first retries are common; from the third on, users should know why they wait.
        level = logging.INFO
        if (
            tries.faults >= FIRST_TRIES
            and time.monotonic() >= self._warned_at + WARNING_INTERVAL_SECONDS
        ):
            level, self._warned_at = logging.WARNING, time.monotonic()
        LOG.log(level, "%s Trying again in %.1f s.", error, seconds)
