"""What graphs share that ask a chat model about a text, a run of chunks at a time.

A `ModelQuestion` declares one kind of call: its prompt, the shape of the reply, how the reply is
read, and the placeholder that a dry run assumes. `ExtractionCalls` asks it about every window or
other item, and leaves a gap where no reply can be used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from pydantic import BaseModel

from fabula.errors import BadReply
from fabula.graph import Gap
from fabula.graph.builds import Build, ChatStep
from fabula.graph.calls import Calls
from fabula.graph.gaps import Missing
from fabula.graph.method import BuildText, Known
from fabula.models import Prompt
from fabula.models.prompts import escape_marks, fill_template, number_texts
from fabula.models.roles import Role
from fabula.text.document import Chunk
from fabula.text.sentences import sentences
from fabula.text.stems import stemmer_of

MODEL, RULES = "model", "rules"
"""Who made a graph: the value of `by` of its nodes."""
SENTENCES_BEFORE = 2
"""Sentences of the text before a window that are shown with it, to resolve pronouns."""
MAX_EXCESS = 0.25
"""By which share a window may exceed its limit to take in the last chunk of a section."""
MAX_TRIES = 3
"""Replies that are asked for until one can be used; the later ones are told what was wrong."""
MAX_NAME_CHARACTERS = 256
"""Longer names and phrases are none."""
MALFORMED, OVERLONG, SURPLUS, UNPRINTED = "malformed", "overlong", "surplus", "unprinted"
"""Why a record is left out: it has not the right fields, has too long a name, is beyond the number
that a reply may have, or names what the text does not print."""
UNSUPPORTED = "unsupported"
"""Why a description is left out: too few of its words are in the text that it was written from."""
MIN_SUPPORT = 1 / 3
"""The share of a description's content words, as stems, that the text has to have. A description is
in a model's own words, so many of them may be others; one about something else has hardly any."""
MIN_CHECKED_WORDS = 4
"""A shorter description is not checked: "He is a miser." is a conclusion in a word of its own."""
_STARTS = "starts of windows"
"""What is kept for the next build: the ids of the chunks at which windows begin."""

Item = TypeVar("Item")
Record = TypeVar("Record")
Out = TypeVar("Out")


@dataclass(frozen=True, slots=True)
class TextWindow:
    """Chunks that one call reads; `before` is the end of the text before them, or ''."""

    chunks: tuple[Chunk, ...]
    before: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the chunks."""
        return tuple(chunk.id for chunk in self.chunks)

    @property
    def passages(self) -> str:
        """The chunks as prompts have them, numbered from 1, after the text before them."""
        numbered = number_texts(chunk.text for chunk in self.chunks)
        before = [f"[before] {escape_marks(self.before)}"] if self.before else []
        return "\n\n".join([*before, *numbered])

    def content(self, language: str) -> frozenset[str]:
        """Return the stems of all content words that a model is shown of the text."""
        stemmer = stemmer_of(language)
        texts = [self.before, *(chunk.text for chunk in self.chunks)]
        return frozenset().union(*map(stemmer.content, texts))

    def values(self, **others: object) -> dict[str, object]:
        """Return what every prompt about a window has a place for, and the others given."""
        return {"passages": self.passages, "count": len(self.chunks), **others}

    def rows(self, parts: Iterable[int]) -> set[int]:
        """Return the indices of the chunks that a reply calls by their numbers in `passages`."""
        return {number - 1 for number in parts if 1 <= number <= len(self.chunks)}


def is_supported(description: str, content: Collection[str], language: str) -> bool:
    """Return whether a text has at least a third of the content words of a description of it.

    Args:
        description: What a model wrote; with fewer than four content words it is supported.
        content: The stems of the text's content words, as `TextWindow.content` returns them.
        language: The language of the text, by whose stemmer both are compared.
    """
    stems = stemmer_of(language).content(description)
    if len(stems) < MIN_CHECKED_WORDS:
        return True
    return sum(stem in content for stem in stems) >= MIN_SUPPORT * len(stems)


def windows(
    chunks: Sequence[Chunk], limit: int, language: str, starts: Collection[str] = ()
) -> tuple[TextWindow, ...]:
    """Return runs of chunks of at most `limit` tokens, in text order; they tile the text.

    No window crosses from one section into another, and each takes as many chunks as fit. A chunk
    of more than `limit` tokens is a window of its own. If one chunk is left of a section, the
    window before takes it, provided that this has several and becomes no more than a quarter too
    long: one short chunk is not worth a call. Windows do not overlap, so that each chunk is asked
    about once. A chunk whose id is in `starts` begins a window.
    """
    cut: list[TextWindow] = []
    for _, section in groupby(chunks, key=lambda chunk: chunk.section):
        before = ""
        for run in _runs(section, limit, starts):
            cut.append(TextWindow(run, before))
            last = sentences(run[-1].text, language)[-SENTENCES_BEFORE:]
            before = " ".join(" ".join(sentence.split()) for sentence in last)
    return tuple(cut)


def _runs(chunks: Iterator[Chunk], limit: int, starts: Collection[str]) -> list[tuple[Chunk, ...]]:
    runs: list[tuple[Chunk, ...]] = []
    for chunk in chunks:
        if not runs or chunk.id in starts or _tokens(runs[-1]) + chunk.tokens > limit:
            runs.append(())
        runs[-1] += (chunk,)
    for place in reversed(range(1, len(runs) if starts else 0)):
        # A chunk more in a window of the build before makes no window more.
        both = runs[place - 1] + runs[place]
        if runs[place][0].id not in starts and _tokens(both) <= (1 + MAX_EXCESS) * limit:
            runs[place - 1 : place + 1] = [both]
    if len(runs) > 1 and len(runs[-1]) == 1 < len(runs[-2]):
        *_, before, left = runs
        if _tokens(before) + _tokens(left) <= (1 + MAX_EXCESS) * limit:
            runs[-2:] = [before + left]
    return runs


def _tokens(chunks: Sequence[Chunk]) -> int:
    return sum(chunk.tokens for chunk in chunks)


@dataclass(frozen=True)
class Records(Generic[Record]):
    """What was read of replies: usable records, and how many were left out, by the reason."""

    records: tuple[Record, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.records)

    def __add__(self, more: Self) -> Self:
        dropped = Counter(self.dropped) + Counter(more.dropped)
        return replace(self, records=self.records + more.records, dropped=dropped)

    def new(self, more: Self) -> Self:
        """Return what `more` adds: the records that are not here word by word."""
        added = tuple(record for record in more.records if record not in self.records)
        return replace(more, records=added)


Reply = TypeVar("Reply", bound=Records[Any])


def read_records(
    items: Sequence[Any],
    read: Callable[[Any], Record | None],
    limit: int,
    dropped: Counter[str],
    names: Callable[[Record], Iterable[str]] = lambda record: (),
) -> list[Record]:
    """Return the records among the first `limit` items of a reply's list.

    Args:
        items: The list as the reply has it.
        read: Makes a record of an item; None if it is none.
        limit: The number of items that the reply may have.
        dropped: Is counted up, by the reason, for each item that is left out.
        names: The names of a record, none of which may be too long.
    """
    dropped[SURPLUS] += len(items[limit:])
    records: list[Record] = []
    for item in items[:limit]:
        record = read(item)
        if record is None:
            dropped[MALFORMED] += 1
        elif any(len(name) > MAX_NAME_CHARACTERS for name in names(record)):
            dropped[OVERLONG] += 1
        else:
            records.append(record)
    return records


@dataclass(frozen=True, slots=True)
class ModelAnswer(Generic[Reply]):
    """What was read of the first reply, and of all; `error` is why a follow-up gave nothing."""

    first: Reply
    every: Reply
    error: BadReply | None = None


@dataclass(frozen=True, kw_only=True)
class ModelQuestion(Generic[Item, Reply]):
    """One kind of call to a chat model, with all that belongs to it side by side.

    Attributes:
        step: The step of the build that its calls and gaps are counted to.
        prompt: Its texts without their endings: `<prompt>_system.txt` and `<prompt>.txt`.
        values: What the placeholders of `<prompt>.txt` stand for, of an item.
        system_values: What those of `<prompt>_system.txt` stand for.
        schema: The shape of the reply, as the endpoint is told it. Its names and docstrings are
            part of the key under which replies are cached.
        max_tokens: Room for all that a reply may have.
        read: What a reply says of an item. Raises BadReply if it can't be used.
        placeholder: The reply that a dry run assumes, of an item and the number of its follow-up;
            0 for the first reply.
        follow_up: The text that asks for what the replies until now missed (Edge et al. 2024,
            arXiv 2404.16130, section 3.1.2, call it gleaning).
        follow_ups: How often it is asked at most; it ends once a reply adds nothing.
        role: The model that is asked: the usual one, or the one for judgements.
    """

    step: str
    prompt: Path
    values: Callable[[Item], Mapping[str, object]]
    system_values: Mapping[str, object] = field(default_factory=dict)
    schema: type[BaseModel]
    max_tokens: int
    read: Callable[[str, Item], Reply]
    placeholder: Callable[[Item, int], str]
    follow_up: Callable[[Item, Reply], str] | None = None
    follow_ups: int = 0
    role: Role = "model"

    def ask(self, item: Item, temperature: float, priority: int) -> Build[ModelAnswer[Reply]]:
        """Ask about an item.

        Raises:
            BadReply: The first reply can't be used. If a later one can't, the answer says so.
        """
        chat = ChatStep(self.role, self.step, priority)
        prompt = Prompt(
            system=fill_template(
                self.prompt.with_name(f"{self.prompt.name}_system.txt"), **self.system_values
            ),
            user=fill_template(
                self.prompt.with_name(f"{self.prompt.name}.txt"), **self.values(item)
            ),
            max_tokens=self.max_tokens,
            temperature=temperature,
            schema=self.schema,
            placeholder=partial(self.placeholder, item, 0),
        )
        read = partial(self._read, item)
        first = every = yield from chat.ask(prompt, read, MAX_TRIES)
        if self.follow_up is None or not first:
            return ModelAnswer(first, every)
        for turn in range(1, self.follow_ups + 1):
            again = replace(
                prompt,
                user=f"{prompt.user}\n\n{self.follow_up(item, every)}",
                placeholder=partial(self.placeholder, item, turn),
            )
            try:
                more = every.new((yield from chat.ask(again, read, MAX_TRIES)))
            except BadReply as error:
                return ModelAnswer(first, every, error)
            every += more
            if not more:
                break
        return ModelAnswer(first, every)

    def _read(self, item: Item, reply: str) -> Reply:
        return self.read(reply, item)


@dataclass(frozen=True)
class WindowReplies(Generic[Reply]):
    """What a model replied about the windows of a text, in text order.

    Attributes:
        answers: The answer about each window; None where no reply could be used.
    """

    answers: tuple[tuple[TextWindow, ModelAnswer[Reply] | None], ...] = ()

    @property
    def usable(self) -> list[tuple[TextWindow, ModelAnswer[Reply]]]:
        """The windows that have an answer, each with it."""
        return [(window, answer) for window, answer in self.answers if answer]

    @property
    def replies(self) -> list[Reply]:
        """What was read of all replies about each window that has an answer."""
        return [answer.every for _, answer in self.usable]

    @property
    def records(self) -> list[Any]:
        """The records of all replies."""
        return [record for reply in self.replies for record in reply.records]


@dataclass(frozen=True, slots=True)
class ExtractionCalls(Calls):
    """The calls of one build, and the gaps where no reply could be used."""

    found_gaps: list[Gap] = field(default_factory=list)

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """The gaps until now, in an order that does not depend on threads."""
        return tuple(
            sorted(self.found_gaps, key=lambda gap: (gap.step, gap.sources, *gap.rests_on))
        )

    def cut(self, text: BuildText, limit: int, known: Known) -> tuple[TextWindow, ...]:
        """Return the windows of a text (see `windows`), those of the build before where they were.

        Else all windows after a new chunk would be others, up to the end of the section.
        """
        starts = frozenset(known.kept.get(_STARTS, "").split())
        cut = windows(text.chunks, limit, text.document.language, starts)
        self.work.kept[_STARTS] = " ".join(window.ids[0] for window in cut)
        return cut

    def ask_each(
        self,
        question: ModelQuestion[Item, Reply],
        items: Sequence[Item],
        gaps: Sequence[Gap],
        priority: int,
    ) -> Build[list[ModelAnswer[Reply] | None]]:
        """Ask about each item; None where no reply could be used.

        Args:
            question: What is asked.
            items: What it is asked about.
            gaps: The gap that each item leaves then, without the reason.
            priority: That of the calls: the lowest goes first.

        Raises:
            BadReply: There are too many gaps.
        """

        def ask_or_miss(item: Item) -> Build[ModelAnswer[Reply] | Missing]:
            return self.work.gaps.attempt(question.ask, item, self.models.temperature, priority)

        answers: list[ModelAnswer[Reply] | None] = []
        replies = yield from self.each(question.step, ask_or_miss, items)
        for gap, answer in zip(gaps, replies, strict=True):
            if isinstance(answer, Missing):
                self.found_gaps.append(replace(gap, why=answer.why))
                answers.append(None)
                continue
            if answer.error:
                self.found_gaps.append(replace(gap, why=self.work.gaps.accept(answer.error)))
            answers.append(answer)
        return answers

    def ask_windows(
        self,
        question: ModelQuestion[TextWindow, Reply],
        all_windows: Sequence[TextWindow],
        priority: int,
    ) -> Build[WindowReplies[Reply]]:
        """Ask about all windows of a text.

        Args:
            question: What is asked.
            all_windows: The windows.
            priority: That of the calls: the lowest goes first.

        Raises:
            BadReply: There are too many gaps.
        """
        gaps = [window_gap(question.step, window) for window in all_windows]
        answers = yield from self.ask_each(question, all_windows, gaps, priority)
        return WindowReplies(tuple(zip(all_windows, answers, strict=True)))

    def read_by_rule(
        self,
        rule: Callable[[Sequence[Item]], Sequence[Out]],
        items: Sequence[Item],
        chunks: Callable[[Item], Iterable[str]],
        instead: Callable[[Item], Sequence[Out]] = lambda item: (),
    ) -> list[Out]:
        """Return what a rule reads in all items, without those that it fails on.

        Where it fails on a run of items, it reads the halves of the run, and so on: a gap is left
        of the shortest run on which it fails, and all else is read in runs as long as can be.

        Args:
            rule: Reads a run of items, in text order.
            items: All of them.
            chunks: The ids of the chunks that an item is of.
            instead: What stands for an item on which the rule fails.

        Raises:
            RuleError: The rule failed, and no gap is allowed.
        """
        if not items:
            return []
        read = self.work.gaps.catch_fault(rule, items)
        if not isinstance(read, Missing):
            return [*read]
        gaps_before = len(self.found_gaps)
        if len(items) == 1:
            found = [*instead(items[0])]
        else:
            half = len(items) // 2
            found = [
                value
                for run in (items[:half], items[half:])
                for value in self.read_by_rule(rule, run, chunks, instead)
            ]
        if len(self.found_gaps) == gaps_before:
            ids = dict.fromkeys(id for item in items for id in chunks(item))
            self.found_gaps.append(Gap(RULES, read.why, (*ids,), dict.fromkeys(ids, 1.0)))
        return found


def own_id(chunk: Chunk) -> list[str]:
    """Return the id of a chunk as all ids of the chunks that it is of."""
    return [chunk.id]


def window_gap(step: str, window: TextWindow) -> Gap:
    """Return the gap that a window leaves, without the reason."""
    return Gap(step, "", window.ids, dict.fromkeys(window.ids, 1.0))
