"""Chat models and embedding models of an OpenAI-compatible endpoint."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fabula import tracing
from fabula.errors import BadReply, ModelError
from fabula.models import Embeddings, Prompt, Reply
from fabula.models.batching import BatchRefused
from fabula.models.endpoint import Endpoint, error_reported
from fabula.models.endpoint_errors import NamedModel, Tries
from fabula.models.manners import RAISE_CONTEXT
from fabula.models.parameters import Parameters
from fabula.models.payload import (
    End,
    Json,
    cached_tokens,
    choice,
    delta,
    json_in_thoughts,
    message_text,
    no_text,
    object_or_empty,
    reasoning_text,
    reply_end,
    text_or_empty,
    tokens_read,
    unit_rows,
    usage,
)
from fabula.models.purpose import BUILD, Purpose
from fabula.models.replies import shorten
from fabula.models.thoughts import ThoughtFilter, split_thoughts
from fabula.text import tokens

LOG = logging.getLogger("fabula")
MAX_REPLY_CHARACTERS = 500_000
"""The longest reply that is accepted; no prompt asks for a tenth of that."""
MAX_BAD_ANSWERS = 4
"""Answers without usable vectors after which an embedding call fails."""
CUT_MARK = " […]"
"""What an answer ends with that was cut at a limit of tokens."""
FULL_SHARE = 0.9
"""A reply that was cut at less than this share of its limit has met another one: the context."""
GUESSED_CUTS = 4
"""How often a text is shortened that an embedding model refuses without a reason."""
MIN_TEXT_TOKENS = 16
"""A text is not cut shorter than this to be embedded."""


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
        message, end = object_or_empty(first.get("message")), reply_end(first)
        reasoning = reasoning_text(message)
        raw = message_text(message)
        text, has_thoughts = split_thoughts(raw)
        if has_thoughts and prompt.schema is None:
            self._note_thoughts(raw)
        if not text.strip() and end in ("", "whole"):
            text = _reply_in_thoughts(prompt, reasoning)
        is_thinking = has_thoughts or bool(reasoning)
        is_empty = is_thinking or not text.strip()
        if end == "length" and is_empty and self._leave_room(request):
            return self._complete(prompt, tries)
        self._check_prompt(prompt, answer)
        problem = ""
        if not text.strip():
            refusal = text_or_empty(message.get("refusal"))
            problem = no_text(model, end, refusal, thoughts=has_thoughts, parsed=bool(reasoning))
        elif len(text) > MAX_REPLY_CHARACTERS:
            text, problem = "", f"The reply of {model} is too long: {len(text):,} characters."
        elif end == "filtered":
            text, problem = "", no_text(model, end, "")
        elif end == "length":
            problem = self._describe_cut(prompt, answer, request.parameters)
        return Reply(
            text,
            *usage(answer),
            problem,
            tries.faults,
            cached_tokens=cached_tokens(answer),
            incomplete=end in ("length", "filtered") or (not text.strip() and is_thinking),
        )

    def _note_thoughts(self, raw: str) -> None:
        """Remember a model whose thoughts begin without a tag, for its streams."""
        seen = ThoughtFilter()
        seen.feed(raw)
        if seen.is_leaked:
            self._endpoint.manners.hold_streams(self._role.model)

    def _check_prompt(self, prompt: Prompt, answer: Json) -> None:
        """Warn if the server has cut the prompt in silence."""
        if read := tokens_read(answer):
            sent = sum(tokens.count_all((prompt.system, prompt.user, prompt.correction)))
            self._endpoint.manners.check_prompt(self._role.model, self._endpoint.url, sent, read)

    def _describe_cut(self, prompt: Prompt, answer: Json, parameters: Parameters) -> str:
        """Return why a reply ended before its end, and warn of it once."""
        model, limit = self._role.model, parameters.most_tokens(prompt)
        _, written = usage(answer)
        kind = "reply" if prompt.schema is None else "JSON"
        if limit is None or not 0 < written < FULL_SHARE * limit:
            problem = f"{model} did not finish its {kind} within {limit or written} tokens."
        else:
            problem = (
                f"{model} did not finish its {kind}: its server ended it after {written} of "
                f"{limit} tokens, as its context is full. {RAISE_CONTEXT}."
            )
        self._endpoint.manners.warn(model, "cut", f"{problem} Such a reply is asked for again.")
        return problem

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
        thoughts = ThoughtFilter(hold=self._endpoint.manners.holds_streams(model))
        has_text, length, refusal, reasoning = False, 0, "", ""
        end: End = ""
        counts: Json = {}
        events = self._endpoint.events(
            "/chat/completions", self._role, request.body, tries, self._purpose
        )
        for event in events:
            added = delta(event)
            counts = event if event.get("usage") else counts
            end = reply_end(choice(event)) or end
            refusal += text_or_empty(added.get("refusal"))
            piece = message_text(added)
            reasoning += reasoning_text(added)
            length += len(piece)
            if max(length, len(reasoning)) > MAX_REPLY_CHARACTERS:
                raise BadReply(f"The reply of {model} is too long: {length:,} characters.")
            if text := thoughts.feed(piece):
                has_text = has_text or bool(text.strip())
                yield Reply(text)
            self._refuse_leak(thoughts)
        if end == "filtered":
            raise BadReply(no_text(model, end, refusal))
        last = thoughts.finish()
        if not (has_text or last.strip()) and end in ("", "whole"):
            last = _reply_in_thoughts(prompt, reasoning)
        if not (has_text or last.strip()):
            if end == "length" and self._leave_room(request):
                yield from self._stream(prompt, tries)
                return
            has_thoughts, parsed = thoughts.has_thoughts, bool(reasoning)
            raise BadReply(no_text(model, end, refusal, thoughts=has_thoughts, parsed=parsed))
        if last:
            yield Reply(last)
        self._check_prompt(prompt, counts)
        yield self._last_piece(prompt, counts, tries, is_cut=end == "length")

    def _last_piece(self, prompt: Prompt, counts: Json, tries: Tries, *, is_cut: bool) -> Reply:
        """The piece of a stream with the token counts, and a mark if the reply was cut."""
        if is_cut:
            LOG.warning(
                "%s did not finish: its answer ends at its limit of %d tokens, or at its server's "
                "context. FABULA_ANSWER_TOKENS allows longer answers.",
                *(self._role.model, prompt.max_tokens),
            )
        sent, received = usage(counts)
        return Reply(
            CUT_MARK if is_cut else "",
            *(sent, received),
            faults=tries.faults,
            cached_tokens=cached_tokens(counts),
            incomplete=is_cut,
        )

    def _refuse_leak(self, thoughts: ThoughtFilter) -> None:
        """Raise BadReply if thoughts were passed on; the model's next streams are held back."""
        if thoughts.is_leaked:
            self._endpoint.manners.hold_streams(self._role.model)
            raise BadReply(
                f"{self._role.model} began with its thoughts, without a tag that says so. Ask "
                "again: its next replies are shown when they are whole."
            )

    def _leave_room(self, request: _Request) -> bool:
        """Whether to ask again, with more tokens, as the model spent its reply on thinking."""
        return self._endpoint.leave_room(self._role, request.parameters)

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


def _reply_in_thoughts(prompt: Prompt, reasoning: str) -> str:
    """The reply that a server has put among the thoughts, where that is certain; or ''.

    It is certain if the closing tag stands there, too, or if JSON was asked for and all is JSON.
    """
    text, has_thoughts = split_thoughts(reasoning)
    if has_thoughts:
        return text
    return json_in_thoughts(reasoning) if prompt.schema is not None else ""


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
        try:
            return self._ask(texts, tries)
        except ModelError as error:
            reported = error_reported(error)
            if reported is None or not reported.about_texts:
                raise
            if len(texts) > 1:
                size = reported.most_texts(len(texts)) if reported.too_many_texts else None
                raise BatchRefused(str(error), size) from error
            steps = None if reported.too_long else GUESSED_CUTS
            return self._embed_beginning(texts[0], error, tries, steps)

    def _embed_beginning(
        self, text: str, error: ModelError, tries: Tries, steps: int | None
    ) -> Embeddings:
        """Embed as much of a text that is too long as the model takes, in whole sentences.

        Args:
            text: The text.
            error: Why it was refused; raised if its beginnings are refused, too.
            tries: Counts the failed tries.
            steps: How often to shorten it; None for as often as needed, if its length is named as
                the reason.

        """
        whole = length = tokens.count(text)
        while steps != 0:
            length = length * 2 // 3 if steps is None else length // 2
            if length < MIN_TEXT_TOKENS:
                break
            steps = steps and steps - 1
            beginning = shorten(text, length)
            try:
                embeddings = self._ask([beginning], tries)
            except ModelError as again:
                reported = error_reported(again)
                if reported is None or not reported.about_texts:
                    raise
            else:
                self._endpoint.manners.refuse_length(self.model, whole)
                return replace(embeddings, cut={text: tokens.count(beginning)})
        raise error

    def _ask(self, texts: Sequence[str], tries: Tries) -> Embeddings:
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
