"""The model as a judge of answers: statements are sentences, and hold where all their words are."""

from __future__ import annotations

import json
import re
from typing import Any

_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"[^.!?]+[.!?]?")
_NUMBERED = re.compile(r"^(\d+)\. (.+)$", re.MULTILINE)


def judgement(user: str) -> Any:
    """What a judge is asked for, as JSON values; None where the prompt asks for no judgement."""
    if "Break this answer down into the statements" in user:
        return {"statements": _sentences(_between(user, "answer"))}
    if "One of the answer's statements holds if" in user:
        answer, reference = _between(user, "answer"), _between(user, "reference")
        return {"verdicts": _verdicts(answer, reference) + _verdicts(reference, answer)}
    if "It holds if the answer says it" in user:
        return {"verdicts": _verdicts(_between(user, "statements"), _between(user, "answer"))}
    if "It holds if it can be directly inferred" in user:
        return {"verdicts": _verdicts(_between(user, "statements"), _between(user, "passages"))}
    if "Rate the passages:" in user:
        asked, held = _words(_between(user, "question")), _words(_between(user, "passages"))
        return {"rating": 2 if asked <= held else 1 if asked & held else 0}
    if "Which answer is better by this criterion?" in user:
        first, second = (len(_words(_between(user, name))) for name in ("first", "second"))
        winner = "tie" if first == second else "first" if first > second else "second"
        return {"reason": "It has more words.", "winner": winner}
    if "Write three different questions" in user:
        answer = _between(user, "answer")
        questions = [f"{opening} {answer}" for opening in ("Who?", "What?", "Where?")]
        return {"questions": questions, "evasive": "not in the passages" in answer}
    if "fully understandable statements" in user:
        return {"statements": _sentences(_input(user)["answer"])}
    if "TP (true positive)" in user:
        return _classified(**_input(user))
    return None


def _classified(question: str, answer: list[str], ground_truth: list[str]) -> dict[str, Any]:
    """As RAGAS asks for it."""
    reason = f"Asked was: {question}"
    said, truth = " ".join(answer), " ".join(ground_truth)
    found: dict[str, list[str]] = {
        "TP": [one for one in answer if _holds(one, truth)],
        "FP": [one for one in answer if not _holds(one, truth)],
        "FN": [one for one in ground_truth if not _holds(one, said)],
    }
    return {
        name: [{"statement": one, "reason": reason} for one in those]
        for name, those in found.items()
    }


def _verdicts(listed: str, text: str) -> list[dict[str, Any]]:
    return [
        {"statement": int(number), "reason": "Its words say so.", "holds": _holds(one, text)}
        for number, one in _NUMBERED.findall(listed)
    ]


def _holds(statement: str, text: str) -> bool:
    return _words(statement) <= _words(text)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _sentences(text: str) -> list[str]:
    return [found.strip() for found in _SENTENCE.findall(text) if _WORD.search(found)]


def _between(text: str, marker: str) -> str:
    _, _, rest = text.partition(f"<{marker}>")
    return rest.partition(f"</{marker}>")[0].strip()


def _input(user: str) -> Any:
    """What RAGAS's prompts end with."""
    return json.loads(user.rpartition("\ninput: ")[2].rpartition("\nOutput:")[0])
