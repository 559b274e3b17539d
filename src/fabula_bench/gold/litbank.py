"""LitBank's gold annotations: mentions with their clusters, quotations with speakers, events.

LitBank (Bamman, Popat and Shen 2019; Sims, Park and Bamman 2019; Bamman, Lewke and Mansoor 2020;
Sims and Bamman 2020) has about 2,000 words of each of 100 English novels and stories. Licence:
CC BY 4.0. The folder is laid out by layers: `text/`, `coref/`, `quotations/`, `events/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fabula.errors import DataError
from fabula_bench.data.files import Files, Release
from fabula_bench.gold.detokenise import detokenise

RELEASE = Release(
    "LitBank",
    "It is at github.com/dbamman/litbank (CC BY 4.0); docs/experiments.md has the layout.",
)
PERSON = "PER"
PLACES = frozenset(("GPE", "LOC", "FAC"))


@dataclass(frozen=True, slots=True)
class GoldMention:
    """Characters of the natural text that mention something.

    Attributes:
        type: PER, FAC, GPE, LOC, VEH or ORG.
        form: PROP for a proper name, NOM for a common noun, PRON for a pronoun.
        cluster: What all mentions of one person, place or thing have in common.
    """

    start: int
    end: int
    text: str
    type: str
    form: str
    cluster: str


@dataclass(frozen=True, slots=True)
class GoldQuotation:
    """Characters of a quotation, with its marks, and the cluster of who speaks."""

    start: int
    end: int
    speaker: str


@dataclass(frozen=True, slots=True)
class LitBankText:
    """A passage as natural text, and all that is annotated in it by its characters."""

    name: str
    text: str
    mentions: tuple[GoldMention, ...]
    quotations: tuple[GoldQuotation, ...]
    events: tuple[tuple[int, int], ...]


def read_litbank(folder: Path) -> tuple[LitBankText, ...]:
    """Read all passages of a folder, by their names.

    Raises:
        DataError: There are none, a file is missing, or it is not as LitBank writes it.
    """
    files = Files(folder, RELEASE)
    names = [name.removeprefix("text/").removesuffix(".txt") for name in files.matching("text/*")]
    if not names:
        raise DataError(f"{folder / 'text'} has no texts of LitBank. {RELEASE.origin}")
    return tuple(_read(files, name) for name in names)


def _read(files: Files, name: str) -> LitBankText:
    lines = files.content(f"text/{name}.txt").decode("utf-8").splitlines()
    sentences = [line.split(" ") for line in lines]
    natural = detokenise(sentences)
    first_token = [0]
    for sentence in sentences:
        first_token.append(first_token[-1] + len(sentence))

    def span(row: list[str]) -> tuple[int, int]:
        sentence, token, last_sentence, last_token = map(int, row)
        return natural.span(first_token[sentence] + token, first_token[last_sentence] + last_token)

    rows = list(_rows(files, f"coref/{name}.ann"))
    clusters = {row[1]: row[2] for row in rows if row[0] == "COREF"}
    mentions = []
    for row in rows:
        if row[0] == "MENTION":
            start, end = span(row[2:6])
            # A few mentions are in no cluster: each is one of its own.
            cluster = clusters.get(row[1], row[1])
            text = natural.text[start:end]
            mentions.append(GoldMention(start, end, text, row[7], row[8], cluster))
    quoted = list(_rows(files, f"quotations/{name}.ann"))
    speakers = {row[1]: row[2] for row in quoted if row[0] == "ATTRIB"}
    quotations = [
        GoldQuotation(*span(row[2:6]), speakers.get(row[1], ""))
        for row in quoted
        if row[0] == "QUOTE"
    ]
    marks = [row[1] for row in _rows(files, f"events/{name}.tsv")]
    if len(marks) != len(natural.spans):
        raise DataError(f"{name}.tsv has {len(marks)} tokens, the text {len(natural.spans)}.")
    events = [span for span, mark in zip(natural.spans, marks, strict=True) if mark == "EVENT"]
    return LitBankText(
        name,
        natural.text,
        tuple(sorted(mentions, key=lambda mention: (mention.start, -mention.end))),
        tuple(sorted(quotations, key=lambda quotation: quotation.start)),
        tuple(events),
    )


def _rows(files: Files, name: str) -> Iterator[list[str]]:
    for line in files.content(name).decode("utf-8").splitlines():
        if line:
            yield line.split("\t")
