"""Chat models and embedding models of an OpenAI-compatible endpoint."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace

from fabula import tracing
from fabula.errors import BadReply, ModelError
from fabula.models import Embeddings, Prompt, Reply, TextKind
from fabula.models.batching import BatchRefused
from fabula.models.endpoint.call import CallsModels, ModelCall
from fabula.models.endpoint.errors import EmptyStream, NamedModel, Tries, error_reported
from fabula.models.endpoint.learned import RAISE_CONTEXT
from fabula.models.endpoint.parameters import Parameters
from fabula.models.endpoint.payload import (
    Deltas,
    End,
    Json,
    cached_tokens,
    choice,
    describe_reason,
    message_text,
    odd_reason,
    reasoning_text,
    reply_end,
    text_or_empty,
    thought_tokens,
    token_counts,
    tokens_read,
    unit_rows,
    usage,
)
from fabula.models.endpoint.thoughts import ThoughtFilter
from fabula.models.endpoint.whole_reply import (
    MAX_REPLY_CHARACTERS,
    WholeReply,
    read_reply,
    reply_in_thoughts,
)
from fabula.models.purpose import BUILD, Purpose
from fabula.models.replies import shorten
from fabula.text import tokens
from fabula.text.document import Vectors

LOG = logging.getLogger("fabula")
CHAT_PATH, EMBEDDINGS_PATH = "/chat/completions", "/embeddings"
MAX_BAD_ANSWERS = 4
"""Answers without usable vectors after which an embedding call fails, or is split."""
CUT_MARK = " […]"
"""What an answer ends with that was cut at a limit of tokens."""
NO_REASON = "The server gave no reason for the end of its reply."
"""Why a stream that ended by [DONE] alone is not cached: a proxy may have ended it so."""
FULL_SHARE = 0.9
"""A reply that was cut at less than this share of its limit has met another one: the context."""
GUESSED_CUTS = 4
"""How often a text is shortened that an embedding model refuses without a reason."""
MIN_TEXT_TOKENS = 16
"""A text is not cut shorter than this to be embedded."""


class UnusableVectors(BadReply):
    """No answer had a usable vector for each text."""

    @property
    def is_one_vector(self) -> bool:
        """Whether one vector came for several texts."""
        return "returned 1 vectors" in str(self)


class OpenAIChat:
    """A chat model at an endpoint."""

    def __init__(
        self,
        endpoint: CallsModels,
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
        answer = self._endpoint.ask(self._call(request, tries))
        read = read_reply(
            answer, is_json=prompt.schema is not None, may_call=prompt.offer is not None
        )
        text, end = read.text, read.end
        if read.has_thoughts and prompt.schema is None:
            self._note_thoughts(read.raw)
        may_lack_room = read.is_empty or thought_tokens(answer) > 0
        if end == "length" and may_lack_room and self._allow_thinking(request):
            return self._complete(prompt, tries)
        self._check_prompt(prompt, answer)
        problem = ""
        if not text.strip():
            problem = read.explain_lack(model)
        elif len(text) > MAX_REPLY_CHARACTERS:
            text, problem = "", f"The reply of {model} is too long: {len(text):,} characters."
        elif end == "filtered":
            text, problem = "", read.explain_lack(model)
        elif end == "length":
            problem = self._describe_cut(prompt, answer, request.parameters)
        elif end == "stopped":
            problem = describe_reason(model, read.reason)
        elif read.reason:
            self._warn_of_reason(read.reason)
        return Reply(
            text,
            *usage(answer),
            problem,
            tries.faults,
            cached_tokens=cached_tokens(answer),
            incomplete=read.is_incomplete,
        )

    def _call(self, request: _Request, tries: Tries) -> ModelCall:
        return ModelCall(CHAT_PATH, self._role, request.body, tries, self._purpose)

    def _note_thoughts(self, raw: str) -> None:
        """Remember a model whose thoughts begin without a tag, for its streams."""
        seen = ThoughtFilter()
        seen.feed(raw)
        if seen.is_leaked:
            self._endpoint.behaviour.hold_streams(self._role.model)

    def _warn_of_reason(self, reason: str) -> None:
        """Warn once of a reply that is used and did not end by one of the usual reasons."""
        what = describe_reason(self._role.model, reason)
        problem = f"{what} Such replies are used, and may lack their end."
        self._endpoint.behaviour.warn(self._role.model, reason, problem)

    def _check_prompt(self, prompt: Prompt, answer: Json) -> None:
        """Warn if the server has cut the prompt in silence."""
        if read := tokens_read(answer):
            sent = sum(tokens.count_all((prompt.system, prompt.user, prompt.correction)))
            self._endpoint.behaviour.check_prompt(self._role.model, self._endpoint.url, sent, read)

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
                f"{limit} tokens, so that its context is probably full. {RAISE_CONTEXT}."
            )
        self._endpoint.behaviour.warn(model, "cut", f"{problem} Such a reply is asked for again.")
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
        thoughts = ThoughtFilter(hold=self._endpoint.behaviour.of(model).holds_streams)
        has_text, length, refusal, reasoning, reason = False, 0, "", "", ""
        end: End = ""
        counts: Json = {}
        events, deltas = self._endpoint.events(self._call(request, tries)), Deltas()
        # An empty stream is asked for again below, as a reply without text is.
        with suppress(EmptyStream), closing(events):
            for event in events:
                added = deltas.read(event)
                counts = event if token_counts(event) else counts
                end = reply_end(choice(event)) or end
                reason = odd_reason(choice(event)) or reason
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
        last = thoughts.finish()
        read = WholeReply(last, "", end, thoughts.has_thoughts, reasoning, refusal, reason)
        if end == "filtered":
            raise BadReply(read.explain_lack(model))
        if not (has_text or last.strip()) and end in ("", "whole"):
            last = reply_in_thoughts(reasoning, is_json=prompt.schema is not None)
        if not (has_text or last.strip()):
            if end == "length" and self._allow_thinking(request):
                yield from self._stream(prompt, tries)
                return
            if end != "length" and not (refusal or read.is_thinking):
                yield self._ask_unstreamed(prompt, tries)
                return
            raise BadReply(read.explain_lack(model))
        if last:
            yield Reply(last)
        self._check_prompt(prompt, counts)
        yield self._last_piece(request, counts, tries, end, reason)

    def _ask_unstreamed(self, prompt: Prompt, tries: Tries) -> Reply:
        """Ask once without a stream, after a stream that had nothing in it."""
        # Some servers end a stream in silence if a prompt is too long; without one they say so.
        reply = self._complete(prompt, tries)
        if reply.problem and not (reply.text and reply.incomplete):
            raise BadReply(reply.problem)
        return replace(reply, text=reply.text + CUT_MARK) if reply.incomplete else reply

    def _last_piece(
        self, request: _Request, counts: Json, tries: Tries, end: End, reason: str
    ) -> Reply:
        """The piece of a stream with the token counts, and a mark if the reply was cut."""
        is_cut, model = end in ("length", "stopped"), self._role.model
        if reason:
            self._warn_of_reason(reason)
        if end == "length" and thought_tokens(counts):
            # This answer is shown already; the next ones get more room.
            self._allow_thinking(request)
        if end == "length":
            LOG.warning(
                "%s did not finish: its answer ends at its limit of %d tokens, or at its server's "
                "context. FABULA_ANSWER_TOKENS allows longer answers.",
                *(model, request.prompt.max_tokens),
            )
        problem = "" if end else NO_REASON
        sent, received = usage(counts)
        return Reply(
            CUT_MARK if is_cut else "",
            *(sent, received),
            problem=describe_reason(model, reason) if end == "stopped" else problem,
            faults=tries.faults,
            cached_tokens=cached_tokens(counts),
            incomplete=is_cut,
        )

    def _refuse_leak(self, thoughts: ThoughtFilter) -> None:
        """Raise BadReply if thoughts were passed on; the model's next streams are held back."""
        if thoughts.is_leaked:
            self._endpoint.behaviour.hold_streams(self._role.model)
            raise BadReply(
                f"{self._role.model} began with its thoughts, without a tag that says so. Ask "
                "again: its next replies are shown when they are whole."
            )

    def _allow_thinking(self, request: _Request) -> bool:
        """Whether to ask again, with more tokens, as the model spent its reply on thinking."""
        return self._endpoint.allow_thinking(self._role, request.parameters)

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Do nothing: replies are cached elsewhere."""


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
        self.prompt, self._model, self._stream = prompt, model, stream
        self.parameters = Parameters()

    def body(self, parameters: Parameters) -> Json:
        """Return the body of a chat completion."""
        self.parameters = parameters
        return parameters.chat(self._model, self.prompt, stream=self._stream)


class OpenAIEmbedder:
    """An embedding model at an endpoint; one call sends at most `batch` texts."""

    def __init__(
        self,
        endpoint: CallsModels,
        model: str,
        batch: int = 128,
        purpose: Purpose = BUILD,
    ) -> None:
        self._endpoint, self._purpose = endpoint, purpose
        self._role = NamedModel(model, "FABULA_EMBEDDING_MODEL")
        self.model = model
        self.batch = batch

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        """Return one unit vector for each text: float32, shape (texts, dimensions).

        The prefix of a text tells most models its `kind`; servers that ask for the field
        `input_type` get it.

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
            embeddings = self._embed(texts, kind)
            span.record({tracing.INPUT_TOKENS: embeddings.tokens})
            return embeddings

    def _embed(self, texts: Sequence[str], kind: TextKind) -> Embeddings:
        tries = Tries()
        known = self._endpoint.behaviour.of(self.model)
        is_batch = len(texts) > 1
        attempts = 1 if is_batch and known.spoils_batches else MAX_BAD_ANSWERS
        try:
            return self._ask(texts, kind, tries, attempts)
        except UnusableVectors as error:
            if is_batch:
                # One text of which the model makes no numbers spoils the call, or the server makes
                # one vector of all texts, or leaves texts out.
                known.spoils_batches = True
                raise BatchRefused(str(error), 1 if error.is_one_vector else None) from error
            return self._embed_beginning(texts[0], kind, error, tries, GUESSED_CUTS)
        except ModelError as error:
            reported = error_reported(error)
            if reported is None or not reported.about_texts:
                raise
            if is_batch:
                size = reported.most_texts(len(texts)) if reported.too_many_texts else None
                raise BatchRefused(str(error), size) from error
            steps = None if reported.too_long else GUESSED_CUTS
            return self._embed_beginning(texts[0], kind, error, tries, steps)

    def _embed_beginning(
        self, text: str, kind: TextKind, error: ModelError, tries: Tries, steps: int | None
    ) -> Embeddings:
        """Embed the beginning of a text that the model takes, or raise `error` after `steps`."""
        whole = length = tokens.count(text)
        # `steps` is None for as often as needed.
        while steps != 0:
            length = length * 2 // 3 if steps is None else length // 2
            if length < MIN_TEXT_TOKENS:
                break
            steps = steps and steps - 1
            beginning = shorten(text, length)
            try:
                embeddings = self._ask([beginning], kind, tries, attempts=1)
            except UnusableVectors:
                continue
            except ModelError as again:
                reported = error_reported(again)
                if reported is None or not reported.about_texts:
                    raise
            else:
                self._endpoint.behaviour.refuse_length(self.model, whole)
                return replace(embeddings, cut={text: tokens.count(beginning)})
        raise error

    def _ask(
        self,
        texts: Sequence[str],
        kind: TextKind,
        tries: Tries,
        attempts: int,
    ) -> Embeddings:
        call = ModelCall(
            EMBEDDINGS_PATH,
            self._role,
            lambda parameters: parameters.embeddings(self.model, texts, kind),
            tries,
            self._purpose,
        )
        for attempt in range(1, attempts + 1):
            try:
                answer, vectors = self._read_vectors(call, len(texts))
            except UnusableVectors:
                tries.failed += 1
                if attempt == attempts:
                    raise
            else:
                return Embeddings(vectors, usage(answer)[0], faults=tries.faults)
        raise AssertionError("the last try returns or raises")

    def _read_vectors(self, call: ModelCall, count: int) -> tuple[Json, Vectors]:
        """The answer to a call and its vectors. Raises UnusableVectors."""
        answer = self._endpoint.ask(call)
        try:
            return answer, unit_rows(answer.get("data"), count)
        except BadReply as error:
            raise UnusableVectors(str(error)) from error
