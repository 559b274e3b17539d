"""Documents by the names that people call them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath

from fabula.errors import NotFound
from fabula.model import Entry


def chosen(entries: Sequence[Entry], name: str, collection: str, whole: bool = False) -> Entry:
    """The one entry of that id (or its beginning), title, part of a title, file or file name.

    With `whole`, a part of a title is no name. Of several in different collections, the one in
    `collection`. Raises NotFound, which names what there is.
    """
    for matches in (_by_id, _by_source, _by_title, *(() if whole else (_by_part,))):
        found = [entry for entry in entries if matches(entry, name)]
        inside = [entry for entry in found if entry.collection == collection]
        found = inside or found
        if len(found) == 1:
            return found[0]
        if found:
            ids = "; ".join(f"{entry.id} is {entry.title}, {entry.source}" for entry in found[:5])
            raise NotFound(f"{name!r} could be {len(found)} documents; name one by its id: {ids}.")
    if not entries:
        raise NotFound("Nothing has been ingested yet: run `fabula ingest BOOK` first.")
    titles = ", ".join(entry.title for entry in entries[:5])
    more = f" and {len(entries) - 5} more" if len(entries) > 5 else ""
    raise NotFound(f"There is no document {name!r}. `fabula list` shows them: {titles}{more}.")


def inside(entry: Entry, collection: str) -> str:
    """The id of a document of this collection; in another one nothing would be found of it."""
    if entry.collection != collection:
        raise NotFound(
            f"{entry.title} is in collection {entry.collection!r}, not in {collection!r}: choose "
            "it with --collection."
        )
    return entry.id


def nothing_there(entries: Sequence[Entry], collection: str) -> NotFound:
    """What to tell who asks a collection without documents; `entries` are those of all."""
    others = sorted({entry.collection for entry in entries})
    if not others:
        return NotFound("Nothing has been ingested yet: run `fabula ingest BOOK` first.")
    return NotFound(
        f"Nothing has been ingested into collection {collection!r} yet; there are: "
        f"{', '.join(others)}. Choose one with --collection, or run "
        f"`fabula ingest BOOK --collection {collection}`."
    )


def _by_id(entry: Entry, name: str) -> bool:
    return len(name) >= 4 and entry.id.startswith(name.lower())


def _by_source(entry: Entry, name: str) -> bool:
    return entry.source == name or entry.source == str(Path(name).resolve())


def _by_title(entry: Entry, name: str) -> bool:
    path = PurePath(entry.source)
    return name.casefold() in (entry.title.casefold(), path.name.casefold(), path.stem.casefold())


def _by_part(entry: Entry, name: str) -> bool:
    return bool(name.strip()) and name.casefold() in entry.title.casefold()
