"""An OpenAI-compatible endpoint, shared by all threads: when calls start, and who reads them.

`client` sends and reads, `retries` repeats what failed, `accepted` leaves out what the endpoint
refuses, `learned` remembers it, `fabula.models.limiter` decides when a call may start, and
`fabula.models.batch_interface` has the files and batches.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from fabula.errors import BadReply, ModelError
from fabula.models.batch_interface import BatchInterface
from fabula.models.endpoint.accepted import send_accepted
from fabula.models.endpoint.address import EndpointAddress, validate_key
from fabula.models.endpoint.call import ModelCall
from fabula.models.endpoint.client import BROKEN, AnswerEvents, EndpointClient
from fabula.models.endpoint.errors import (
    NO_VECTORS,
    EmptyStream,
    ErrorResponse,
    NamedModel,
    Tries,
    allowances,
)
from fabula.models.endpoint.learned import LearnedBehaviour
from fabula.models.endpoint.parameters import Parameters
from fabula.models.endpoint.payload import Json, ends_reply, has_content, reported_error
from fabula.models.endpoint.retries import MAX_WAIT_SECONDS, EndpointRetries, UnusableAnswerError
from fabula.models.endpoint.transport import UnusableAnswer
from fabula.models.limiter import Limiter, RetryPolicy
from fabula.models.purpose import Purpose
from fabula.models.rate_limit import Call
from fabula.models.windows import stated_window

if TYPE_CHECKING:
    from fabula.models.cache import ReplyCache

LIST_SECONDS = 3.0
"""How long the endpoint has to list its models: a question can do without."""
Answer = TypeVar("Answer")


class Endpoint:
    """An endpoint with one client for all threads, whose calls share one limiter."""

    def __init__(
        self,
        base_url: str | None,
        api_key: str | None,
        limiter: Limiter,
        patience: RetryPolicy,
        memory: ReplyCache | None = None,
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
        address, key = EndpointAddress.of(base_url), validate_key(api_key)
        self._client = EndpointClient(address, key, patience.timeout)
        self.url: str = self._client.url
        self.behaviour: LearnedBehaviour = LearnedBehaviour(self.url, memory)
        """What was learned of the models here."""
        self.batches: BatchInterface = BatchInterface(self._client, limiter, patience)
        """The interface of files and batches."""
        self._limiter = limiter
        self._retries = EndpointRetries(self._client, limiter, patience, self.behaviour)
        self._stated: dict[str, int | None] = {}
        """The window of each chat model as the server's list states it."""

    def limits(self) -> dict[str, float]:
        """Return the limiter's present limits; see `Limiter.limits`."""
        return self._limiter.limits()

    def close(self) -> None:
        """End all waiting; the last call under way closes the connections."""
        self._limiter.close()
        self._client.close()

    def parameters(self, model: str) -> Parameters:
        """Return the parameters that a model is known to accept."""
        return self.behaviour.of(model).parameters

    def note_answer(self, model: str) -> None:
        """Note that a model has answered, in an earlier process: it is there."""
        self._retries.note_answer(model)

    def allow_thinking(self, role: NamedModel, used: Parameters) -> bool:
        """Give a thinking model more tokens; see `LearnedBehaviour.allow_thinking`."""
        return self.behaviour.allow_thinking(role.model, used)

    @contextmanager
    def _slot(self, purpose: Purpose) -> Iterator[Call]:
        """Wait for a slot of the limiter, and hold it for a call."""
        with self._limiter.slot(purpose) as call, self._client.keep_open():
            call.cut = purpose.cut
            yield call

    def ask(self, call: ModelCall) -> Json:
        """Return the endpoint's answer; errors that may be temporary are retried.

        Raises:
            ModelError: The call failed for good. It is a BadReply where the next one may succeed.
            Stopped: The purpose was stopped.
        """
        role, purpose = call.role, call.purpose
        path = self._client.path(call.path, role)

        def try_once() -> Json:
            with (
                self._slot(purpose) as slot,
                self._retries.translate_errors(role, slot),
            ):
                answer = self._send(call, partial(self._post, path, slot, call.tries))
                if isinstance(answer, list):
                    # llama.cpp's own route for vectors, at the address without /v1.
                    answer = {"data": answer}
                if not isinstance(answer, dict):
                    # In the middle of a run it is a proxy's error page, which is temporary.
                    has_answered = self._retries.has_answered(role.model)
                    raise (UnusableAnswerError if has_answered else ModelError)(
                        f"{self.url} does not answer as an OpenAI-compatible endpoint: "
                        f"check OPENAI_BASE_URL, which often ends with /v1."
                    )
                return answer

        return self._retries.run(try_once, role, call.tries, purpose)

    def events(self, call: ModelCall) -> Generator[Json]:
        """Yield the events of a streamed answer; it is retried until the first one with content.

        The reader holds a slot of the limiter to the end, so it must not pause: each stream is read
        in a thread of its own (`fabula.models.read_ahead`). One who leaves ends the call at
        once, and so does the stop of an urgent purpose. Errors are those of `ask`, and EmptyStream,
        which is not retried: the same call without a stream is what says why.
        """
        model, cut = call.role.model, call.purpose.cut
        first, stream, rest, slot = self._retries.run(
            lambda: self._open(call), call.role, call.tries, call.purpose
        )
        with slot:
            finished = ends_reply(first[-1])
            failure: Exception | None = None
            yield from first
            try:
                for event in rest:
                    finished = finished or ends_reply(event)
                    yield event
            except (*BROKEN, UnusableAnswer, ErrorResponse) as error:
                failure = error
            if cut is not None:
                cut.check()
            if failure is not None:
                why = self._client.transport.line(failure).rstrip(".")
                raise BadReply(f"{self.url} cut the answer short: {why}.") from failure
            # Some servers never give a reason for the end (GenieX, several proxies), and only say
            # [DONE]. If a model's streams have had one before, its absence says that the reply is
            # not whole.
            if finished:
                self.behaviour.of(model).ends_streams = True
            elif not stream.is_done or self.behaviour.of(model).ends_streams:
                raise BadReply(f"{self.url} cut the answer short: ask again.")

    def _open(self, call: ModelCall) -> tuple[list[Json], AnswerEvents, Iterator[Json], ExitStack]:
        """Open a stream: its events up to one with content, itself, the others, and its slot."""
        path = self._client.path(call.path, call.role)
        with ExitStack() as stack:
            slot = stack.enter_context(self._slot(call.purpose))
            with self._retries.translate_errors(call.role, slot):
                stream = self._send(call, partial(self._begin_stream, path, slot))
                stack.callback(stream.close)
                events, first = stream.events(), []
                for event in events:
                    first.append(event)
                    if has_content(event):
                        # The slot is held until the last event has come.
                        return first, stream, events, stack.pop_all()
                raise EmptyStream(f"{self.url} sent nothing.")

    def _send(self, call: ModelCall, send: Callable[[Json], Answer]) -> Answer:
        """What `send` returns for the request with the parameters that the model accepts."""
        return send_accepted(
            call, send, self.behaviour, lambda: self._retries.is_last_try(call.role, call.tries)
        )

    def _post(self, path: str, slot: Call, tries: Tries, request: Json) -> Any:
        response = self._client.post(path, request, slot.cut)
        # First: the headers say what is left of a limit, also where the answer can't be read.
        self._apply_headers(response.headers, slot)
        answer = self._client.transport.answer(response)
        if isinstance(answer, dict) and (reported := reported_error(answer)):
            raise self._client.error_within(reported, response.headers)
        if isinstance(answer, list) and "documents" in request:
            return {"results": answer}
        is_packed = "encoding_format" in request
        if is_packed and tries.failed and isinstance(answer, dict) and answer.get("data") == []:
            # So OpenRouter answers for models that have no base64, each time.
            raise ErrorResponse(NO_VECTORS, response.headers, in_body=True)
        return answer

    def _begin_stream(self, path: str, slot: Call, request: Json) -> AnswerEvents:
        stream = self._client.open_stream(path, request, slot.cut)
        self._apply_headers(stream.headers, slot)
        return stream

    def _apply_headers(self, headers: Mapping[str, str], slot: Call) -> None:
        """Pass on to the limiter what an answer's headers say is left of the endpoint's limits."""
        for left, reset in allowances(headers):
            # Where the reset is farther away, the next call's refusal says so, and ends the run.
            if reset <= MAX_WAIT_SECONDS:
                self._limiter.allowance(slot, left, reset)

    def window(self, model: str) -> int | None:
        """Return how many tokens a chat model takes in a call, as its server says; or None.

        The server's list of models is asked for once. A server that does not answer, or lists no
        windows, is no error: the question is asked anyway.
        """
        if model not in self._stated:
            # Without a lock: two threads may ask, and get the same list.
            self._stated[model] = stated_window(self._list_models(), model)
        windows = (self._stated[model], self.behaviour.of(model).window)
        return min(filter(None, windows), default=None)

    def _list_models(self) -> object:
        try:
            return self._client.fetch("/models", LIST_SECONDS)
        except (*BROKEN, ErrorResponse, UnusableAnswer, ModelError):
            return None
