"""What a gateway does with a call: cache, an equal call under way, budget, queue, endpoint."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import math
import random
import time
from collections.abc import AsyncIterator, Callable, Hashable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fabula.config.gateway import GATEWAY_QUEUE_SECONDS
from fabula.errors import BadReply, BudgetSpent
from fabula.models import Reply
from fabula.models.cache import ResponseCache, embedding_key, wire_key
from fabula.models.endpoint_errors import EndpointError, allowances, requested_wait
from fabula.models.endpoint_retries import FIRST_REFUSAL_SECONDS, MAX_WAIT_SECONDS
from fabula.models.gateway_protocol import (
    BUDGET_CODE,
    HIT,
    MISS,
    SHARED,
    VECTORS_CODE,
)
from fabula.models.limiter import RetryPolicy
from fabula.models.payload import (
    Json,
    cached_tokens,
    object_or_empty,
    reported_error,
    token_count,
    unit_rows,
    usage,
)
from fabula.models.prices import price, read_prices
from fabula.models.rate_limit import Call
from fabula.models.usage import Usage
from fabula.models.whole_reply import MAX_REPLY_CHARACTERS, read_reply
from fabula.service.gateway.call_queue import CallQueue
from fabula.service.gateway.shared_call import SharedCall
from fabula.service.gateway.spending import Amount, GatewayBill, Spending
from fabula.service.gateway.upstream import (
    STREAM_TYPE,
    Upstream,
    UpstreamAnswer,
    UpstreamBroken,
    error_answer,
)
from fabula.service.gateway.wire_replies import (
    event_value,
    is_end,
    is_usage_event,
    join_stream,
    make_completion,
    make_event,
    stream_completion,
)
from fabula.service.observe.gateway_metrics import GatewayMetrics
from fabula.text import tokens
from fabula.text.document import Vector

LOG = logging.getLogger("fabula.service")
CHAT_PATH, EMBEDDINGS_PATH, RERANK_PATH = "/chat/completions", "/embeddings", "/rerank"
TRANSPORT_FIELDS = ("stream", "stream_options")
"""Fields of a request that say only how its answer travels."""
DEFAULT_REPLY_TOKENS = 4096
"""What is reserved for a reply without a limit of its own."""
MESSAGE_TOKENS = 8
"""What endpoints count for each message beside its text, at most."""


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A client's call.

    Attributes:
        path: The call, as /chat/completions.
        body: The whole request.
        client: The name of the client's key.
        key: The cache's key of the reply, if Fabula asks; empty for other programs.
        reads: What Fabula reads from the answer (`gateway_protocol.READINGS`).
        urgent: Whether somebody waits for the reply.
        runs_on: Whether the call is completed if its client leaves once it was sent.
        fresh: Whether the endpoint has to be asked, whatever the cache has.

    """

    path: str
    body: Json
    client: str = ""
    key: bytes = b""
    reads: frozenset[str] = frozenset()
    urgent: bool = False
    runs_on: bool = False
    fresh: bool = False

    @property
    def model(self) -> str:
        """The name of the model."""
        name = self.body.get("model")
        return name if isinstance(name, str) else ""

    @property
    def is_stream(self) -> bool:
        """Whether the client asks for a stream."""
        return self.path == CHAT_PATH and self.body.get("stream") is True

    @property
    def with_usage(self) -> bool:
        """Whether a stream shall end with the token counts."""
        return object_or_empty(self.body.get("stream_options")).get("include_usage") is True

    @property
    def texts(self) -> list[str] | None:
        """The texts of a call for vectors that are cached text by text; None for other calls."""
        texts = self.body.get("input")
        if self.path != EMBEDDINGS_PATH or "vectors" not in self.reads:
            return None
        is_list = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
        return texts if is_list and texts else None


@dataclass(frozen=True, slots=True)
class CallReply:
    """What a client is sent: a whole answer, or the events of a stream; and where it is from."""

    how: str
    answer: UpstreamAnswer | None = None
    events: AsyncIterator[bytes] | None = None


class _Failed(Exception):
    """The endpoint answered with an error."""

    def __init__(self, answer: UpstreamAnswer, after: float | None) -> None:
        super().__init__(answer.status)
        self.answer, self.after = answer, after


class GatewayCalls:
    """Answers the calls of all clients. For one event loop.

    Args:
        upstream: The endpoint.
        queue: Decides when calls start.
        spending: What they may cost.
        cache: Where replies are saved; None for nowhere.
        metrics: Counts them.
        prices: The user's list of prices, beside that of Fabula.

    """

    def __init__(
        self,
        upstream: Upstream,
        queue: CallQueue,
        spending: Spending,
        cache: ResponseCache | None,
        metrics: GatewayMetrics,
        prices: Path | None,
    ) -> None:
        self._upstream, self._queue, self._spending = upstream, queue, spending
        self._cache, self._metrics, self._prices = cache, metrics, prices
        self._calls: dict[Hashable, SharedCall] = {}
        """The calls under way that equal ones join, by the cache's keys."""
        self._tasks: set[SharedCall] = set()
        self._answered: set[str] = set()
        self._reasoned: set[str] = set()
        """Models whose streams have given a reason for their end."""
        self._without_counts: set[str] = set()
        """Models whose endpoint refuses to end a stream with token counts."""
        self._ratios: dict[str, float] = {}
        """How many tokens of a prompt an endpoint counts for each of ours, at most."""

    @property
    def under_way(self) -> int:
        """The number of calls that have not ended, including those that wait."""
        return len(self._tasks)

    async def reply(self, request: CallRequest, send: Callable[[CallReply], Any]) -> None:
        """Answer a call: `send` is awaited with the reply, and the call is held meanwhile."""
        if request.texts is not None:
            await send(await self._embed(request, request.texts))
            return
        key = self._key(request)
        if not request.fresh and (cached := self._find(request, key)) is not None:
            self._metrics.count_call(request.client, request.model, "cached")
            await send(self._whole(request, cached, HIT))
            return
        shared = None if request.fresh else self._joinable(key)
        how = MISS if shared is None else SHARED
        if shared is None:
            shared = self._begin(request, None if request.fresh else key)
        async with shared.join(runs_on=request.runs_on):
            if request.is_stream and shared.is_stream:
                failed = await shared.opened()
                if failed is None and shared.has_events:
                    self._count(request, how, 200)
                    events = shared.events(with_usage=request.with_usage)
                    await send(CallReply(how, events=events))
                    return
                answer = failed
            else:
                answer = await shared.answer()
            answer = answer or _stop_answer()
            self._count(request, how, answer.status)
            await send(self._whole(request, answer, how))

    def forget(self, key: bytes) -> None:
        """Delete the cached reply of a key."""
        if self._cache is not None:
            self._cache.forget(key)

    async def close(self, seconds: float) -> None:
        """Wait for the calls under way, so long, as they are paid for."""
        end = time.monotonic() + seconds
        while self._tasks and time.monotonic() < end:
            await asyncio.sleep(0.02)

    def _count(self, request: CallRequest, how: str, status: int) -> None:
        if status == 402:
            self._metrics.count_call(request.client, request.model, "refused")
        elif status != 200:
            self._metrics.count_call(request.client, request.model, "failed")
        else:
            outcome = {MISS: "answered", SHARED: "shared"}[how]
            self._metrics.count_call(request.client, request.model, outcome)  # type: ignore[arg-type]

    def _key(self, request: CallRequest) -> bytes:
        if request.key:
            return request.key
        body = {name: v for name, v in request.body.items() if name not in TRANSPORT_FIELDS}
        return wire_key(self._upstream.address, request.path, body)

    def _joinable(self, key: bytes) -> SharedCall | None:
        """The call of a key that is under way and may be joined."""
        call = self._calls.get(key)
        return None if call is None or call.is_abandoned else call

    def _whole(self, request: CallRequest, answer: UpstreamAnswer, how: str) -> CallReply:
        """A whole answer for a client, who may have asked for a stream."""
        if request.is_stream and answer.is_good and answer.value is not None:
            events = stream_completion(answer.value, with_usage=request.with_usage)
            return CallReply(how, events=_each(events))
        return CallReply(how, answer)

    # The cache

    def _find(self, request: CallRequest, key: bytes) -> UpstreamAnswer | None:
        """The cached answer of a call."""
        cached = self._cache.reply(key) if self._cache is not None else None
        if cached is None:
            return None
        if not request.key:
            value = json.loads(cached.text)
            return UpstreamAnswer(200, cached.text.encode(), value=value)
        # Fabula's own replies are kept as it keeps them without a gateway: as texts.
        value = make_completion(
            request.model, cached.text, cached.prompt_tokens, cached.completion_tokens
        )
        return UpstreamAnswer(200, json.dumps(value, ensure_ascii=False).encode(), value=value)

    def _save(self, request: CallRequest, key: bytes, value: Json, counts: Usage) -> None:
        """Save a good answer, in the form in which it is found again."""
        if self._cache is None or reported_error(value):
            return
        if request.path != CHAT_PATH or not request.key:
            is_chat = request.path == CHAT_PATH
            if is_chat and read_reply(value, is_json=False, may_call=False).end != "whole":
                return
            text = json.dumps(value, ensure_ascii=False)
        else:
            read = read_reply(
                value, is_json="json" in request.reads, may_call="tools" in request.reads
            )
            # As `CachedChat`: a reply without usable text is saved as an empty one.
            text = read.text if len(read.text) <= MAX_REPLY_CHARACTERS else ""
            text = text if text.strip() else ""
            if read.is_incomplete or (request.is_stream and not text):
                return
        reply = Reply(text, counts.prompt_tokens, counts.completion_tokens)
        self._cache.save_reply(key, request.model, reply)

    # A call

    def _begin(self, request: CallRequest, key: bytes | None) -> SharedCall:
        """Begin a call that equal ones join by its key; None for a call of its own."""
        call = SharedCall(is_stream=request.is_stream)
        if key is not None:
            self._calls[key] = call

        def save(value: Json, counts: Usage) -> None:
            if key is not None:
                self._save(request, key, value, counts)

        self._start(call, request, save, () if key is None else (key,))
        return call

    def _start(
        self,
        call: SharedCall,
        request: CallRequest,
        save: Callable[[Json, Usage], None],
        keys: Sequence[Hashable],
    ) -> None:
        async def work() -> None:
            answer: UpstreamAnswer | None = None
            try:
                answer = await self._try_call(call, request, save)
            finally:
                # Before the end is reported: who comes now finds the reply in the cache.
                self._tasks.discard(call)
                for key in keys:
                    if self._calls.get(key) is call:
                        del self._calls[key]
                call.end(answer)

        self._tasks.add(call)
        call.begin(work())

    async def _try_call(
        self, call: SharedCall, request: CallRequest, save: Callable[[Json, Usage], None]
    ) -> UpstreamAnswer:
        """The answer to a call, or the error that its clients are sent."""
        try:
            return await self._ask(call, request, save)
        except BudgetSpent as error:
            return error_answer(402, str(error), BUDGET_CODE)
        except UpstreamBroken as error:
            LOG.warning("%s", error)
            return error.answer
        except BadReply as error:
            return error_answer(502, f"The endpoint behind the gateway: {error}", VECTORS_CODE)
        except Exception:
            LOG.exception("A call of the gateway ended with an unexpected error.")
            return error_answer(500, "Unexpected error in the gateway: see its log.", "unexpected")

    async def _ask(
        self, call: SharedCall, request: CallRequest, save: Callable[[Json, Usage], None]
    ) -> UpstreamAnswer:
        """Ask the endpoint, again while it refuses because it is called too often."""
        began = time.monotonic()
        expected = 0
        if self._spending.needs_tokens:
            # A long prompt takes milliseconds, in which the streams of others would stand still.
            expected = await asyncio.to_thread(self._count_prompt, request)
        async with self._spending.call(self._most(request, expected)) as bill:
            while True:
                try:
                    return await self._ask_once(call, request, save, bill, began, expected)
                except _Failed as failure:
                    if not self._asks_again(request, failure, began):
                        return failure.answer
                    if failure.after is not None:
                        # Not all at once when the time is over.
                        await asyncio.sleep(failure.after * (1 + random.random() / 4))

    async def _ask_once(
        self,
        call: SharedCall,
        request: CallRequest,
        save: Callable[[Json, Usage], None],
        bill: GatewayBill,
        began: float,
        expected: int,
    ) -> UpstreamAnswer:
        async with AsyncExitStack() as stack:
            left = GATEWAY_QUEUE_SECONDS - (time.monotonic() - began)
            try:
                async with asyncio.timeout(left):
                    slot = await stack.enter_async_context(self._queue.slot(urgent=request.urgent))
            except TimeoutError:
                return error_answer(
                    429,
                    f"This call has waited for {GATEWAY_QUEUE_SECONDS:.0f} s at the gateway: more "
                    "is asked than the endpoint allows.",
                    "gateway_busy",
                    {"Retry-After": "1"},
                )
            call.is_sent = True
            await self._spending.note_start()
            try:
                return await self._send(call, request, save, bill, slot, expected)
            except UpstreamBroken as error:
                if error.late:
                    self._queue.report_lateness(slot)
                raise

    def _asks_again(self, request: CallRequest, failure: _Failed, began: float) -> bool:
        """Whether a failed call is tried again: only one that came too early, and for a time."""
        if failure.answer.status != 429:
            return False
        error = EndpointError.of(429, failure.answer.body.decode("utf-8", "replace"))
        if not error.temporary or (failure.after or 0) > MAX_WAIT_SECONDS:
            return False
        waited = min(self._queue.silent_for, time.monotonic() - began)
        is_known = request.model in self._answered
        return waited < (RetryPolicy().refusals if is_known else FIRST_REFUSAL_SECONDS)

    async def _send(
        self,
        call: SharedCall,
        request: CallRequest,
        save: Callable[[Json, Usage], None],
        bill: GatewayBill,
        slot: Call,
        expected: int,
    ) -> UpstreamAnswer:
        body, has_added = self._body(request)
        async with self._upstream.ask(request.path, body, stream=request.is_stream) as opened:
            for left, reset in allowances(opened.headers):
                if reset <= MAX_WAIT_SECONDS:
                    self._queue.allowance(slot, left, reset)
            answer = opened.answer
            if answer is None:
                return await self._relay(call, request, save, bill, opened.events(), expected)
        if not answer.is_good:
            if has_added and answer.status in (400, 422) and b"stream_options" in answer.body:
                self._without_counts.add(request.model)
                return await self._send(call, request, save, bill, slot, expected)
            after = requested_wait({name.lower(): v for name, v in answer.headers.items()})
            if answer.status == 429:
                if after is None:
                    text = answer.body.decode("utf-8", "replace")
                    after = EndpointError.of(answer.status, text).wait
                self._metrics.count_refusal()
                # The queue is all clients': it is not closed for a wait that no call has time for.
                is_bearable = after is not None and after <= MAX_WAIT_SECONDS
                self._queue.report_refusal(slot, after if is_bearable else None)
            raise _Failed(answer, after)
        assert answer.value is not None
        call.is_answered = True
        self._answered.add(request.model)
        counts = self._charge(request, answer.value, bill, expected)
        await _in_thread(partial(save, answer.value, counts))
        return answer

    async def _relay(
        self,
        call: SharedCall,
        request: CallRequest,
        save: Callable[[Json, Usage], None],
        bill: GatewayBill,
        events: AsyncIterator[bytes],
        expected: int,
    ) -> UpstreamAnswer:
        """Pass on the events of a stream, and return the whole of it as a completion."""
        values: list[Json] = []
        try:
            async for event in events:
                value = event_value(event)
                if value is not None:
                    values.append(value)
                # Before it is passed on: with this event a client has all, and leaves.
                call.is_answered = call.is_answered or is_end(event)
                call.add_event(event, is_usage=value is not None and is_usage_event(value))
        except UpstreamBroken as error:
            if not call.has_events:
                raise
            # The status is sent: an error can only be one more event.
            call.add_event(make_event(json.loads(error.answer.body)), is_usage=False)
            return error.answer
        finally:
            # Also of a stream that its reader has left: it is paid for as far as it came.
            is_done = call.is_answered and request.model not in self._reasoned
            completion = join_stream(values, is_done=is_done)
            if any(value.get("choices") for value in values):
                self._answered.add(request.model)
                answer = completion or _partial(values)
                counts = self._charge(request, answer, bill, expected)
        if not call.has_events:
            # Some servers end a stream in silence; the same call without a stream says why.
            return UpstreamAnswer(200, b"", content_type=STREAM_TYPE)
        has_error = any(reported_error(value) for value in values)
        if completion is None or has_error:
            return error_answer(502, "The endpoint's stream did not end.", "endpoint_failed")
        call.is_answered = True
        # Without a reason for the end, a proxy may have ended the stream, and not the model.
        if all(each.get("finish_reason") for each in completion["choices"]):
            self._reasoned.add(request.model)
            await _in_thread(partial(save, completion, counts))
        body = json.dumps(completion, ensure_ascii=False).encode()
        return UpstreamAnswer(200, body, value=completion)

    def _body(self, request: CallRequest) -> tuple[Json, bool]:
        """The request as the endpoint gets it, and whether a field was added.

        A stream is asked to end with the token counts, as the budget needs them.
        """
        asks = request.is_stream and not request.with_usage
        if not asks or request.model in self._without_counts:
            return request.body, False
        options = object_or_empty(request.body.get("stream_options")) | {"include_usage": True}
        return request.body | {"stream_options": options}, True

    # Vectors

    async def _embed(self, request: CallRequest, texts: Sequence[str]) -> CallReply:
        """Answer a call for vectors; each text that is not cached is asked for once."""
        address, model = self._upstream.address, request.model
        kind = "query" if request.body.get("input_type") == "query" else ""
        keys = [embedding_key(address, model, text, kind) for text in texts]
        rows: dict[bytes, Vector] = {}
        if self._cache is not None and not request.fresh:
            rows = self._cache.vectors([*dict.fromkeys(keys)])
            if len({row.shape for row in rows.values()}) > 1:
                # The name stood for another model before: the cached vectors are of no use.
                rows = {}
        cached, paid, how = {*rows}, 0, HIT
        while missing := {k: t for k, t in zip(keys, texts, strict=True) if k not in rows}:
            joinable = {} if request.fresh else {k: self._joinable(k) for k in missing}
            own = {k: text for k, text in missing.items() if not joinable.get(k)}
            shared = {call for call in joinable.values() if call}
            how = MISS if own else SHARED if how == HIT else how
            calls = [self._begin_texts(request, own)] if own else []
            async with AsyncExitStack() as stack:
                for call in (*calls, *shared):
                    await stack.enter_async_context(call.join(runs_on=request.runs_on))
                for call in calls:
                    answer = await call.answer() or _stop_answer()
                    if not answer.is_good or not call.rows:
                        self._count(request, how, answer.status)
                        return CallReply(how, answer)
                    paid += usage(answer.value or {})[0]
                    rows |= call.rows
                for call in shared:
                    # One that fails is asked again, by this call, in the next round.
                    await call.answer()
                    rows |= {k: row for k, row in call.rows.items() if k in missing}
        if len({row.shape for row in rows.values()}) > 1:
            return await self._embed(replace(request, fresh=True), texts)
        saved = (
            sum(
                tokens.count(t)
                for k, t in dict(zip(keys, texts, strict=True)).items()
                if k in cached
            )
            if cached
            else 0
        )
        if how == HIT:
            self._metrics.count_call(request.client, model, "cached")
        else:
            self._count(request, how, 200)
        counts = {"prompt_tokens": paid, "total_tokens": paid, "saved_tokens": saved}
        vectors = [rows[key] for key in keys]
        # Some hundred thousand numbers as text: a tenth of a second.
        return CallReply(how, await asyncio.to_thread(_embedding_answer, request, vectors, counts))

    def _begin_texts(self, request: CallRequest, texts: Mapping[bytes, str]) -> SharedCall:
        """Begin a call for the vectors of some texts, which others that need one of them join."""
        call = SharedCall(is_stream=False)
        asked = replace(request, body=request.body | {"input": [*texts.values()]})

        def save(value: Json, counts: Usage) -> None:
            vectors = unit_rows(value.get("data"), len(texts))
            call.rows = dict(zip(texts, vectors, strict=True))
            # The client has to be told what was paid, where the endpoint does not say it.
            value["usage"] = {"prompt_tokens": counts.prompt_tokens}
            if self._cache is not None and not request.fresh:
                self._cache.save_vectors(request.model, call.rows)

        if not request.fresh:
            for key in texts:
                self._calls[key] = call
        self._start(call, asked, save, [*texts])
        return call

    # Money

    def _count_prompt(self, request: CallRequest) -> int:
        """About how many tokens a call sends, by our own count."""
        body = request.body
        if request.path == CHAT_PATH:
            messages = body.get("messages")
            count = len(messages) if isinstance(messages, list) else 0
            shape = [body.get("tools"), body.get("response_format")]
            extra = sum(tokens.count(json.dumps(part)) for part in shape if part)
            return _count_texts(messages) + MESSAGE_TOKENS * count + extra
        if request.path == RERANK_PATH:
            documents = body.get("documents")
            count = len(documents) if isinstance(documents, list) else 1
            return count * _count_texts(body.get("query")) + _count_texts(documents)
        return _count_texts(body.get("input"))

    def _most(self, request: CallRequest, expected: int) -> Amount:
        """The most that a call may cost. Raises BudgetSpent for a model without a price."""
        if not self._spending.needs_tokens:
            return Amount(1)
        sent = math.ceil(expected * self._ratios.get(request.model, 1.0))
        received = 0
        if request.path == CHAT_PATH:
            given = request.body.get("max_completion_tokens") or request.body.get("max_tokens")
            replies = request.body.get("n")
            received = (token_count(given) or DEFAULT_REPLY_TOKENS) * (token_count(replies) or 1)
        money = self._price(request.model, Usage(1, sent, received))
        if money is None and self._spending.needs_money:
            raise BudgetSpent(
                f"The gateway has a budget of money, and the price of {request.model} is not "
                "known: its FABULA_PRICES names a list of prices to add it to."
            )
        return Amount(1, sent + received, money or 0.0)

    def _charge(self, request: CallRequest, value: Json, bill: GatewayBill, expected: int) -> Usage:
        """Charge an answer, by the endpoint's count of tokens or by our own."""
        sent, received = usage(value)
        total = token_count(object_or_empty(value.get("usage")).get("total_tokens"))
        own = expected or (0 if sent else self._count_prompt(request))
        sent = sent or (total if request.path != CHAT_PATH else 0) or own
        if request.path == CHAT_PATH and not received:
            received = tokens.count(read_reply(value, is_json=False, may_call=False).raw)
        if expected and sent > expected:
            ratio = self._ratios.get(request.model, 1.0)
            self._ratios[request.model] = max(ratio, sent / expected)
        counts = Usage(1, sent, received, cached_tokens=cached_tokens(value))
        money = self._price(request.model, counts)
        bill.charge(sent + received, money or 0.0)
        self._metrics.spent(request.client, request.model, counts, money)
        return counts

    def _price(self, model: str, counts: Usage) -> float | None:
        found = price(read_prices(self._prices), model)
        return found.of(counts) if found is not None else None


async def _in_thread(work: Callable[[], None]) -> None:
    """Let a thread write, while the event loop goes on. Who leaves meanwhile does not end it."""
    await asyncio.shield(asyncio.to_thread(work))


def _count_texts(value: object) -> int:
    """The tokens of all texts in a value."""
    if isinstance(value, str):
        return tokens.count(value)
    if isinstance(value, Mapping):
        return sum(_count_texts(part) for name, part in value.items() if name != "role")
    return sum(map(_count_texts, value)) if isinstance(value, list) else 0


def _partial(values: Sequence[Json]) -> Json:
    """What came of a stream that did not end, as a completion."""
    ended = [*values, {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}]
    return join_stream(ended) or {}


def _embedding_answer(
    request: CallRequest, vectors: Sequence[Vector], counts: Mapping[str, int]
) -> UpstreamAnswer:
    """The answer to a call for vectors, in the form that the client wants."""
    packed = request.body.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": place, "embedding": _vector(vector, packed=packed)}
        for place, vector in enumerate(vectors)
    ]
    value = {"object": "list", "model": request.model, "data": data, "usage": counts}
    return UpstreamAnswer(200, json.dumps(value).encode(), value=value)


def _vector(row: Vector, *, packed: bool) -> object:
    if packed:
        return base64.b64encode(row.astype("<f4").tobytes()).decode("ascii")
    return np.asarray(row, dtype=np.float64).tolist()


async def _each(events: Sequence[bytes]) -> AsyncIterator[bytes]:
    for event in events:
        yield event


def _stop_answer() -> UpstreamAnswer:
    """The answer to a call that was cancelled though a client waits for it: a stop."""
    return error_answer(
        503,
        "The gateway stopped before this call had ended.",
        "gateway_stopped",
        {"Retry-After": "1"},
    )
