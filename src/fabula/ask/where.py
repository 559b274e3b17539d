"""Read a condition on the metadata of documents, such as `year < 1850 and genre = gothic`.

The grammar is in where.lark. What is read becomes steps in postfix order, which one statement of
Neo4j follows for each document (cypher/core/find_chosen.cypher): no Cypher is put together, and
names and values are parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from lark import Lark, Token, Transformer, UnexpectedInput, UnexpectedToken, v_args

from fabula.errors import BadValue
from fabula.graph.hits import ConditionStep
from fabula.text.metadata import BUILT_IN, PREFIX, field_name, read_typed

MAX_STEPS = 200
"""The most comparisons and words between them of a condition."""
YEAR = "year"
"""A field that every document has: the year in its date, unless it has one of its own."""
HINT = (
    "Write it as year < 1850 and genre = gothic, with = != < <= > >= in contains, and or not, and "
    "with quotation marks around several words."
)


def read_condition(text: str) -> tuple[ConditionStep, ...]:
    """Return the steps of a condition.

    Raises:
        BadValue: It breaks the grammar, or is too long.
    """
    try:
        steps: tuple[ConditionStep, ...] = _make_parser().parse(text)  # type: ignore[assignment]
    except UnexpectedInput as error:
        is_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
        at = len(text) if is_end else error.pos_in_stream or 0
        place = f"at {text[at : at + 20]!r}" if text[at:].strip() else "at its end"
        raise BadValue(f"The condition can't be read {place}. {HINT}") from error
    if len(steps) > MAX_STEPS:
        raise BadValue(f"The condition has more than {MAX_STEPS} parts: make it shorter.")
    return steps


@cache
def _make_parser() -> Lark:
    grammar = Path(__file__).with_suffix(".lark").read_text(encoding="utf-8")
    # LALR reads in time that grows with the length alone, and without recursion.
    return Lark(grammar, parser="lalr", start="condition", transformer=_Steps())


def _properties(name: str) -> tuple[str, ...]:
    """Return the properties of a document's node that a field may be, the first one first."""
    known = field_name(name)
    if known == YEAR:
        return f"{PREFIX}{YEAR}", "published"
    return (known,) if known in BUILT_IN else (f"{PREFIX}{known}",)


def _compare(do: str, field: Token, values: Sequence[Token]) -> ConditionStep:
    typed = [read_typed(str(value)) for value in values]
    numbers = tuple(value for value in typed if not isinstance(value, str))
    return ConditionStep(do, _properties(field), tuple(str(v).lower() for v in typed), numbers)


@v_args(inline=True)
class _Steps(Transformer[Token, tuple[ConditionStep, ...]]):
    """Makes steps while the parser reads."""

    def comparison(self, field: Token, operator: Token, value: Token) -> Any:
        if operator in ("!=", "<>"):
            return self.not_among(field, value)
        return (_compare(str(operator), field, [value]),)

    def among(self, field: Token, *values: Token) -> Any:
        return (_compare("=", field, values),)

    def not_among(self, field: Token, *values: Token) -> Any:
        return self.opposite(self.among(field, *values))

    def containing(self, field: Token, value: Token) -> Any:
        return (_compare("contains", field, [value]),)

    def opposite(self, steps: tuple[ConditionStep, ...]) -> Any:
        return (*steps, ConditionStep("not"))

    def joined(self, *parts: tuple[ConditionStep, ...]) -> Any:
        return _join("and", parts)

    def alternative(self, *parts: tuple[ConditionStep, ...]) -> Any:
        return _join("or", parts)


def _join(
    do: Literal["and", "or"], parts: Sequence[tuple[ConditionStep, ...]]
) -> tuple[ConditionStep, ...]:
    steps = parts[0]
    for part in parts[1:]:
        steps = (*steps, *part, ConditionStep(do))
    return steps
