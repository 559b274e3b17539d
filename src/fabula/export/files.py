"""Write a graph as a file for other programs: JSON lines or GraphML; replace files safely."""

from __future__ import annotations

import json
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from fabula.errors import BadValue, FabulaError
from fabula.export.graph_xml import LABEL, WEIGHT, XmlAttribute, XmlEdge, XmlNode, write_graphml
from fabula.export.graph_xml import Written as Written
from fabula.packages import describe_missing

if TYPE_CHECKING:
    from fabula.export.until import ReadSoFar
    from fabula.store.export_reader import ExportedNode, ExportedRelationship, ExportReader

FORMATS = ("jsonl", "graphml")
GRAPHML_TYPES = {"INTEGER": "long", "FLOAT": "double", "BOOLEAN": "boolean"}
"""The types of GraphML by those of Cypher; all others become text."""
NODE_LABEL, EDGE_LABEL, EDGE_WEIGHT = "node.label", "edge.label", "edge.weight"


def write_graph(
    exported: ExportReader | ReadSoFar,
    file: Path,
    format: str,
    *,
    embeddings: bool = False,
) -> Written:
    """Write a graph to a file.

    Args:
        exported: The graph.
        file: What to write; an existing file is replaced only once the new one is complete.
        format: One of FORMATS, or '' for the suffix of the file.
        embeddings: Write the embeddings too, which only JSON lines can contain.

    Raises:
        BadValue: The format is another one.
        FabulaError: The file can't be written, or is a device, a pipe or a link.
        StoreError: The graph changed while it was read.
    """
    format = format or file.suffix.lower().removeprefix(".")
    if format not in FORMATS:
        raise BadValue(
            f"A graph is written as {' or '.join(FORMATS)}, not as {format!r}: name one of them as "
            f"the format, or end the file in .{' or .'.join(FORMATS)}. {describe_missing()}".strip()
        )
    if embeddings and format != "jsonl":
        raise BadValue("Embeddings can only be in JSONL: leave them out.")
    with replace_file(file) as stream:
        if format == "graphml":
            return _write_graphml(exported, stream)
        return _write_json_lines(exported, stream, embeddings)


@contextmanager
def replace_file(file: Path) -> Iterator[IO[str]]:
    """Yield a stream whose content replaces a file at once, and only if nothing goes wrong.

    Raises:
        FabulaError: The file can't be written, or is a device, a pipe or a link.
    """
    temporary = None
    try:
        refuse_special_file(file)
        unique = file.parent / f".fabula.{secrets.token_hex(8)}"
        # A plain open, not tempfile: the system applies the umask to it, which can only be read by
        # changing it for a moment, and for all threads.
        with unique.open("x", encoding="utf-8", newline="\n") as stream:
            temporary = unique
            yield stream
        temporary.replace(file)
    # ValueError: a name with a null character.
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise FabulaError(f"{file} can't be written: {why}. Name another file.") from error
    finally:
        if temporary:
            temporary.unlink(missing_ok=True)


def refuse_special_file(file: Path) -> None:
    """Raise FabulaError for a device, a pipe, a link or a folder.

    Replacing it by a file would take it away from everyone who uses it.
    """
    try:
        mode = file.lstat().st_mode
    except OSError:
        return  # It doesn't exist, or can't be reached: writing it will say so.
    if stat.S_ISREG(mode):
        return
    kind = "a link" if stat.S_ISLNK(mode) else "a folder" if stat.S_ISDIR(mode) else ""
    raise FabulaError(
        f"{file} is {kind or 'a device or a pipe'}, and only an ordinary file is replaced: name "
        "another file."
    )


def _write_json_lines(
    exported: ExportReader | ReadSoFar, stream: IO[str], embeddings: bool
) -> Written:
    """Write a line for each node, then one for each relationship, as apoc.export.json does."""
    nodes = exported.nodes(embeddings=embeddings)
    return Written(
        _write_each(nodes, stream, _json_node),
        _write_each(exported.relationships(), stream, _json_relationship),
    )


def _json_node(node: ExportedNode) -> str:
    properties = dict(node.properties)
    if "embedding" in properties:
        # Nine digits distinguish any two floats of 32 bits.
        properties["embedding"] = [float(f"{number:.9g}") for number in properties["embedding"]]
    return _json_line(
        {"type": "node", "id": node.id, "labels": list(node.labels), "properties": properties}
    )


def _json_relationship(edge: ExportedRelationship) -> str:
    return _json_line(
        {
            "type": "relationship",
            "label": edge.label,
            "start": {"id": edge.start, "labels": list(edge.start_labels)},
            "end": {"id": edge.end, "labels": list(edge.end_labels)},
            "properties": dict(edge.properties),
        }
    )


def _json_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _write_each(items: Iterable[Any], stream: IO[str], to_line: Callable[[Any], str]) -> int:
    count = 0
    for item in items:
        stream.write(to_line(item))
        count += 1
    return count


def _write_graphml(exported: ExportReader | ReadSoFar, stream: IO[str]) -> Written:
    """Write GraphML, without embeddings."""
    types = {name: _graphml_type(cypher_types) for name, cypher_types in exported.types().items()}
    # A property may be called anything, even "label", and the id of an attribute must be a word.
    ids = {name: f"node.{number}" for number, name in enumerate(types)}
    return write_graphml(
        stream,
        [
            XmlAttribute(NODE_LABEL, LABEL),
            *(XmlAttribute(ids[name], name, type) for name, type in types.items()),
        ],
        [XmlAttribute(EDGE_LABEL, LABEL), XmlAttribute(EDGE_WEIGHT, WEIGHT, "double")],
        (_xml_node(node, ids) for node in exported.nodes()),
        (_xml_edge(edge) for edge in exported.relationships()),
        is_directed=True,
    )


def _xml_node(node: ExportedNode, ids: Mapping[str, str]) -> XmlNode:
    values = {ids[name]: value for name, value in node.properties.items() if name in ids}
    return XmlNode(node.id, {NODE_LABEL: _main_label(node)} | values)


def _xml_edge(edge: ExportedRelationship) -> XmlEdge:
    weight = {EDGE_WEIGHT: edge.properties["weight"]} if "weight" in edge.properties else {}
    return XmlEdge(edge.start, edge.end, {EDGE_LABEL: edge.label} | weight)


def _main_label(node: ExportedNode) -> str:
    """Return the label that says what a node is; its other labels are for the indexes."""
    kind = node.properties.get("kind")
    return next((label for label in node.labels if label.lower() == kind), ":".join(node.labels))


def _graphml_type(cypher_types: set[str]) -> str:
    types = {GRAPHML_TYPES.get(type, "string") for type in cypher_types}
    if types == {"long", "double"}:
        return "double"
    return types.pop() if len(types) == 1 else "string"
