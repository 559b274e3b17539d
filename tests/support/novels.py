"""A novel of the shape of *War and Peace*, and a poem whose pages and lines are numbered."""

from __future__ import annotations

from fabula.load.blocks import Block, Draft
from fabula.load.document import document
from fabula.load.locators import line_mark, page_mark
from fabula.load.source import DocumentSource

NUMBERS = "ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN ELEVEN TWELVE THIRTEEN FOURTEEN FIFTEEN"
PARTS = [
    *(f"BOOK {number}: {1805 + place // 3}" for place, number in enumerate(NUMBERS.split())),
    "FIRST EPILOGUE: 1813-20",
    "SECOND EPILOGUE",
]
"""The 17 parts, whose chapters all begin at CHAPTER I."""
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI")
CHAPTERS = {part: ROMAN if part.startswith("BOOK NINE") else ROMAN[:2] for part in PARTS}
PATHS = [f"{part} · CHAPTER {number}" for part in PARTS for number in CHAPTERS[part]]
"""The paths of all chapters, in text order."""
HERE = "BOOK NINE: 1807 · CHAPTER XI"
QUESTION = "Who saw the comet above the boulevard?"
COMET = "Pierre saw the comet of that year above the snow of the boulevard."
"""A sentence that only BOOK NINE · CHAPTER XI has."""


def novel() -> str:
    """The text of the novel, as a plain file has it."""
    pieces = ["Title: War and Peace\nAuthor: Leo Tolstoy"]
    for place, part in enumerate(PARTS):
        pieces.append(f"\n\n{part}")
        for number in CHAPTERS[part]:
            day = f"day {ROMAN.index(number) + 1} of part {place + 1}"
            pieces.append(f"\nCHAPTER {number}")
            pieces.append(
                f"Prince Andrei rode past the mill on {day}. Natásha waited at home, and nobody "
                f"in the house knew what the letter of {day} said of the war."
            )
            pieces.append(
                f"The old prince of {day} walked in the avenue of limes, and had the snow "
                "swept away before him. Princess Márya prayed that nobody would come."
            )
            if part.startswith("BOOK NINE") and number == "XI":
                pieces.append(COMET)
    return "\n\n".join(pieces)


def poem(collection: str) -> DocumentSource:
    """A poem on the pages 112 to 114, whose lines 340, 345 and 350 are numbered in the file."""
    lines = [f"The {number}th ship came slowly to the harbour." for number in range(340, 352)]
    marked = [
        line_mark(str(number)) * (number % 5 == 0) + page_mark("114") * (number == 346) + line
        for number, line in enumerate(lines, 340)
    ]
    draft = Draft(
        (
            Block(f"{page_mark('112')}Of ships much is told in the old books of the harbour."),
            Block(page_mark("113") + "\n".join(marked)),
        ),
        title="The Ships",
        author="Anna Nowak",
        language="en",
        published="1869",
        edition="Second edition",
    )
    return DocumentSource("ships.xml", lambda: document(draft, "ships.xml", collection))
