"""Read what a question asks for: senses, and who, what, when, where and so on.

A model reads both in one call. As published there are two calls, of which the one for senses
reasons step by step before it names them (zero-shot chain of thought): the option `reasoning`.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, WithJsonSchema, create_model

from fabula.errors import BadReply
from fabula.graph.mode import Tools
from fabula.models import Chat, Prompt
from fabula.models.prompts import fill_template
from fabula.models.replies import ask, read_lists
from fabula.models.schemas import ReplyShape
from fabula_graphs.discourse.labels import SLOTS
from fabula_graphs.discourse.questions import MAX_VALUE_CHARACTERS, read_slots
from fabula_graphs.discourse.senses import Senses

PROMPTS = Path(__file__).parent / "modes" / "prompts"
"""Apart from the prompts that a graph is built with: if those change, the graph is stale."""
REASONING_TOKENS = 1500
"""Room for a chain of thought and the senses after it."""
EXPECTED_REASONING = " ".join(["step"] * 120)
"""What a dry run assumes of a chain of thought, by its length alone."""
MAX_SENSES = 3
"""Senses, and values of each slot, that are taken of a reply."""


@dataclass(frozen=True, slots=True)
class EventQuestion:
    """What a question asks for: senses of any level, and the slots of an event."""

    senses: tuple[str, ...] = ()
    slots: Mapping[str, Sequence[str]] = field(default_factory=dict)


Reply = TypeVar("Reply", bound=BaseModel)


class SoughtReply(ReplyShape):
    """A model's reading of a question."""

    senses: list[str]
    who: list[str]
    predicate: list[str]
    what: list[str]
    when: list[str]
    where: list[str]
    why: list[str]
    how: list[str]


class ReasonedReply(ReplyShape):
    """A chain of thought, and the senses that it leads to."""

    reasoning: str
    senses: list[str]


class EventReply(ReplyShape):
    """What a question says of an event."""

    who: list[str]
    predicate: list[str]
    what: list[str]
    when: list[str]
    where: list[str]
    why: list[str]
    how: list[str]


@functools.cache
def _close_senses(reply: type[Reply], senses: tuple[str, ...]) -> type[Reply]:
    """Return the shape of a reply, of the same name, with the closed list of senses."""
    closed = Annotated[str, WithJsonSchema({"type": "string", "enum": list(senses)})]
    return create_model(reply.__name__, __base__=reply, senses=(list[closed], ...))


def read_question(question: str, language: str, senses: Senses, tools: Tools) -> EventQuestion:
    """Return what the question asks for, as a model reads it: nothing if no reply can be used."""
    with tools.trace.step("read the question") as step:
        ask_question = ask_in_steps if tools.options.reasoning else ask_model
        try:
            chat = tools.models.chat("model", "question")
            sought = ask_question(question, senses, language, chat)
            step.note = f"by {tools.models.model('model')}: {_describe(sought)}"
        except BadReply as error:
            sought = EventQuestion()
            step.note = f"none of the model's replies can be used: {error}"
    return sought


def ask_model(question: str, senses: Senses, language: str, chat: Chat) -> EventQuestion:
    """Return a model's reading. Raises BadReply if none of its replies can be used."""
    paths = tuple(sense.path for sense in senses.all)
    prompt = Prompt(
        system=fill_template(PROMPTS / "question_system.txt"),
        user=fill_template(
            PROMPTS / "question.txt",
            senses="\n".join(f"- {sense.path}: {sense.about}" for sense in senses.all),
            question=question,
            most=MAX_SENSES,
        ),
        max_tokens=600,
        temperature=0,
        schema=_close_senses(SoughtReply, paths),
        placeholder=lambda: json.dumps(
            {"senses": [], **{slot: [] for slot in SLOTS}, "who": question.split()[:MAX_SENSES]}
        ),
    )
    return ask(chat, prompt, lambda reply: read_sought(reply, senses, language))


def ask_in_steps(question: str, senses: Senses, language: str, chat: Chat) -> EventQuestion:
    """Return a model's reading, made of two paid calls as published.

    The first reasons about the senses step by step before it names them, the second lists who, what
    and so on. If one of them gives nothing, the other has to do.

    Raises:
        BadReply: Neither of them has a usable reply.
    """
    paths = tuple(sense.path for sense in senses.all)
    about_senses = Prompt(
        system=fill_template(PROMPTS / "question_system.txt"),
        user=fill_template(
            PROMPTS / "senses.txt",
            senses="\n".join(f"- {sense.path}: {sense.about}" for sense in senses.all),
            question=question,
            most=MAX_SENSES,
        ),
        max_tokens=REASONING_TOKENS,
        temperature=0,
        schema=_close_senses(ReasonedReply, paths),
        placeholder=lambda: json.dumps({"reasoning": EXPECTED_REASONING, "senses": [paths[0]]}),
    )
    about_event = Prompt(
        system=fill_template(PROMPTS / "question_system.txt"),
        user=fill_template(PROMPTS / "event.txt", question=question),
        max_tokens=600,
        temperature=0,
        schema=EventReply,
        placeholder=lambda: json.dumps(
            {**{slot: [] for slot in SLOTS}, "who": question.split()[:MAX_SENSES]}
        ),
    )
    sought = EventQuestion()
    problem: BadReply | None = None
    for prompt, names in ((about_senses, ["senses"]), (about_event, [*SLOTS])):
        read = partial(_read_lists_of, names=names, senses=senses, language=language)
        try:
            found = ask(chat, prompt, read)
        except BadReply as error:
            problem = error
            continue
        sought = EventQuestion(sought.senses or found.senses, sought.slots or found.slots)
    if problem and not sought.senses and not sought.slots:
        raise problem
    return sought


def _read_lists_of(
    reply: str, *, names: Sequence[str], senses: Senses, language: str
) -> EventQuestion:
    """What one of two replies says; it may say nothing. Raises BadReply if it has no list."""
    read_lists(reply, names)
    try:
        return read_sought(reply, senses, language)
    except BadReply:
        return EventQuestion()


def read_sought(reply: str, senses: Senses, language: str) -> EventQuestion:
    """Return the known senses of a reply, and its slots. Raises BadReply if it has neither."""
    lists = read_lists(reply, ["senses", *SLOTS])
    names = [name[:MAX_VALUE_CHARACTERS] for name in lists["senses"] if isinstance(name, str)]
    paths = [path for path in dict.fromkeys(map(senses.find, names)) if path]
    slots: dict[str, list[str]] = {}
    for slot in SLOTS:
        for value in lists[slot][:MAX_SENSES]:
            slots.setdefault(slot, []).extend(
                read_slots({slot: value}, language, Counter()).values()
            )
    filled_slots = {slot: tuple(dict.fromkeys(values)) for slot, values in slots.items() if values}
    if not paths and not filled_slots:
        raise BadReply('Expected "senses", or at least one of the lists of an event.')
    return EventQuestion(tuple(paths[:MAX_SENSES]), filled_slots)


def _describe(sought: EventQuestion) -> str:
    parts = [", ".join(sought.senses)] if sought.senses else []
    parts += [f"{slot} {', '.join(values)}" for slot, values in sought.slots.items()]
    return "; ".join(parts) or "-"
