"""Models whose replies come by batches: a call that no batch has answered is collected, not made.

What it answers is None then, and it is asked again when batches have ended. A build that another
process had begun asks from its start, and is answered from the file of batches.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

import numpy as np

from fabula.errors import BadReply, BudgetSpent
from fabula.models import Embedder, Embeddings, Prompt, Reply, TextKind
from fabula.models.batch_store import BatchAnswer, BatchStore, CollectedCall
from fabula.models.budget import Budgets
from fabula.models.cache import ReplyCache, chat_key, embedding_key
from fabula.models.counted import EMBEDDINGS, CountedChat, Meter, UsageCounter
from fabula.models.endpoint.call import Body, ModelCall
from fabula.models.endpoint.endpoint import Endpoint
from fabula.models.endpoint.errors import NamedModel
from fabula.models.endpoint.learned import LearnedBehaviour
from fabula.models.endpoint.openai import CHAT_PATH, OpenAIChat, OpenAIEmbedder
from fabula.models.endpoint.parameters import Parameters
from fabula.models.endpoint.payload import Json
from fabula.models.purpose import Purpose
from fabula.models.roles import Models, Role
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.text import tokens
from fabula.text.document import Vector

MAX_BATCH_TRIES = 4
"""How many batches may bring no answer to a call before the call fails."""
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Line:
    """A call as a line of a batch: a prompt, or one text to embed.

    Attributes:
        id: Its `custom_id`.
        key: The key of its answer in the response cache.
        texts: What it sends.
    """

    id: str
    key: bytes
    texts: tuple[str, ...]

    @property
    def tokens(self) -> int:
        """About how many tokens it sends."""
        return sum(tokens.count_all(self.texts))


@dataclass(frozen=True, slots=True)
class Lines:
    """Makes the lines of what builds ask.

    Attributes:
        address: The endpoint's checked URL, a part of the cache's keys.
        embedder: The embedding model; '' where it is not the endpoint's, so that no batch has it.
        prefix: What is put before a text that is embedded.
        key_kind: What the cache's key of a text has of its kind.
    """

    address: str
    embedder: str
    prefix: str
    key_kind: Callable[[TextKind], str]

    def of_prompt(self, model: str, prompt: Prompt) -> Line:
        """Return the line of a prompt; a corrected one has an id of its own."""
        key, correction = chat_key(self.address, model, prompt), prompt.correction
        id = key.hex()
        if correction:
            id = hashlib.sha256(key + correction.encode("utf-8", "surrogatepass")).hexdigest()
        return Line(id, key, (prompt.system, prompt.user, correction))

    def of_text(self, text: str) -> Line:
        """Return the line of a text: the same whatever texts are embedded beside it."""
        sent = self.prefix + text
        make_key = partial(embedding_key, self.address, self.embedder, sent)
        # That a model wants to know the kind may be learned while the line is in a batch.
        return Line(make_key().hex(), make_key(self.key_kind("passage")), (sent,))


class _Missing(Exception):
    """No batch has answered this call."""

    def __init__(self, call: CollectedCall, body: Body, role: NamedModel) -> None:
        super().__init__()
        self.call, self.body, self.role = call, body, role


@dataclass(frozen=True)
class BatchCalls:
    """Answers the requests of one build from batches, and collects what has no answer.

    Replies of batches come first, then the response cache: until the graph that they are for is
    written, they count as paid by this build, however often it is repeated.

    Attributes:
        store: The file of batches.
        endpoint: The endpoint that the batches are sent to.
        cache: The response cache, which has what earlier runs paid for.
        lines: Makes the lines of requests.
        setting: Returns the setting that names the model of a role, for error messages.
        budgets: What may be spent.
        counter: Counts each reply once, when it is first used.
        stop: Ends the waiting.
        owner: Whose budget the calls are of; '' for nobody's.
        used: The ids of the calls that were answered by batches.
        pending: The ids of the calls that are not answered yet.
        direct: The ids of the calls that are made now, as they are too few to wait for.
    """

    store: BatchStore
    endpoint: Endpoint
    cache: ReplyCache
    lines: Lines
    setting: Callable[[Role], str]
    budgets: Budgets = field(default_factory=Budgets)
    counter: UsageCounter | None = None
    stop: Stop = field(default_factory=Stop)
    owner: str = ""
    used: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)
    direct: set[str] = field(default_factory=set)
    refusals: list[BudgetSpent] = field(default_factory=list)
    """Why no more calls were collected; empty while the budget allows them."""
    charged: set[str] = field(default_factory=set)
    """The ids of the calls that this run has collected, in whichever round: each is charged once.
    """
    abandoned: set[str] = field(default_factory=set)
    """The ids of the calls that too many batches have brought no answer to."""
    embedded: set[str] = field(default_factory=set)
    """The texts that this build has embedded directly, and paid for."""
    cut: dict[str, int] = field(default_factory=dict)
    """The texts of which only the beginning was embedded, with how many tokens that has."""
    _probing: threading.Lock = field(default_factory=threading.Lock)
    _using: threading.Lock = field(default_factory=threading.Lock)

    def for_build(self) -> BatchCalls:
        """Return the same for one build, with sets of its own."""
        new = replace(self, used=set(), pending=set(), refusals=[], abandoned=set())
        return replace(new, embedded=set(), cut={})

    def restart(self) -> None:
        """Count the same replies once more, for a build that begins again."""
        self.used.clear()
        self.embedded.clear()

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

    # What a build asks

    def complete(self, models: Models, role: Role, step: str, prompt: Prompt) -> Reply | None:
        """Return the reply to a prompt; None if a batch is to bring it.

        Args:
            models: They make a call that is not waited for; their meter counts it.
            role: The role of the chat model.
            step: What the call is counted to.
            prompt: What is asked.
        """
        model, chat = models.model(role), models.chat(role, step)
        line = self.lines.of_prompt(model, prompt)
        with self.cache.lock([line.key], self.stop):
            try:
                return self._read_reply(models, role, step, prompt, BatchedEndpoint(self, line))
            except _Missing as error:
                missing = error
            is_known = self.cache.reply(line.key) is not None
        if is_known or self.take_direct([missing]):
            return chat.complete(prompt)
        reply = self.probe(model, partial(chat.complete, prompt))
        if reply is None:
            self.collect(missing)
        return reply

    def _read_reply(
        self, models: Models, role: Role, step: str, prompt: Prompt, endpoint: BatchedEndpoint
    ) -> Reply:
        """Return the reply that batches have brought; it is counted, and saved in the cache."""
        model, key = models.model(role), endpoint.line.key
        reader = OpenAIChat(endpoint, model, self.setting(role), Purpose(stop=self.stop))
        counted = CountedChat(reader, models.meter, step, model)
        try:
            # Half the price holds for all tokens, whether the endpoint had them cached or not.
            reply = replace(reader.complete(prompt), batched=True, cached_tokens=0)
        finally:
            is_first = self.use(endpoint.used)
        # Asked twice in one build, it is paid for once, as with the response cache.
        counted.count(prompt, reply.text, reply if is_first else replace(reply, cached=True))
        sent = reply.prompt_tokens or endpoint.line.tokens
        received = reply.completion_tokens or tokens.count(reply.text)
        self.charge(endpoint.used[-1], step, model, Usage(1, sent, received).batched)
        if not reply.incomplete and self.cache.reply(key) is None:
            self.cache.save_reply(key, model, replace(reply, text="") if reply.problem else reply)
        return reply

    def embed(self, models: Models, texts: Sequence[str]) -> Embeddings | None:
        """Return one vector for each text; None if batches are to bring some of them.

        Each text is a line of its own, so that it is the same whatever texts are beside it.
        """
        model = self.lines.embedder
        if not model:
            return models.embedder.embed(texts, "passage")
        lines = {text: self.lines.of_text(text) for text in texts}
        keys = {text: line.key for text, line in lines.items()}
        with self.cache.lock([*keys.values()], self.stop):
            read, missing = self._read_vectors(lines)
            cached = self.cache.vectors([*keys.values()])
            new = {keys[text]: answer.vectors[0] for text, (answer, _) in read.items()}
            if len({row.shape for row in (*cached.values(), *new.values())}) > 1:
                # The name stood for another model before: the cached vectors are of no use.
                cached = {}
            self.cache.save_vectors(
                model, {key: row for key, row in new.items() if key not in cached}
            )
        missing = {text: why for text, why in missing.items() if keys[text] not in cached}
        direct = self._embed_now(models.embedder, missing)
        for why in missing.values():
            self.collect(why)
        rows = {**cached, **new, **{keys[text]: row for text, row in direct.items()}}
        if missing or len({row.shape for row in rows.values()}) > 1:
            # Where it has vectors of two models, the cache has those of both now, and asks for all.
            return None
        usage = self._count_vectors(models.meter, lines, read)
        return Embeddings(
            np.stack([rows[keys[text]] for text in texts]),
            usage.prompt_tokens,
            cached=not (read or direct),
            cut={text: kept for text, kept in self.cut.items() if text in keys},
        )

    def _read_vectors(
        self, lines: Mapping[str, Line]
    ) -> tuple[dict[str, tuple[Embeddings, BatchedEndpoint]], dict[str, _Missing]]:
        """Return what batches have brought, by text, and why the others have no answer."""
        read: dict[str, tuple[Embeddings, BatchedEndpoint]] = {}
        missing: dict[str, _Missing] = {}
        for text, line in lines.items():
            endpoint = BatchedEndpoint(self, line)
            embedder = OpenAIEmbedder(endpoint, self.lines.embedder, 1, Purpose(stop=self.stop))
            try:
                answer = embedder.embed(line.texts)
            except _Missing as error:
                missing[text] = error
            except BadReply:
                self.use(endpoint.used)
                raise
            else:
                read[text] = answer, endpoint
                self.cut.update(dict.fromkeys([text] * len(answer.cut), *answer.cut.values()))
        return read, missing

    def _embed_now(self, embedder: Embedder, missing: dict[str, _Missing]) -> dict[str, Vector]:
        """Embed those of the missing texts that are not waited for; they are missing no more."""
        now = self.take_direct(missing.values())
        texts = [text for text, why in missing.items() if why.call.id in now]
        answer: Embeddings | None = None
        if texts:
            answer = embedder.embed(texts, "passage")
        elif missing:
            texts = [*missing][:1]
            answer = self.probe(self.lines.embedder, partial(embedder.embed, texts, "passage"))
        if answer is None:
            return {}
        for text in texts:
            del missing[text]
        self.embedded.update(texts)
        self.cut.update(answer.cut)
        return dict(zip(texts, answer.vectors, strict=True))

    def _count_vectors(
        self,
        meter: Meter,
        lines: Mapping[str, Line],
        read: Mapping[str, tuple[Embeddings, BatchedEndpoint]],
    ) -> Usage:
        """Count texts, all of which have vectors now, as one call; return what batches' cost."""
        model, usage = self.lines.embedder, Usage()
        for text, (answer, endpoint) in read.items():
            sent = answer.tokens or lines[text].tokens
            paid = Usage(1, sent).batched
            self.charge(endpoint.used[-1], EMBEDDINGS, model, paid)
            usage += paid if self.use(endpoint.used) else Usage(saved_prompt_tokens=sent)
        if read:
            usage = replace(usage, calls=int(usage.prompt_tokens > 0))
            meter.add(EMBEDDINGS, Usage.of_model(model, usage))
        saved = [line.tokens for text, line in lines.items() if text not in {*read, *self.embedded}]
        if saved:
            count = Usage(saved=int(not read), saved_prompt_tokens=sum(saved))
            meter.add(EMBEDDINGS, Usage.of_model(model, count))
        # Whoever asks for them next is saved the call.
        self.embedded.difference_update(lines)
        return usage


class BatchedEndpoint:
    """Answers the calls that one prompt or text makes: `fabula.models.endpoint.call.CallsModels`.

    It stands in the place of an endpoint, so that a reply is read as one of a live call is.
    """

    def __init__(self, calls: BatchCalls, line: Line) -> None:
        self._calls, self.line = calls, line
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
            _Missing: None has yet.
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
            collected = CollectedCall(id, call.path, role.model, {}, self.line.tokens, self._thinks)
            raise _Missing(collected, body, role)
        return self._read(id, answer, role, body)

    def _next_id(self, body: Body) -> str:
        """Return the id of the next call: that of the prompt, or of a further try of it."""
        self._asked += 1
        if self._asked == 1:
            return self.line.id
        # Without the parameters that the model accepts: another process may know less of them.
        plain = json.dumps([self.line.id, self._asked, self._thinks, body(Parameters())])
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
