"""To version 2: a space for each collection, a part for each graph, one label for all passages.

The constants and functions of the first half are copies of what Fabula had when it wrote graphs of
version 2. They stay as they are, whatever becomes of the originals.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from statistics import fmean
from typing import Any

from fabula.graph.queries import read_statement
from fabula.store.database import Database
from fabula.store.migration import Step
from fabula.store.schema import ensure

TEXT = "text"
ASPECTS = "aspects"
PROMPTS = "fc65b901"
"""The digest of the prompts that wrote graphs of version 1; they have changed since."""
DOCUMENTS_PER_PAGE = 100
PASSAGES_PER_BATCH = 1000
MAX_NAME_CHARACTERS = 60
READ_CHARACTERS = 4 * MAX_NAME_CHARACTERS
"""How many characters of a text are read to take its name from."""
COUNTS = (
    "calls",
    "prompt_tokens",
    "completion_tokens",
    "saved",
    "faults",
    "saved_prompt_tokens",
    "saved_completion_tokens",
    "cached_tokens",
)
"""What a part's node records of its calls to models."""
SETTINGS = (
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
CHAT_SETTINGS = ("details_per_call", "aspects_with_summaries")
"""Settings that were recorded only where a chat model wrote."""
ASPECT_SET = ("plot", "character", "setting", "point of view", "style", "theme", "irony and symbol")
"""The aspects of the set that came with version 1, in its order."""
INDEXES = ("chunk_document", "summary_document", "detail_document")
CONSTRAINTS = ("chunk_id", "summary_id", "detail_id", "embedding_space_id")

Row = dict[str, Any]
Usage = dict[str, int]
"""The counts of one step."""


def _shorten(text: str) -> str:
    """Return the first words of a text, for a name."""
    line = " ".join(text[:READ_CHARACTERS].split())
    if len(line) <= MAX_NAME_CHARACTERS:
        return line
    return line[: MAX_NAME_CHARACTERS - 1].rsplit(" ", 1)[0] + "…"


def _summary_name(aspect: str, level: int, text: str) -> str:
    line = " ".join(text.split())
    if len(line) > MAX_NAME_CHARACTERS:
        line = f"{line[:MAX_NAME_CHARACTERS].rsplit(' ', 1)[0]}…"
    return f"{aspect} {level}: {line}"


def _write_json(recipe: Mapping[str, Any]) -> str:
    return json.dumps(recipe, sort_keys=True, ensure_ascii=False)


def _fingerprint(recipe: Mapping[str, Any]) -> str:
    written = _write_json(recipe).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(written, digest_size=8).hexdigest()


def _part_row(
    document: Row,
    graph: str,
    recipe: Mapping[str, Any],
    usage: Mapping[str, Usage],
    facts: Mapping[str, Any],
) -> Row:
    """Return the node that stands for a part, as a row of the statement that saves it."""
    collection, id = document["collection"], document["id"]
    properties = dict(facts) | {
        "name": graph,
        "collection": collection,
        "graph": graph,
        "document": id,
        "fingerprint": _fingerprint(recipe),
        "made_from": _write_json(recipe),
        "usage": json.dumps(usage),
        "gaps": 0,
        **{name: sum(step[name] for step in usage.values()) for name in COUNTS},
    }
    return {"id": f"{collection}/{graph}/{id}", "properties": properties}


# The steps


def _drop_searched(store: Database) -> None:
    """Drop the indexes of vectors and texts, which are made again over other labels."""
    for name in ("passage_vectors", "passage_vectors_next", "passage_texts"):
        store.rows("migrate/2_schema_drop_index", index=name)


def _settle_embeddings(store: Database) -> None:
    """End a re-embedding that was stopped: finish the move, or clear an incomplete copy."""
    for space in store.rows("migrate/2_find_space"):
        with store.session() as session:
            if space["phase"] == "moving":
                session.run(read_statement("migrate/2_save_moved_embeddings")).consume()
            session.run(read_statement("migrate/2_clear_next_embeddings")).consume()
    store.rows("migrate/2_clear_phase")


def _save_collections(store: Database) -> None:
    ensure(store, "migrate/2_schema_collection_name")
    store.rows("migrate/2_save_collections")


def _migrate_documents(store: Database) -> None:
    """Migrate document by document: first its passages, then itself and its parts at once."""
    ensure(store, "migrate/2_schema_part_id")
    for space in store.rows("migrate/2_find_space"):
        after = ""
        while page := store.rows("migrate/2_find_documents", after=after, limit=DOCUMENTS_PER_PAGE):
            for row in page:
                _migrate_document(store, row["document"], space["dimensions"])
            after = page[-1]["document"]["id"]


def _migrate_document(store: Database, document: Row, dimensions: int) -> None:
    passages = store.rows(
        "migrate/2_find_passages", document=document["id"], characters=READ_CHARACTERS
    )
    rows = list(_passage_rows(passages))
    for start in range(0, len(rows), PASSAGES_PER_BATCH):
        batch = rows[start : start + PASSAGES_PER_BATCH]
        store.rows("migrate/2_save_passages", label=f"Passage{dimensions}", rows=batch)
    source = PurePath(document["source"])
    properties = {
        "name": document["title"],
        "title_key": document["title"].casefold(),
        "file_key": source.name.casefold(),
        "stem_key": source.stem.casefold(),
    }
    parts = list(_part_rows(document, passages))
    store.rows(
        "migrate/2_save_document", document=document["id"], properties=properties, parts=parts
    )


def _passage_rows(passages: Sequence[Row]) -> Iterator[Row]:
    """Yield the new properties of passages; `passages` come after those that they rest on."""
    places = {row["id"]: row["index"] for row in passages if row["kind"] == "chunk"}
    sources: dict[str, set[str]] = {}
    for row in passages:
        own = {row["id"]} if row["kind"] == "chunk" else set()
        sources[row["id"]] = own.union(*(sources.get(below, ()) for below in row["below"]))
        name = _shorten(row["text"])
        if row["kind"] == "summary":
            name = _summary_name(row["aspect"], row["level"], row["text"])
        properties = {
            "name": name,
            "graph": TEXT if row["kind"] == "chunk" else ASPECTS,
            "sources": sorted(sources[row["id"]], key=lambda chunk: places[chunk]),
        }
        yield {"id": row["id"], "properties": properties}


def _part_rows(document: Row, passages: Sequence[Row]) -> Iterator[Row]:
    """Yield the parts of a document: what each was made from, as far as known, and its cost."""
    settings = json.loads(document["settings"])
    usage = {
        step: dict.fromkeys(COUNTS, 0) | counts
        for step, counts in json.loads(document["usage"]).items()
    }
    text = {
        "graph": TEXT,
        "version": 1,
        "text": document["sha256"],
        "settings": {"chunk_tokens": settings["chunk_tokens"]},
        "models": {"embedding_model": settings["embedding_model"]},
    }
    if not (settings["levels"] or settings["details"]):
        yield _part_row(document, TEXT, text, usage, {})
        return
    # How many of the calls embedded chunks was not recorded.
    yield _part_row(document, TEXT, text, {}, {})
    facts = {
        "assigned": document["assigned"],
        "changed": document["changed"],
        "aspects": _in_order(settings["aspects"]) if settings["levels"] else [],
        "details": settings["details"],
        **_means(passages),
    }
    recipe = _aspects_recipe(settings, _fingerprint(text))
    yield _part_row(document, ASPECTS, recipe, usage, facts)


def _in_order(names: Iterable[str]) -> list[str]:
    """Return the names of aspects in the order of the shipped set, as none was recorded."""
    last = len(ASPECT_SET)
    return sorted(names, key=lambda name: ASPECT_SET.index(name) if name in ASPECT_SET else last)


def _aspects_recipe(settings: Mapping[str, Any], text: str) -> Row:
    """Return what summaries and details were made from; `text` is their text's fingerprint."""
    offline = "model" not in settings
    models = {"embedding_model": settings["embedding_model"], "model": "offline"}
    if not offline:
        models |= {
            "model": settings["model"],
            "aspect_model": settings["aspect_model"] or settings["model"],
            "temperature": settings["temperature"],
        }
    names = SETTINGS if offline else (*SETTINGS, *CHAT_SETTINGS)
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
    """Return how much models wrote on average; an average of nothing is left out."""
    low = [row for row in passages if row["kind"] == "summary" and row["level"] == 1]
    clusters = {frozenset(row["below"]) for row in low}
    means = {"mean_aspects": len(low) / len(clusters)} if clusters else {}
    for kind in ("summary", "detail"):
        if tokens := [row["tokens"] for row in passages if row["kind"] == kind]:
            means[f"mean_{kind}"] = fmean(tokens)
    return means


def _clear_space(store: Database) -> None:
    store.rows("migrate/2_clear_space")


def _drop_schema(store: Database) -> None:
    for name in INDEXES:
        store.rows("migrate/2_schema_drop_index", index=name)
    for name in CONSTRAINTS:
        store.rows("migrate/2_schema_drop_constraint", constraint=name)


STEPS: Sequence[Step] = (
    _drop_searched,
    _settle_embeddings,
    _save_collections,
    _migrate_documents,
    _clear_space,
    _drop_schema,
)
