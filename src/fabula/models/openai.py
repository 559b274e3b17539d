"""Chat models and embedders of any OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabula import tracing
from fabula.errors import BadReply
from fabula.models import Embeddings, Prompt, Reply
from fabula.models.endpoint import Endpoint
from fabula.models.endpoint_errors import Role, Tries
from fabula.models.parameters import Dialect
from fabula.models.payload import (
    Json,
    cached_tokens,
    choice,
    no_text,
    part,
    said,
    spoken,
    unit_rows,
    usage,
    without_thoughts,
)
from fabula.models.purpose import BUILD, Purpose

LONGEST = 500_000
"""Characters of a reply; no prompt asks for a tenth of that."""
BAD_ROWS = 4
"""Answers without usable vectors until an embedding model is given up."""


class OpenAIChat:
    """A chat model at an endpoint, asked for `purpose`; `setting` named it, for the messages."""

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        setting: str = "FABULA_MODEL",
        purpose: Purpose = BUILD,
    ) -> None:
        self._endpoint, self._purpose = endpoint, purpose
        self._role = Role(model, setting)

    def complete(self, prompt: Prompt) -> Reply:
        """The whole reply; in trouble if it has no text or its JSON is cut. Raises ModelError."""
        model = self._role.model
        with tracing.span(f"chat {model}", _told(model, prompt), client=True) as span:
            reply = self._complete(prompt, Tries())
            _tell(span, reply)
            return reply

    def _complete(self, prompt: Prompt, tries: Tries) -> Reply:
        model, asked = self._role.model, _Asked(prompt, self._role.model, stream=False)
        answer = self._endpoint.ask(
            "/chat/completions", self._role, asked.body, tries, self._purpose
        )
        picked = choice(answer)
        message = part(picked.get("message"))
        text = without_thoughts(said(message))
        reason = picked.get("finish_reason")
        trouble = ""
        if not text.strip():
            if reason == "length" and self._endpoint.leave_room(self._role, asked.dialect):
                return self._complete(prompt, tries)
            trouble = no_text(model, reason, spoken(message.get("refusal")))
        elif len(text) > LONGEST:
            text, trouble = "", f"{model} gave a reply of {len(text):,} characters."
        elif reason == "length" and prompt.schema is not None:
            trouble = f"{model} did not finish its JSON within {prompt.max_tokens} tokens."
        return Reply(
            text, *usage(answer), trouble, tries.faults, cached_tokens=cached_tokens(answer)
        )

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
        """The reply's pieces as they arrive, then an empty one with the token counts.

        Retried until the first piece; an answer that is cut after it raises ModelError.
        """
        model = self._role.model
        told = _told(model, prompt) | {tracing.STREAM: True}
        span = tracing.begin(f"chat {model}", told, client=True)
        try:
            for reply in self._stream(prompt, Tries()):
                yield reply
            _tell(span, reply)
        except BaseException as error:
            span.fail(error)
            raise
        finally:
            span.end()

    def _stream(self, prompt: Prompt, tries: Tries) -> Iterator[Reply]:
        model, asked = self._role.model, _Asked(prompt, self._role.model, stream=True)
        has_text, length, refusal, reason = False, 0, "", None
        told: Json = {}
        events = self._endpoint.events(
            "/chat/completions", self._role, asked.body, tries, self._purpose
        )
        for event in events:
            picked = choice(event)
            delta = part(picked.get("delta"))
            told = event if event.get("usage") else told
            reason = picked.get("finish_reason") or reason
            refusal += spoken(delta.get("refusal"))
            if text := said(delta):
                has_text = True
                length += len(text)
                if length > LONGEST:
                    raise BadReply(f"{model} goes on and on: {length:,} characters.")
                yield Reply(text)
        if not has_text:
            if reason == "length" and self._endpoint.leave_room(self._role, asked.dialect):
                yield from self._stream(prompt, tries)
                return
            raise BadReply(no_text(model, reason, refusal))
        yield Reply("", *usage(told), faults=tries.faults, cached_tokens=cached_tokens(told))

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Nothing is kept here."""


def _told(model: str, prompt: Prompt) -> dict[str, object]:
    """What a trace is told of a call before it."""
    return {
        tracing.OPERATION: "chat",
        tracing.PROVIDER: "openai",
        tracing.MODEL: model,
        tracing.TEMPERATURE: prompt.temperature,
        tracing.MOST_TOKENS: prompt.max_tokens,
        tracing.OUTPUT: "json" if prompt.schema else "text",
    }


def _tell(span: tracing.Span, reply: Reply) -> None:
    """What a trace is told of a call after it: the tokens that its last reply counts."""
    span.tell_tokens(reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)


class _Asked:
    """A prompt as a request's body, and the dialect that it was sent in."""

    def __init__(self, prompt: Prompt, model: str, *, stream: bool) -> None:
        self._prompt, self._model, self._stream = prompt, model, stream
        self.dialect = Dialect()

    def body(self, dialect: Dialect) -> Json:
        """The body of a chat completion."""
        self.dialect = dialect
        return dialect.chat(self._model, self._prompt, stream=self._stream)


class OpenAIEmbedder:
    """An embedding model at an endpoint; `batch` is how many texts one call may carry."""

    def __init__(
        self, endpoint: Endpoint, model: str, batch: int = 128, purpose: Purpose = BUILD
    ) -> None:
        self._endpoint, self._purpose = endpoint, purpose
        self._role = Role(model, "FABULA_EMBEDDING_MODEL")
        self.model = model
        self.batch = batch

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Unit float32 rows, shape (texts, dimensions), in order.

        Asked again a bounded number of times where an answer's vectors can't be used. Raises
        BadReply when none could, and ModelError.
        """
        told = {
            tracing.OPERATION: "embeddings",
            tracing.PROVIDER: "openai",
            tracing.MODEL: self.model,
        }
        with tracing.span(f"embeddings {self.model}", told, client=True) as span:
            found = self._embed(texts)
            span.tell({tracing.INPUT_TOKENS: found.tokens})
            return found

    def _embed(self, texts: Sequence[str]) -> Embeddings:
        tries = Tries()
        for bad in range(1, BAD_ROWS + 1):
            answer = self._endpoint.ask(
                "/embeddings",
                self._role,
                lambda d: d.embeddings(self.model, texts),
                tries,
                self._purpose,
            )
            try:
                vectors = unit_rows(answer.get("data"), len(texts))
            except BadReply:
                tries.failed += 1
                if bad == BAD_ROWS:
                    raise
            else:
                return Embeddings(vectors, usage(answer)[0], faults=tries.faults)
        raise AssertionError("the last try returns or raises")
