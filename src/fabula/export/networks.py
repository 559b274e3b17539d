"""Who is tied to whom as a file for other programs: GraphML or GEXF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fabula.errors import FabulaError
from fabula.export.files import FORBIDDEN, Written, replaced

FORMATS = ("graphml", "gexf")


def write_network(
    entities: Sequence[Mapping[str, Any]], ties: Sequence[Mapping[str, Any]], file: Path
) -> Written:
    """Writes entities as nodes and ties as undirected edges, as Gephi, Cytoscape, NetworkX read.

    Both are rows of `cypher/entities/`; what they are written as is what `file` ends in, one of
    FORMATS. It is there, or replaced, only once it is whole. Raises FabulaError for another format,
    and where the file can't be written.
    """
    format = file.suffix.lower().removeprefix(".")
    if format not in FORMATS:
        raise FabulaError(
            f"A network is written as {' or '.join(FORMATS)}: end the file in "
            f".{' or .'.join(FORMATS)}, not as {file.name!r} does."
        )
    import networkx

    network = networkx.Graph()
    for entity in entities:
        told = {name: entity[name] for name in ("type", "mentions", "chunks")}
        names = {"label": _text(entity["name"]), "document": _text(entity["title"])}
        network.add_node(entity["id"], **names, names=_text("; ".join(entity["names"])), **told)
    for tie in ties:
        if tie["source"] in network and tie["target"] in network:
            network.add_edge(
                tie["source"], tie["target"], weight=float(tie["chunks"]), strength=tie["strength"]
            )
    lines = networkx.generate_gexf if format == "gexf" else networkx.generate_graphml
    with replaced(file) as stream:
        stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        stream.writelines(f"{line}\n" for line in lines(network))
    return Written(network.number_of_nodes(), network.number_of_edges())


def _text(value: str) -> str:
    return FORBIDDEN.sub("", value)
