"""What became of a quotation that was compared with the books, and of a citation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fabula.graph.hits import Hit, describe_place
from fabula.text.document import excerpt

QuotationStatus = Literal["exact", "near", "elsewhere", "not found", "unchecked"]
"""Whether a quotation is in the books:

- exact: in these words, at the place that is cited if one is;
- near: in other spelling, case, punctuation, or with words left out or in brackets;
- elsewhere: in the books, but not at the place that is cited;
- not found: not in the documents that were asked;
- unchecked: the graph could not be read.
"""
QuotationChange = Literal["", "repaired", "unmarked"]
"""What `quotations = "strict"` did: put the book's words in its place, or took its marks off."""


@dataclass(frozen=True, slots=True)
class CheckedQuotation:
    """A quotation in an answer, compared with the documents that were asked.

    Attributes:
        text: What the answer quotes, without its marks.
        start: The character of the answer's text at which it begins, with its opening mark.
        end: The end of it, after its closing mark.
        status: Whether the books have it.
        printed: The book's own words; of a quotation that was not found, those that are closest to
            it, or '' if none are close.
        document: The id of the document that has these words; '' if there are none.
        title: Its title.
        section: The path of the section in which they begin.
        pages: The labels of their printed pages, as "113-114".
        lines: The labels of their numbered lines.
        place: Where they are, for people: document, section, characters; '' if nowhere.
        spans: The characters of the document that they are, one range for each part of the
            quotation between ellipses.
        cited: The numbers of the passages that are cited with it.
        differences: What it has otherwise than the book, as "spelling" or "ellipsis".
        change: What was done to it, if the setting `quotations` is "strict".
        original: What the model wrote, if it was repaired.
    """

    text: str
    start: int
    end: int
    status: QuotationStatus
    printed: str = ""
    document: str = ""
    title: str = ""
    section: str = ""
    pages: str = ""
    lines: str = ""
    place: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    cited: tuple[int, ...] = ()
    differences: tuple[str, ...] = ()
    change: QuotationChange = ""
    original: str = ""

    def __repr__(self) -> str:
        return f"<CheckedQuotation {self.status}: {excerpt(self.text)}>"

    @property
    def is_in_book(self) -> bool:
        """Whether its words are in the documents that were asked, at whatever place."""
        return self.status in ("exact", "near", "elsewhere")

    @property
    def differs_in_words(self) -> bool:
        """Whether it differs by more than white space and the forms of marks."""
        return not {"white space", "marks"}.issuperset(self.differences)

    def describe(self, show: Callable[[str], str]) -> str:
        """Return in a sentence what a reader has to know of it.

        Args:
            show: Returns a text as it is shown, such as escaped or cut.

        Returns:
            The sentence; '' if it is exact, or differs in white space and marks alone.
        """
        quoted = f"“{show(self.original or self.text)}”"
        printed, place = f"“{show(self.printed)}”", show(self.place)
        if self.status == "not found":
            undone = " Its marks were taken off." if self.change == "unmarked" else ""
            closest = f" The closest is {printed}." if self.printed else ""
            return f"Not found in the books: {quoted}.{undone}{closest}"
        if self.status == "elsewhere":
            return f"Not where it is cited: {quoted} ({place})."
        if self.status == "near" and self.differs_in_words:
            changed = " The quotation was repaired." if self.change == "repaired" else ""
            return f"The book has {printed}, not {quoted} ({place}).{changed}"
        return f"Could not be compared: {quoted}." if self.status == "unchecked" else ""

    def place_at(self, hit: Hit | None, spans: Sequence[tuple[int, int]]) -> CheckedQuotation:
        """Return it with the place of its words, a chunk and characters of the chunk's document.

        There is no chunk if the words are nowhere.
        """
        if hit is None:
            return replace(self, spans=tuple(spans))
        names = ("document", "title", "section", "pages", "lines")
        values = {name: getattr(hit, name) for name in names}
        relative = [(start - hit.start, end - hit.start) for start, end in spans]
        return replace(self, **values, place=describe_place(hit, relative), spans=tuple(spans))


@dataclass(frozen=True, slots=True)
class WeakCitation:
    """A citation whose passage has no content word and no name of the sentence that cites it.

    Attributes:
        number: The number of the passage.
        sentence: The sentence, without its citations.
        start: The character of the answer's text at which the citation begins.
        end: The end of the citation; several in one pair of brackets have the same.
    """

    number: int
    sentence: str
    start: int
    end: int

    def __repr__(self) -> str:
        return f"<WeakCitation {self.number}: {excerpt(self.sentence)}>"


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """The quotations of an answer in the order of its text, and its weak citations."""

    quotations: tuple[CheckedQuotation, ...] = ()
    weak_citations: tuple[WeakCitation, ...] = ()
