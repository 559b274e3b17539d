"""The model as it reads for the entity graph: capitalised words are people, neighbours are tied."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

_NAME = re.compile(r"\b[A-Z][a-z]{2,}\b")
_SMALL = {"The", "And", "But", "Then", "She", "There", "They", "What", "When", "With", "His", "Her"}
_SENTENCE = re.compile(r"[^.!?]+[.!?]?")


def extracted(user: str) -> Any | None:
    """What is asked of people, facts, groups or statements; None where none of them is asked for.

    JSON values, or a text.
    """
    passages = _passages(user)
    if "are one and the same?" in user:
        return {"pairs": _judged(user)}
    if "Write the report on this group" in user:
        return _reported(user)
    if "Which claims are made" in user:
        return {"claims": [] if "claims were listed before" in user else _claimed(passages)}
    if "<types>" in user and "<question>" not in user:
        return _gleaned(passages) if "What was missed" in user else _listed(passages)
    if "facts do passages" in user:
        return {"triples": [_fact(*pair) for pair in _pairs(passages)]}
    if "Merge them into one description" in user:
        statements = user.partition("<statements>")[2].partition("</statements>")[0]
        return " ".join(statements.split()[:60])
    if "Merge the statements about each subject" in user:
        statements = user.partition("<statements>")[2].partition("</statements>")[0]
        parts = re.split(r"(?m)^\[(\d+)\] .*$", statements)[1:]
        blocks = {int(n): one.split()[:60] for n, one in zip(parts[::2], parts[1::2], strict=True)}
        return {
            "descriptions": [
                {"number": n, "description": " ".join(one)} for n, one in blocks.items()
            ]
        }
    return None


def _reported(user: str) -> dict[str, Any]:
    """A finding of each relation, or of each line where there is none."""
    lines = re.findall(r"(?m)^\[(\d+)\] (.+)$", user)
    names = [line.partition(" (")[0] for _, line in lines if " (person): " in line]
    ties = [line for line in lines if " – " in line[1]] or lines
    findings = [
        {"summary": line[:80], "explanation": "", "refs": [int(number)]}
        for number, line in ties[:7]
    ]
    reply = {"title": " and ".join(sorted(names)[:3]) or "A group", "findings": findings}
    return {**reply, "summary": f"Of {len(names)} people.", "importance": 5, "why": "they meet"}


def _claimed(passages: dict[int, str]) -> list[dict[str, Any]]:
    """Of who comes first in each passage what its first sentence says."""
    found = []
    for n, text in passages.items():
        if names := _names(text):
            said = _said(text, names[0])
            fields = {"subject": names[0], "object": None, "type": "statement", "status": "true"}
            fields |= {"start": None, "end": None, "speaker": None, "description": said}
            found.append({**fields, "quotes": [said], "parts": [n]})
    return found


def _judged(user: str) -> list[dict[str, Any]]:
    """Those are one of whom a third name is told in both texts."""
    found = []
    for block in re.findall(r"(?ms)^(\[\d+\]\n- .*?\n- .*?$)", user):
        number, one, other = block.split("\n")
        known = [set(_NAME.findall(said.partition("”: ")[2])) - _SMALL for said in (one, other)]
        heads = {name for said in (one, other) for name in _NAME.findall(said.partition(",")[0])}
        shared = sorted((known[0] & known[1]) - heads)
        why = f"both know {shared[0]}" if shared else "nobody knows both"
        found.append({"number": int(number[1:-1]), "same": bool(shared), "why": why})
    return found


def _passages(user: str) -> dict[int, str]:
    text = user.partition("<passages>")[2].partition("</passages>")[0]
    parts = re.split(r"(?m)^\[(\d+)\] ", text)[1:]
    return {int(n): one for n, one in zip(parts[::2], parts[1::2], strict=True)}


def _names(text: str) -> list[str]:
    found = [name for name in _NAME.findall(text) if name not in _SMALL]
    return list(dict.fromkeys(found))


def _pairs(passages: dict[int, str]) -> list[tuple[int, str, str]]:
    return [(n, *pair) for n, text in passages.items() for pair in pairwise(_names(text))]


def _listed(passages: dict[int, str]) -> Any:
    parts: dict[str, list[int]] = {}
    for n, text in passages.items():
        for name in _names(text):
            parts.setdefault(name, []).append(n)
    entities = [
        {
            "name": name,
            "type": "person",
            "aliases": [],
            "description": _said(passages[where[0]], name),
            "parts": where,
        }
        for name, where in parts.items()
    ]
    return {"entities": entities, "relations": [_tie(*pair, "beside") for pair in _pairs(passages)]}


def _gleaned(passages: dict[int, str]) -> Any:
    """Who comes first and last in a passage."""
    found = [(n, names) for n, text in passages.items() if len(names := _names(text)) > 2]
    ties = [_tie(n, names[0], names[-1], "around") for n, names in found]
    return {"entities": [], "relations": ties}


def _tie(part: int, source: str, target: str, how: str) -> dict[str, Any]:
    text = f"{source} is {how} {target}."
    tie = {"source": source, "target": target, "description": text, "keywords": [how]}
    return {**tie, "strength": 5, "parts": [part]}


def _fact(part: int, subject: str, object: str) -> dict[str, Any]:
    return {"subject": subject, "predicate": "is beside", "object": object, "parts": [part]}


def _said(text: str, name: str) -> str:
    """The first sentence with the name."""
    found: list[str] = _SENTENCE.findall(text)
    return next(one for one in found if name in one).strip()
