"""What a question asks for: senses, and who, what, when, where and so on; by a model or by words.

One call reads both; the system that this is after made two.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, WithJsonSchema, create_model

from fabula.errors import BadReply
from fabula.graph.mode import Tools
from fabula.graphs.discourse.matching import Terms
from fabula.graphs.discourse.questions import MAX_VALUE_CHARACTERS, read_slots
from fabula.graphs.discourse.senses import Senses
from fabula.graphs.discourse.values import SLOTS
from fabula.graphs.discourse.words import words_of
from fabula.models import Chat, Prompt
from fabula.models.prompts import filled
from fabula.models.replies import ask, read_lists
from fabula.text.stems import stemmer_of, words

PROMPTS = Path(__file__).parent / "modes" / "prompts"
"""Apart from those that a graph is built with, which make it stale where they change."""
MOST_SENSES = 3


@dataclass(frozen=True, slots=True)
class Sought:
    """What a question asks for: senses of any level, and what it says of an event."""

    senses: tuple[str, ...] = ()
    slots: Mapping[str, Sequence[str]] = field(default_factory=dict)


class SoughtReply(BaseModel):
    """A model's reading of a question."""

    model_config = ConfigDict(extra="forbid")

    senses: list[str]
    who: list[str]
    predicate: list[str]
    what: list[str]
    when: list[str]
    where: list[str]
    why: list[str]
    how: list[str]


@functools.cache
def _reply(senses: tuple[str, ...]) -> type[SoughtReply]:
    """SoughtReply whose schema tells an endpoint the closed list of senses."""
    closed = Annotated[str, WithJsonSchema({"type": "string", "enum": list(senses)})]
    return create_model("SoughtReply", __base__=SoughtReply, senses=(list[closed], ...))


def read_question(question: str, terms: Terms, senses: Senses, tools: Tools) -> Sought:
    """What the question asks for: as a model reads it, or as its words tell.

    The latter where there is no model, or none of its replies is of use.
    """
    with tools.path.step("read the question") as step:
        by = "its words"
        sought = read_by_words(question, terms, senses)
        if not tools.models.offline:
            try:
                chat = tools.models.chat("model", "question")
                sought = ask_model(question, senses, terms.language, chat)
                by = tools.models.model("model")
            except BadReply as error:
                by = f"{by}, as the model's replies are of no use: {error}"
        step.note = f"by {by}: {_told(sought)}"
    return sought


def ask_model(question: str, senses: Senses, language: str, chat: Chat) -> Sought:
    """A model's reading. Raises BadReply where none of its replies is of use."""
    paths = tuple(one.path for one in senses.all)
    asked = Prompt(
        system=filled(PROMPTS / "question_system.txt"),
        user=filled(
            PROMPTS / "question.txt",
            senses="\n".join(f"- {one.path}: {one.about}" for one in senses.all),
            question=question,
            most=MOST_SENSES,
        ),
        max_tokens=600,
        temperature=0,
        schema=_reply(paths),
    )
    return ask(chat, asked, lambda reply: read_sought(reply, senses, language))


def read_sought(reply: str, senses: Senses, language: str) -> Sought:
    """A reply's senses that there are, and its slots. Raises BadReply for what is no such JSON."""
    lists = read_lists(reply, ["senses", *SLOTS])
    named = (
        senses.find(one[:MAX_VALUE_CHARACTERS]) for one in lists["senses"] if isinstance(one, str)
    )
    found = [path for path in dict.fromkeys(named) if path]
    slots: dict[str, list[str]] = {}
    for slot in SLOTS:
        for value in lists[slot][:MOST_SENSES]:
            slots.setdefault(slot, []).extend(
                read_slots({slot: value}, language, Counter()).values()
            )
    told = {slot: tuple(dict.fromkeys(some)) for slot, some in slots.items() if some}
    if not found and not told:
        raise BadReply('Expected "senses", or at least one of the lists of what is told.')
    return Sought(tuple(found[:MOST_SENSES]), told)


def read_by_words(question: str, terms: Terms, senses: Senses) -> Sought:
    """Senses by the words that ask for them, and what the graph knows as who, where and so on."""
    own = words_of(terms.language)
    told = own.asked_by(question) if own else ()
    asked = dict.fromkeys(path for sense in told if (path := senses.here(sense)))
    irregular = own.verbs if own else {}
    stem = stemmer_of(terms.language)
    spoken = words(question)
    tells = [bool(stem.terms(word)) for word in spoken]
    slots: dict[str, tuple[str, ...]] = {}
    for slot in ("who", "when", "where"):
        if found := terms.find(spoken, slot, tells):
            slots[slot] = tuple(found)
    verbs = [irregular.get(word, word) for word in spoken]
    known = terms.by_slot.get("predicate", {})
    telling = [verb for verb, tell in zip(verbs, tells, strict=True) if tell]
    if did := [verb for verb in telling if " ".join(stem.stems(verb)) in known]:
        slots["predicate"] = tuple(dict.fromkeys(did))
    return Sought(tuple(asked), slots)


def _told(sought: Sought) -> str:
    said = [", ".join(sought.senses)] if sought.senses else []
    said += [f"{slot} {', '.join(some)}" for slot, some in sought.slots.items()]
    return "; ".join(said) or "-"
