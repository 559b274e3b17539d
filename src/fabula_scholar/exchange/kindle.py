"""Read `My Clippings.txt`, in which a Kindle keeps the highlights and notes of all its books.

A clipping is the book's title and author, a line with its place and date in the language of the
device, an empty line, and its words; a line of ten equals signs ends it. KOReader writes the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fabula.errors import LoadError
from fabula.export.annotation_formats import MAX_NAMED, AnnotationFormat, Tell, ignore
from fabula.graph.annotations import HIGHLIGHT, Annotation
from fabula.load.encoding import decode
from fabula.text.anchoring import TextQuote
from fabula.text.document import Document
from fabula.text.folding import fold_name
from fabula.text.names import quote_name
from fabula.text.nouns import count_noun

_END = re.compile(r"^={10}\s*$", re.MULTILINE)
_NOTE = re.compile(r"\b(?:note|nota|notiz|notitie|заметка)\b|笔记|筆記|メモ|메모", re.IGNORECASE)
"""What a device calls a note, in its language; all else marks words."""
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class _Clipping:
    book: str
    place: str
    first: int
    last: int
    date: str
    is_note: bool
    words: str

    def annotate(self) -> Annotation:
        quote, properties = TextQuote(self.words), {"place": self.place}
        return Annotation(quote, HIGHLIGHT, created=self.date, properties=properties)


def read_clippings(
    files: Mapping[str, bytes], document: Document, tell: Tell = ignore
) -> Sequence[Annotation]:
    """Read the clippings of a document; those of other books are left out and counted.

    Of a highlight that was extended, the longest is taken. A note is that of the highlight at its
    place. Bookmarks have no words and are left out.

    Raises:
        LoadError: There is no clipping, or none of the document's title among several books.
    """
    all_books = [each for name, data in files.items() for each in _read_clippings(data, name)]
    books = list(dict.fromkeys(each.book for each in all_books))
    if not books:
        raise LoadError("Clippings of a Kindle end with a line of ten equals signs each.")
    own = books if len(books) == 1 else [each for each in books if _is_of(each, document.title)]
    if not own:
        raise LoadError(
            f"None of the clippings is of {document.title}. They are of "
            f"{', '.join(map(quote_name, books[:MAX_NAMED]))}{', …' * (len(books) > MAX_NAMED)}."
        )
    found: list[Annotation] = []
    before, lost = None, 0
    clippings = [each for each in all_books if each.book in own and each.words]
    for clipping in sorted(clippings, key=lambda each: (each.first, each.is_note)):
        is_near = before is not None and clipping.first <= before.last
        if clipping.is_note and is_near:
            body = "\n\n".join(filter(None, (found[-1].body, clipping.words)))
            found[-1] = replace(found[-1], body=body)
        elif clipping.is_note:
            lost += 1
        elif is_near and before and before.words in clipping.words:
            found[-1], before = replace(clipping.annotate(), body=found[-1].body), clipping
        elif not (is_near and before and clipping.words in before.words):
            found.append(clipping.annotate())
            before = clipping
    if others := sum(each.book not in own for each in all_books):
        tell(f"{count_noun(others, 'clipping')} of other books left out.")
    if lost:
        tell(f"{count_noun(lost, 'note')} at no highlight left out.")
    return found


def _read_clippings(data: bytes, name: str) -> Iterator[_Clipping]:
    for text in _END.split(decode(data, name).replace("\ufeff", "")):
        book, _, rest = text.strip().partition("\n")
        described, _, words = rest.strip().partition("\n")
        if not described.startswith("-"):
            continue
        place, _, date = described.removeprefix("-").rpartition("|")
        # The page may be named before the location; an older device writes 120-22 for 120-122.
        first, last = ([("0", ""), *_RANGE.findall(place)])[-1]
        last = first[: len(first) - len(last)] + last
        is_note = _NOTE.search(described) is not None
        where = " ".join(place.split()), int(first), int(last)
        yield _Clipping(" ".join(book.split()), *where, date.strip(), is_note, words.strip())


def _is_of(book: str, title: str) -> bool:
    """Whether a clipping's title and author begin with a title, or are the beginning of it."""
    named, own = (re.findall(r"\w+", fold_name(each)) for each in (book, title))
    alone = re.findall(r"\w+", fold_name(re.sub(r"\([^()]*\)\s*$", "", book)))
    return named[: len(own)] == own or (bool(alone) and own[: len(alone)] == alone)


FORMAT = AnnotationFormat(
    "kindle",
    "highlights and notes of a Kindle, My Clippings.txt",
    ("my clippings.txt", "myclippings.txt"),
    None,
    read_clippings,
)
