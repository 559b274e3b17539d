"""Chat models and embedders of any OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabula.errors import BadReply
from fabula.providers import Embeddings, Prompt, Reply
from fabula.providers.endpoint import Endpoint, Tries
from fabula.providers.trouble import Role
from fabula.providers.wire import choice, no_text, unit_rows, usage, without_thoughts


class OpenAIChat:
    """A chat model at an endpoint; `setting` is what named it, for the error messages."""

    def __init__(self, endpoint: Endpoint, model: str, setting: str = "FABULA_MODEL") -> None:
        self._endpoint = endpoint
        self._role = Role(model, setting)

    def complete(self, prompt: Prompt) -> Reply:
        """The whole reply. Raises BadReply for one without text or cut JSON, and ModelError."""
        return self._complete(prompt, Tries())

    def _complete(self, prompt: Prompt, tries: Tries) -> Reply:
        model = self._role.model
        answer = self._endpoint.ask(
            "/chat/completions", self._role, lambda d: d.chat(model, prompt, stream=False), tries
        )
        picked = choice(answer)
        message = picked.get("message") or {}
        text = without_thoughts(message.get("content") or "")
        reason = picked.get("finish_reason")
        if not text.strip():
            if reason == "length" and self._endpoint.leave_room(self._role):
                return self._complete(prompt, tries)
            raise no_text(model, reason, message.get("refusal"))
        if reason == "length" and prompt.schema is not None:
            raise BadReply(f"{model} did not finish its JSON within {prompt.max_tokens} tokens.")
        return Reply(text, *usage(answer), faults=tries.faults)

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
        """The reply's pieces as they arrive, then an empty one with the token counts.

        Retried until the first piece; an answer that is cut after it raises ModelError.
        """
        return self._stream(prompt, Tries())

    def _stream(self, prompt: Prompt, tries: Tries) -> Iterator[Reply]:
        model = self._role.model
        said, refusal, reason, tokens = False, "", None, (0, 0)
        for event in self._endpoint.events(
            "/chat/completions", self._role, lambda d: d.chat(model, prompt, stream=True), tries
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
                yield from self._stream(prompt, tries)
                return
            raise no_text(model, reason, refusal)
        yield Reply("", *tokens, faults=tries.faults)

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Nothing is kept here."""


class OpenAIEmbedder:
    """An embedding model at an endpoint; `batch` is how many texts one call may carry."""

    def __init__(self, endpoint: Endpoint, model: str, batch: int = 128) -> None:
        self._endpoint = endpoint
        self._role = Role(model, "FABULA_EMBEDDING_MODEL")
        self.model = model
        self.batch = batch

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Unit float32 rows, shape (texts, dimensions), in order. Raises ModelError, BadReply."""
        tries = Tries()
        answer = self._endpoint.ask(
            "/embeddings", self._role, lambda d: d.embeddings(self.model, texts), tries
        )
        vectors = unit_rows(answer.get("data") or [], len(texts))
        return Embeddings(vectors, usage(answer)[0], faults=tries.faults)
