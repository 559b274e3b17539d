"""Models whose replies come by batches: a call that no batch has answered is collected, not made.

It is answered by `ReplyPending`, and made again when batches have ended. A build that another
process had begun asks from its start, and is answered from the file of batches.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.errors import BadReply, BudgetSpent, ReplyPending
from fabula.models import Embeddings, Prompt, Reply, TextKind
from fabula.models.batch_store import BatchAnswer, BatchStore, CollectedCall
from fabula.models.budget import Budgets
from fabula.models.cache import ReplyCache, chat_key, embedding_key
from fabula.models.counted import CountedChat, UsageCounter
from fabula.models.endpoint import Endpoint
from fabula.models.endpoint_errors import NamedModel
from fabula.models.learned_behaviour import LearnedBehaviour
from fabula.models.model_call import Body, ModelCall
from fabula.models.openai import CHAT_PATH, EMBEDDINGS_PATH, OpenAIChat, OpenAIEmbedder
from fabula.models.parameters import Parameters
from fabula.models.payload import Json
from fabula.models.purpose import Purpose
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.text import tokens

if TYPE_CHECKING:
    from fabula.text.document import Vector

MAX_BATCH_TRIES = 4
"""How many batches may bring no answer to a call before the call fails."""


KEPT_KEY = "fabula_kept"
"""The key of a saved answer that says how many tokens of a text were embedded, where it was cut."""


class _Missing(ReplyPending):
    """No batch has answered this call."""

    def __init__(self, call: CollectedCall, body: Body, role: NamedModel) -> None:
        super().__init__()
        self.call, self.body, self.role = call, body, role


@dataclass(frozen=True)
class BatchCalls:
    """What the calls of one build are answered from, and where those without an answer go.

    Attributes:
        store: The file of batches.
        endpoint: The endpoint that the batches are sent to.
        cache: The response cache, which has what earlier runs paid for.
        address: The endpoint's checked URL, a part of the cache's keys.
        budgets: What may be spent.
        counter: Counts each reply once, when it is first used.
        stop: Ends the waiting.
        used: The ids of the calls that were answered by batches.
        pending: The ids of the calls that are not answered yet.
        owner: Whose budget the calls are of; '' for nobody's.

    """

    store: BatchStore
    endpoint: Endpoint
    cache: ReplyCache
    address: str
    budgets: Budgets = field(default_factory=Budgets)
    counter: UsageCounter | None = None
    stop: Stop = field(default_factory=Stop)
    used: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)
    owner: str = ""
    refusals: list[BudgetSpent] = field(default_factory=list)
    """Why no more calls were collected; empty while the budget allows them."""
    charged: set[str] = field(default_factory=set)
    """The ids of the calls that this run has collected, in whichever round: each is charged once.
    """
    abandoned: set[str] = field(default_factory=set)
    """The ids of the calls that too many batches have brought no answer to."""
    _probing: threading.Lock = field(default_factory=threading.Lock)
    _using: threading.Lock = field(default_factory=threading.Lock)

    def for_build(self) -> BatchCalls:
        """Return the same for one build, with sets of its own."""
        return replace(self, used=set(), pending=set(), refusals=[], abandoned=set())

    def settle(self) -> None:
        """Forget the calls of a build that has ended.

        The response cache has their replies. It has forgotten those that could not be used, so that
        the next build asks again; and what no batch brought is asked for again, as often.
        """
        self.store.settle(self.used)
        self.store.give_up(self.abandoned)

    def collect(self, missing: _Missing) -> None:
        """Save a call for the next batch; the first one to a model is made at once.

        That one shows whether there is such a model, and which parameters it accepts: a batch would
        say so after hours, and of each of its calls.

        Raises:
            ReplyPending: The call waits for a batch.
            ModelError: The model can't be asked.

        """
        call, role = missing.call, missing.role
        if self.store.is_waiting(call.id):
            self.pending.add(call.id)
            raise missing
        if self.refusals:
            raise missing
        budgets = Budgets() if call.id in self.charged else self.budgets
        try:
            with budgets.call(call.tokens, model=role.model, is_batched=True) as bill:
                with self._probing:
                    learned = self.store.parameters(self.endpoint.url, role.model)
                    if learned is None:
                        self._probe(missing)
                        bill.add(call.tokens)
                        return
                self.endpoint.remember(role.model, learned)
                thinks = call.thinks or learned.thinks
                # A batch has no streams.
                body = missing.body(replace(learned, thinks=thinks, stream="asked"))
                collected = replace(call, body=body, thinks=thinks, owner=self.owner)
                self.store.collect(self.endpoint.url, collected)
                if call.path == CHAT_PATH:
                    bill.add(call.tokens)
            if call.path != CHAT_PATH:
                # A line has one text, where a direct call has many: it counts by its tokens alone.
                budgets.add(role.model, Usage(0, call.tokens).batched)
            self.charged.add(call.id)
        except BudgetSpent as error:
            # What was collected before is sent, as calls under way are in other runs.
            self.refusals.append(error)
            raise missing from error
        self.pending.add(call.id)
        raise missing

    def _probe(self, missing: _Missing) -> None:
        call, role = missing.call, missing.role
        answer = self.endpoint.ask(
            ModelCall(call.path, role, missing.body, purpose=Purpose(stop=self.stop))
        )
        accepted = self.endpoint.parameters(role.model)
        self.store.save_live(
            self.endpoint.url, replace(call, thinks=call.thinks or accepted.thinks), answer
        )
        self.store.save_parameters(self.endpoint.url, role.model, accepted)

    def use(self, ids: Sequence[str]) -> bool:
        """Note that a build uses an answer, and how it was asked for before.

        Returns:
            Whether it is the first time in this build.

        """
        with self._using:
            is_first = not self.used.issuperset(ids[-1:])
            self.used.update(ids)
            return is_first

    def charge(self, id: str, step: str, model: str, usage: Usage) -> None:
        """Count a reply to the run's counter and budget, the first time that it is used."""
        if self.store.count_once(id):
            # What was sent was charged when the call was collected.
            reply = replace(usage, calls=0, prompt_tokens=0, batch_prompt_tokens=0, cached_tokens=0)
            self.budgets.add(model, reply)
            if self.counter is not None:
                self.counter.add(step, Usage.of_model(model, usage))


class BatchedEndpoint:
    """Answers the calls that one prompt or text makes: `fabula.models.model_call.CallsModels`.

    It stands in the place of an endpoint, so that a reply is read as one of a live call is.
    """

    def __init__(self, calls: BatchCalls, id: str, tokens: int) -> None:
        self._calls, self._first_id, self._tokens = calls, id, tokens
        self._asked = 0
        self._thinks = False
        self.used: list[str] = []
        """The ids of the calls that were answered."""
        self.batched = False
        """Whether the last answer came by a batch."""
        self.kept: int | None = None
        """How many tokens of the text were embedded, where it was cut before it was sent."""

    @property
    def url(self) -> str:
        """The endpoint's URL without secrets."""
        return self._calls.endpoint.url

    @property
    def behaviour(self) -> LearnedBehaviour:
        """What was learned of the models."""
        return self._calls.endpoint.behaviour

    def ask(self, call: ModelCall) -> Json:
        """Return the answer that a batch has brought.

        Raises:
            ReplyPending: None has yet.
            BadReply: The endpoint refused this call, or several batches brought no answer.

        """
        role, body = call.role, call.body
        id = self._next_id(body)
        answer = self._calls.store.answer(id)
        if answer is None:
            tried = self._calls.store.tries(id)
            if tried >= MAX_BATCH_TRIES:
                # Not forgotten before the build ends: its next round would begin to try anew.
                self._calls.abandoned.add(id)
                raise BadReply(f"{tried} batches of {self.url} brought no reply of {role.model}.")
            collected = CollectedCall(id, call.path, role.model, {}, self._tokens, self._thinks)
            raise _Missing(collected, body, role)
        return self._read(id, answer, role, body)

    def _next_id(self, body: Body) -> str:
        """Return the id of the next call: that of the prompt, or of a further try of it.

        It does not depend on the parameters that the model accepts, as another process may know
        less of them.
        """
        self._asked += 1
        if self._asked == 1:
            return self._first_id
        plain = json.dumps([self._first_id, self._asked, self._thinks, body(Parameters())])
        return hashlib.sha256(plain.encode()).hexdigest()

    def _read(self, id: str, answer: BatchAnswer, role: NamedModel, body: Body) -> Json:
        # `body` remembers the parameters that the call was made with.
        body(replace(self._calls.endpoint.parameters(role.model), thinks=answer.thinks))
        self.used.append(id)
        self.batched = not answer.live
        if isinstance(answer.body, dict):
            self.kept = answer.body.get(KEPT_KEY)
        status, content = answer.status, answer.body
        if status == 200:
            status, content = self._calls.endpoint.batches.line_answer(content)
        if status != 200:
            raise self._calls.endpoint.batches.line_error(status, content, role)
        return dict(content)

    def events(self, call: ModelCall) -> Iterator[Json]:
        """Yield nothing: no batch has streams."""
        raise NotImplementedError("A batch has no streams.")

    def allow_thinking(self, role: NamedModel, used: Parameters) -> bool:
        """Return whether to ask again, with more tokens, as the model used all for thinking."""
        if used.thinks:
            return False
        self._thinks = True
        self._calls.endpoint.allow_thinking(role, used)
        accepted = replace(self._calls.endpoint.parameters(role.model), thinks=True)
        self._calls.store.save_parameters(self.url, role.model, accepted)
        return True


class _MarkedChat:
    """A chat whose replies are marked as batched, where they are."""

    def __init__(self, chat: OpenAIChat, endpoint: BatchedEndpoint) -> None:
        self._chat, self._endpoint = chat, endpoint

    def complete(self, prompt: Prompt) -> Reply:
        reply = self._chat.complete(prompt)
        if not self._endpoint.batched:
            return reply
        # Half the price holds for all tokens, whether the endpoint had them in its cache or not.
        return replace(reply, batched=True, cached_tokens=0)

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
        yield self.complete(prompt)

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        pass


class BatchedChat:
    """A chat that answers from batches, and else from the response cache; it collects the rest.

    Replies of batches come first: until the graph that they are for is written, they count as paid
    by this build, however often it is repeated.
    """

    def __init__(
        self, calls: BatchCalls, meter: UsageCounter, step: str, model: str, setting: str
    ) -> None:
        """Answer for a model.

        Args:
            calls: Where answers are, and where calls are collected.
            meter: Counts the calls of this repetition of the build.
            step: What they are counted to.
            model: The model's name.
            setting: The setting that names it, for error messages.

        """
        self._calls, self._meter, self._step = calls, meter, step
        self._model, self._setting = model, setting

    def complete(self, prompt: Prompt) -> Reply:
        """Return the reply.

        Raises:
            ReplyPending: It comes by a batch.

        """
        calls = self._calls
        key = chat_key(calls.address, self._model, prompt)
        with calls.cache.lock([key], calls.stop):
            while True:
                try:
                    return self._reply(key, prompt)
                except _Missing as missing:
                    if (cached := self._calls.cache.reply(key)) is not None:
                        self._count(prompt, cached)
                        return cached
                    calls.collect(missing)
                # It was the first call to the model, and was answered at once. If all of the answer
                # were thoughts, the next try of it is collected.

    def _reply(self, key: bytes, prompt: Prompt) -> Reply:
        calls = self._calls
        size = _prompt_tokens(prompt)
        endpoint = BatchedEndpoint(calls, _prompt_id(key, prompt), size)
        purpose = Purpose(stop=calls.stop)
        chat = _MarkedChat(OpenAIChat(endpoint, self._model, self._setting, purpose), endpoint)
        try:
            reply = chat.complete(prompt)
        finally:
            is_first = calls.use(endpoint.used)
        # Asked twice in one build, it is paid for once, as with the response cache.
        counts = reply if is_first else replace(reply, cached=True)
        counted = CountedChat(chat, self._meter, self._step, self._model)
        counted.count(prompt, reply.text, counts)
        sent = reply.prompt_tokens or size
        received = reply.completion_tokens or tokens.count(reply.text)
        usage = Usage(
            *(1, sent, received),
            batch_prompt_tokens=sent * reply.batched,
            batch_completion_tokens=received * reply.batched,
        )
        calls.charge(endpoint.used[-1], self._step, self._model, usage)
        if not reply.incomplete and calls.cache.reply(key) is None:
            calls.cache.save_reply(
                key, self._model, replace(reply, text="") if reply.problem else reply
            )
        return reply

    def _count(self, prompt: Prompt, cached: Reply) -> None:
        sent = cached.prompt_tokens or _prompt_tokens(prompt)
        received = cached.completion_tokens or tokens.count(cached.text)
        usage = Usage(saved=1, saved_prompt_tokens=sent, saved_completion_tokens=received)
        self._meter.add(self._step, Usage.of_model(self._model, usage))

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
        """Yield the whole reply in one piece."""
        yield self.complete(prompt)

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Report an unusable reply; with `forget`, delete it from the response cache."""
        if forget:
            self._calls.cache.forget(chat_key(self._calls.address, self._model, prompt))
        self._meter.add(self._step, Usage.of_model(self._model, Usage(faults=1)))


class BatchedEmbedder:
    """An embedder that answers from batches and the cache; each text is a line of its own.

    So a text has the same line whatever texts are embedded beside it.
    """

    def __init__(
        self,
        calls: BatchCalls,
        meter: UsageCounter,
        step: str,
        model: str,
        batch: int,
    ) -> None:
        self._calls, self._meter, self._step = calls, meter, step
        self.model, self.batch = model, batch

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        """Return one vector for each text.

        Raises:
            ReplyPending: Some of them come by a batch.

        """
        calls = self._calls
        keys = {text: embedding_key(calls.address, self.model, text) for text in texts}
        with calls.cache.lock([*keys.values()], calls.stop):
            rows, answers, usage = self._collect(keys, kind)
            shapes = {row.shape for row in rows.values()}
            if len(shapes) > 1:
                # The name stood for another model before: the cached vectors are of no use.
                rows, answers, usage = self._collect(keys, kind, use_cache=False)
            if new := {keys[text]: answers[text].vectors[0] for text in answers}:
                known = calls.cache.vectors([*new])
                missing = {key: row for key, row in new.items() if key not in known}
                if missing:
                    calls.cache.save_vectors(self.model, missing)
        saved = sum(tokens.count_all([text for text in keys if text not in answers]))
        if answers:
            self._meter.add(self._step, Usage.of_model(self.model, usage))
        if saved:
            count = Usage(saved=int(not answers), saved_prompt_tokens=saved)
            self._meter.add(self._step, Usage.of_model(self.model, count))
        return Embeddings(
            np.stack([rows[text] for text in texts]),
            usage.prompt_tokens,
            cached=not answers,
            cut={text: kept for each in answers.values() for text, kept in each.cut.items()},
        )

    def _collect(
        self, keys: dict[str, bytes], kind: TextKind, *, use_cache: bool = True
    ) -> tuple[dict[str, Vector], dict[str, Embeddings], Usage]:
        """Return vectors by text, those of them that batches brought, and what these cost."""
        calls = self._calls
        cached = calls.cache.vectors([*keys.values()]) if use_cache else {}
        rows: dict[str, Vector] = {}
        read: dict[str, tuple[Embeddings, BatchedEndpoint]] = {}
        pending: ReplyPending | None = None
        for text, key in keys.items():
            try:
                try:
                    read[text] = self._embed_one(text, key, kind)
                except _Missing as missing:
                    if key in cached:
                        rows[text] = cached[key]
                        continue
                    calls.collect(missing)
                    read[text] = self._embed_one(text, key, kind)
            except ReplyPending as error:
                pending = error
        if pending is not None:
            raise pending
        # Counted only now, as all texts are asked for again until none is missing; and as one call,
        # as a call for all of them would be.
        usage = sum((self._count(text, *each) for text, each in read.items()), Usage())
        answers = {text: answer for text, (answer, _) in read.items()}
        rows |= {text: answer.vectors[0] for text, answer in answers.items()}
        return rows, answers, replace(usage, calls=int(usage.prompt_tokens > 0))

    def _embed_one(
        self, text: str, key: bytes, kind: TextKind
    ) -> tuple[Embeddings, BatchedEndpoint]:
        calls = self._calls
        endpoint = BatchedEndpoint(calls, key.hex(), tokens.count(text))
        embedder = OpenAIEmbedder(endpoint, self.model, 1, Purpose(stop=calls.stop))
        try:
            answer = embedder.embed([text], kind)
        except BadReply:
            calls.use(endpoint.used)
            raise
        if endpoint.kept is not None:
            answer = replace(answer, cut={text: endpoint.kept})
        return answer, endpoint

    def _count(self, text: str, answer: Embeddings, endpoint: BatchedEndpoint) -> Usage:
        """Charge an answer, and return its usage, of which the build has paid for once."""
        sent = answer.tokens or tokens.count(text)
        usage = Usage(1, sent, batch_prompt_tokens=sent * endpoint.batched)
        self._calls.charge(endpoint.used[-1], self._step, self.model, usage)
        return usage if self._calls.use(endpoint.used) else Usage(saved_prompt_tokens=sent)


def save_live_vectors(
    store: BatchStore,
    endpoint: str,
    ids: Sequence[str],
    texts: Sequence[str],
    model: str,
    embed: Callable[[Sequence[str]], Embeddings],
) -> None:
    """Embed texts at once, and save the vectors as if batches had brought them.

    Args:
        store: The file of batches.
        endpoint: The endpoint's URL without secrets.
        ids: The calls' ids.
        texts: Their texts.
        model: The embedding model.
        embed: Makes the calls, which are paid for.

    """
    embeddings = embed(texts)
    for id, text, row in zip(ids, texts, embeddings.vectors, strict=True):
        packed = base64.b64encode(row.astype("<f4").tobytes()).decode()
        # The endpoint counts the tokens of all texts together.
        answer: dict[str, Any] = {
            "data": [{"index": 0, "embedding": packed}],
            "usage": {"prompt_tokens": tokens.count(text)},
        }
        if text in embeddings.cut:
            answer[KEPT_KEY] = embeddings.cut[text]
        call = CollectedCall(id, EMBEDDINGS_PATH, model, {}, tokens.count(text))
        store.save_live(endpoint, call, answer)


def _prompt_tokens(prompt: Prompt) -> int:
    return sum(tokens.count_all((prompt.system, prompt.user, prompt.correction)))


def _prompt_id(key: bytes, prompt: Prompt) -> str:
    """Return the `custom_id` of a prompt: its key in the cache, or a hash of it if corrected."""
    if not prompt.correction:
        return key.hex()
    return hashlib.sha256(key + prompt.correction.encode("utf-8", "surrogatepass")).hexdigest()
