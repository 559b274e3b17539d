"""Ask a chat model which names of a text are of one person, where rules are in doubt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabula.graph import Gap
from fabula.graph.builds import Build
from fabula.graph.calls import batches
from fabula.graph.extraction import ExtractionCalls, ModelQuestion, Records
from fabula.graphs.entities.pairs import (
    PAIRS_A_CALL,
    REPLY_TOKENS,
    PairsReply,
    list_pairs,
    placeholder,
    read_pairs,
)
from fabula.graphs.entities.records import NAMES
from fabula.graphs.entities.resolve import NameForm
from fabula.graphs.entities.values import Mention
from fabula.models.replies import shorten

MAX_CALLS = 2
"""Calls for a document at most; the pairs of the commonest names are asked about."""
MAX_STATEMENTS, MAX_TOKENS = 3, 80
"""What the prompt has of each name: statements at most, and their tokens together."""
MAX_NAME_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class NamePair:
    """Two names of a text, with what the prompt says of each, and chunks that have them."""

    names: tuple[str, str]
    texts: tuple[str, str]
    chunks: tuple[str, ...]


def name_pairs(
    doubtful: Sequence[tuple[NameForm, NameForm]], mentions: Sequence[Mention]
) -> list[NamePair]:
    """Return the pairs that a model is asked about, the commonest first."""
    by_name: dict[str, list[Mention]] = {}
    for mention in mentions:
        by_name.setdefault(mention.name, []).append(mention)

    def describe(form: NameForm) -> str:
        statements = list(
            dict.fromkeys(mention.statement for mention in by_name[form.name] if mention.statement)
        )
        text = " ".join(" ".join(statements[:MAX_STATEMENTS]).split())
        name = form.name[:MAX_NAME_CHARACTERS]
        return f"{name}, {form.type}, {form.count} times: {shorten(text, MAX_TOKENS)}"

    return [
        NamePair(
            (first.name, second.name),
            (describe(first), describe(second)),
            tuple(dict.fromkeys(by_name[form.name][0].chunk for form in (first, second))),
        )
        for first, second in doubtful[: MAX_CALLS * PAIRS_A_CALL]
    ]


def ask_names() -> ModelQuestion[tuple[NamePair, ...], Records[bool]]:
    """Return the question which of some pairs of names are of one person."""

    def read(reply: str, pairs: tuple[NamePair, ...]) -> Records[bool]:
        return Records(tuple(same for same, _ in read_pairs(reply, len(pairs))))

    def values(pairs: tuple[NamePair, ...]) -> Mapping[str, object]:
        return {"pairs": list_pairs([pair.texts for pair in pairs]), "count": len(pairs)}

    return ModelQuestion(
        step=NAMES,
        prompt=Path(__file__).parent / "prompts" / "names",
        values=values,
        schema=PairsReply,
        max_tokens=REPLY_TOKENS,
        read=read,
        placeholder=lambda pairs, _: placeholder(len(pairs)),
    )


def confirm_names(
    calls: ExtractionCalls,
    priority: int,
    doubtful: Sequence[tuple[NameForm, NameForm]],
    mentions: Sequence[Mention],
) -> Build[frozenset[tuple[str, str]]]:
    """Return the doubtful pairs of names that are one person's: paid calls, twenty pairs a call.

    Where no reply can be used there is a gap, and the names stay apart.
    """
    asked = [*map(tuple, batches(name_pairs(doubtful, mentions), PAIRS_A_CALL))]
    calls.work.gaps.expect(len(asked))
    gaps = []
    for pairs in asked:
        chunks = tuple(dict.fromkeys(chunk for pair in pairs for chunk in pair.chunks))
        gaps.append(Gap(NAMES, "", chunks, dict.fromkeys(chunks, 1.0)))
    answers = yield from calls.ask_each(ask_names(), asked, gaps, priority)
    return frozenset(
        pair.names
        for pairs, answer in zip(asked, answers, strict=True)
        if answer
        for pair, same in zip(pairs, answer.every.records, strict=True)
        if same
    )
