"""Send requests with the parameters that their model accepts, learned from what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from fabula.models.endpoint.call import ModelCall
from fabula.models.endpoint.errors import (
    PROXY_TIMEOUTS,
    TEMPORARY_STATUSES,
    EndpointError,
    ErrorResponse,
)
from fabula.models.endpoint.learned import LearnedBehaviour
from fabula.models.endpoint.parameters import (
    NOT_STREAMED,
    WAYS,
    Parameters,
    lost_parameters,
    optional_parameters,
    refused_parameter,
)
from fabula.models.endpoint.payload import Json

Answer = TypeVar("Answer")


def send_accepted(
    call: ModelCall,
    send: Callable[[Json], Answer],
    behaviour: LearnedBehaviour,
    is_last_try: Callable[[], bool],
) -> Answer:
    """Send one request; where the endpoint refuses a parameter of it, send it without.

    A parameter that the error names is left out. Where it names none, those that the model has
    never accepted are left out in turn, until the error is gone; after a server error (5xx), which
    is seldom about parameters, only at the last try.

    Raises:
        ErrorResponse: An error that no parameter is to blame for.
    """
    model, body = call.role.model, call.body
    known = behaviour.of(model)
    used, accepted = known.parameters, known.accepted
    parameters = used
    refused: list[str] = []
    is_guess = False
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
            if is_about_texts or not error.about_request(model):
                raise
            is_server_error = error.status >= 500
            name = find_refused(error, request)
            if name in WAYS:
                if not WAYS.isdisjoint(refused):
                    # The other way was refused before: there is no third one.
                    raise
                # A failing server says nothing about streams.
                name = None if is_server_error else name
            # A failing server may name any parameter in passing. One that the model has accepted
            # before is not to blame.
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
            # It may have been gone by itself.
            is_guess = is_server_error
            break
    accepted.update(optional_parameters(body(parameters)))
    reasons = [f"it refuses {name}" for name in refused]
    behaviour.learn(model, used, parameters, *reasons, guessed=is_guess)
    return answer


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
