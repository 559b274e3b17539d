"""The model behind the tests' endpoint: sensible replies out of the prompt's own words."""

from __future__ import annotations

import functools
import json
import re
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .discourse import discoursed
from .extraction import extracted
from .faults import Fault
from .judge import judgement
from .reports import read_reports

WORD = re.compile(r"\w+")
SENTENCE = re.compile(r"[^.!?]+[.!?]?")


def reply(user: str, fault: Fault | None) -> str:  # noqa: C901  one branch a prompt
    """What the prompt asks for, told by its markers; or a reply that is wrong in one way."""
    if fault == "nonsense":
        return "I am not sure what you want from me."
    if fault == "wrong_shape":
        return json.dumps({"answer": {"value": 1}})
    if (judged := judgement(user)) is not None:
        text = _json(judged, fault)
    elif (told := discoursed(user)) is not None:
        text = _json(told, fault)
    elif (found := extracted(user)) is not None:
        text = found if isinstance(found, str) else _json(found, fault)
    elif (read := read_reports(user)) is not None:
        text = read if isinstance(read, str) else _json(read, fault)
    elif "<aspects>" in user and "For each aspect that you choose" in user:
        each = [
            {"aspect": aspect, "summary": _summary(user, fault)} for aspect in _aspects(user, fault)
        ]
        text = _json({"summaries": each}, fault)
    elif "<aspects>" in user:
        text = _json({"aspects": _aspects(user, fault)}, fault)
    elif "passages, each with its number" in user:
        text = _json({"passages": _several_details(user, fault)}, fault)
    elif "<passage>" in user:
        text = _json({"details": _details(user, fault)}, fault)
    elif "<options>" in user:
        text = _json({"choice": _choice(user)}, fault)
    elif "<question>" in user:
        text = _to_question(user, fault)
    else:
        text = _summary(user, fault) or "yes"
    return text[: len(text) // 2] if fault == "truncated" else text


def vector(text: str, dimensions: int) -> NDArray[np.float32]:
    """Hashed bag of words, of unit length; equal words, equal vectors."""
    row = np.zeros(dimensions, dtype=np.float32)
    for word in WORD.findall(text.lower()) or [text]:
        row += _direction(word, dimensions)
    return row / np.float32(np.linalg.norm(row))


@functools.lru_cache(maxsize=50_000)
def _direction(word: str, dimensions: int) -> NDArray[np.float32]:
    draw = np.random.default_rng(zlib.crc32(word.encode()))
    return draw.standard_normal(dimensions, dtype=np.float32)


def _between(text: str, marker: str) -> str:
    _, _, rest = text.partition(f"<{marker}>")
    return rest.partition(f"</{marker}>")[0].strip()


def _aspects(user: str, fault: Fault | None) -> list[str]:
    """About two of the closed list, by a hash of the passages."""
    names = re.findall(r"^- ([^:\n]+):", _between(user, "aspects"), re.MULTILINE)
    if fault == "unknown_aspect":
        return [*names[:1], "weather"]
    text = _between(user, "passages")
    chosen = [name for name in names if zlib.crc32(f"{name}{text}".encode()) % 100 < 30]
    return chosen or [names[zlib.crc32(text.encode()) % len(names)]]


def _to_question(user: str, fault: Fault | None) -> str:
    """An answer, or what a search for one asks for."""
    if "<types>" in user:
        return _json(_sought(user), fault)
    if "<facts>" in user:
        return _json({"keep": _helpful(user)}, fault)
    if "Put this question in" in user:
        return _json({"queries": _reworded(user)}, fault)
    if "Word this question so that" in user:
        return _standing_alone(user)
    if "would answer this question" in user:
        return f"Somebody did. {_between(user, 'question')}"
    if "Which of these passages help" in user:
        numbers = re.findall(r"^\[passage (\d+)\]", _between(user, "passages"), re.MULTILINE)
        return _json({"ranking": [int(number) for number in reversed(numbers)]}, fault)
    return _answer(user)


def _choice(user: str) -> int:
    """The number of the option that has the largest share of its words in the passages."""
    told = set(WORD.findall(_between(user, "passages").lower()))
    options = [set(WORD.findall(line.lower())) for line in _between(user, "options").splitlines()]
    shares = [len(words & told) / len(words) for words in options]
    return shares.index(max(shares)) + 1


def _sought(user: str) -> dict[str, list[str]]:
    """What a question asks about: its names, other long words by turns, and the first type."""
    words = WORD.findall(_between(user, "question"))
    named = [word for word in words[1:] if word[0].isupper()]
    rest = [word for word in words[1:] if word not in named and len(word) > 3]
    types = re.findall(r"^- ([^:\n]+):", _between(user, "types"), re.MULTILINE)
    low, high = [*named, *rest[::2]], rest[1::2]
    return {"named": named, "generic": [], "low": low, "high": high, "answer_types": types[:1]}


def _helpful(user: str) -> list[int]:
    """The numbers of the facts that share a long word with the question."""
    words = {word for word in WORD.findall(_between(user, "question").lower()) if len(word) > 3}
    facts = re.findall(r"^\[(\d+)\] (.+)", _between(user, "facts"), re.MULTILINE)
    return [int(number) for number, text in facts if words & set(WORD.findall(text.lower()))]


def _reworded(user: str) -> list[str]:
    """The question's words in other orders."""
    words = _between(user, "question").split()
    return [" ".join(words[turn:] + words[:turn]) for turn in (1, 2, 3)]


def _standing_alone(user: str) -> str:
    """The question, the last name that was asked about in the place of its pronoun."""
    asked = re.findall(r"^Question: \S+ (.+)", _between(user, "conversation"), re.MULTILINE)
    names = re.findall(r"[A-Z][a-z]+", " ".join(asked)) or ["nobody"]
    return re.sub(r"\b(he|she|they)\b", names[-1], _between(user, "question"))


def _several_details(user: str, fault: Fault | None) -> list[dict[str, Any]]:
    """The details of each numbered passage, as they would be of it alone."""
    count = re.search(r"give the (\d+) key facts", user)
    texts = re.split(r"(?:\A|\n\n)\[passage (\d+)\] ", _between(user, "passages"))[1:]
    return [
        {"passage": int(number), "details": _facts(text, int(count[1]) if count else 2, fault)}
        for number, text in zip(texts[::2], texts[1::2], strict=True)
    ]


def _details(user: str, fault: Fault | None) -> list[str]:
    match = re.search(r"\b(\d+)\b", user.partition("<passage>")[0])
    return _facts(_between(user, "passage"), int(match[1]) if match else 2, fault)


def _facts(passage: str, count: int, fault: Fault | None) -> list[str]:
    sentences = _sentences(passage)
    words = [sentences[n % len(sentences)].split()[:12] for n in range(count)]
    times = 60 if fault == "too_long" else 1
    return [f"{n}: {' '.join(told * times)}" for n, told in enumerate(words, 1)]


def _summary(user: str, fault: Fault | None) -> str:
    """The passages' first sentences, about 60 words."""
    text = " ".join(
        _sentences(line)[0] for line in _between(user, "passages").splitlines() if line.strip()
    )
    if fault == "too_long":
        return " ".join([text] * 50)
    words = text.split()
    return text if len(words) <= 60 else " ".join(words[:60]) + "."


def _answer(user: str) -> str:
    """The first sentence of each of the first two passages, cited."""
    passages = re.findall(r"^\[(\d+)\] (.+)", _between(user, "passages"), re.MULTILINE)
    return " ".join(f"{_sentences(text)[0]} [{n}]" for n, text in passages[:2])


def _sentences(text: str) -> list[str]:
    return [found.strip() for found in SENTENCE.findall(text) if found.strip()] or ["nothing"]


def _json(value: Any, fault: Fault | None) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return f"Sure! Here it is:\n```json\n{text[:-1]},\n" if fault == "malformed" else text
