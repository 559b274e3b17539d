"""Which call of an endpoint goes wrong, and how."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Literal, get_args

Fault = Literal[
    "rate_limit",  # 429 with Retry-After
    "quota",  # 429 that no waiting cures
    "error",  # 500
    "context",  # 400, the text is too long
    "blocked",  # 400, a filter does not like what the prompt says
    "cut",  # the connection ends in the middle of the reply
    "cut_before",  # a stream's connection ends before its first piece
    "unfinished",  # a stream that ends properly, but too early
    "slow",  # one second longer
    "empty",  # no text
    "thinking",  # no text, all tokens spent on thinking
    "refusal",  # the model declines
    "filtered",  # the endpoint's filter took the text
    "truncated",  # the first half of the text, finish_reason length
    "malformed",  # JSON with its end missing and prose around it; plain text: unchanged
    "nonsense",  # no JSON at all
    "wrong_shape",  # JSON of another shape
    "unknown_aspect",  # an aspect outside the closed list
    "too_long",  # ten times what was asked for
    "web_page",  # 200, but HTML
    "nan",  # embeddings that are not numbers
    "zero",  # embeddings of norm 0
    "missing_row",  # one embedding too few
]
FAULTS: tuple[Fault, ...] = get_args(Fault)
Plan = Callable[[int], Fault | None]
"""The fault of the call with this number, counted from 1; None: it is answered well."""


def none(_: int) -> Fault | None:
    """No call goes wrong."""
    return None


def every(n: int, *faults: Fault) -> Plan:
    """Every n-th call goes wrong, in the way whose turn it is."""
    return lambda number: faults[(number // n - 1) % len(faults)] if number % n == 0 else None


def listed(*faults: Fault | None) -> Plan:
    """The first calls in this order; all after them are answered well."""
    return lambda number: faults[number - 1] if number <= len(faults) else None


def chance(probability: float, faults: Sequence[Fault], seed: int = 0) -> Plan:
    """Each call with this probability, the same calls for the same seed."""

    def plan(number: int) -> Fault | None:
        draw = random.Random(f"{seed} {number}")
        return draw.choice(faults) if draw.random() < probability else None

    return plan
