"""The tool that this graph brings for the mode `agent`: who says what to whom."""

from __future__ import annotations

from pydantic import Field

from fabula.graph.hits import Filters, make_hit
from fabula.graph.mode import Tools
from fabula.graph.queries import read_statement
from fabula.graph.reading_tools import (
    MAX_ARGUMENT_CHARACTERS,
    ReadingResult,
    ReadingTool,
    ToolArguments,
)
from fabula.text.names import quote_name

QUOTATIONS = 40
"""How many quotations a call finds."""


class SpeechArguments(ToolArguments):
    """Who speaks, to whom and about what; what is empty may be anything."""

    speaker: str = Field("", max_length=MAX_ARGUMENT_CHARACTERS, description="who speaks")
    addressee: str = Field("", max_length=MAX_ARGUMENT_CHARACTERS, description="to whom")
    words: str = Field(
        "",
        max_length=MAX_ARGUMENT_CHARACTERS,
        description="words of which what is said must have one",
    )


def find_speech(arguments: SpeechArguments, filters: Filters, tools: Tools) -> ReadingResult:
    """Return quotations in text order, each after who says it to whom."""
    rows = tools.store.read(
        read_statement("fabula_graphs/speech/find_said"),
        filters,
        document=filters.document,
        speaker=arguments.speaker.lower(),
        addressee=arguments.addressee.lower(),
        about=arguments.words.lower().split(),
        doubtful=False,
        limit=QUOTATIONS + 1,
    )
    hits = []
    for row in rows[:QUOTATIONS]:
        speaker, addressee = row["speaker"] or "somebody", row["addressee"]
        speaker += " (doubtful)" if row["doubtful"] else ""
        text = f"{speaker}{f' to {addressee}' if addressee else ''}: {row['text']}"
        hits.append(make_hit(row, text, kind="quotation"))
    more = len(rows) > QUOTATIONS
    note = f"These are the first {QUOTATIONS}: name a listener, or words." if more else ""
    if not hits and arguments.speaker:
        note = f"Nothing is found that {quote_name(arguments.speaker)} says."
    return ReadingResult(tuple(hits), note)


def make_tools() -> tuple[ReadingTool, ...]:
    """Return the tool `speech`."""
    return (
        ReadingTool(
            "speech",
            "Find what is said, by whom and to whom, in the order of the text",
            SpeechArguments,
            find_speech,
        ),
    )
