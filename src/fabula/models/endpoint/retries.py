"""Whether and when a failed call of an endpoint is tried again. All retries of calls are here."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

import httpx2
import openai
import tenacity

from fabula.errors import BadReply, ModelError, Stopped, TextRefused
from fabula.models.endpoint.client import BROKEN, EndpointClient
from fabula.models.endpoint.errors import (
    EndpointError,
    ErrorResponse,
    NamedModel,
    Tries,
    requested_wait,
)
from fabula.models.endpoint.learned import LearnedBehaviour
from fabula.models.endpoint.transport import RedirectRefused, UnusableAnswer
from fabula.models.limiter import Limiter, RetryPolicy
from fabula.models.purpose import Purpose
from fabula.models.rate_limit import SERIAL_LEVEL, Call
from fabula.text.nouns import count_noun

LOG = logging.getLogger("fabula")
MAX_WAIT_SECONDS = 600.0
"""The longest wait that an endpoint may ask for; if it asks for more, the call fails."""
FIRST_TRIES = 3
"""Tries for a model that has never answered: it is probably not there at all."""
FIRST_REFUSAL_SECONDS = 90.0
"""How long a model that has never answered may refuse all calls with 429."""
MAX_SHARED_REFUSALS = 20
"""After this many refusals for a context that calls share, a text counts as too long by itself."""
WARNING_INTERVAL_SECONDS = 30.0
"""The shortest time between two warnings about retries: many calls wait for the same thing."""
ONE_AT_A_TIME = (
    "For a server with one slot set FABULA_CONCURRENCY to 1, or give it more "
    "(llama.cpp: --parallel; Ollama: OLLAMA_NUM_PARALLEL)."
)
Result = TypeVar("Result")


class TemporaryError(ModelError):
    """An error that may be gone at the next try, `after` seconds if the endpoint says so."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class RateLimitedError(TemporaryError):
    """The endpoint is called too often (429) or busy; the limiter decides when the next try starts.

    Args:
        message: What happened.
        after: The seconds that the endpoint asks to wait, if it does.
        is_loading: Whether the server loads the model, so that a first answer may take long.
    """

    def __init__(
        self, message: str, after: float | None = None, *, is_loading: bool = False
    ) -> None:
        super().__init__(message, after)
        self.is_loading = is_loading


class SharedContextError(RateLimitedError):
    """The calls under way together do not fit the server's context."""


class UnusableAnswerError(TemporaryError):
    """An answer that can't be used. If it stays so, only this call fails, not the run."""


class EndpointRetries:
    """Translates the errors of an endpoint's calls, and repeats calls; all threads share it.

    What an error means depends on what happened before: if a model has answered once, a later error
    is about one text or one moment. Before that, it says that the settings are wrong.
    """

    def __init__(
        self,
        client: EndpointClient,
        limiter: Limiter,
        patience: RetryPolicy,
        behaviour: LearnedBehaviour,
    ) -> None:
        """Prepare to repeat calls of a client.

        Args:
            client: Sends the calls.
            limiter: Receives refusals and late answers, and makes the pauses.
            patience: How long to wait for answers, and how often to try.
            behaviour: Logs each warning about the endpoint once.
        """
        self._client, self._limiter, self._patience = client, limiter, patience
        self._behaviour = behaviour
        self._answered: set[str] = set()
        self._warned_at = -WARNING_INTERVAL_SECONDS

    def note_answer(self, model: str) -> None:
        """Note that a model has answered: later errors are about one text, not about the model."""
        self._answered.add(model)

    def has_answered(self, model: str) -> bool:
        """Return whether a model has answered before."""
        return model in self._answered

    def is_last_try(self, role: NamedModel, tries: Tries) -> bool:
        """Return whether the try under way is the last one for its call."""
        return tries.failed + 1 >= self._max_tries(role)

    def run(
        self, work: Callable[[], Result], role: NamedModel, tries: Tries, purpose: Purpose
    ) -> Result:
        """Return the result of `work`, tried again while its error is temporary.

        Raises:
            ModelError: It failed for good. It is a BadReply where the next call may succeed.
            Stopped: The purpose was stopped.
        """

        def is_temporary(error: BaseException) -> bool:
            tries.refused += isinstance(error, RateLimitedError)
            tries.shared += isinstance(error, SharedContextError)
            tries.failed += isinstance(error, TemporaryError) and not isinstance(
                error, RateLimitedError
            )
            return isinstance(error, TemporaryError) and not purpose.stop.is_set()

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
        except TemporaryError as error:
            if purpose.stop.is_set():
                raise Stopped from error
            kind = BadReply if isinstance(error, UnusableAnswerError) else ModelError
            kind = TextRefused if isinstance(error, SharedContextError) else kind
            tries_made = count_noun(tries.faults, "try")
            raise kind(f"{error} Given up after {tries_made}.") from error
        self.note_answer(role.model)
        self._warn_of_turns()
        return result

    def _give_up(self, state: tenacity.RetryCallState, role: NamedModel, tries: Tries) -> bool:
        """Whether to stop trying: after too many failures, or too long a time of refusals."""
        # A refusal with 429 says that the endpoint is there and busy: it is no failure as long as
        # some call of this program is answered (`silent_for`).
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, SharedContextError) and tries.shared >= MAX_SHARED_REFUSALS:
            return True
        if isinstance(error, RateLimitedError):
            waited = min(self._limiter.silent_for, time.monotonic() - state.start_time)
            limit = self._patience.refusals
            if role.model not in self._answered and not error.is_loading:
                limit = min(limit, FIRST_REFUSAL_SECONDS)
            return waited >= limit
        return tries.failed >= self._max_tries(role)

    def _max_tries(self, role: NamedModel) -> int:
        tries = self._patience.attempts
        return tries if role.model in self._answered else min(FIRST_TRIES, tries)

    def _wait(self, state: tenacity.RetryCallState, tries: Tries) -> float:
        """Seconds before the next try; random, so that threads do not all come back at once."""
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, TemporaryError) and error.after is not None:
            return error.after * (1 + random.random() / 4)
        if isinstance(error, RateLimitedError):
            # The limiter has lowered its rate for all threads; it lets this call wait its turn.
            return 0.0
        doubled = self._patience.first_wait * 2.0 ** min(tries.failed - 1, 6)
        return doubled * (0.75 + random.random() / 2)

    def _log_retry(self, state: tenacity.RetryCallState, tries: Tries) -> None:
        if state.outcome is None or state.next_action is None:
            return
        error, seconds = state.outcome.exception(), state.next_action.sleep
        # The first retries are common; from the third on, users should know why they wait.
        level = logging.INFO
        is_due = time.monotonic() >= self._warned_at + WARNING_INTERVAL_SECONDS
        if tries.faults >= FIRST_TRIES and is_due:
            level, self._warned_at = logging.WARNING, time.monotonic()
        LOG.log(level, "%s Trying again in %.1f s.", error, seconds)

    @contextmanager
    def translate_errors(self, role: NamedModel, call: Call) -> Iterator[None]:
        """Translate a client's errors into ours, a TemporaryError where a next try may succeed."""
        url, transport = self._client.url, self._client.transport
        try:
            yield
        except ErrorResponse as error:
            raise self._error_for(error, role, call) from error
        except RedirectRefused as error:
            kind = UnusableAnswerError if role.model in self._answered else ModelError
            raise kind(f"{url} can't be used: {transport.line(error)}.") from error
        except UnusableAnswer as error:
            why = transport.line(error)
            raise UnusableAnswerError(f"{url} sent an unusable answer: {why}.") from error
        except openai.APITimeoutError as error:
            # A small server with too many calls at once answers late, and not with 429.
            self._limiter.report_lateness(call)
            self._warn_of_lateness()
            raise TemporaryError(
                f"{url} did not answer within {self._patience.timeout:g} s (FABULA_TIMEOUT)."
            ) from error
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            why = transport.line(cause)
            message = f"{url} can't be reached, or closed the connection: {why} (OPENAI_BASE_URL)."
            # A server that has answered before, and breaks the protocol now, sent something odd.
            if isinstance(cause, httpx2.RemoteProtocolError) and role.model in self._answered:
                raise UnusableAnswerError(message) from error
            raise TemporaryError(message) from error
        except BROKEN as error:
            why = transport.line(error).rstrip(".")
            raise UnusableAnswerError(f"{url} failed: {why}.") from error

    def _error_for(self, response: ErrorResponse, role: NamedModel, call: Call) -> ModelError:
        """The exception for an error that the endpoint answered with."""
        url, transport = self._client.url, self._client.transport
        error, after = response.error, requested_wait(response.headers)
        after = error.wait if after is None else after
        message = transport.text(error.explain(url, role))
        has_answered = role.model in self._answered
        if error.shared_context and call.is_shared:
            # Refusals make the limiter send fewer calls at once, at last this one alone.
            self._limiter.report_refusal(call, after)
            return SharedContextError(message, after)
        if not error.temporary:
            return self._lasting_error(error, role, message)
        if after is not None and after > MAX_WAIT_SECONDS:
            wait = f"It asks to wait {after / 60:.0f} minutes: try again after that."
            return ModelError(f"{message} {wait}")
        if error.busy:
            self._limiter.report_refusal(call, after)
            return RateLimitedError(message, after, is_loading=error.loading)
        if has_answered and (response.in_body or error.malformed):
            return UnusableAnswerError(message, after)
        return TemporaryError(message, after)

    def _lasting_error(self, error: EndpointError, role: NamedModel, message: str) -> ModelError:
        """The exception for an error that the next try would meet, too."""
        has_answered = role.model in self._answered
        if error.unknown_path and has_answered:
            # A proxy says so while the server behind it is away.
            return UnusableAnswerError(message)
        if error.filtered or error.too_long or error.refuses_size(role):
            return TextRefused(message)
        if error.malformed:
            return BadReply(message)
        # If the model has answered other calls, it is this one text that it refuses.
        is_about_text = has_answered and error.about_request(role.model)
        return (BadReply if is_about_text else ModelError)(message)

    def _warn_of_lateness(self) -> None:
        """Say once that calls wait for each other, while the user sees nothing happen."""
        limits = self._limiter.limits()
        if limits["under_way"] > 0:
            self._behaviour.warn(
                "",
                "late",
                f"{self._client.url} did not answer within {self._patience.timeout:g} s "
                f"(FABULA_TIMEOUT), with {limits['under_way'] + 1:.0f} calls under way: at most "
                f"{limits['at_once']:.0f} are made at once from now on. {ONE_AT_A_TIME}",
            )

    def _warn_of_turns(self) -> None:
        """Say once that the endpoint works on one call at a time."""
        if self._limiter.is_serial:
            self._behaviour.warn(
                "",
                "turns",
                f"{self._client.url} answers one call at a time, so that {SERIAL_LEVEL} are made "
                f"at once from now on. {ONE_AT_A_TIME}",
            )
