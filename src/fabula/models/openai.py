"""Chat models and embedding models of an OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabula import tracing
from fabula.errors import BadReply
from fabula.models import Embeddings, Prompt, Reply
from fabula.models.endpoint import Endpoint
from fabula.models.endpoint_errors import NamedModel, Tries
from fabula.models.parameters import Parameters
from fabula.models.payload import (
    Json,
    cached_tokens,
    choice,
    message_text,
    no_text,
    object_or_empty,
    text_or_empty,
    unit_rows,
    usage,
    without_thoughts,
)
from fabula.models.purpose import BUILD, Purpose

MAX_REPLY_CHARACTERS = 500_000
"""The longest reply that is accepted; no prompt asks for a tenth of that."""
MAX_BAD_ANSWERS = 4
"""Answers without usable vectors after which an embedding call fails."""


class OpenAIChat:
    """A chat model at an endpoint."""

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        setting: str = "FABULA_MODEL",
        purpose: Purpose = BUILD,
    ) -> None:
        """Use a model of an endpoint.

        Args:
            endpoint: Where the model is.
            model: Its name at the endpoint.
            setting: The setting that names it, for error messages.
            purpose: What it is called for: questions go before builds.

        """
        self._endpoint, self._purpose = endpoint, purpose
        self._role = NamedModel(model, setting)

    def complete(self, prompt: Prompt) -> Reply:
        """Return the whole reply; its `trouble` says if it has no text, or if its JSON is cut off.

        Raises:
            ModelError: The endpoint did not answer, or refused the call.

        """
        model = self._role.model
        with tracing.span(f"chat {model}", _request_attributes(model, prompt), client=True) as span:
            reply = self._complete(prompt, Tries())
            _record_tokens(span, reply)
            return reply

    def _complete(self, prompt: Prompt, tries: Tries) -> Reply:
        model, request = self._role.model, _Request(prompt, self._role.model, stream=False)
        answer = self._endpoint.ask(
            "/chat/completions", self._role, request.body, tries, self._purpose
        )
        first = choice(answer)
        message = object_or_empty(first.get("message"))
        text = without_thoughts(message_text(message))
        reason = first.get("finish_reason")
        trouble = ""
        if not text.strip():
            if reason == "length" and self._endpoint.leave_room(self._role, request.parameters):
                return self._complete(prompt, tries)
            trouble = no_text(model, reason, text_or_empty(message.get("refusal")))
        elif len(text) > MAX_REPLY_CHARACTERS:
            text, trouble = "", f"The reply of {model} is too long: {len(text):,} characters."
        elif reason == "length" and prompt.schema is not None:
            trouble = f"{model} did not finish its JSON within {prompt.max_tokens} tokens."
        return Reply(
            text, *usage(answer), trouble, tries.faults, cached_tokens=cached_tokens(answer)
        )

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
        """Yield the reply's pieces as they arrive, then an empty one with the token counts.

        The call is retried until the first piece.

        Raises:
            ModelError: The endpoint did not answer, or the answer broke off after its first piece.

        """
        model = self._role.model
        attributes = _request_attributes(model, prompt) | {tracing.STREAM: True}
        span = tracing.begin(f"chat {model}", attributes, client=True)
        try:
            for reply in self._stream(prompt, Tries()):
                yield reply
            _record_tokens(span, reply)
        except BaseException as error:
            span.fail(error)
            raise
        finally:
            span.end()

    def _stream(self, prompt: Prompt, tries: Tries) -> Iterator[Reply]:
        model, request = self._role.model, _Request(prompt, self._role.model, stream=True)
        has_text, length, refusal, reason = False, 0, "", None
        counts: Json = {}
        events = self._endpoint.events(
            "/chat/completions", self._role, request.body, tries, self._purpose
        )
        for event in events:
            first = choice(event)
            delta = object_or_empty(first.get("delta"))
            counts = event if event.get("usage") else counts
            reason = first.get("finish_reason") or reason
            refusal += text_or_empty(delta.get("refusal"))
            if text := message_text(delta):
                has_text = True
                length += len(text)
                if length > MAX_REPLY_CHARACTERS:
                    raise BadReply(f"The reply of {model} is too long: {length:,} characters.")
                yield Reply(text)
        if not has_text:
            if reason == "length" and self._endpoint.leave_room(self._role, request.parameters):
                yield from self._stream(prompt, tries)
                return
            raise BadReply(no_text(model, reason, refusal))
        yield Reply("", *usage(counts), faults=tries.faults, cached_tokens=cached_tokens(counts))

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Do nothing: replies are cached and counted elsewhere."""


def _request_attributes(model: str, prompt: Prompt) -> dict[str, object]:
    """The attributes of a call's span that are known before the call."""
    return {
        tracing.OPERATION: "chat",
        tracing.PROVIDER: "openai",
        tracing.MODEL: model,
        tracing.TEMPERATURE: prompt.temperature,
        tracing.MAX_TOKENS: prompt.max_tokens,
        tracing.OUTPUT: "json" if prompt.schema else "text",
    }


def _record_tokens(span: tracing.Span, reply: Reply) -> None:
    """Record the token counts of a call in its span."""
    span.record_tokens(reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)


class _Request:
    """A prompt as a request's body; `parameters` are those that it was last made with."""

    def __init__(self, prompt: Prompt, model: str, *, stream: bool) -> None:
        self._prompt, self._model, self._stream = prompt, model, stream
        self.parameters = Parameters()

    def body(self, parameters: Parameters) -> Json:
        """Return the body of a chat completion."""
        self.parameters = parameters
        return parameters.chat(self._model, self._prompt, stream=self._stream)


class OpenAIEmbedder:
    """An embedding model at an endpoint; one call sends at most `batch` texts."""

    def __init__(
        self, endpoint: Endpoint, model: str, batch: int = 128, purpose: Purpose = BUILD
    ) -> None:
        self._endpoint, self._purpose = endpoint, purpose
        self._role = NamedModel(model, "FABULA_EMBEDDING_MODEL")
        self.model = model
        self.batch = batch

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one unit vector for each text: float32, shape (texts, dimensions).

        Raises:
            BadReply: None of a bounded number of answers had usable vectors.
            ModelError: The endpoint did not answer, or refused the call.

        """
        attributes = {
            tracing.OPERATION: "embeddings",
            tracing.PROVIDER: "openai",
            tracing.MODEL: self.model,
        }
        with tracing.span(f"embeddings {self.model}", attributes, client=True) as span:
            embeddings = self._embed(texts)
            span.record({tracing.INPUT_TOKENS: embeddings.tokens})
            return embeddings

    def _embed(self, texts: Sequence[str]) -> Embeddings:
        tries = Tries()
        for attempt in range(1, MAX_BAD_ANSWERS + 1):
            answer = self._endpoint.ask(
                "/embeddings",
                self._role,
                lambda parameters: parameters.embeddings(self.model, texts),
                tries,
                self._purpose,
            )
            try:
                vectors = unit_rows(answer.get("data"), len(texts))
            except BadReply:
                tries.failed += 1
                if attempt == MAX_BAD_ANSWERS:
                    raise
            else:
                return Embeddings(vectors, usage(answer)[0], faults=tries.faults)
        raise AssertionError("the last try returns or raises")
