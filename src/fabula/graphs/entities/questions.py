"""What a question asks about, as a model reads it or as its names and words tell.

One call gives what all modes need, so that the response cache has it for the next mode. Each of the
published systems has prompts of its own for this, and makes several calls.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from fabula.errors import BadReply
from fabula.graph.mode import Tools
from fabula.graphs.entities.names import has_capital, name_words
from fabula.graphs.entities.network import Network
from fabula.models import Chat, Prompt
from fabula.models.prompts import fill_template
from fabula.models.replies import ask, read_lists
from fabula.models.schemas import ReplyShape
from fabula.text.stems import stemmer_of, words

PROMPTS = Path(__file__).parent / "modes" / "prompts"
"""Not beside the prompts that a graph is built with: a change of those makes the graph stale."""
MAX_TEXTS = 8
"""How many texts of each kind are taken of a reply; LightRAG and MiniRAG seldom have more."""
MAX_CHARACTERS = 256
"""Of each text: what is longer is no name."""
MAX_ANSWER_TYPES = 3
"""How many types the answer may be of (MiniRAG)."""
EXAMPLES = 2
"""How many names the prompt has beside each type, as MiniRAG means to show them."""

_QUESTION_WORDS = {
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
    word: (type, *_ALSO.get(type, ()))
    for type, question_words in _QUESTION_WORDS.items()
    for word in question_words.split()
}
"""The types of an answer by the word that asks for it (who, where, when, what), in twelve
languages."""


@dataclass(frozen=True, slots=True)
class Sought:
    """What a question asks about.

    Attributes:
        named: Names, as the question prints them.
        generic: Descriptions of people and things that it does not name.
        low: Keywords for details (LightRAG).
        high: Keywords for themes (LightRAG).
        answer_types: The types of entities that the answer may be (MiniRAG).
    """

    named: tuple[str, ...] = ()
    generic: tuple[str, ...] = ()
    low: tuple[str, ...] = ()
    high: tuple[str, ...] = ()
    answer_types: tuple[str, ...] = ()


class SoughtReply(ReplyShape):
    """A model's reading of a question."""

    named: list[str]
    generic: list[str]
    low: list[str]
    high: list[str]
    answer_types: list[str]


class KeywordsReply(ReplyShape):
    """The keywords of a question, of two levels."""

    high: list[str]
    low: list[str]


class NamesReply(ReplyShape):
    """Whom and what a question is about."""

    named: list[str]
    generic: list[str]


class AnswerTypesReply(ReplyShape):
    """Whom and what a question is about, and of which types its answer may be."""

    named: list[str]
    answer_types: list[str]


@dataclass(frozen=True, slots=True)
class QuestionPrompt:
    """One way to read a question: its prompt, and the lists that are asked for."""

    prompt: str
    reply: type[BaseModel]


SHARED = QuestionPrompt("question", SoughtReply)
"""All that any of the modes needs, by one call."""
READINGS = {
    "fast": QuestionPrompt("names", NamesReply),
    "light": QuestionPrompt("keywords", KeywordsReply),
    "mini": QuestionPrompt("answer_types", AnswerTypesReply),
}
"""What each published system asks about a question, by its mode: the same lists, in our words."""


def read_question(
    question: str, network: Network, tools: Tools, reading: QuestionPrompt = SHARED
) -> Sought:
    """Find out what a question asks about.

    A model reads it: a paid call. Its names and words are gone by instead where there is no model,
    or none of its replies can be used.
    """
    with tools.trace.step("read the question") as step:
        by = "its names and words"
        sought = read_by_words(question, network)
        if not tools.models.offline:
            try:
                chat = tools.models.chat("model", "question")
                sought = ask_model(question, network, chat, reading)
                by = tools.models.model("model")
            except BadReply as error:
                by = f"{by}, as no reply of the model could be used: {error}"
        step.note = f"by {by}: {_describe(sought)}"
    return sought


def reading_of(mode: str, options: Any) -> QuestionPrompt:
    """Return how a mode reads questions, by its option `reading`."""
    return READINGS[mode] if options.reading == "own" else SHARED


def ask_model(
    question: str, network: Network, chat: Chat, reading: QuestionPrompt = SHARED
) -> Sought:
    """Ask a model what a question asks about: a paid call.

    Raises:
        BadReply: None of the replies can be used.
    """
    types = examples(network)
    values: dict[str, object] = {"question": question, "most": MAX_TEXTS}
    if "answer_types" in reading.reply.model_fields:
        listed = (f"- {type}: {', '.join(names)}" for type, names in types.items())
        values |= {"types": "\n".join(listed), "answers": MAX_ANSWER_TYPES}
    prompt = Prompt(
        system=fill_template(PROMPTS / "question_system.txt"),
        user=fill_template(PROMPTS / f"{reading.prompt}.txt", **values),
        max_tokens=600,
        temperature=0,
        schema=reading.reply,
        placeholder=lambda: _expected_reply(question, reading),
    )
    return ask(chat, prompt, lambda reply: read_sought(reply, types))


def _expected_reply(question: str, reading: QuestionPrompt) -> str:
    """The reply that a dry run assumes: the question's words, in a list that the reading has."""
    lists: dict[str, list[str]] = {name: [] for name in reading.reply.model_fields}
    lists["low" if "low" in lists else "named"] = question.split()[:MAX_TEXTS]
    return json.dumps(lists, ensure_ascii=False)


def read_sought(reply: str, types: Iterable[str]) -> Sought:
    """Read a reply; its lists are cut, and types that the network does not have are left out.

    Raises:
        BadReply: The reply is not of this shape, or says nothing.
    """
    lists = read_lists(reply, list(SoughtReply.model_fields))
    texts = {name: _clean(values) for name, values in lists.items()}
    known = {type.casefold(): type for type in types}
    answers = (known[type] for type in map(str.casefold, texts["answer_types"]) if type in known)
    texts["answer_types"] = tuple(islice(dict.fromkeys(answers), MAX_ANSWER_TYPES))
    sought = Sought(**texts)
    if sought == Sought(answer_types=sought.answer_types):
        raise BadReply('Expected "named", "generic", "low" or "high" to say something.')
    return sought


def read_by_words(question: str, network: Network) -> Sought:
    """Find out what a question asks about without a model.

    Names are matched with those of the network, the longest first. Of the words in no name the
    rarer half is `low`, the rest `high`.
    """
    names = find_names(question, network)
    in_names = {word for name in names for word in name.split()}
    stemmer = stemmer_of(network.language)
    by_stem: dict[str, str] = {}
    for word in dict.fromkeys(name_words(question)):
        terms = stemmer.terms(word)
        if terms and word not in in_names:
            by_stem.setdefault(terms[0], word)
    rarest_first = sorted(by_stem.values(), key=lambda word: (-rarity(word, network), word))
    half = (len(rarest_first) + 1) // 2
    types = dict.fromkeys(type for word in words(question) for type in _ANSWER_TYPES.get(word, ()))
    return Sought(
        named=names,
        low=(*names, *rarest_first[:half])[:MAX_TEXTS],
        high=tuple(rarest_first[half:][:MAX_TEXTS]),
        answer_types=tuple(type for type in types if type in network.by_type)[:MAX_ANSWER_TYPES],
    )


def find_names(question: str, network: Network) -> tuple[str, ...]:
    """Find the names of the network that are in a question, the longest one at each place.

    A name that the text always writes with a capital needs one in the question, too, unless the
    question has none after its first word. Words that only ask or join are no name, wherever they
    are.

    Returns:
        The names in lower case, without possessives.
    """
    asked_words = name_words(question)
    terms = stemmer_of(network.language).terms
    capitals, later = _find_capitalised(question)
    strict = any(map(terms, later))
    # Outside English the stemmer takes all short words for such as ask or join, and Max and Jan
    # are short.
    short = set() if network.language == "en" else later
    names: list[str] = []
    place = 0
    while place < len(asked_words):
        for size in range(min(network.by_name.longest, len(asked_words) - place), 0, -1):
            run = asked_words[place : place + size]
            name = " ".join(run)
            content = [word for word in run if terms(word) or word in short]
            if not content or not _in_these_words(name, network):
                continue
            needs_capital = strict and network.by_name.is_capitalised(name)
            if not needs_capital or capitals.intersection(content):
                names.append(name)
                place += size
                break
        else:
            place += 1
    return tuple(dict.fromkeys(names))


def rows_of(names: Iterable[str], network: Network) -> list[int]:
    """Return the rows of the entities that are called so, each once.

    A title that the text does not print with the name does not matter: "Mr. Holmes" is Holmes.
    """
    rows = (
        _in_these_words(name, network) or network.by_name.find_untitled(name)[:1] for name in names
    )
    return list(dict.fromkeys(chain.from_iterable(rows)))


def rarity(text: str, network: Network) -> float:
    """Return how rare the rarest stem of a text is among names and keywords.

    A stem that none of them has is as rare as the rarest one; a text without stems has 0.
    """
    weights, unknown = network.weights, network.most_weight
    stems = stemmer_of(network.language).terms(text)
    return max((weights.get(stem, unknown) for stem in stems), default=0.0)


def examples(network: Network) -> dict[str, tuple[str, ...]]:
    """Return the types of a network, commonest first, each with its most mentioned names."""
    return {
        type: tuple(network.name(row) for row in rows[:EXAMPLES])
        for type, rows in network.by_type.items()
    }


def with_low(sought: Sought, question: str) -> Sought:
    """Take the question itself for the low keyword where there are no keywords of either level.

    LightRAG's code does so with a short question, and refuses a longer one.
    """
    return sought if sought.low or sought.high else replace(sought, low=(question,))


def _in_these_words(name: str, network: Network) -> tuple[int, ...]:
    """The row of whom the text calls so most often; outside English, in any inflected form."""
    rows = network.by_name.exact(name)
    # A question's inflected form may stand in no chunk. English names have none.
    if not rows and network.language not in ("", "en"):
        rows = network.by_name.stems(name)
    return rows[:1]


def _find_capitalised(question: str) -> tuple[set[str], set[str]]:
    """The words that have a capital letter somewhere in the question, and after its first word."""
    parts = [
        (has_capital(part), of_part) for part in question.split() if (of_part := name_words(part))
    ]
    first, *rest = [set(of_part) if capital else set() for capital, of_part in parts] or [set()]
    later = set[str]().union(*rest)
    return first | later, later


def _clean(values: Sequence[Any]) -> tuple[str, ...]:
    """The texts of a list on one line each, without those that are too long."""
    lines = (" ".join(text.split()) for text in values if isinstance(text, str))
    fit = (line for line in lines if 0 < len(line) <= MAX_CHARACTERS)
    return tuple(islice(dict.fromkeys(fit), MAX_TEXTS))


def _describe(sought: Sought) -> str:
    lists = {
        "named": sought.named,
        "generic": sought.generic,
        "low": sought.low,
        "high": sought.high,
        "answers": sought.answer_types,
    }
    return "; ".join(f"{name} {', '.join(texts)}" for name, texts in lists.items() if texts) or "-"
