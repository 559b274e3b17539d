"""An endpoint's interface of files and batches, as OpenAI defined it: requests, and read lines."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import IO, Any

from fabula.errors import BadReply, ModelError, TextRefused
from fabula.models.endpoint.accepted import find_refused
from fabula.models.endpoint.client import BROKEN, EndpointClient, Method
from fabula.models.endpoint.errors import EndpointError, ErrorResponse, NamedModel, requested_wait
from fabula.models.endpoint.payload import Json, object_or_empty, reported_error
from fabula.models.endpoint.retries import MAX_WAIT_SECONDS
from fabula.models.endpoint.transport import MAX_ANSWER_BYTES, UnusableAnswer
from fabula.models.limiter import Limiter, RetryPolicy
from fabula.models.purpose import BUILD, Purpose

LOG = logging.getLogger("fabula")


class InterfaceRefused(ModelError):
    """The endpoint's interface of files and batches refused a request.

    Args:
        message: What happened.
        status: The HTTP status; 0 if no answer came.
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status

    @property
    def is_temporary(self) -> bool:
        """Whether the same request may succeed later."""
        return not 400 <= self.status < 500 or self.status in (408, 409, 429)


class BatchInterface:
    """The interface of files and batches at one endpoint.

    Its requests are few and cost nothing, so that the limiter of calls does not bound them; it only
    makes the pauses between tries, so that closing the endpoint ends them.
    """

    def __init__(self, client: EndpointClient, limiter: Limiter, patience: RetryPolicy) -> None:
        self._client, self._limiter, self._patience = client, limiter, patience

    @property
    def has_deployments(self) -> bool:
        """Whether the URL names deployments of Azure, below which there are no files."""
        return self._client.has_deployments

    def request(
        self,
        method: Method,
        path: str,
        *,
        body: Json | None = None,
        query: Mapping[str, str] | None = None,
        max_bytes: int = MAX_ANSWER_BYTES,
        retry: bool = True,
        purpose: Purpose = BUILD,
    ) -> bytes:
        """Make one request, and return what the endpoint answers.

        Args:
            method: GET, POST or DELETE.
            path: The path below the endpoint's URL, as /batches.
            body: The JSON to send; None for none.
            query: Parameters of the URL.
            max_bytes: The largest answer.
            retry: Whether it is made again after an error that may be temporary. Not for a request
                that must not be done twice: whether it was done can be seen by another request.
            purpose: Its stop ends the waiting between tries.

        Raises:
            InterfaceRefused: It was refused, or not answered.
            Stopped: The purpose was stopped.
        """

        def send() -> bytes:
            return self._client.transfer(method, path, body, query, max_bytes)

        return self._repeat(f"{method} {path}", send, self._patience.attempts * retry, purpose)

    def upload(self, name: str, file: IO[bytes], purpose: Purpose = BUILD) -> bytes:
        """Upload a file of requests and return what the endpoint answers.

        Raises:
            InterfaceRefused: It was refused, or not answered.
        """

        def send() -> bytes:
            return self._client.upload(name, file)

        return self._repeat("POST /files", send, self._patience.attempts, purpose)

    def _repeat(
        self, what: str, send: Callable[[], bytes], attempts: int, purpose: Purpose
    ) -> bytes:
        """Return what `send` returns, tried again after errors that may be temporary."""
        url, transport = self._client.url, self._client.transport
        attempts = max(1, attempts)
        for attempt in range(1, attempts + 1):
            purpose.stop.check()
            after: float | None = None
            try:
                return send()
            except ErrorResponse as response:
                asked = requested_wait(response.headers)
                after = response.error.wait if asked is None else asked
                status, why = response.error.status, transport.line(response.error.message)
                failure = InterfaceRefused(f"{url} refused {what} ({status}): {why}", status)
                if not response.error.temporary:
                    raise failure from response
            except (*BROKEN, UnusableAnswer) as error:
                why = transport.line(error.__cause__ or error)
                failure = InterfaceRefused(f"{url} did not answer {what}: {why}", 0)
            if attempt == attempts or (after is not None and after > MAX_WAIT_SECONDS):
                raise failure
            LOG.info("%s Trying again.", failure)
            wait = self._patience.first_wait * 2.0 ** (attempt - 1) if after is None else after
            self._limiter.pause(wait, purpose=purpose)
        raise AssertionError("the last attempt returns or raises")

    # Lines of a batch's result

    def find_refused(self, status: int, body: object, request: Json) -> str | None:
        """Return the parameter of a batch's request that the line's error is about, if any."""
        error = EndpointError.of(status, body)
        return find_refused(error, request) if 400 <= status < 500 else None

    def line_error(self, status: int, body: object, role: NamedModel) -> ModelError:
        """Return the exception for an error that a line of a batch brought."""
        transport = self._client.transport
        error = EndpointError.of(status, transport.value(body))
        kind = TextRefused if error.filtered or error.too_long else BadReply
        failure = kind(transport.text(error.explain(self._client.url, role)))
        # As if it had been raised by a live call, so that `error_reported` finds it.
        failure.__cause__ = ErrorResponse(error, {})
        return failure

    def line_answer(self, body: Json) -> tuple[int, Any]:
        """Return the status and the cleaned body of a line whose status was that of a good one."""
        cleaned = self._client.transport.value(body)
        if reported := reported_error(cleaned):
            return self._client.error_within(reported, {}).error.status, object_or_empty(reported)
        return 200, cleaned
