"""The pages of the service's HTTP routes and of its MCP tools, from what the service declares."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any, cast

from fastapi import FastAPI

from docs_site.text import cell, code, escape, join_page, table
from fabula.config.serving import Serving
from fabula.service import api, openai
from fabula.service.application import BASE
from fabula.service.mcp import INSTRUCTIONS, make_mcp
from fabula.service.state import ServiceState

HTTP = """\
# HTTP routes

What `fabula serve` answers, by subject. [The HTTP API, with examples](../api.md) explains the
conventions: keys, errors, pages of lists, ETags. The service has the same list with every field as
`/openapi.json` (OpenAPI 3.1). The routes of the table are below `/api/v1`, except those of
OpenAI's interface (`/v1`).
"""
MCP = """\
# MCP tools

What an assistant can do by the Model Context Protocol, over HTTP at `/mcp` or with `fabula mcp`.
[Assistants and chat clients](../assistants.md) explains how to connect one.
"""
SUBJECTS = {
    "openai": "OpenAI's interface",
    "asking": "Questions",
    "choices": "Modes, aspects, settings",
}
METHODS = ("get", "post", "put", "patch", "delete")


def make_pages() -> dict[str, str]:
    """Return both pages."""
    return {"reference/http.md": _http(), "reference/mcp.md": _mcp()}


def _http() -> str:
    service = FastAPI(title="Fabula", version=version("fabula"))
    for router in api.list_routers():
        service.include_router(router, prefix=BASE)
    service.include_router(openai.router)
    document = service.openapi()
    subjects: dict[str, list[str]] = {}
    rows: list[tuple[str, ...]] = []
    for path, methods in document["paths"].items():
        for method in METHODS:
            if route := methods.get(method):
                [subject, *_] = route.get("tags") or ["other"]
                subjects.setdefault(subject, []).append(_route(method, path, route, document))
                name = f"{method.upper()} {path.removeprefix(BASE)}"
                rows.append((code(name), cell(route["summary"])))
    sections = [
        join_page(f"## {SUBJECTS.get(subject, subject.capitalize())}", *routes)
        for subject, routes in subjects.items()
    ]
    return join_page(HTTP, table(("route", "what it does"), rows), *sections, _bodies(document))


def _route(method: str, path: str, route: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    parameters = [
        (
            code(one["name"]),
            one["in"],
            _type(one.get("schema", {})),
            cell(one.get("description") or one.get("schema", {}).get("description") or ""),
        )
        for one in route.get("parameters", ())
        if one["in"] != "header" and one["in"] != "cookie"
    ]
    body = ""
    if "requestBody" in route:
        kinds = route["requestBody"]["content"]
        body = "; ".join(
            f"{code(kind)} {_type(of.get('schema', {}))}" for kind, of in kinds.items()
        )
    replies = [
        (status, cell(reply.get("description", "")), _reply(reply))
        for status, reply in route["responses"].items()
    ]
    return join_page(
        f"### {route['summary']}",
        f"`{method.upper()} {path}`",
        escape(route.get("description", "")),
        table(("parameter", "in", "type", "meaning"), parameters),
        f"Body: {body}" if body else "",
        table(("status", "meaning", "content"), replies),
    )


def _reply(reply: Mapping[str, Any]) -> str:
    kinds = reply.get("content", {})
    return "; ".join(filter(None, (_type(of.get("schema", {})) for of in kinds.values())))


def _bodies(document: Mapping[str, Any]) -> str:
    """Return the fields of every body that a route takes or returns."""
    parts = ["## Bodies"]
    for name, schema in sorted(document["components"]["schemas"].items()):
        parts.append(f"### {_name(name)} {{ #{_anchor(name)} }}")
        parts.append(escape(schema.get("description", "")))
        required = schema.get("required", ())
        rows = [
            (
                code(field),
                _type(of),
                "yes" if field in required else code(_default(of)),
                cell(of.get("description", "")),
            )
            for field, of in schema.get("properties", {}).items()
        ]
        parts.append(table(("field", "type", "required, or default", "meaning"), rows))
        if values := schema.get("enum"):
            parts.append("One of " + ", ".join(code(value) for value in values) + ".")
    return join_page(*parts)


def _default(schema: Mapping[str, Any]) -> str:
    value = schema.get("default")
    return "" if value is None or value == "" else str(value)


def _name(name: str) -> str:
    return name.split("__")[-1].removesuffix("-Input").removesuffix("-Output")


def _anchor(name: str) -> str:
    return "body-" + name.lower().replace("_", "-")


def _type(schema: Mapping[str, Any]) -> str:
    """Return the type of a JSON schema in words, with a link where it is a body of its own."""
    return " or ".join(dict.fromkeys(_types(schema)))


def _types(schema: Mapping[str, Any]) -> Iterator[str]:
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        yield f"[{_name(name)}](#{_anchor(name)})"
    elif several := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        for one in several:
            yield from _types(one)
    elif "const" in schema:
        yield code(repr(schema["const"]))
    elif values := schema.get("enum"):
        yield from (code(repr(value)) for value in values)
    elif schema.get("type") == "array":
        yield f"list of {_type(schema.get('items', {})) or 'values'}"
    elif schema.get("type"):
        names = {"object": "object", "null": "null", "string": "text"}
        kind = schema["type"]
        yield names.get(kind, kind) if isinstance(kind, str) else " or ".join(kind)


def _mcp() -> str:
    # Its tools, also those that the operator has to allow, are declared without a service.
    state = SimpleNamespace(serving=Serving(cypher_tool=True))
    server = make_mcp(cast(ServiceState, state))
    tools = asyncio.run(server.list_tools())
    templates = asyncio.run(server.list_resource_templates())
    prompts = asyncio.run(server.list_prompts())
    parts = [MCP, "What an assistant is told about them:", f"> {escape(INSTRUCTIONS)}", "## Tools"]
    for tool in tools:
        schema = tool.input_schema
        required = schema.get("required", ())
        definitions = schema.get("$defs", {})
        rows = [
            (
                code(name),
                _plain_type(of, definitions),
                "yes" if name in required else code(_default(of)),
                cell(of.get("description", "")),
            )
            for name, of in schema.get("properties", {}).items()
        ]
        writes = tool.annotations is not None and not tool.annotations.read_only_hint
        parts += [
            f"### {tool.name}",
            escape(tool.description or "") + (" It writes." if writes else ""),
            table(("argument", "type", "required, or default", "meaning"), rows),
        ]
    parts.append("## Resources")
    rows_of_resources = [(code(one.uri_template), cell(one.description or "")) for one in templates]
    parts.append(table(("address", "what it is"), rows_of_resources))
    parts.append("## Prompts")
    rows_of_prompts = [
        (
            code(one.name),
            ", ".join(code(argument.name) for argument in one.arguments or ()),
            cell(one.description or ""),
        )
        for one in prompts
    ]
    parts.append(table(("prompt", "arguments", "what it asks for"), rows_of_prompts))
    return join_page(*parts)


def _plain_type(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    if reference := schema.get("$ref"):
        return _plain_type(definitions.get(reference.rpartition("/")[2], {}), definitions)
    return _type(schema)
