"""Chat and embeddings of any OpenAI-compatible endpoint; retries have their one home here."""

from __future__ import annotations

import json
import logging
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import openai
import tenacity

from fabula.errors import BadReply, ModelError
from fabula.providers import Embeddings, Prompt, Reply
from fabula.providers.address import checked_key, checked_url
from fabula.providers.dialect import Dialect, refused_parameter
from fabula.providers.limiter import Limiter, Patience
from fabula.providers.trouble import Role, Trouble, wait_asked
from fabula.providers.wire import (
    Json,
    choice,
    ends,
    no_text,
    says,
    unit_rows,
    usage,
    without_thoughts,
)

LOG = logging.getLogger("fabula")
OPENAI = "https://api.openai.com/v1"
CONNECT_SECONDS = 10.0
LONGEST_WAIT = 600.0
"""Seconds; an endpoint that asks for more has refused."""

Body = Callable[[Dialect], Json]
"""Makes a request's body in the words that the model accepts."""
_EVENTS = openai.Stream[Any]
Result = TypeVar("Result")


class _Passing(ModelError):
    """Trouble that may be gone at the next try, `after` so many seconds where it says so."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class Endpoint:
    """One endpoint: one client for all threads, whose calls share one limiter."""

    def __init__(
        self,
        base_url: str | None,
        api_key: str | None,
        limiter: Limiter,
        patience: Patience,
    ) -> None:
        self.url = checked_url(base_url or OPENAI)
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
        self._retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_Passing),
            stop=tenacity.stop_after_attempt(patience.attempts),
            wait=self._wait,
            sleep=limiter.pause,
            before_sleep=_log_retry,
            reraise=True,
        )

    def close(self) -> None:
        """Ends all waiting and closes the connections."""
        self._limiter.close()
        self._client.close()

    def ask(self, path: str, role: Role, body: Body) -> Json:
        """The endpoint's answer, retried while its trouble may pass. Raises ModelError."""

        def once() -> Json:
            with self._limiter.slot() as mark, self._translating(role, mark):
                answer = self._post(path, role, body, stream=False)
                if not isinstance(answer, dict):
                    raise ModelError(
                        f"{self.url} does not answer as an OpenAI-compatible endpoint: "
                        "check OPENAI_BASE_URL, which often ends with /v1."
                    )
                if answer.get("error"):
                    raise _Passing(f"{self.url} failed: {str(answer['error'])[:300]}")
                return answer

        return self._patiently(once)

    def events(self, path: str, role: Role, body: Body) -> Iterator[Json]:
        """The events of a streamed answer, retried as long as none has said anything."""
        with ExitStack() as held:

            def opened() -> tuple[list[Json], Iterator[Json]]:
                # The turn is kept until the last event was read, unless this try fails.
                with ExitStack() as turn:
                    mark = turn.enter_context(self._limiter.slot())
                    with self._translating(role, mark):
                        stream = self._post(path, role, body, stream=True)
                        turn.callback(stream.close)
                        events, silent = iter(stream), []
                        for event in events:
                            silent.append(event)
                            if says(event):
                                held.push(turn.pop_all())
                                return silent, events
                        raise _Passing(f"{self.url} sent nothing.")

            first, rest = self._patiently(opened)
            yield from first
            finished = ends(first[-1])
            try:
                for event in rest:
                    finished = finished or ends(event)
                    yield event
            except (openai.APIError, json.JSONDecodeError) as error:
                raise ModelError(f"{self.url} cut the answer short: {error}") from error
            if not finished:
                raise ModelError(f"{self.url} cut the answer short: ask again.")

    def leave_room(self, role: Role) -> bool:
        """Whether a model that spent its reply on thinking is to be asked again, with more."""
        used = self._dialects.get(role.model, Dialect())
        return self._learn(role, used, replace(used, thinks=True), "it thinks before it replies")

    def _post(self, path: str, role: Role, body: Body, *, stream: bool) -> Any:
        """One request, put otherwise as long as the endpoint refuses a parameter of it."""
        while True:
            dialect = self._dialects.get(role.model, Dialect())
            said = body(dialect)
            try:
                # `post` and plain dictionaries: the typed methods cost half as much CPU again.
                if not stream:
                    return self._client.post(path, body=said, cast_to=object)
                return self._client.post(
                    path, body=said, cast_to=object, stream=True, stream_cls=_EVENTS
                )
            except openai.APIStatusError as error:
                trouble = _trouble(error)
                if trouble.status not in (400, 422) or trouble.too_long or trouble.filtered:
                    raise
                refused = refused_parameter(trouble.parameter, trouble.message, said)
                if refused is None:
                    raise
                self._learn(role, dialect, dialect.without(refused), f"it refuses {refused}")

    def _learn(self, role: Role, used: Dialect, better: Dialect, why: str) -> bool:
        """Remember for all threads; what another one has learned meanwhile stays."""
        with self._learning:
            if better == used or self._dialects.get(role.model, Dialect()) != used:
                return False
            self._dialects[role.model] = better
        LOG.info("%s at %s is asked otherwise from now on: %s.", role.model, self.url, why)
        return True

    @contextmanager
    def _translating(self, role: Role, mark: int) -> Iterator[None]:
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
            if trouble.status == 429 or after is not None:
                held = 2 * self._patience.first_wait if after is None else after
                self._limiter.slow_down(held, mark)
            raise _Passing(message, after) from error
        except openai.APITimeoutError as error:
            # A small server that is asked too much at once answers late, not with 429.
            self._limiter.slow_down(0.0, mark)
            raise _Passing(
                f"{self.url} did not answer within {self._patience.timeout:g} s (FABULA_TIMEOUT)."
            ) from error
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            raise _Passing(
                f"{self.url} can't be reached, or hung up: {cause} (OPENAI_BASE_URL)."
            ) from error
        except (openai.APIError, json.JSONDecodeError) as error:
            raise _Passing(f"{self.url} failed: {error}") from error

    def _patiently(self, work: Callable[[], Result]) -> Result:
        try:
            return self._retrying(work)
        except _Passing as error:
            raise ModelError(f"{error} Given up after {self._patience.attempts} tries.") from error

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """Seconds before the next try; spread, so that threads do not come back as one."""
        outcome = state.outcome.exception() if state.outcome else None
        if isinstance(outcome, _Passing) and outcome.after is not None:
            return outcome.after * (1 + random.random() / 4)
        doubled = self._patience.first_wait * 2.0 ** min(state.attempt_number - 1, 6)
        return doubled * (0.75 + random.random() / 2)


class OpenAIChat:
    """A chat model at an endpoint; `setting` is what named it, for the error messages."""

    def __init__(self, endpoint: Endpoint, model: str, setting: str = "FABULA_MODEL") -> None:
        self._endpoint = endpoint
        self._role = Role(model, setting)

    def complete(self, prompt: Prompt) -> Reply:
        """The whole reply. Raises BadReply for one without text or cut JSON, and ModelError."""
        model = self._role.model
        answer = self._endpoint.ask(
            "/chat/completions", self._role, lambda d: d.chat(model, prompt, stream=False)
        )
        picked = choice(answer)
        message = picked.get("message") or {}
        text = without_thoughts(message.get("content") or "")
        reason = picked.get("finish_reason")
        if not text.strip():
            if reason == "length" and self._endpoint.leave_room(self._role):
                return self.complete(prompt)
            raise no_text(model, reason, message.get("refusal"))
        if reason == "length" and prompt.schema is not None:
            raise BadReply(f"{model} did not finish its JSON within {prompt.max_tokens} tokens.")
        return Reply(text, *usage(answer))

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
        """The reply's pieces as they arrive, then an empty one with the token counts.

        Retried until the first piece; an answer that is cut after it raises ModelError.
        """
        model = self._role.model
        said, refusal, reason, tokens = False, "", None, (0, 0)
        for event in self._endpoint.events(
            "/chat/completions", self._role, lambda d: d.chat(model, prompt, stream=True)
        ):
            picked = choice(event)
            delta = picked.get("delta") or {}
            tokens = usage(event) if event.get("usage") else tokens
            reason = picked.get("finish_reason") or reason
            refusal += delta.get("refusal") or ""
            if delta.get("content"):
                said = True
                yield Reply(delta["content"])
        if not said:
            if reason == "length" and self._endpoint.leave_room(self._role):
                yield from self.stream(prompt)
                return
            raise no_text(model, reason, refusal)
        yield Reply("", *tokens)


class OpenAIEmbedder:
    """An embedding model at an endpoint; `batch` is how many texts one call may carry."""

    def __init__(self, endpoint: Endpoint, model: str, batch: int = 128) -> None:
        self._endpoint = endpoint
        self._role = Role(model, "FABULA_EMBEDDING_MODEL")
        self.model = model
        self.batch = batch

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Unit float32 rows, shape (texts, dimensions), in order. Raises ModelError, BadReply."""
        answer = self._endpoint.ask(
            "/embeddings", self._role, lambda d: d.embeddings(self.model, texts)
        )
        vectors = unit_rows(answer.get("data") or [], len(texts))
        return Embeddings(vectors, usage(answer)[0])


def _trouble(error: openai.APIStatusError) -> Trouble:
    told = error.body.get("message") if isinstance(error.body, dict) else None
    message = told if isinstance(told, str) else error.message
    return Trouble(error.status_code, message, error.code or "", error.param)


def _log_retry(state: tenacity.RetryCallState) -> None:
    if state.outcome is not None and state.next_action is not None:
        # By the third try people wonder what is being waited for.
        level = logging.WARNING if state.attempt_number == 3 else logging.INFO
        trouble, seconds = state.outcome.exception(), state.next_action.sleep
        LOG.log(level, "%s Trying again in %.1f s.", trouble, seconds)
