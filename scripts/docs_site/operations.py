"""The page of all operations: what each is called on each interface, and its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_origin

from docs_site.text import cell, code, escape, join_page, table
from fabula.operations.kit import Operation, Parameter, find_operations
from fabula.operations.parameters import MAX_ROWS

INTRODUCTION = f"""\
# Operations

What Fabula can do with a collection, and with its service, is declared once, as a function, and has
the same parameters at the command line, over HTTP (below `/api/v1`), for assistants, on the page
and in Python. A result with rows says how many there are in all, or where the list goes on; `limit`
is at most {MAX_ROWS:,}, and an assistant gets as many rows as fit into its answer. An unknown
parameter is refused.
"""


def make_pages() -> dict[str, str]:
    """Return the page."""
    operations = find_operations()
    rows = [_row(operation) for operation in operations]
    heading = ("operation", "command", "HTTP", "MCP", "page", "Python")
    sections = [_section(operation) for operation in operations]
    return {"reference/operations.md": join_page(INTRODUCTION, table(heading, rows), *sections)}


def _row(operation: Operation) -> tuple[str, ...]:
    has_screen = operation.has_screen and operation.has_collection
    return (
        f"[{operation.name}](#{operation.name})",
        code(f"fabula {operation.command}") if operation.has_command else "",
        code(f"{operation.method} {operation.path}"),
        code(operation.function.__name__) if operation.has_tool else "",
        operation.group if has_screen else "",
        code(f"{operation.function.__module__}.{operation.function.__name__}"),
    )


def _section(operation: Operation) -> str:
    parameters = [
        (
            code(each.name),
            _type(each),
            "" if each.is_required else code(repr(each.default)),
            _about(each),
        )
        for each in operation.offered
    ]
    examples = "\n".join(f"fabula {example}" for example in operation.examples)
    return join_page(
        f"## {operation.name}",
        escape(operation.description),
        f"Role: {operation.role}.{' Open to visitors.' if operation.is_public else ''}"
        f"{' The service does it by a job.' if operation.is_work else ''}",
        table(("parameter", "type", "default", "meaning"), parameters),
        f"```\n{examples}\n```" if examples else "",
    )


def _type(parameter: Parameter) -> str:
    if parameter.choices:
        return ", ".join(map(code, parameter.choices))
    if get_origin(parameter.type) is Mapping:
        return "values by name"
    bounds = parameter.bounds
    if parameter.type is int:
        return f"{bounds['ge']:,} to {bounds['le']:,}"
    if parameter.is_list:
        return "list of texts"
    words = {str: "text", bool: "yes or no", float: "number"}
    return words.get(parameter.type, "value")


def _about(parameter: Parameter) -> str:
    return cell(parameter.field.description or "")
