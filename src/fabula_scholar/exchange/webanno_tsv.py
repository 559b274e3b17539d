"""Read WebAnno TSV 3, which WebAnno and INCEpTION export.

The format is described in INCEpTION's user guide (appendix WebAnno TSV 3.3). A row is a token with
its place in UTF-16 units and the values of each layer; an annotation of several tokens has a number
in brackets, which its rows share, and what is stacked is divided by `|`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fabula.errors import LoadError
from fabula.export.annotation_formats import AnnotationFormat, Tell, ignore
from fabula.graph.annotations import TAG, Annotation
from fabula.load.encoding import decode
from fabula.text.document import Document
from fabula.text.nouns import count_noun
from fabula.text.units import UTF16, UnitPlaces
from fabula_scholar.exchange.token_files import ToolText

SPAN, CHAIN, RELATION = "T_SP", "T_CH", "T_RL"
SLOT = "ROLE_"
"""How the name of a feature begins that points to others, as the next feature says."""
MAX_GAP = 10_000
"""Units between two tokens."""
_LAYER = re.compile(rf"#({SPAN}|{CHAIN}|{RELATION})=(.*)")
_ROW = re.compile(r"\d+-\d+(\.\d+)?\t(\d{1,9})-(\d{1,9})\t")
_NUMBERED = re.compile(r"(.*)\[(\d+)\]", re.DOTALL)
_LINK = re.compile(r"->(\d+)-\d+")
_ESCAPED = re.compile(r"\\(.)")
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}
"""What a letter behind a backslash stands for, as in Java's strings; others are themselves."""
_DIVIDED = re.compile(r"(?<!\\)\|")
NONE, NO_VALUE = "_", "*"


@dataclass(frozen=True, slots=True)
class _Layer:
    kind: str
    name: str
    features: tuple[str, ...]


@dataclass
class _Span:
    start: int
    end: int
    layer: str
    values: dict[str, str] = field(default_factory=dict)
    group: str = ""


def read_webanno_tsv(
    files: Mapping[str, bytes], document: Document, tell: Tell = ignore
) -> Sequence[Annotation]:
    """Read files of WebAnno TSV 3 as annotations of a document; chains become groups.

    Raises:
        LoadError: A file is not in this format.
    """
    annotations: list[Annotation] = []
    for name, data in files.items():
        lines = decode(data, name).split("\n")
        if not lines[0].startswith("#FORMAT=WebAnno TSV 3"):
            raise LoadError(
                f"{name} is not in the format WebAnno TSV 3: its first line is {lines[0][:60]!r}."
            )
        layers = [_read_layer(*match.groups()) for match in map(_LAYER.match, lines) if match]
        rows = [line.rstrip("\r").split("\t") for line in lines if _ROW.match(line)]
        own, first = _join_tokens(rows, name)
        spans = _read_spans(rows, layers, name, tell)
        tool = ToolText(own, UTF16, document)
        for number, span in enumerate(spans):
            label = next(iter(filter(None, span.values.values())), span.layer)
            annotations.append(
                Annotation(
                    tool.quote(span.start - first, span.end - first),
                    TAG,
                    label,
                    id=f"{name}-{number}",
                    group=span.group,
                    properties={"layer": span.layer, **span.values},
                )
            )
    return annotations


def _read_layer(kind: str, described: str) -> _Layer:
    name, *features = described.strip().split("|")
    # A layer without features has one column, which says where it is.
    return _Layer(kind, name.rpartition(".")[2], tuple(features or ("",)))


def _join_tokens(rows: Sequence[Sequence[str]], name: str) -> tuple[str, int]:
    """Return the text of the tokens, as far apart as the file says, and the place of the first."""
    pieces: list[str] = []
    at = first = -1
    for row in rows:
        if "." in row[0]:
            continue  # a part of a token
        start = int(row[1].partition("-")[0])
        if at < 0:
            at = first = start
        if not 0 <= start - at <= MAX_GAP:
            raise LoadError(f"{name} has tokens that do not follow each other: {row[0]}.")
        token = _unescape(row[2])
        pieces += (" " * (start - at), token)
        at = start + UnitPlaces(token, UTF16).to_units(len(token))
    return "".join(pieces), max(0, first)


def _read_spans(
    rows: Sequence[Sequence[str]], layers: Sequence[_Layer], name: str, tell: Tell
) -> list[_Span]:
    spans: list[_Span] = []
    numbered: dict[tuple[str, str], _Span] = {}
    relations = 0
    for row in rows:
        start, end = map(int, row[1].split("-"))
        column = 3
        for layer in layers:
            cells = [_DIVIDED.split(cell) for cell in row[column : column + len(layer.features)]]
            column += len(layer.features)
            if not cells or cells[0] == [NONE]:
                continue
            if layer.kind == RELATION:
                relations += len(cells[0])
                continue
            for number, value in enumerate(cells[0]):
                match = _NUMBERED.fullmatch(value)
                key = layer.name, match[2] if match else f"{row[0]} {number}"
                if key not in numbered:
                    numbered[key] = _Span(start, end, layer.name)
                    spans.append(numbered[key])
                span = numbered[key]
                span.start, span.end = min(span.start, start), max(span.end, end)
                stacked = [cell[number] for cell in cells if number < len(cell)]
                relations += _read_values(span, layer, stacked)
    if relations:
        tell(f"{name}: {count_noun(relations, 'relation')} between annotations left out.")
    return [span for span in spans if span.end > span.start]


def _read_values(span: _Span, layer: _Layer, cells: Sequence[str]) -> int:
    """Read the values of an annotation; return how many of them point to other annotations."""
    pointers = 0
    for number, (feature, cell) in enumerate(zip(layer.features, cells, strict=False)):
        if any(each.startswith(SLOT) for each in layer.features[max(0, number - 1) : number + 1]):
            pointers += feature.startswith(SLOT) and cell not in (NO_VALUE, NONE)
            continue
        value = match[1] if (match := _NUMBERED.fullmatch(cell)) else cell
        if layer.kind == CHAIN and (link := _LINK.search(value)):
            span.group = f"chain-{link[1]}"
            value = value[: link.start()]
        if feature and value not in (NO_VALUE, NONE, ""):
            span.values[feature] = _unescape(value)
    return pointers


def _unescape(value: str) -> str:
    return _ESCAPED.sub(lambda match: _CONTROLS.get(match[1], match[1]), value)


FORMAT = AnnotationFormat(
    "webanno-tsv",
    "WebAnno TSV 3, which WebAnno and INCEpTION export",
    (".tsv",),
    None,
    read_webanno_tsv,
)
