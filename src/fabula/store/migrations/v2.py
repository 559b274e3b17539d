"""To version 2: a space for each collection, a part for each graph, one label for all passages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from statistics import fmean
from typing import Any

from fabula.graph import TEXT, Owner, Record, fingerprint
from fabula.graph.queries import label, query
from fabula.models.usage import Usage
from fabula.store import schema
from fabula.store.database import Database
from fabula.store.migration import Step
from fabula.store.parts import BATCH, NAME, caption
from fabula.store.rows import part_id, part_properties

ASPECTS = "aspects"
PROMPTS = "fc65b901"
"""The digest of the prompts that wrote graphs of version 1; they have changed since."""
PAGE = 100
CHARACTERS = 4 * NAME
"""Of a text that its name is taken from."""
KNOBS = (
    "cluster_size",
    "cluster_tokens",
    "cluster_count",
    "cluster_reduction",
    "cluster_dimensions",
    "membership",
    "variance_floor",
    "detection_rounds",
    "summary_tokens",
    "levels",
    "details",
    "detail_tokens",
    "seed",
)
CHAT_KNOBS = ("details_per_call", "aspects_with_summaries")
"""Settings that were recorded only where a chat model wrote."""
KNOWN = ("plot", "character", "setting", "point of view", "style", "theme", "irony and symbol")
"""The aspects of the set that came with version 1, in its order."""
CAPTION = 60
"""Characters of a summary that its name has."""
INDEXES = ("chunk_document", "summary_document", "detail_document")
CONSTRAINTS = ("chunk_id", "summary_id", "detail_id", "embedding_space_id")

Row = dict[str, Any]


def _drop_searched(store: Database) -> None:
    """These are made anew over other labels: until then nothing is to be written into them."""
    for name in ("passage_vectors", "passage_vectors_next", schema.TEXTS):
        store.rows("migrate/2_schema_drop_index", index=name)


def _settle_embeddings(store: Database) -> None:
    """Ends a re-embedding: what was being moved is moved, what was not all written is cleared."""
    for space in store.rows("migrate/2_find_space"):
        with store.session() as session:
            if space["phase"] == "moving":
                session.run(query("migrate/2_save_moved_embeddings")).consume()
            session.run(query("migrate/2_clear_next_embeddings")).consume()
    store.rows("migrate/2_clear_phase")


def _save_collections(store: Database) -> None:
    schema.ensure(store, "core/schema_collection_name")
    store.rows("migrate/2_save_collections")


def _migrate_documents(store: Database) -> None:
    """A document's passages come first, then it itself with its parts, at once."""
    schema.ensure(store, "core/schema_part_id")
    for space in store.rows("migrate/2_find_space"):
        after = ""
        while page := store.rows("migrate/2_find_documents", after=after, limit=PAGE):
            for row in page:
                _migrate_document(store, row["document"], space["dimensions"])
            after = page[-1]["document"]["id"]


def _migrate_document(store: Database, document: Row, dimensions: int) -> None:
    passages = store.rows("migrate/2_find_passages", document=document["id"], characters=CHARACTERS)
    rows = list(_passage_rows(passages))
    for start in range(0, len(rows), BATCH):
        some = rows[start : start + BATCH]
        store.rows("migrate/2_save_passages", label=label(dimensions), rows=some)
    source = PurePath(document["source"])
    properties = {
        "name": document["title"],
        "title_key": document["title"].casefold(),
        "file_key": source.name.casefold(),
        "stem_key": source.stem.casefold(),
    }
    parts = [_part_row(document, graph, made) for graph, made in _records(document, passages)]
    store.rows(
        "migrate/2_save_document", document=document["id"], properties=properties, parts=parts
    )


def _passage_rows(passages: Sequence[Row]) -> Iterator[Row]:
    """New properties of passages, which come after those below them."""
    places = {row["id"]: row["index"] for row in passages if row["kind"] == "chunk"}
    sources: dict[str, set[str]] = {}
    for row in passages:
        own = {row["id"]} if row["kind"] == "chunk" else set()
        sources[row["id"]] = own.union(*(sources.get(below, ()) for below in row["below"]))
        name = caption(row["text"])
        if row["kind"] == "summary":
            name = _summary_name(row["aspect"], row["level"], row["text"])
        properties = {
            "name": name,
            "graph": TEXT if row["kind"] == "chunk" else ASPECTS,
            "sources": sorted(sources[row["id"]], key=lambda chunk: places[chunk]),
        }
        yield {"id": row["id"], "properties": properties}


def _summary_name(aspect: str, level: int, text: str) -> str:
    line = " ".join(text.split())
    first_words = line if len(line) <= CAPTION else f"{line[:CAPTION].rsplit(' ', 1)[0]}…"
    return f"{aspect} {level}: {first_words}"


def _records(document: Row, passages: Sequence[Row]) -> Iterator[tuple[str, Record]]:
    """What each part of a document was made from, as far as it was recorded, and cost."""
    settings = json.loads(document["settings"])
    usage = {step: Usage(**spent) for step, spent in json.loads(document["usage"]).items()}
    text = {
        "graph": TEXT,
        "version": 1,
        "text": document["sha256"],
        "settings": {"chunk_tokens": settings["chunk_tokens"]},
        "models": {"embedding_model": settings["embedding_model"]},
    }
    if not (settings["levels"] or settings["details"]):
        yield TEXT, Record(text, usage)
        return
    # Which embeddings were of chunks alone was not recorded.
    yield TEXT, Record(text)
    facts = {
        "assigned": document["assigned"],
        "changed": document["changed"],
        "aspects": _in_order(settings["aspects"]) if settings["levels"] else [],
        "details": settings["details"],
        **_means(passages),
    }
    yield ASPECTS, Record(_aspects_from(settings, fingerprint(text)), usage, facts)


def _in_order(names: Iterable[str]) -> list[str]:
    """The names of aspects in the order of the shipped set, as none was recorded."""
    return sorted(names, key=lambda name: KNOWN.index(name) if name in KNOWN else len(KNOWN))


def _aspects_from(settings: Mapping[str, Any], text: str) -> Row:
    """What summaries and details were made from; `text` is the fingerprint of their text."""
    offline = "model" not in settings
    models = {"embedding_model": settings["embedding_model"], "model": "offline"}
    if not offline:
        models |= {
            "model": settings["model"],
            "aspect_model": settings["aspect_model"] or settings["model"],
            "temperature": settings["temperature"],
        }
    names = KNOBS if offline else (*KNOBS, *CHAT_KNOBS)
    return {
        "graph": ASPECTS,
        "version": 1,
        "settings": {name: settings[name] for name in names if name in settings}
        | {"set": settings["aspects"]},
        "models": models,
        "prompts": "" if offline else PROMPTS,
        "rests_on": {TEXT: text},
    }


def _means(passages: Sequence[Row]) -> Mapping[str, float]:
    """What models wrote, on the average; left out where there is nothing to take it of."""
    low = [row for row in passages if row["kind"] == "summary" and row["level"] == 1]
    clusters = {frozenset(row["below"]) for row in low}
    means = {"mean_aspects": len(low) / len(clusters)} if clusters else {}
    for kind in ("summary", "detail"):
        if tokens := [row["tokens"] for row in passages if row["kind"] == kind]:
            means[f"mean_{kind}"] = fmean(tokens)
    return means


def _part_row(document: Row, graph: str, made: Record) -> Row:
    owner = Owner(document["collection"], graph, document["id"])
    return {"id": part_id(owner), "properties": part_properties(owner, made)}


def _clear_space(store: Database) -> None:
    store.rows("migrate/2_clear_space")


def _drop_schema(store: Database) -> None:
    for name in INDEXES:
        store.rows("migrate/2_schema_drop_index", index=name)
    for name in CONSTRAINTS:
        store.rows("migrate/2_schema_drop_constraint", constraint=name)


def _make_schema(store: Database) -> None:
    """With its indexes populated, as the first question is asked of them."""
    schema.make(store)
    schema.wait(store, schema.TEXTS, *(space.index for space in store.spaces()))


STEPS: Sequence[Step] = (
    _drop_searched,
    _settle_embeddings,
    _save_collections,
    _migrate_documents,
    _clear_space,
    _drop_schema,
    _make_schema,
)
