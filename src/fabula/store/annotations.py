"""Read and write the layers of annotations that are kept beside a document's graphs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from fabula.errors import BadValue, NotFound, did_you_mean
from fabula.graph.annotations import MAX_LAYER_CHARACTERS, Annotation, AnnotationLayer, LayerRecord
from fabula.graph.queries import read_statement
from fabula.store.parts import lock_collection, refuse_long_line
from fabula.text.ids import digest
from fabula.text.names import quote_name

if TYPE_CHECKING:
    import neo4j

    from fabula.store import Store

SLICE = 500
"""Annotations of one node: some 100 kB, which a reader of few layers reads in few steps."""
SLICES_OF_STATEMENT = 20
"""Slices that one statement writes."""
MAX_ANNOTATIONS = 1_000_000
"""Of one layer: it is read and written as a whole."""
Edit = Callable[[AnnotationLayer | None], AnnotationLayer | None]
"""Makes of a layer, None if there is none of the name, what is to be kept; None to remove it."""


def read_records(store: Store, collection: str, document: str = "") -> list[LayerRecord]:
    """Return the layers of a document, or of all of a collection, without their annotations."""
    rows = store.rows("core/find_layers", collection=collection, document=document)
    return [LayerRecord(**row["layer"]) for row in rows]


def read_digests(store: Store, collection: str, document: str) -> dict[str, str]:
    """Return the digests of a document's layers by name: a graph of them is made from these."""
    return {record.name: record.digest for record in read_records(store, collection, document)}


def read_layers(
    store: Store, collection: str, document: str, name: str = ""
) -> list[AnnotationLayer]:
    """Return the layers of a document, by name, with their annotations.

    Args:
        store: The graph.
        collection: The collection.
        document: The id of the document.
        name: Only this layer; '' for all.

    Raises:
        NotFound: There is no layer of this name.
    """
    place = {"collection": collection, "document": document}
    with store.session() as session:
        layers: list[AnnotationLayer] = session.execute_read(
            lambda transaction: list(_read(transaction, place, name))
        )
    if name and not layers:
        names = [record.name for record in read_records(store, collection, document)]
        there = f"There are: {', '.join(names)}." if names else "It has none."
        raise NotFound(
            f"The document has no annotations named {quote_name(name)}. "
            f"{did_you_mean(name, names, there)}"
        )
    return layers


def edit_layer(
    store: Store, collection: str, document: str, name: str, edit: Edit
) -> AnnotationLayer | None:
    """Replace a layer by what `edit` makes of it, in one transaction; return what is kept.

    No other process writes to the collection meanwhile, so nothing that two people add is lost.

    Raises:
        BadValue: The name is too long, or there are too many annotations.
        NotFound: The document was removed.
    """
    refuse_long_line(name)
    if not name.strip() or len(name) > MAX_LAYER_CHARACTERS:
        raise BadValue(f"The name of a layer has 1 to {MAX_LAYER_CHARACTERS} characters.")
    store.make_schema()
    place = {"collection": collection, "document": document}

    def save(transaction: neo4j.ManagedTransaction) -> AnnotationLayer | None:
        lock_collection(transaction, collection)
        previous = next(_read(transaction, place, name), None)
        layer = edit(previous)
        if layer == previous:
            return previous
        transaction.run(read_statement("core/clear_annotations"), place, layer=name).consume()
        if layer is not None:
            _write(transaction, place, layer)
        return layer

    with store.session() as session:
        kept: AnnotationLayer | None = session.execute_write(save)
    return kept


def _read(
    transaction: neo4j.ManagedTransaction, place: dict[str, str], name: str
) -> Iterator[AnnotationLayer]:
    rows = transaction.run(read_statement("core/find_layers"), place).data()
    records = {row["layer"]["name"]: LayerRecord(**row["layer"]) for row in rows}
    contents: dict[str, list[Annotation]] = {}
    for row in transaction.run(read_statement("core/find_annotations"), place, layer=name):
        contents.setdefault(row["layer"], []).extend(
            Annotation.from_json(values) for values in json.loads(row["content"])
        )
    for layer, content in contents.items():
        yield AnnotationLayer(records[layer], tuple(content))


def _write(
    transaction: neo4j.ManagedTransaction, place: dict[str, str], layer: AnnotationLayer
) -> None:
    if len(layer.annotations) > MAX_ANNOTATIONS:
        raise BadValue(
            f"A layer has {MAX_ANNOTATIONS:,} annotations at most, not {len(layer.annotations):,}."
        )
    record = asdict(replace(layer.record, document=place["document"]))
    common = {name: record[name] for name in ("source", "format", "by", "text", "count", "digest")}
    # Collections may have documents of one id: the name of the collection is in the hash.
    unique = digest(10, "annotations", place["collection"], layer.name)
    slices: Sequence[dict[str, Any]] = [
        {
            "id": f"{place['document']}/{unique}/{number}",
            "properties": {
                **common,
                "layer": layer.name,
                "name": layer.name,
                "number": number,
                "content": json.dumps(
                    [a.to_json() for a in layer.annotations[first : first + SLICE]],
                    ensure_ascii=False,
                ),
            },
        }
        # A layer without annotations has a slice, too, which names it.
        for number, first in enumerate(range(0, max(1, len(layer.annotations)), SLICE))
    ]
    for first in range(0, len(slices), SLICES_OF_STATEMENT):
        batch = slices[first : first + SLICES_OF_STATEMENT]
        [row] = transaction.run(read_statement("core/save_annotations"), place, slices=batch).data()
        if row["slices"] != len(batch):
            raise NotFound("The document was removed meanwhile.")
