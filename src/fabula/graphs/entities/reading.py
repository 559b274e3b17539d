"""What a question asks about: read by a model, once for all modes, or by names and words.

One call gives what every mode needs, so that the response cache has it for the next mode. The
published systems ask for it by prompts of their own, in several calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from fabula.errors import BadReply
from fabula.graph.mode import Tools
from fabula.graphs.entities.network import Network, has_capital, spell
from fabula.models import Chat, Prompt
from fabula.models.prompts import filled
from fabula.models.replies import ask, read_lists
from fabula.text.stems import stemmer_of, words

PROMPTS = Path(__file__).parent / "modes" / "prompts"
"""Apart from those that a graph is built with, which make it stale where they change."""
MOST = 8
"""Texts of each sort that are taken of a reply; LightRAG and MiniRAG have seldom more."""
LONGEST = 256
"""Characters of each: what is longer is no name."""
ANSWERS = 3
"""Types that an answer may be of (MiniRAG)."""
EXAMPLES = 2
"""Names beside each type, as MiniRAG means to show them."""

_ASKED = {
    "person": """who whom whose wer wen wem wessen qui quién quiénes quien chi quem kto kogo komu
        kim кто кого кому кем kdo koho komu vem hvem""",
    "place": """where wherever whence whither wo wohin woher où dónde adónde dove onde gdzie dokąd
        skąd где куда откуда kde kam odkud var hvor""",
    "time": "when wann quand cuándo quando kiedy когда kdy när hvornår når",
    "object": """what which was welche welcher welches que quoi quel quelle qué cuál cosa che quale
        qual co jaki jaka jakie что какой какая какое jaký vad hvad hva""",
}
_ALSO = {"person": ("group",), "object": ("event", "idea")}
_ANSWER_TYPES = {
    word: (type, *_ALSO.get(type, ())) for type, asked in _ASKED.items() for word in asked.split()
}
"""What is asked for by the word that asks: who, where, when, what, in twelve languages."""


@dataclass(frozen=True, slots=True)
class Sought:
    """What a question asks about.

    `named`: names, as it prints them; `generic`: whom it speaks of without a name; `low`: words for
    details, `high`: words for themes (LightRAG); `answer_types`: what the answer may be.
    """

    named: tuple[str, ...] = ()
    generic: tuple[str, ...] = ()
    low: tuple[str, ...] = ()
    high: tuple[str, ...] = ()
    answer_types: tuple[str, ...] = ()


class SoughtReply(BaseModel):
    """A model's reading of a question."""

    model_config = ConfigDict(extra="forbid")

    named: list[str]
    generic: list[str]
    low: list[str]
    high: list[str]
    answer_types: list[str]


def read_question(question: str, network: Network, tools: Tools) -> Sought:
    """What the question asks about: as a model reads it, or as its names and words tell.

    The latter where there is no model, or none of its replies is of use.
    """
    with tools.path.step("read the question") as step:
        by = "its names and words"
        sought = read_by_words(question, network)
        if not tools.models.offline:
            try:
                chat = tools.models.chat("model", "question")
                sought, by = ask_model(question, network, chat), tools.models.model("model")
            except BadReply as error:
                by = f"{by}, as the model's replies are of no use: {error}"
        step.note = f"by {by}: {_told(sought)}"
    return sought


def ask_model(question: str, network: Network, chat: Chat) -> Sought:
    """A model's reading. Raises BadReply where none of its replies is of use."""
    types = examples(network)
    listed = "\n".join(f"- {type}: {', '.join(names)}" for type, names in types.items())
    asked = Prompt(
        system=filled(PROMPTS / "question_system.txt"),
        user=filled(
            PROMPTS / "question.txt", types=listed, question=question, most=MOST, answers=ANSWERS
        ),
        max_tokens=600,
        temperature=0,
        schema=SoughtReply,
    )
    return ask(chat, asked, lambda reply: read_sought(reply, types))


def read_sought(reply: str, types: Iterable[str]) -> Sought:
    """A reply's lists, cut to what is asked for, without types that the network has not.

    Raises BadReply for what is no such JSON, or says nothing.
    """
    lists = read_lists(reply, list(SoughtReply.model_fields))
    read = {name: _kept(some) for name, some in lists.items()}
    known = {type.casefold(): type for type in types}
    answers = (known[one] for one in map(str.casefold, read["answer_types"]) if one in known)
    read["answer_types"] = tuple(islice(dict.fromkeys(answers), ANSWERS))
    sought = Sought(**read)
    if sought == Sought(answer_types=sought.answer_types):
        raise BadReply('Expected "named", "generic", "low" or "high" to say something.')
    return sought


def read_by_words(question: str, network: Network) -> Sought:
    """Names by the longest match with those of the network, and stems by how rare they are.

    The rarer half of the stems that no name has is `low`, the rest `high`.
    """
    named = find_names(question, network)
    within = {word for name in named for word in name.split()}
    stem = stemmer_of(network.language)
    rest: dict[str, str] = {}
    for word in dict.fromkeys(spell(question)):
        [*terms] = stem.terms(word)
        if terms and word not in within:
            rest.setdefault(terms[0], word)
    rare = sorted(rest.values(), key=lambda word: (-rarity(word, network), word))
    half = (len(rare) + 1) // 2
    types = dict.fromkeys(type for word in words(question) for type in _ANSWER_TYPES.get(word, ()))
    return Sought(
        named=named,
        low=(*named, *rare[:half])[:MOST],
        high=tuple(rare[half:][:MOST]),
        answer_types=tuple(type for type in types if type in network.by_type)[:ANSWERS],
    )


def find_names(question: str, network: Network) -> tuple[str, ...]:
    """The names of the network that stand in a question, longest first at each place.

    A name that has capitals is one where the question has them, too, but for a question without
    any but its first word's. What asks or joins is none, be it the first word or not.
    """
    asked = spell(question)
    tells = stemmer_of(network.language).terms
    capitals, later = _capitalised(question)
    strict = any(map(tells, later))
    # Outside English all short words are taken for such as join, and Max and Jan are short.
    short = set() if network.language == "en" else later
    found: list[str] = []
    place = 0
    while place < len(asked):
        for size in range(min(network.longest, len(asked) - place), 0, -1):
            run = asked[place : place + size]
            who = _lookup(run, network)
            content = [word for word in run if tells(word) or word in short]
            if who and content and (not (strict and who[1]) or capitals.intersection(content)):
                found.append(" ".join(run))
                place += size
                break
        else:
            place += 1
    return tuple(dict.fromkeys(found))


def rows_of(names: Iterable[str], network: Network) -> list[int]:
    """The rows of those who are called so, exactly or by another of their names, each once."""
    found = (_lookup(spell(name), network) for name in names)
    return list(dict.fromkeys(who[0] for who in found if who))


def rarity(text: str, network: Network) -> float:
    """How rare the rarest stem of a text is among names and keywords; most, where none has it."""
    weights, unknown = network.weights, network.most_weight
    stems = stemmer_of(network.language).terms(text)
    return max((weights.get(stem, unknown) for stem in stems), default=0.0)


def examples(network: Network) -> dict[str, tuple[str, ...]]:
    """The types of a network, commonest first, each with the names that most chunks mention."""
    return {
        type: tuple(network.name(row) for row in rows[:EXAMPLES])
        for type, rows in network.by_type.items()
    }


def with_low(sought: Sought, question: str) -> Sought:
    """The question itself in the place of low keywords, where there are none of either level.

    So LightRAG's code does with a short question, and refuses a longer one.
    """
    return sought if sought.low or sought.high else replace(sought, low=(question,))


def _lookup(run: Sequence[str], network: Network) -> tuple[int, bool] | None:
    key = tuple(run)
    if key in network.spelt or network.language in ("", "en"):
        return network.spelt.get(key)
    stem = stemmer_of(network.language).stems
    return network.stemmed.get(tuple(one for word in key for one in stem(word)))


def _capitalised(question: str) -> tuple[set[str], set[str]]:
    """The words that have a capital letter somewhere in the question; and after its first word."""
    parts = [(has_capital(part), own) for part in question.split() if (own := spell(part))]
    first, *rest = [set(own) if capital else set() for capital, own in parts] or [set()]
    later = set[str]().union(*rest)
    return first | later, later


def _kept(given: Sequence[Any]) -> tuple[str, ...]:
    """The texts of a list, on one line each, but those that are too long."""
    lines = (" ".join(text.split()) for text in given if isinstance(text, str))
    return tuple(islice(dict.fromkeys(one for one in lines if 0 < len(one) <= LONGEST), MOST))


def _told(sought: Sought) -> str:
    lists = {
        "named": sought.named,
        "generic": sought.generic,
        "low": sought.low,
        "high": sought.high,
        "answers": sought.answer_types,
    }
    return "; ".join(f"{name} {', '.join(some)}" for name, some in lists.items() if some) or "-"
