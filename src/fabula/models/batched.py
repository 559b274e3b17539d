"""Models whose replies come by batches: a call that no batch has answered is collected, not made.

It is answered by `ReplyPending`, and made again when batches have ended. A build that another
process had begun asks from its start, and is answered from the file of batches.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from fabula.errors import BadReply, BudgetSpent, ReplyPending
from fabula.models import Chat, Embedder, Embeddings, Prompt, Reply, TextKind
from fabula.models.batch_store import BatchAnswer, BatchStore, CollectedCall
from fabula.models.budget import Budgets
from fabula.models.cache import ReplyCache, chat_key, embedding_key
from fabula.models.counted import CountedChat, UsageCounter
from fabula.models.endpoint.call import Body, ModelCall
from fabula.models.endpoint.endpoint import Endpoint
from fabula.models.endpoint.errors import NamedModel
from fabula.models.endpoint.learned import LearnedBehaviour
from fabula.models.endpoint.openai import CHAT_PATH, OpenAIChat, OpenAIEmbedder
from fabula.models.endpoint.parameters import Parameters
from fabula.models.endpoint.payload import Json
from fabula.models.purpose import Purpose
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.text import tokens

if TYPE_CHECKING:
    from fabula.text.document import Vector

MAX_BATCH_TRIES = 4
"""How many batches may bring no answer to a call before the call fails."""
Answer = TypeVar("Answer")


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
        direct: The ids of the calls that are made now, as they are too few to wait for.
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
    direct: set[str] = field(default_factory=set)
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

    def take_direct(self, missing: Collection[_Missing]) -> set[str]:
        """Return the ids of those calls that are made now; what they send is charged then."""
        now = [each.call for each in missing if each.call.id in self.direct]
        for call in now:
            if call.id in self.charged:
                self.charged.remove(call.id)
                self.budgets.add(call.model, Usage(0, -call.tokens).batched)
        return {call.id for call in now}

    def probe(self, model: str, ask: Callable[[], Answer]) -> Answer | None:
        """Make the first call to a model now; None if this is not the first one.

        It shows whether there is such a model, and which parameters it accepts: a batch would say
        so after hours, and of each of its calls.
        """
        behaviour = self.endpoint.behaviour
        if behaviour.of(model).is_probed:
            return None
        with self._probing:
            if behaviour.of(model).is_probed:
                return None
            answer = ask()
            behaviour.note_probe(model)
            return answer

    def collect(self, missing: _Missing) -> None:
        """Save a call for the next batch, unless it is in one, or the budget allows no more."""
        call, role = missing.call, missing.role
        if self.store.is_waiting(call.id):
            self.pending.add(call.id)
            return
        if self.refusals:
            return
        budgets = Budgets() if call.id in self.charged else self.budgets
        try:
            with budgets.call(call.tokens, model=role.model, is_batched=True) as bill:
                self.endpoint.note_answer(role.model)
                learned = self.endpoint.parameters(role.model)
                thinks = call.thinks or learned.thinks
                # A batch has no streams.
                body = missing.body(replace(learned, thinks=thinks, stream="asked"))
                collected = replace(call, body=body, thinks=thinks, owner=self.owner)
                self.store.collect(self.endpoint.url, collected)
                if call.path == CHAT_PATH:
                    bill.add(call.tokens)
        except BudgetSpent as error:
            # What was collected before is sent, as calls under way are in other runs.
            self.refusals.append(error)
            return
        if call.path != CHAT_PATH:
            # A line has one text, where a direct call has many: it counts by its tokens alone.
            budgets.add(role.model, Usage(0, call.tokens).batched)
        self.charged.add(call.id)
        self.pending.add(call.id)

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
    """Answers the calls that one prompt or text makes: `fabula.models.endpoint.call.CallsModels`.

    It stands in the place of an endpoint, so that a reply is read as one of a live call is.
    """

    def __init__(self, calls: BatchCalls, id: str, tokens: int) -> None:
        self._calls, self._first_id, self._tokens = calls, id, tokens
        self._asked = 0
        self._thinks = False
        self.used: list[str] = []
        """The ids of the calls that were answered."""

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
        """Return the id of the next call: that of the prompt, or of a further try of it."""
        self._asked += 1
        if self._asked == 1:
            return self._first_id
        # Without the parameters that the model accepts: another process may know less of them.
        plain = json.dumps([self._first_id, self._asked, self._thinks, body(Parameters())])
        return hashlib.sha256(plain.encode()).hexdigest()

    def _read(self, id: str, answer: BatchAnswer, role: NamedModel, body: Body) -> Json:
        # `body` remembers the parameters that the call was made with.
        body(replace(self._calls.endpoint.parameters(role.model), thinks=answer.thinks))
        self.used.append(id)
        status, content = answer.status, answer.body
        if status == 200:
            status, content = self._calls.endpoint.batches.line_answer(content)
        if status != 200:
            raise self._calls.endpoint.batches.line_error(status, content, role)
        return dict(content)

    def events(self, call: ModelCall) -> Generator[Json]:
        """Yield nothing: no batch has streams."""
        raise NotImplementedError("A batch has no streams.")

    def allow_thinking(self, role: NamedModel, used: Parameters) -> bool:
        """Return whether to ask again, with more tokens, as the model used all for thinking."""
        if used.thinks:
            return False
        self._thinks = True
        self._calls.endpoint.allow_thinking(role, used)
        return True


class DirectCounter:
    """Counts the calls of a build by batches that are made directly, for the build and the run."""

    def __init__(self, meter: UsageCounter, counter: UsageCounter | None) -> None:
        self._counters = [meter, *([counter] if counter else [])]

    def add(self, step: str, usage: Usage) -> None:
        """Count `usage` to `step`."""
        for counter in self._counters:
            counter.add(step, usage)


class BatchedChat:
    """A chat that answers from batches, and else from the response cache; it collects the rest.

    Replies of batches come first: until the graph that they are for is written, they count as paid
    by this build, however often it is repeated.
    """

    def __init__(
        self,
        calls: BatchCalls,
        meter: UsageCounter,
        step: str,
        model: str,
        setting: str,
        direct: Chat,
    ) -> None:
        """Answer for a model.

        Args:
            calls: Where answers are, and where calls are collected.
            meter: Counts the calls of the build.
            step: What they are counted to.
            model: The model's name.
            setting: The setting that names it, for error messages.
            direct: Makes those calls that are made at once.
        """
        self._calls, self._meter, self._step = calls, meter, step
        self._model, self._setting, self._direct = model, setting, direct

    def complete(self, prompt: Prompt) -> Reply:
        """Return the reply.

        Raises:
            ReplyPending: It comes by a batch.
        """
        calls = self._calls
        key = chat_key(calls.address, self._model, prompt)
        with calls.cache.lock([key], calls.stop):
            try:
                return self._reply(key, prompt)
            except _Missing as error:
                missing = error
            if (cached := calls.cache.reply(key)) is not None:
                self._count(prompt, cached)
                return cached
        if calls.take_direct([missing]):
            return self._direct.complete(prompt)
        reply = calls.probe(self._model, lambda: self._direct.complete(prompt))
        if reply is None:
            calls.collect(missing)
            raise missing
        return reply

    def _reply(self, key: bytes, prompt: Prompt) -> Reply:
        calls = self._calls
        size = _prompt_tokens(prompt)
        endpoint = BatchedEndpoint(calls, _prompt_id(key, prompt), size)
        purpose = Purpose(stop=calls.stop)
        chat = OpenAIChat(endpoint, self._model, self._setting, purpose)
        try:
            # Half the price holds for all tokens, whether the endpoint had them cached or not.
            reply = replace(chat.complete(prompt), batched=True, cached_tokens=0)
        finally:
            is_first = calls.use(endpoint.used)
        # Asked twice in one build, it is paid for once, as with the response cache.
        counts = reply if is_first else replace(reply, cached=True)
        counted = CountedChat(chat, self._meter, self._step, self._model)
        counted.count(prompt, reply.text, counts)
        sent = reply.prompt_tokens or size
        received = reply.completion_tokens or tokens.count(reply.text)
        usage = Usage(1, sent, received).batched
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
        direct: Embedder,
    ) -> None:
        self._calls, self._meter, self._step = calls, meter, step
        self.model, self.batch, self._direct = model, batch, direct
        self._asked: set[str] = set()
        """The texts that were asked for directly, and are paid for."""
        self._cut: dict[str, int] = {}

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        """Return one vector for each text.

        Raises:
            ReplyPending: Some of them come by a batch.
        """
        calls = self._calls
        keys = {text: embedding_key(calls.address, self.model, text) for text in texts}
        with calls.cache.lock([*keys.values()], calls.stop):
            read, missing = self._read(keys, kind)
            cached = calls.cache.vectors([*keys.values()])
            new = {keys[text]: answer.vectors[0] for text, (answer, _) in read.items()}
            if len({row.shape for row in (*cached.values(), *new.values())}) > 1:
                # The name stood for another model before: the cached vectors are of no use.
                cached = {}
            calls.cache.save_vectors(
                self.model, {key: row for key, row in new.items() if key not in cached}
            )
        missing = {text: why for text, why in missing.items() if keys[text] not in cached}
        direct = self._ask_directly(missing, keys, kind)
        for why in missing.values():
            calls.collect(why)
        if missing:
            raise next(iter(missing.values()))
        rows = {**cached, **direct, **new}
        if len({row.shape for row in rows.values()}) > 1:
            raise ReplyPending  # the cache has vectors of both now, so that all are asked for
        # Counted only now, as all texts are asked for again until none is missing; and as one call,
        # as a call for all of them would be.
        usage = sum((self._count(text, *each) for text, each in read.items()), Usage())
        for answer, _ in read.values():
            self._cut.update(answer.cut)
        if read:
            usage = replace(usage, calls=int(usage.prompt_tokens > 0))
            self._meter.add(self._step, Usage.of_model(self.model, usage))
        saved = [text for text in keys if text not in read and text not in self._asked]
        if saved:
            count = Usage(saved=int(not read), saved_prompt_tokens=sum(tokens.count_all(saved)))
            self._meter.add(self._step, Usage.of_model(self.model, count))
        return Embeddings(
            np.stack([rows[keys[text]] for text in texts]),
            usage.prompt_tokens,
            cached=not (read or direct),
            cut={text: kept for text, kept in self._cut.items() if text in keys},
        )

    def _read(
        self, keys: dict[str, bytes], kind: TextKind
    ) -> tuple[dict[str, tuple[Embeddings, BatchedEndpoint]], dict[str, _Missing]]:
        """Return what batches have brought, by text, and why the others have no answer."""
        calls = self._calls
        read: dict[str, tuple[Embeddings, BatchedEndpoint]] = {}
        missing: dict[str, _Missing] = {}
        for text, key in keys.items():
            endpoint = BatchedEndpoint(calls, key.hex(), tokens.count(text))
            embedder = OpenAIEmbedder(endpoint, self.model, 1, Purpose(stop=calls.stop))
            try:
                read[text] = embedder.embed([text], kind), endpoint
            except _Missing as error:
                missing[text] = error
            except BadReply:
                calls.use(endpoint.used)
                raise
        return read, missing

    def _ask_directly(
        self, missing: dict[str, _Missing], keys: dict[str, bytes], kind: TextKind
    ) -> dict[bytes, Vector]:
        """Ask for those of the missing texts that are not waited for; return vectors by key."""
        now = self._calls.take_direct(missing.values())
        texts = [text for text, why in missing.items() if why.call.id in now]
        if texts:
            answer: Embeddings | None = self._direct.embed(texts, kind)
        elif missing:
            texts = [*missing][:1]
            ask = partial(self._direct.embed, texts, kind)
            answer = self._calls.probe(missing[texts[0]].role.model, ask)
        if not texts or answer is None:
            return {}
        for text in texts:
            del missing[text]
        self._asked.update(texts)
        self._cut.update(answer.cut)
        rows = {keys[text]: row for text, row in zip(texts, answer.vectors, strict=True)}
        self._calls.cache.save_vectors(self.model, rows)
        return rows

    def _count(self, text: str, answer: Embeddings, endpoint: BatchedEndpoint) -> Usage:
        """Charge an answer, and return its usage, of which the build has paid for once."""
        sent = answer.tokens or tokens.count(text)
        usage = Usage(1, sent).batched
        self._calls.charge(endpoint.used[-1], self._step, self.model, usage)
        return usage if self._calls.use(endpoint.used) else Usage(saved_prompt_tokens=sent)


def _prompt_tokens(prompt: Prompt) -> int:
    return sum(tokens.count_all((prompt.system, prompt.user, prompt.correction)))


def _prompt_id(key: bytes, prompt: Prompt) -> str:
    """Return the `custom_id` of a prompt: its key in the cache, or a hash of it if corrected."""
    if not prompt.correction:
        return key.hex()
    return hashlib.sha256(key + prompt.correction.encode("utf-8", "surrogatepass")).hexdigest()
