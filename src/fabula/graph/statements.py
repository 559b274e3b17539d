"""How large a statement of Cypher may be that a person or a program sends.

Neo4j plans an expression by recursion. Where its stack overflows, as it does between 100 and 200
levels with the default size (Neo4j 2026.08), the server fails to write its own error and never
answers: whoever waits learns it after two minutes, from the driver. So what is deep is refused
before it is sent. The deepest statement of Fabula's own has 29 levels.
"""

from __future__ import annotations

import re

from fabula.errors import Refused

MAX_CHARACTERS = 10_000
"""Of a statement; the longest of Fabula's own has 2,431."""
MAX_LEVELS = 60
"""Of brackets, CASE and operators that stand within one another."""
UNREAD = re.compile(
    r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`|//[^\n]*|/\*.*?\*/""", re.DOTALL
)
"""What holds no code: texts, quoted names and comments."""
_TOKEN = re.compile(r"[.:$]\s*\w+|[(\[{)\]},;]|[-+*/%^=<>|&!.:]+|(?:STARTS|ENDS)\s+WITH|\w+", re.I)
"""A name with the sign before it, a bracket or comma, operators, words."""
_OPERATORS = frozenset({"AND", "OR", "XOR", "NOT", "IN", "IS", "CONTAINS"})
_CLAUSES = frozenset(
    {"MATCH", "WHERE", "WITH", "RETURN", "UNWIND", "ORDER", "CALL", "UNION", "YIELD", "LIMIT"}
    | {"SKIP", "SET", "CREATE", "DELETE", "MERGE", "OPTIONAL", "USING", "SHOW", "LOAD", "FOREACH"}
    | {"REMOVE", "USE", "WHEN", "THEN", "ELSE"}
)
"""Words after which an expression begins anew."""


def refuse_large(statement: str, max_characters: int | None = MAX_CHARACTERS) -> None:
    """Raise Refused for a statement that is too long, or too deep for Neo4j to plan."""
    if max_characters is not None and len(statement) > max_characters:
        raise Refused(
            f"The query has {len(statement):,} characters; the maximum is {max_characters:,}: "
            "pass long values as parameters"
        )
    levels = count_levels(statement)
    if levels > MAX_LEVELS:
        raise Refused(
            f"The query nests {levels:,} brackets and operators; the maximum is {MAX_LEVELS}: "
            "pass a list as a parameter, or divide the query by WITH"
        )


def count_levels(statement: str) -> int:
    """Return how deep the deepest expression of a statement may be, from its tokens alone.

    A chain of operators, as 1 + 1 + 1, is as deep as it is long. Each bracket or CASE has a chain
    of its own, which begins anew after a comma and after the first word of a clause.
    """
    chains = [0]
    depth = deepest = 0
    for token in _TOKEN.findall(UNREAD.sub(" ", statement)):
        word = token.upper()
        if token in "([{" or word == "CASE":
            chains.append(0)
            depth += 1
        elif token in ")]}" or word == "END":
            if len(chains) > 1:
                depth -= 1 + chains.pop()
        elif token in ",;" or word in _CLAUSES:
            depth -= chains[-1]
            chains[-1] = 0
        elif word in _OPERATORS or not re.fullmatch(r"\w+", token):
            chains[-1] += 1
            depth += 1
        deepest = max(deepest, depth)
    return deepest
