"""A graph as a file for other programs: JSON lines, or GraphML."""

from __future__ import annotations

import json
import re
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from fabula.errors import FabulaError

if TYPE_CHECKING:
    from fabula.store.exported import Exported, Node, Relationship

FORMATS = ("jsonl", "graphml")
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 can't hold in any way."""
GRAPHML_TYPES = {"INTEGER": "long", "FLOAT": "double", "BOOLEAN": "boolean"}
"""Of Cypher's types; all others are text."""
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""What a text begins with that a spreadsheet takes for a formula."""
NODE_LABEL, EDGE_LABEL, EDGE_WEIGHT = "node.label", "edge.label", "edge.weight"


@dataclass(frozen=True, slots=True)
class Written:
    """How many nodes and relationships a file has."""

    nodes: int
    relationships: int


def write(exported: Exported, file: Path, format: str, *, embeddings: bool = False) -> Written:
    """Writes a graph to `file`, which is there, or replaced, only once it is whole.

    `format` is one of FORMATS, '' for what the file's name ends in; embeddings can only be in JSON
    lines. Raises FabulaError for another format, where the file can't be written, or where a
    device, a pipe or a link is in its place, and StoreError where the graph changes meanwhile.
    """
    format = format or file.suffix.lower().removeprefix(".")
    if format not in FORMATS:
        raise FabulaError(
            f"A graph is written as {' or '.join(FORMATS)}, not as {format!r}: name one of them as "
            f"the format, or end the file in .{' or .'.join(FORMATS)}."
        )
    if embeddings and format != "jsonl":
        raise FabulaError("Embeddings can only be in JSONL: leave them out.")
    with replaced(file) as stream:
        if format == "graphml":
            return _graphml(exported, stream)
        return _json_lines(exported, stream, embeddings)


def csv_text(value: str) -> str:
    """A text as CSV holds it; what a spreadsheet would take for a formula is made text."""
    return f"'{value}" if value.startswith(FORMULAS) else value


@contextmanager
def replaced(file: Path) -> Iterator[IO[str]]:
    """What is written takes the place of `file` at once, and only where all went well.

    Raises FabulaError where that can't be, or where a device, a pipe or a link is in its place.
    """
    part = None
    try:
        refuse_what_is_no_file(file)
        unique = file.parent / f".fabula.{secrets.token_hex(8)}"
        # The system takes the umask off the mode: to read it here, it would have to be changed for
        # a moment, and for all threads.
        with unique.open("x", encoding="utf-8", newline="\n") as stream:
            part = unique
            yield stream
        part.replace(file)
    # Names can hold what no file system takes, as a null character.
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise FabulaError(f"{file} can't be written: {why}. Name another file.") from error
    finally:
        if part:
            part.unlink(missing_ok=True)


def refuse_what_is_no_file(file: Path) -> None:
    """To replace a device, a pipe or a link would take it from all who use it."""
    try:
        mode = file.lstat().st_mode
    except OSError:
        return  # It isn't there, or can't be reached: writing tells.
    if stat.S_ISREG(mode):
        return
    kind = "a link" if stat.S_ISLNK(mode) else "a folder" if stat.S_ISDIR(mode) else ""
    raise FabulaError(
        f"{file} is {kind or 'a device or a pipe'}, and only an ordinary file is replaced: name "
        "another file."
    )


def _json_lines(exported: Exported, stream: IO[str], embeddings: bool) -> Written:
    """A line a node and then a line a relationship, shaped as Neo4j's apoc.export.json does."""
    nodes = exported.nodes(embeddings=embeddings)
    return Written(
        _each(nodes, stream, _json_node), _each(exported.relationships(), stream, _json_edge)
    )


def _json_node(node: Node) -> str:
    properties = dict(node.properties)
    if "embedding" in properties:
        # Nine digits tell any two floats of 32 bits apart.
        properties["embedding"] = [float(f"{one:.9g}") for one in properties["embedding"]]
    return _json(
        {"type": "node", "id": node.id, "labels": list(node.labels), "properties": properties}
    )


def _json_edge(edge: Relationship) -> str:
    return _json(
        {
            "type": "relationship",
            "label": edge.label,
            "start": {"id": edge.start, "labels": list(edge.start_labels)},
            "end": {"id": edge.end, "labels": list(edge.end_labels)},
            "properties": dict(edge.properties),
        }
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _graphml(exported: Exported, stream: IO[str]) -> Written:
    """GraphML 1.0 with typed keys, as Gephi, yEd and NetworkX read it; no embeddings."""
    types = {name: _graphml_type(found) for name, found in exported.types().items()}
    # A property may be called anything, and a key's id is a word.
    keys = {name: f"node.{number}" for number, name in enumerate(types)}
    stream.write(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        f'<key id="{NODE_LABEL}" for="node" attr.name="label" attr.type="string"/>\n'
        f'<key id="{EDGE_LABEL}" for="edge" attr.name="label" attr.type="string"/>\n'
        f'<key id="{EDGE_WEIGHT}" for="edge" attr.name="weight" attr.type="double"/>\n'
    )
    for name, type in types.items():
        named = f'attr.name={_attribute(name)} attr.type="{type}"'
        stream.write(f'<key id="{keys[name]}" for="node" {named}/>\n')
    stream.write('<graph id="fabula" edgedefault="directed">\n')
    written = Written(
        _each(exported.nodes(), stream, lambda node: _graphml_node(node, keys)),
        _each(exported.relationships(), stream, _graphml_edge),
    )
    stream.write("</graph>\n</graphml>\n")
    return written


def _graphml_node(node: Node, keys: Mapping[str, str]) -> str:
    values = {keys[name]: value for name, value in node.properties.items() if name in keys}
    data = _data({NODE_LABEL: _own_label(node)} | values)
    return f"<node id={_attribute(node.id)}>{data}</node>\n"


def _own_label(node: Node) -> str:
    """The label that says what a node is; the others say how it is found."""
    kind = node.properties.get("kind")
    return next((label for label in node.labels if label.lower() == kind), ":".join(node.labels))


def _graphml_edge(edge: Relationship) -> str:
    weight = {EDGE_WEIGHT: edge.properties["weight"]} if "weight" in edge.properties else {}
    data = _data({EDGE_LABEL: edge.label} | weight)
    return f"<edge source={_attribute(edge.start)} target={_attribute(edge.end)}>{data}</edge>\n"


def _graphml_type(types: set[str]) -> str:
    named = {GRAPHML_TYPES.get(type, "string") for type in types}
    if named == {"long", "double"}:
        return "double"
    return named.pop() if len(named) == 1 else "string"


def _data(values: Mapping[str, Any]) -> str:
    return "".join(f'<data key="{key}">{_text(value)}</data>' for key, value in values.items())


def _text(value: Any) -> str:
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # A bare carriage return would be read as a line feed.
    return escape(FORBIDDEN.sub("", said), {"\r": "&#13;"})


def _attribute(value: str) -> str:
    return quoteattr(FORBIDDEN.sub("", value))


def _each(items: Iterator[Any], stream: IO[str], said: Callable[[Any], str]) -> int:
    count = 0
    for item in items:
        stream.write(said(item))
        count += 1
    return count
