"""Write characters and their network as the API of DraCor does (github.com/dracor-org/dracor-api).

`/characters` as JSON and CSV, and `/networkdata` as CSV, GEXF and GraphML: who speaks in one
segment is linked, and the weight is the number of such segments. The segments are the sections of
the text, which a novel has in the place of scenes. Sex is not known here, so it is UNKNOWN.
"""

from __future__ import annotations

import csv
import io
import json
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from fabula.errors import NotFound
from fabula.export.annotated_text import AnnotatedText
from fabula.export.annotation_formats import AnnotationFormat
from fabula.export.files import escape_formula
from fabula.export.graph_xml import (
    LABEL,
    WEIGHT,
    XmlAttribute,
    XmlEdge,
    XmlNode,
    write_gexf,
    write_graphml,
)
from fabula.graph.annotations import QUOTATION

NODE_ATTRIBUTES = (
    XmlAttribute(LABEL, LABEL),
    XmlAttribute("gender", "Gender"),
    XmlAttribute("person-group", "Person group", "boolean"),
    XmlAttribute("number-of-words", "Number of spoken words", "long"),
)
EDGE_ATTRIBUTES = (XmlAttribute(WEIGHT, WEIGHT, "double"),)
COLUMNS = ("id", "name", "sex", "isGroup", "numOfScenes", "numOfSpeechActs", "numOfWords")


def write_dracor(text: AnnotatedText, what: Sequence[str]) -> Mapping[str, str]:
    """Return the characters as JSON and CSV, and the network as CSV, GEXF and GraphML.

    Raises:
        NotFound: Nobody speaks.

    """
    starts = [section.start for section in text.document.sections]
    speeches: dict[str, list[tuple[int, int]]] = defaultdict(list)
    names = text.names()
    for annotation in text.annotations(what):
        if annotation.kind == QUOTATION and annotation.group and annotation.start >= 0:
            speeches[annotation.group].append((annotation.start, annotation.end))
            names.setdefault(annotation.group, annotation.label or annotation.group)
    if not speeches:
        raise NotFound(
            f"Nobody is known to speak in {text.document.title}: `fabula build speech` finds out."
        )
    scenes = {
        id: {bisect_right(starts, start) for start, _ in spans} for id, spans in speeches.items()
    }
    weights = Counter(
        pair
        for pair in combinations(sorted(speeches), 2)
        for _ in scenes[pair[0]] & scenes[pair[1]]
    )
    degrees: Counter[str] = Counter()
    weighted: Counter[str] = Counter()
    for (first, second), weight in weights.items():
        degrees.update((first, second))
        weighted.update({first: weight, second: weight})
    characters = [
        {
            "id": id,
            "name": names[id],
            "sex": "UNKNOWN",
            "isGroup": False,
            "numOfScenes": len(scenes[id]),
            "numOfSpeechActs": len(spans),
            "numOfWords": sum(len(text.document.text[s:e].split()) for s, e in spans),
            "degree": degrees[id],
            "weightedDegree": weighted[id],
        }
        for id, spans in speeches.items()
    ]
    characters.sort(key=lambda row: (-int(str(row["numOfWords"])), str(row["id"])))
    network = [(first, "Undirected", second, n) for (first, second), n in sorted(weights.items())]
    return {
        ".characters.json": json.dumps(characters, ensure_ascii=False, indent=1) + "\n",
        ".characters.csv": _csv(COLUMNS, [[row[name] for name in COLUMNS] for row in characters]),
        ".networkdata.csv": _csv(("Source", "Type", "Target", "Weight"), network),
        **_network_xml(characters, weights),
    }


def _network_xml(
    characters: Sequence[Mapping[str, Any]], weights: Mapping[tuple[str, str], int]
) -> Mapping[str, str]:
    """Return the network as GEXF and GraphML, with the attributes of DraCor's nodes."""
    nodes = [
        XmlNode(
            str(row["id"]),
            {
                LABEL: row["name"],
                "gender": row["sex"],
                "person-group": row["isGroup"],
                "number-of-words": row["numOfWords"],
            },
        )
        for row in characters
    ]
    edges = [
        XmlEdge(first, second, {WEIGHT: weight})
        for (first, second), weight in sorted(weights.items())
    ]
    gexf, graphml = io.StringIO(), io.StringIO()
    write_gexf(gexf, NODE_ATTRIBUTES, EDGE_ATTRIBUTES, nodes, edges)
    write_graphml(graphml, NODE_ATTRIBUTES, EDGE_ATTRIBUTES, nodes, edges, is_directed=False)
    return {".networkdata.gexf": gexf.getvalue(), ".networkdata.graphml": graphml.getvalue()}


def _csv(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        cells = ("true" if cell is True else "false" if cell is False else cell for cell in row)
        writer.writerow([escape_formula(c) if isinstance(c, str) else c for c in cells])
    return stream.getvalue()


FORMAT = AnnotationFormat(
    "dracor",
    "/characters and /networkdata as DraCor has them",
    (
        *(".characters.json", ".characters.csv"),
        *(".networkdata.csv", ".networkdata.gexf", ".networkdata.graphml"),
    ),
    write_dracor,
)
