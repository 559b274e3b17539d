"""Replies about reports of communities: points of them, ratings, and what follows from them."""

from __future__ import annotations

import re
from typing import Any

WORD = re.compile(r"\w+")


def read_reports(user: str) -> str | dict[str, Any] | None:
    """What a prompt about reports asks for, told by its markers; None where it is about others."""
    question = _between(user, "question")
    words = {word for word in WORD.findall(question.lower()) if len(word) > 3}

    def found(part: str) -> list[tuple[int, str]]:
        """Numbered texts, those first that share most long words with the question."""
        numbered = re.findall(r"^\[(\d+)\] (.+)", _between(user, part), re.MULTILINE)
        shared = [len(words & set(WORD.findall(text.lower()))) for _, text in numbered]
        order = sorted(range(len(numbered)), key=lambda row: (-shared[row], row))
        return [(int(numbered[row][0]), numbered[row][1]) for row in order]

    if "<points>" in user:
        lines = re.findall(r"^\(score \d+\) (.+)", _between(user, "points"), re.MULTILINE)
        return " ".join(lines[:2])
    if '"points": [' in user:
        told = found("reports")[:3]
        scored = zip((90, 50, 0), told, strict=False)
        return {
            "points": [
                {"description": text, "score": score, "refs": [number]}
                for score, (number, text) in scored
            ]
        }
    if '"rating": ' in user:
        told_of = set(WORD.findall(_between(user, "report").lower()))
        return {"rating": min(5, len(words & told_of))}
    if '"follow_up_queries": ' in user:
        texts = found("reports" if "<reports>" in user else "passages")[:1]
        opened = [f"What of {word}?" for _, text in texts for word in WORD.findall(text)[:5]]
        response = " ".join(f"{text} [{number}]" for number, text in texts)
        return {"response": response, "score": 60, "follow_up_queries": opened}
    return _between(user, "report") if "<report>" in user else None


def _between(text: str, marker: str) -> str:
    return text.partition(f"<{marker}>")[2].partition(f"</{marker}>")[0].strip()
