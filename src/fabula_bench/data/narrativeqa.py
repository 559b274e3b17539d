"""NarrativeQA: whole books and film scripts, questions written from their Wikipedia summaries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from pydantic import BaseModel

from fabula.errors import DataError, LoadError
from fabula.load import html
from fabula.load import text as plain
from fabula.load.clean import one_line
from fabula.load.document import document
from fabula_bench.data.files import Files, Release
from fabula_bench.data.subsets import Only, PublishedCounts
from fabula_bench.data.texts import text
from fabula_bench.model import BenchQuestion, Text

RELEASE = Release(
    "NarrativeQA",
    "Put documents.csv, qaps.csv and third_party/wikipedia/summaries.csv there, as released at "
    "https://github.com/google-deepmind/narrativeqa (Kočiský et al. 2018, The NarrativeQA Reading "
    "Comprehension Challenge), and run its download_stories.sh there, which fetches the stories "
    "to tmp/DOCUMENT_ID.content; take the line of one that is no longer to be had out of "
    "documents.csv.",
)
SUMMARIES = "-summaries"
STORIES = ("train", "valid", "test")
PARTS = (*STORIES, *(f"{part}{SUMMARIES}" for part in STORIES))
"""The questions of a part are asked of the stories, or, as the paper's easier task, of their
summaries."""
GUTENBERG = PublishedCounts(texts=706, questions=21894)
_HOST = "gutenberg.org"

_PAGE = re.compile(rb"<(?:!doctype|html|head|body|pre)\b", re.IGNORECASE)
_SCRIPT = re.compile(rb"<pre\b.*</pre\s*>", re.IGNORECASE | re.DOTALL)
_QUOTES = "[\"'“”„‘’`]+"


class _Document(BaseModel):
    document_id: str
    set: str
    kind: str
    """'gutenberg' or 'movie'."""
    story_url: str = ""
    wiki_title: str
    story_start: str
    story_end: str
    """The first and last words of the story, in tokens parted by spaces."""


class _Summary(BaseModel):
    document_id: str
    summary: str


class _Question(BaseModel):
    document_id: str
    set: str
    question: str
    answer1: str
    answer2: str


def read(files: Files, part: str, only: Only = "") -> tuple[list[Text], list[BenchQuestion]]:
    """Read the stories, or their summaries, and their questions, each with two answers.

    `only` limits them to Project Gutenberg's books, so that no film script needs to be there.
    """
    name = part.removesuffix(SUMMARIES)
    rows = [
        (place, row)
        for place, row in files.rows("documents.csv", _Document)
        if row.set == name and (not only or row.kind == only or _HOST in row.story_url)
    ]
    if part.endswith(SUMMARIES):
        summaries = {
            row.document_id: row.summary
            for _, row in files.rows("third_party/wikipedia/summaries.csv", _Summary)
        }
        texts = [_summary(row, summaries, place) for place, row in rows]
    else:
        texts = [_story(files, row) for _, row in rows]
    return texts, _questions(files, {row.document_id for _, row in rows})


def _questions(files: Files, documents: set[str]) -> list[BenchQuestion]:
    questions: list[BenchQuestion] = []
    count: Counter[str] = Counter()
    for _, row in files.rows("qaps.csv", _Question):
        if row.document_id in documents:
            count[row.document_id] += 1
            questions.append(
                BenchQuestion(
                    id=f"{row.document_id}-{count[row.document_id]}",
                    text=row.document_id,
                    question=one_line(row.question),
                    answers=(one_line(row.answer1), one_line(row.answer2)),
                )
            )
    return questions


def _summary(row: _Document, summaries: Mapping[str, str], place: str) -> Text:
    if row.document_id not in summaries:
        raise DataError(f"{place}: summaries.csv has no summary of {row.document_id}.")
    return text(row.document_id, summaries[row.document_id], place, title=one_line(row.wiki_title))


def _story(files: Files, row: _Document) -> Text:
    """Return a story from what its library or site offers, without what they put around it."""
    name = f"tmp/{row.document_id}.content"
    data = files.content(name)
    try:
        if _PAGE.search(data[:5000]):
            draft = html.read(_screenplay(data), name)
        else:
            draft = plain.read(data, name)
        story_file = document(draft, name, "")
    except LoadError as error:
        raise DataError(f"{RELEASE.name}: {error}") from error
    story = story_file.text
    # Loaders cut Project Gutenberg's books better: these ends keep its credits and its licence.
    if row.kind != "gutenberg":
        story = _between(story, row.story_start, row.story_end)
    return Text(
        row.document_id,
        one_line(row.wiki_title),
        story_file.author,
        story_file.language,
        story.strip(),
    )


def _screenplay(page: bytes) -> bytes:
    """Return the preformatted text of a page if it is most of it: a screenplay among menus."""
    match = _SCRIPT.search(page)
    return match[0] if match and len(match[0]) > len(page) / 2 else page


def _between(story: str, start: str, end: str) -> str:
    """Return the story from `start`, if in its first half, to `end`, if in its second half."""
    half = len(story) // 2
    first = next(iter(_marker(start).finditer(story, 0, half)), None)
    *_, last = (None, *_marker(end).finditer(story, half))
    return story[first.start() if first else 0 : last.end() if last else len(story)]


def _marker(tokens: str) -> re.Pattern[str]:
    """Return a pattern for tokens in a text: with or without spaces between, and any quotes."""
    pieces = (
        _QUOTES if re.fullmatch("``|''|\"", token) else re.escape(token) for token in tokens.split()
    )
    return re.compile(r"\s*".join(pieces) or r"(?!)")
