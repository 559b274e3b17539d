"""Which mode serves a question best, where none is named: by what kind of question it is.

The kind is told by rules, in `kinds.toml`, or with a chat model by one small call. Each mode says
how well it serves each kind (`Mode.serves`); those whose graphs are there are compared.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fabula.ask.modes import modes
from fabula.errors import BadReply
from fabula.graph.mode import KINDS, Kind, Mode
from fabula.models import Chat, Prompt
from fabula.models.prompts import prompt
from fabula.models.replies import ask_once, read_choice
from fabula.models.schemas import ChoiceReply

RULES = Path(__file__).with_name("kinds.toml")
IN_ORDER: tuple[Kind, ...] = ("creative", "comparison", "overview", "reasoning")
"""What a question is taken for if its words say so, the first first; and else for a fact."""
UNMEASURED: Mapping[Kind, Kind] = {"comparison": "reasoning"}
"""Kinds that no table has, and those that stand for them: comparing takes several passages, too."""
CALLED: Mapping[Kind, str] = {
    "fact": "a question for a fact",
    "reasoning": "one that takes several passages",
    "overview": "one for an overview",
    "comparison": "a comparison",
    "creative": "a creative task",
}
REPLY_TOKENS = 100
"""Room for a number in JSON, and for a model that says a word before it."""
READ = 2000
"""Characters of a question that its kind is told by."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The mode that a question is best asked by, and why, in words."""

    mode: str
    why: str


def choose(
    question: str, usual: str, graphs: Collection[str], chat: Callable[[], Chat] | None
) -> Choice:
    """The mode that serves the question's kind best, of those that walk these graphs or none.

    `usual` is asked where no other has a better figure. `chat` makes the model that tells the kind;
    None where there is none. It is not asked where all kinds lead to one mode.
    """
    offline = chat is None
    best = {kind: _best(kind, usual, graphs, offline=offline) for kind in KINDS}
    if len(set(best.values())) == 1:
        return Choice(best["fact"], "the best of what is there for every kind of question")
    kind, told_by = tell_kind(question), "rules"
    if chat is not None:
        try:
            kind, told_by = ask_kind(question, chat()), "the model"
        except BadReply:
            told_by = "rules, as the model's reply is none"
    figures = _figures(kind, usual, graphs, offline=offline)
    best_first = sorted(figures, key=lambda name: (-figures[name], name))
    compared = ", ".join(f"{name} {figures[name]:.1f}" for name in best_first)
    return Choice(best[kind], f"it is {CALLED[kind]}, by {told_by} ({compared})")


def walked_unasked(*, offline: bool) -> list[str]:
    """The graphs of all modes that may be chosen for some question."""
    served = [mode for mode in modes().values() if _served(mode, offline)]
    return sorted({name for mode in served for name in _walked(mode)})


def tell_kind(question: str) -> Kind:
    """The kind of a question by its words, in any of the languages of `kinds.toml`."""
    plain = question[:READ].casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    words = " ".join(plain.split())
    return next((kind for kind in IN_ORDER if _rules()[kind].search(words)), "fact")


def ask_kind(question: str, chat: Chat) -> Kind:
    """The kind of a question as a model tells it. Raises BadReply where it tells none."""
    asked = Prompt(
        system=prompt("kind_system"),
        user=prompt("kind", question=question[:READ]),
        max_tokens=REPLY_TOKENS,
        temperature=0,
        schema=ChoiceReply,
    )
    return KINDS[ask_once(chat, asked, lambda reply: read_choice(reply, len(KINDS))) - 1]


def _best(kind: Kind, usual: str, graphs: Collection[str], *, offline: bool) -> str:
    """The mode of the highest figure; the usual one where none is higher, and then by name."""
    figures = _figures(kind, usual, graphs, offline=offline)
    return min(figures, key=lambda name: (-figures[name], name != usual, name))


def _figures(kind: Kind, usual: str, graphs: Collection[str], *, offline: bool) -> dict[str, float]:
    """How well each mode that may be chosen serves a kind; the usual one may, whatever it does."""
    found = {
        name: _served(mode, offline).get(UNMEASURED.get(kind, kind), 0.0)
        for name, mode in modes().items()
        if name == usual or _walked(mode) <= set(graphs)
    }
    return {name: figure for name, figure in found.items() if figure or name == usual}


def _served(mode: Mode, offline: bool) -> Mapping[Kind, float]:
    return mode.serves_offline if offline else mode.serves


def _walked(mode: Mode) -> set[str]:
    """The graphs that a mode's figures presuppose."""
    return {mode.graph, *mode.uses} - {""}


@cache
def _rules() -> dict[Kind, re.Pattern[str]]:
    told = tomllib.loads(RULES.read_text(encoding="utf-8"))
    return {kind: _pattern(told[kind].values()) for kind in IN_ORDER}


def _pattern(languages: Iterable[Mapping[str, list[str]]]) -> re.Pattern[str]:
    """Finds what a question `begins` with or `has`, whole words: each a regular expression."""
    begins = "|".join(one for words in languages for one in words.get("begins", []))
    has = "|".join(one for words in languages for one in words.get("has", []))
    return re.compile(rf"^\W*(?:{begins})\b|\b(?:{has})\b")
