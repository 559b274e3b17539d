"""Read the standoff files of brat (https://brat.nlplab.org/standoff.html).

Each line of an `.ann` file says one thing: T a tag of some words, R a relation, E an event, A an
attribute, N what a database knows, # a note, and * what is the same. All but tags are said of
tags. Places count characters of the `.txt` file beside it, which may be left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fabula.errors import LoadError
from fabula.export.annotation_formats import AnnotationFormat, Tell, ignore
from fabula.graph.annotations import TAG, Annotation
from fabula.load.encoding import decode
from fabula.text.anchoring import TextQuote
from fabula.text.document import Document
from fabula.text.nouns import count_noun
from fabula.text.units import CHARACTERS, recognise_unit
from fabula_scholar.exchange.token_files import ToolText

ANN, TXT = ".ann", ".txt"
NOTES = "#"
"""How the ids of notes begin; they may have no more than that."""


@dataclass
class _Tag:
    label: str
    spans: list[tuple[int, int]]
    words: str
    body: str = ""
    group: str = ""
    properties: dict[str, str] = field(default_factory=dict)

    def pieces(self) -> Iterator[TextQuote]:
        """Yield the words of each of its spans, which the file joins by spaces."""
        at = 0
        for start, end in self.spans:
            exact = self.words[at : at + end - start] if len(self.spans) > 1 else self.words
            yield TextQuote(exact, start=start, end=end)
            at += end - start + 1


def read_brat(
    files: Mapping[str, bytes], document: Document, tell: Tell = ignore
) -> Sequence[Annotation]:
    """Read brat's files as annotations of a document.

    A tag of several stretches becomes one for each, in a group. Relations, events and attributes
    become properties of the tag that they begin with.

    Raises:
        LoadError: A line is not as brat writes it, or there is no `.ann` file.
    """
    texts = {name: decode(data, name) for name, data in files.items()}
    found: list[Annotation] = []
    for name, text in texts.items():
        if name.lower().endswith(ANN):
            tags = _read_tags(text, name, tell)
            own = texts.get(f"{name[: -len(ANN)]}{TXT}")
            found += _make_annotations(tags, own, document)
    if not found:
        raise LoadError(f"brat's annotations are lines of a file {ANN} that begin with T.")
    return found


def _read_tag(row: Sequence[str], name: str) -> _Tag:
    try:
        _, described, words = row
        label, places = described.split(" ", 1)
        spans = [tuple(map(int, each.split())) for each in places.split(";")]
        return _Tag(label, [(start, end) for start, end in spans], words)
    except ValueError as error:
        raise LoadError(f"{name} has a line that is none of brat's: {row}.") from error


def _read_tags(text: str, name: str, tell: Tell) -> dict[str, _Tag]:
    """Return the tags of a file by their ids, with what its other lines say of them."""
    rows = [line.split("\t") for line in text.splitlines() if line.strip()]
    tags = {row[0]: _read_tag(row, name) for row in rows if row[0].startswith("T")}
    # An event stands for its trigger, and a relation for its first tag, wherever it is named.
    named = {row[0]: row[1].split() for row in rows if row[0][0] in "ER" and len(row) > 1}
    first = {
        id: names[id[0] == "R"].rpartition(":")[2]
        for id, names in named.items()
        if names[id[0] == "R" :]
    }
    lost = 0
    for row in rows:
        if row[0].startswith("T"):
            continue
        names = row[1].split() if len(row) > 1 else []
        ids = [first.get(id, id) for id in (each.rpartition(":")[2] for each in names)]
        ids = [first.get(id, id) for id in ids]
        targets = [tags[id] for id in ids if id in tags]
        if not targets:
            lost += 1
        elif row[0].startswith(NOTES):
            targets[0].body = "\n\n".join(filter(None, (targets[0].body, *row[2:])))
        elif row[0] == "*":
            for tag in targets:
                tag.group = targets[0].group or f"{names[0]}-{ids[1]}"
        else:
            _describe(row, names, ids, tags)
    if lost:
        tell(f"{name}: {count_noun(lost, 'line')} about no tag left out.")
    return tags


def _describe(
    row: Sequence[str], names: Sequence[str], ids: Sequence[str], tags: Mapping[str, _Tag]
) -> None:
    """Make a relation, an event, an attribute or a reference a property of its first tag."""
    first = 0 if names[0].find(":") > 0 else 1
    properties = tags[ids[first]].properties if ids[first] in tags else {}
    if row[0][0] in "ER":
        for named, id in zip(names[first + 1 :], ids[first + 1 :], strict=True):
            role = named.partition(":")[0] if first == 0 else names[0]
            said = tags[id].words if id in tags else id
            properties[role] = ", ".join(filter(None, (properties.get(role), said)))
    else:
        properties[names[0]] = " ".join((*names[2:], *row[2:])) or "yes"


def _make_annotations(
    tags: Mapping[str, _Tag], own: str | None, document: Document
) -> Iterator[Annotation]:
    pieces = [(id, tag, quote) for id, tag in tags.items() for quote in tag.pieces()]
    tool = None
    if own is not None:
        unit = recognise_unit(own, (quote for _, _, quote in pieces)) or CHARACTERS
        tool = ToolText(own, unit, document)
    for number, (id, tag, quote) in enumerate(pieces):
        several = len(tag.spans) > 1
        is_there = tool and tool.words(quote.start, quote.end) == " ".join(quote.exact.split())
        yield Annotation(
            tool.quote(quote.start, quote.end) if tool and is_there else quote,
            TAG,
            tag.label,
            tag.body,
            id=f"{id}-{number}" if several else id,
            group=tag.group or (id if several else ""),
            properties=tag.properties,
        )


FORMAT = AnnotationFormat("brat", "standoff files of brat", (ANN, TXT), None, read_brat)
