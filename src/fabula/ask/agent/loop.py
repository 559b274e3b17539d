"""Ask a model round by round for the tools to call, carry them out, and have the answer written.

The method is that of A-RAG (Ayanami0730/arag, read at a44de6b; the idea alone, as it has no
licence): a model that is lent tools to search by words, to search by meaning and to read, and that
decides by itself how often it uses them. As there, a passage that was read is not sent again, and
at the limit of rounds or tokens the answer is forced. Here the graphs bring tools of their own, and
the answer is written by a step of its own from numbered passages, so that it is streamed and cited
as the answers of all modes are.

What was found until now is one growing prompt, and not a dialogue of messages with the role `tool`.
So all of a book's text stands within fences that it can't close; servers without tools, or whose
templates know no such role, read the same; and what grows at its end is served by prefix caches.
"""

from __future__ import annotations

import functools
import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from fabula.ask import hybrid
from fabula.ask.agent import PROMPTS, ROUNDS, AgentOptions
from fabula.ask.agent.text_tools import TOOLS, ReadArguments, read_around
from fabula.ask.context_budget import MAX_SHORTENINGS, prompt_error
from fabula.ask.retrieve import hide_unread_hits
from fabula.errors import BadReply, ModelError, NotFound, SettingsError, TextRefused, first_problem
from fabula.graph.hits import Filters, Hit, Passage
from fabula.graph.installed import graphs
from fabula.graph.mode import Pieces, Tools
from fabula.graph.reading_tools import ReadingResult, ReadingTool, ToolArguments
from fabula.models import NO_ANSWER, OfferedTool, Prompt, Reply, ToolOffer
from fabula.models.prompted import TEXT_ORDER, WORDS_PER_TOKEN
from fabula.models.prompts import escape_marks, fill_prompt, fill_template, usual_text
from fabula.models.replies import complete, one_line, read_object, shorten
from fabula.models.schemas import Filled
from fabula.models.usage import Usage
from fabula.text import tokens
from fabula.text.folding import fold
from fabula.text.names import quote_name

MAX_CALLS = 4
"""How many calls of one reply are carried out; the others are left out, and the model is told."""
MAX_BAD_REPLIES = 2
"""Replies that are neither calls nor text, one after another, after which the answer is forced."""
REPLY_TOKENS = 600
"""The most tokens of a reply that calls tools."""
SNIPPET_TOKENS = 40
"""How much is shown of a passage that does not fit the tokens of a call's results."""
MAX_ARGUMENTS_CHARACTERS = 10_000
"""Longer arguments of a call are not read at all."""
MAX_SHOWN_ARGUMENTS = 300
"""How many characters of a call's arguments are repeated to the model, and in the trace."""
READ, ANSWER = "read", "answer"


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return the passages that the model begins with: those that `hybrid` finds."""
    return hybrid.retrieve(question, filters, replace(tools, options=hybrid.Options()))


def answer(
    question: str, context: Sequence[Passage], filters: Filters, tools: Tools
) -> Pieces | None:
    """Have a model read on from the context until it can answer, and yield the answer.

    Raises:
        SettingsError: There is a limit of money, and the model's price is not known.
    """
    if tools.models.offline:
        return None
    return AgentRun(question, context, filters, tools).run()


class AnswerArguments(BaseModel):
    """The passages that the answer rests on."""

    model_config = ConfigDict(extra="ignore")

    passages: list[int] = Field([], description="the numbers of the passages that prove the answer")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as a model made it; nothing of it is checked yet."""

    tool: str
    arguments: Any

    @property
    def shown(self) -> str:
        """The call on one short line."""
        given = self.arguments
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        return f"{one_line(self.tool)[:60]} {one_line(text[:MAX_SHOWN_ARGUMENTS])}"


@dataclass(slots=True)
class ReadingState:
    """What the model has been shown: passages by their numbers, and the results of its calls."""

    passages: dict[int, Passage]
    numbers: dict[str, int] = field(default_factory=dict)
    """The numbers of passages by the ids of their hits."""
    in_full: set[int] = field(default_factory=set)
    """The numbers of those that were shown whole."""
    results: list[str] = field(default_factory=list)
    made: dict[str, int] = field(default_factory=dict)
    """The numbers of the calls that were made, by tool and arguments."""
    chosen: tuple[int, ...] = ()
    """The passages that the answer rests on, as the model says."""

    @classmethod
    def of(cls, context: Sequence[Passage]) -> ReadingState:
        """Begin with a context, of which whole passages count as read."""
        state = cls({passage.number: passage for passage in context})
        for passage in context:
            state.numbers.setdefault(passage.hit.id, passage.number)
            if len(passage.text.strip()) >= len(passage.hit.text.strip()):
                state.in_full.add(passage.number)
        return state

    def show(self, hits: Sequence[Hit], limit: int) -> tuple[list[str], list[Hit]]:
        """Return hits as lines for the model, each with its number, and those that are new to it.

        Args:
            hits: What a tool found.
            limit: The tokens that are shown whole; of hits beyond, only the beginning is shown.
        """
        lines, new = [], []
        has_whole = False
        for hit in hits:
            number = self.numbers.get(hit.id)
            if number in self.in_full:
                lines.append(f"[{number}] You have read this already.")
                continue
            is_first = number is None
            number = number or len(self.passages) + 1
            # What was asked for by its number is shown, however long it is.
            is_whole = hit.tokens <= limit or not (is_first or has_whole)
            if not is_whole and not is_first:
                lines.append(f"[{number}] You have seen the beginning of this: read {number}.")
                continue
            if is_whole:
                has_whole = True
                limit -= hit.tokens
                self.in_full.add(number)
            text = hit.text if is_whole else shorten(hit.text, SNIPPET_TOKENS)
            self.numbers[hit.id] = number
            self.passages[number] = Passage(number, hit, text, ((0, len(text)),))
            more = "" if is_whole else f" ... (only the beginning: read {number} for the rest)"
            lines.append(f"{list_passage(self.passages[number])}{more}")
            new.append(hit)
        return lines, new


class AgentRun:
    """One question that a model reads for. It is used by one thread, and once."""

    def __init__(
        self, question: str, context: Sequence[Passage], filters: Filters, tools: Tools
    ) -> None:
        self._question, self._filters, self._tools = question, filters, tools
        self._options: AgentOptions = tools.options
        self._context = context
        self._state = ReadingState.of(context)
        self._has_called = self._by_json = False
        self._before = tools.models.meter.usage()
        self._chat = tools.models.chat("model", "read")
        self._model = tools.models.model("model")
        if self._options.max_usd is not None:
            self._refuse_unpriced()

    def run(self) -> Iterator[Reply | Passage]:
        """Yield the answer, after the passages that it may cite.

        After each step of the trace an empty piece is yielded, so that a reader can show the step
        while it waits, and can leave.
        """
        offered = self._offered_tools()
        # Without the tools' functions: an offer is remembered, and must not hold a question.
        listed = [OfferedTool(tool.name, tool.about, tool.arguments) for tool in offered.values()]
        offer = _make_offer(tuple(listed))
        rounds, bad_replies = ROUNDS[self._options.effort], 0
        for number in range(1, rounds + 1):
            prompt = self._prompt(offer, rounds - number + 1)
            if why := self._spent(prompt):
                self._note("limit", why)
                yield Reply("")
                break
            with self._tools.trace.step("round", f"{number} of {rounds}") as step:
                calls, note = self._ask(prompt)
                count = len(calls or [])
                step.note += f": {note or f'{count} call' + 's' * (count != 1)}"
            yield Reply("")
            bad_replies = 0 if calls is not None else bad_replies + 1
            if bad_replies == MAX_BAD_REPLIES or calls == []:
                break
            is_done = False
            for call in (calls or [])[:MAX_CALLS]:
                if call.tool == ANSWER:
                    self._choose(call)
                    is_done = True
                    continue
                with self._tools.trace.step(one_line(call.tool)[:60], call.shown) as step:
                    self._carry_out(call, offered, step.record)
                yield Reply("")
            if (left_out := len(calls or []) - MAX_CALLS) > 0:
                self._leave_out(left_out)
            if is_done:
                break
        yield from self._answer()

    # One round

    def _prompt(self, offer: ToolOffer, left: int) -> Prompt:
        rounds = "one round" if left == 1 else f"{left} rounds"
        state, number = self._state, len(self._state.results)
        return Prompt(
            system=fill_template(PROMPTS / "read_system.txt"),
            user=fill_template(
                PROMPTS / "read.txt",
                question=self._question.strip(),
                passages="\n\n".join(map(list_passage, self._context)),
                results="\n\n".join(state.results) or "(You have called no tool yet.)",
                left=f"You have {rounds} of calls left, then the answer is written.",
            ),
            max_tokens=REPLY_TOKENS,
            temperature=0,
            schema=_reply_schema(offer.tools),
            offer=offer,
            placeholder=lambda: _expected_calls(self._question, self._context, number),
        )

    def _ask(self, prompt: Prompt) -> tuple[list[ToolCall] | None, str]:
        """Return a reply's calls ([] for no more, None if unusable), and a note if it has none."""
        if self._by_json:
            prompt = _by_json(prompt)
        try:
            calls = read_calls(complete(self._chat, prompt))
            if not calls and not self._has_called and not self._by_json:
                # Servers that take no notice of tools do not say so: their model has seen none.
                self._by_json = True
                prompt = _by_json(prompt)
                calls = read_calls(complete(self._chat, prompt))
        except TextRefused as error:
            # Most likely it is too long: the answer has a shorter prompt.
            return [], f"the endpoint refuses to read on: {error}"
        except BadReply as error:
            self._chat.reject(prompt, forget=True)
            self._report(f"Your last reply could not be used: {one_line(str(error))}")
            return None, f"an unusable reply: {error}"
        self._has_called = self._has_called or bool(calls)
        return calls, "" if calls else "the model calls no tool, and is taken to be done"

    def _choose(self, call: ToolCall) -> None:
        """Note the passages that the answer rests on, as far as they are there."""
        given = call.arguments.get("passages") if isinstance(call.arguments, dict) else None
        numbers = [int(n) for n in re.findall(r"\d{1,9}", json.dumps(given))] if given else []
        chosen = dict.fromkeys(number for number in numbers if number in self._state.passages)
        self._state.chosen = tuple(chosen)

    def _carry_out(
        self,
        call: ToolCall,
        offered: Mapping[str, ReadingTool],
        record: Callable[[Sequence[Hit], Sequence[Hit]], None],
    ) -> None:
        """Carry out a call, and add what it found, or why it found nothing, to the results."""
        state, tool = self._state, offered.get(call.tool)
        if tool is None:
            self._report(f"There is no such tool: call {', '.join(offered)} or {ANSWER}.", call)
            return
        try:
            arguments = _read_arguments(call, tool)
            key = f"{tool.name} {arguments.model_dump_json()}"
            if key in state.made:
                self._report(f"You have made this call already: see call {state.made[key]}.", call)
                return
            state.made[key] = len(state.results) + 1
            result = tool.run(arguments, self._narrow(arguments.document), self._tools)
        except (BadReply, NotFound) as error:
            self._report(str(error), call)
            return
        # Whatever the tool did about the filters.
        allows, let_through = self._filters.allows, self._filters.let_through
        hits = [hit for hit in result.hits if allows(hit.kind, hit.aspect, hit.level)]
        hits = [hit for hit in hits if let_through(hit.document)]
        if place := self._tools.store.place:
            # A tool of another package may not know of the reader's place.
            hits = hide_unread_hits(hits, place, self._filters, self._tools)
        lines, new = state.show(hits, self._options.result_tokens)
        record(hits, new)
        note = escape_marks(result.note)
        self._report("\n\n".join([*([note] if note else []), *lines]) or "Nothing was found.", call)

    def _report(self, text: str, call: ToolCall | None = None) -> None:
        number = len(self._state.results) + 1
        heading = f"Call {number}, {escape_marks(call.shown)}:" if call else f"Call {number}:"
        self._state.results.append(f"{heading}\n{text}")

    def _leave_out(self, count: int) -> None:
        self._report(f"{count} more calls were left out: at most {MAX_CALLS} are made at once.")

    def _narrow(self, title: str) -> Filters:
        """Return the filters for one document that the model names; never a wider range."""
        if not title or self._filters.document:
            return self._filters
        wanted = fold(title)
        entries = self._tools.store.documents(self._filters.collection)
        entries = (entry for entry in entries if self._filters.let_through(entry.id))
        named = [entry for entry in entries if wanted in (fold(entry.title), fold(entry.id))]
        if len(named) != 1:
            raise NotFound(
                f"There is no document {quote_name(title)}: leave `document` out, or name one as "
                "the passages do."
            )
        return replace(self._filters, document=named[0].id, documents=())

    # The tools

    def _offered_tools(self) -> dict[str, ReadingTool]:
        """Return the tools of the text and of each graph that is built, by their names."""
        offered = {tool.name: tool for tool in TOOLS}
        offered[READ] = ReadingTool(
            READ,
            "Read a passage whole, by its number, and the stretches of text before and after it",
            ReadArguments,
            self._read_passage,
        )
        for name, graph in graphs().items():
            if self._is_built(name):
                offered |= {tool.name: tool for tool in graph.tools()}
        return offered

    def _is_built(self, graph: str) -> bool:
        whole = self._filters.open
        return (
            self._tools.store.cached(f"{graph} is built", whole, (graph,), lambda: True) is not None
        )

    def _read_passage(
        self, arguments: ReadArguments, filters: Filters, tools: Tools
    ) -> ReadingResult:
        passage = self._state.passages.get(arguments.passage)
        if passage is None:
            last = len(self._state.passages)
            raise NotFound(
                f"There is no passage {arguments.passage}: they are numbered 1 to {last}."
            )
        around = read_around(passage.hit, arguments.before, arguments.after, filters, tools)
        is_of_text = passage.hit.kind == "chunk"
        # A record or a summary is read itself, and then the text that it rests on.
        return around if is_of_text else ReadingResult((passage.hit, *around.hits))

    # Limits

    def _spent(self, prompt: Prompt) -> str:
        """Return which limit does not allow this call and the answer after it; '' if none does."""
        options = self._options
        usage = self._usage()
        used = usage.prompt_tokens + usage.completion_tokens
        offered = prompt.offer.instructions if prompt.offer else ""
        sent = tokens.count(prompt.system + prompt.user + offered) + options.answer_tokens
        received = REPLY_TOKENS + self._max_answer_tokens
        if used + sent + received > options.max_tokens:
            return f"{used:,} of {options.max_tokens:,} tokens are used"
        if options.max_usd is None:
            return ""
        expected = Usage.of_model(self._model, Usage(2, sent, received))
        spent = self._cost(usage), self._cost(expected)
        if sum(spent) > options.max_usd:
            return f"{spent[0]:.4f} of {options.max_usd:g} US dollars are spent"
        return ""

    @property
    def _max_answer_tokens(self) -> int:
        return round(2 * self._options.words / WORDS_PER_TOKEN)

    def _usage(self) -> Usage:
        """Return what this question has asked of models since the reading began."""
        steps = self._tools.models.meter.usage()
        since = (usage - self._before.get(name, Usage()) for name, usage in steps.items())
        return sum(since, Usage())

    def _cost(self, usage: Usage) -> float:
        return self._tools.cost({"read": usage}).known

    def _refuse_unpriced(self) -> None:
        usage = Usage.of_model(self._model, Usage(1, 1, 1))
        if self._tools.cost({"read": usage}).unpriced:
            raise SettingsError(
                f"agent.max_usd can't be kept: the price of {self._model} is not known. Name it in "
                "FABULA_PRICES, or limit tokens by agent.max_tokens."
            )

    def _note(self, name: str, note: str) -> None:
        with self._tools.trace.step(name, note):
            pass

    # The answer

    def _answer(self) -> Iterator[Reply | Passage]:
        """Yield the passages beyond the context, then the answer from the best of all of them."""
        state = self._state
        shown = {passage.number: passage for passage in self._context}
        # Also those of the context that were read whole since.
        for number in sorted(state.passages):
            if state.passages[number] is not shown.get(number):
                yield state.passages[number]
        usage = self._usage()
        unspent = self._options.max_tokens - usage.prompt_tokens - usage.completion_tokens
        limit = min(self._options.answer_tokens, unspent - self._max_answer_tokens)
        for attempt in range(MAX_SHORTENINGS + 1):
            best = self._best_passages(limit)
            note = f"{len(best)} of {len(state.passages)}"
            with self._tools.trace.step("passages", note) as step:
                step.record([passage.hit for passage in best])
            if not best:
                yield Reply(NO_ANSWER)
                return
            pieces = self._tools.models.chat("model", "answer").stream(self._answer_prompt(best))
            try:
                first = next(pieces, None)
            except ModelError as error:
                # Passages that are too long for the model's window are asked again with half.
                if attempt == MAX_SHORTENINGS or len(best) < 2 or prompt_error(error) is None:
                    raise
                limit = sum(tokens.count(passage.text) for passage in best) // 2
                continue
            if first is not None:
                yield first
            yield from pieces
            return

    def _answer_prompt(self, best: Sequence[Passage]) -> Prompt:
        words = self._options.words
        return Prompt(
            system=fill_prompt("answer_system"),
            user=fill_prompt(
                "answer",
                order=TEXT_ORDER,
                passages="\n\n".join(map(list_passage, best)),
                question=self._question.strip(),
                words=words,
                unanswered=NO_ANSWER,
            ),
            max_tokens=self._max_answer_tokens,
            temperature=0,
            placeholder=lambda: usual_text(f"[1] {self._question}", words // 2),
        )

    def _best_passages(self, limit: int) -> list[Passage]:
        """Return the passages for the answer, in text order, within its tokens."""
        state = self._state
        # The model's choice comes first, then the context, then what was read last.
        first = [*state.chosen, *(passage.number for passage in self._context)]
        order = dict.fromkeys([*first, *sorted(state.passages, reverse=True)])
        left, best = limit, list[Passage]()
        for number in order:
            passage = state.passages[number]
            length = tokens.count(passage.text)
            if length <= left or not best:
                best.append(passage)
                left -= length
        return sorted(best, key=lambda each: (each.hit.document, each.hit.start, each.number))


def _by_json(prompt: Prompt) -> Prompt:
    """Return a prompt that asks for calls as JSON, whatever the endpoint says of tools."""
    assert prompt.offer is not None
    return replace(prompt, user=f"{prompt.user}\n\n{prompt.offer.instructions}", offer=None)


def list_passage(passage: Passage) -> str:
    """Return a passage as the prompts list it: its number, its place and its text."""
    hit = passage.hit
    what = f"{hit.aspect}, level {hit.level}" if hit.aspect else hit.kind
    place = [hit.title, hit.section, "" if hit.kind == "chunk" else what]
    where = one_line(" · ".join(part for part in place if part))
    return f"[{passage.number}] {escape_marks(f'({where}) {passage.text.strip()}')}"


def read_calls(reply: str) -> list[ToolCall]:
    """Return the calls in a reply; none in a text that has no JSON of a call.

    Models at servers that ignore tools write calls in their own ways: {"calls": [...]}, one call
    alone, "name" or "function" in place of "tool", "parameters" in place of "arguments".
    """
    try:
        value = read_object(reply)
    except BadReply:
        return []
    listed = value.get("calls")
    if listed is None:
        listed = value.get("tool_calls") or [value]
    calls = []
    for item in listed if isinstance(listed, list) else [listed]:
        fields = item if isinstance(item, dict) else {}
        inner = fields.get("function")
        fields = inner if isinstance(inner, dict) else fields
        name = fields.get("tool") or fields.get("name") or fields.get("function")
        arguments = fields.get("arguments", fields.get("parameters", {}))
        if isinstance(name, str) and name.strip():
            calls.append(ToolCall(name.strip(), arguments))
    return calls


def _read_arguments(call: ToolCall, tool: ReadingTool) -> ToolArguments:
    """Return the checked arguments of a call. Raises BadReply for those that can't be used."""
    given = call.arguments
    if isinstance(given, str):
        if len(given) > MAX_ARGUMENTS_CHARACTERS:
            raise BadReply(f"The arguments have {len(given):,} characters: be shorter.")
        given = read_object(given)
    if isinstance(given, dict):
        # Models write null for what they leave out.
        given = {name: value for name, value in given.items() if value is not None}
    try:
        return tool.arguments.model_validate({} if given is None else given)
    except ValidationError as error:
        expected = ", ".join(tool.arguments.model_fields)
        message = f"The arguments can't be used, as {first_problem(error)}. They are: {expected}."
        raise BadReply(message) from error


@functools.cache
def _make_offer(tools: tuple[OfferedTool, ...]) -> ToolOffer:
    end = OfferedTool(ANSWER, "End the search and have the answer written", AnswerArguments)
    listed = "\n".join(map(_describe_tool, (*tools, end)))
    return ToolOffer((*tools, end), fill_template(PROMPTS / "calls.txt", tools=listed))


def _describe_tool(tool: OfferedTool) -> str:
    arguments = "; ".join(
        f"{name}: {info.description}" for name, info in tool.arguments.model_fields.items()
    )
    return f"- {tool.name}: {tool.about}. Arguments: {arguments}."


@functools.cache
def _reply_schema(tools: tuple[OfferedTool, ...]) -> type[BaseModel]:
    """The schema of a reply of calls, for endpoints without tools: one of these for each call."""
    config = ConfigDict(extra="forbid")
    # Types that are known at run time alone, which a type checker can't follow.
    shapes: list[Any] = [
        create_model(
            f"{tool.name}_call",
            __config__=config,
            **cast(Any, {"tool": (Literal[tool.name], ...), "arguments": (tool.arguments, ...)}),
        )
        for tool in tools
    ]
    fields: Any = {"calls": (cast(Any, Filled)[functools.reduce(operator.or_, shapes)], ...)}
    return cast(type[BaseModel], create_model("CallsReply", __config__=config, **fields))


def _expected_calls(question: str, context: Sequence[Passage], number: int) -> str:
    """Return the reply that a dry run assumes: a search for other words in each round."""
    words = re.findall(r"[^\W\d_]{4,}", " ".join(passage.text for passage in context))
    chosen = words[7 * number : 7 * number + 7] or question.split()
    query = " ".join(chosen) + f" {number}"
    return json.dumps({"calls": [{"tool": "search_words", "arguments": {"query": query}}]})
