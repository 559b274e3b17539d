"""Documents of a collection as words, to be counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabula.errors import NotFound
from fabula.graph.entries import Entry
from fabula.graph.structure import TextStructure
from fabula_scholar.words.concordance import WordText

if TYPE_CHECKING:
    from fabula.library.collection import Collection
    from fabula.store import Store


@dataclass(frozen=True, slots=True)
class CorpusText:
    """The words of a document, as far as a reader has read it."""

    entry: Entry
    words: WordText
    structure: TextStructure


@dataclass(frozen=True)
class Corpus:
    """Documents as words, read one after the other.

    Attributes:
        store: The graph; for a reader with a place, the text ends there.
        entries: The documents.
    """

    store: Store
    entries: Sequence[Entry]

    def __iter__(self) -> Iterator[CorpusText]:
        for entry in self.entries:
            text = "".join(row["text"] for row in self.store.find_chunks(entry))
            yield CorpusText(entry, WordText(text, entry.language), self.store.structure(entry))


def read_corpus(collection: Collection, document: str = "") -> Corpus:
    """Return documents as words: one, by id, title or file, or all of the collection with ''.

    For a reader with a place it is the document that is read, up to the place.

    Raises:
        NotFound: There is no such document, or the collection is empty.
    """
    if document or collection.place:
        return Corpus(collection.open_store(), [collection.document(document)])
    entries = list(collection.documents())
    if not entries:
        from fabula.library.catalogue import empty_collection_error

        raise empty_collection_error(collection.name)
    return Corpus(collection.open_store(), entries)


def read_reference(collection: Collection, document: str, against: str = "") -> Corpus:
    """Return what a document is compared with: another one, or all others of the collection.

    Raises:
        NotFound: There is no such document, or no other one.
    """
    id = collection.document(document).id if document else ""
    if against:
        other = collection.document(against)
        if other.id == id:
            raise NotFound(f"{other.title} can't be compared with itself: name another one.")
        return Corpus(collection.open_store(), [other])
    others = [entry for entry in collection.documents() if entry.id != id]
    if not (others and id):
        raise NotFound(
            "There is nothing to compare with: name a document, and another one or another "
            "collection to compare it with."
        )
    return Corpus(collection.open_store(), others)
