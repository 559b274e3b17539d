"""Ask a chat model which names of a text are of one person, where rules are in doubt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabula.graph import Gap
from fabula.graph.builds import Build
from fabula.graph.extraction import ExtractionCalls, ModelQuestion, Records
from fabula.graphs.entities.pairs import (
    PAIRS_A_CALL,
    REPLY_TOKENS,
    PairsReply,
    digest_pair,
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
VERDICTS, SAME, OTHER = "name_verdicts", "+", "-"
"""The fact that keeps the verdicts of a build: of each pair its digest, and what was said."""


@dataclass(frozen=True, slots=True)
class NamePair:
    """Two names of a text, with what the prompt says of each, and chunks that have them."""

    names: tuple[str, str]
    texts: tuple[str, str]
    chunks: tuple[str, ...]

    @property
    def digest(self) -> str:
        """16 hex digits of both texts."""
        return digest_pair(self.texts)


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


@dataclass
class NameConfirmer:
    """Has a model decide on doubtful pairs of names.

    Attributes:
        calls: The calls of the build, and its gaps.
        priority: That of the calls: the lowest goes first.
        facts: What the previous build counted, with its verdicts.
        verdicts: What is decided, by the digests of pairs; kept for the next build.
    """

    calls: ExtractionCalls
    priority: int
    facts: Mapping[str, Any]
    verdicts: dict[str, bool] = field(default_factory=dict)

    def confirm(
        self, doubtful: Sequence[tuple[NameForm, NameForm]], mentions: Sequence[Mention]
    ) -> Build[frozenset[tuple[str, str]]]:
        """Return the pairs of names that are one person's: paid calls, twenty pairs a call.

        Pairs of which nothing changed are not asked about again. Where no reply can be used there
        is a gap, and the names stay apart.
        """
        pairs = name_pairs(doubtful, mentions)
        previous = {
            written[:-1]: written.endswith(SAME) for written in self.facts.get(VERDICTS, ())
        }
        self.verdicts = {
            pair.digest: previous[pair.digest] for pair in pairs if pair.digest in previous
        }
        yield from self._ask([pair for pair in pairs if pair.digest not in previous])
        return frozenset(pair.names for pair in pairs if self.verdicts.get(pair.digest))

    def written(self) -> list[str]:
        """Return the verdicts as the fact VERDICTS has them."""
        return sorted(
            f"{digest}{SAME if same else OTHER}" for digest, same in self.verdicts.items()
        )

    def _ask(self, pairs: Sequence[NamePair]) -> Build[None]:
        batches = [
            tuple(pairs[start : start + PAIRS_A_CALL])
            for start in range(0, len(pairs), PAIRS_A_CALL)
        ]
        if not batches:
            return
        self.calls.work.gaps.expect(len(batches))
        gaps = []
        for batch in batches:
            chunks = tuple(dict.fromkeys(chunk for pair in batch for chunk in pair.chunks))
            gaps.append(Gap(NAMES, "", chunks, dict.fromkeys(chunks, 1.0)))
        answers = yield from self.calls.ask_each(ask_names(), batches, gaps, self.priority)
        for batch, answer in zip(batches, answers, strict=True):
            if answer:
                same = answer.every.records
                self.verdicts |= dict(zip((pair.digest for pair in batch), same, strict=True))
