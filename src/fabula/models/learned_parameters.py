"""Which parameters each model at an endpoint accepts, learned from what the endpoint refuses."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from fabula.models.endpoint_errors import (
    PROXY_TIMEOUTS,
    TEMPORARY_STATUSES,
    EndpointError,
    ErrorResponse,
    NamedModel,
)
from fabula.models.model_call import ModelCall
from fabula.models.parameters import (
    NOT_STREAMED,
    WAYS,
    Parameters,
    lost_parameters,
    optional_parameters,
    refused_parameter,
)
from fabula.models.payload import Json

LOG = logging.getLogger("fabula")
Answer = TypeVar("Answer")


class LearnedParameters:
    """The parameters of each model at one endpoint; all threads share them."""

    def __init__(self, url: str) -> None:
        """Know nothing yet: each model is sent all parameters.

        Args:
            url: The endpoint's URL without secrets, for messages.

        """
        self._url = url
        self._lock = threading.Lock()
        self._parameters: dict[str, Parameters] = {}
        self._accepted: dict[str, set[str]] = {}
        """The optional parameters that each model has accepted in an answered call."""

    def find(self, model: str) -> Parameters:
        """Return the parameters that a model is known to accept."""
        with self._lock:
            return self._parameters.get(model, Parameters())

    def remember(self, model: str, parameters: Parameters) -> None:
        """Take over the parameters that a model has accepted in an earlier process."""
        with self._lock:
            self._parameters.setdefault(model, parameters)

    def allow_thinking(self, role: NamedModel, used: Parameters) -> bool:
        """Give a model that spent its whole reply on thinking more tokens from now on.

        Returns:
            Whether to ask again; False if the call, made with the parameters `used`, had them.

        """
        if used.thinks:
            return False
        self._learn(role, used, replace(used, thinks=True), "it thinks before it replies")
        return True

    def send(
        self, call: ModelCall, send: Callable[[Json], Answer], is_last_try: Callable[[], bool]
    ) -> Answer:
        """Send one request; where the endpoint refuses a parameter of it, send it without.

        A parameter that the error names is left out. Where it names none, those that the model has
        never accepted are left out in turn, until the error is gone; after a server error (5xx),
        which is seldom about parameters, only at the last try.

        Raises:
            ErrorResponse: An error that no parameter is to blame for.

        """
        role, body = call.role, call.body
        used = parameters = self.find(role.model)
        accepted = self._accepted.setdefault(role.model, set())
        refused: list[str] = []
        while True:
            request = body(parameters)
            try:
                answer = send(request)
                break
            except ErrorResponse as response:
                error = response.error
                if is_proxy_timeout(error, request) and WAYS.isdisjoint(refused):
                    # A stream keeps the connection open; the same call again would time out again.
                    refused.append(NOT_STREAMED)
                    parameters = parameters.without(NOT_STREAMED)
                    continue
                is_about_texts = error.too_many_texts and len(request.get("input", ())) > 1
                if is_about_texts or not error.about_request(role.model):
                    raise
                is_server_error = error.status >= 500
                name = find_refused(error, request)
                if name in WAYS:
                    if not WAYS.isdisjoint(refused):
                        # The other way was refused before: there is no third one.
                        raise
                    # A failing server says nothing about streams.
                    name = None if is_server_error else name
                # A failing server may name any parameter in passing. One that the model has
                # accepted before is not to blame.
                if name and not (is_server_error and name in accepted):
                    refused.append(name)
                    parameters = parameters.without(name)
                    continue
                if error.parameter or (is_server_error and not is_last_try()):
                    raise
                success = _try_without(send, call, parameters, accepted)
                if success is None:
                    raise
                answer, parameters = success
                refused += lost_parameters(request, body(parameters))
                break
        accepted.update(optional_parameters(body(parameters)))
        self._learn(role, used, parameters, *(f"it refuses {name}" for name in refused))
        return answer

    def _learn(self, role: NamedModel, used: Parameters, better: Parameters, *reasons: str) -> None:
        """Remember a model's parameters, unless another thread has changed them meanwhile."""
        with self._lock:
            # Two calls may learn different things side by side. The first one counts: the other
            # call meets its own refusal again, and then adds to what is known.
            if better == used or self._parameters.get(role.model, Parameters()) != used:
                return
            self._parameters[role.model] = better
        for reason in reasons:
            LOG.info("Requests to %s at %s are changed: %s.", role.model, self._url, reason)


def is_proxy_timeout(error: EndpointError, request: Json) -> bool:
    """Return whether a proxy did not wait for a whole reply, as long as it would for a stream."""
    return error.status in PROXY_TIMEOUTS and "messages" in request and not request.get("stream")


def find_refused(error: EndpointError, request: Json) -> str | None:
    """Return the parameter of a request that an endpoint's error is about, if it names one."""
    return refused_parameter(error.parameter, error.message, request) or (
        refused_parameter(None, error.details, request) if not error.parameter else None
    )


def _try_without(
    send: Callable[[Json], Answer], call: ModelCall, parameters: Parameters, accepted: set[str]
) -> tuple[Answer, Parameters] | None:
    """The first answer to a request with fewer parameters, and those parameters."""
    for fewer in parameters.alternatives(call.body(parameters), accepted):
        try:
            return send(call.body(fewer)), fewer
        except ErrorResponse as response:
            if response.error.status in TEMPORARY_STATUSES:
                raise
    # `body` remembers the parameters that it was called with last.
    call.body(parameters)
    return None
