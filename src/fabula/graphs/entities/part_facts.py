"""What the graph counts of a document's part, and how it describes that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabula.graph.counts import DROPPED, RECORDS, DroppedRecords, count_dropped, list_counts, means
from fabula.graph.decisions import EFFECTS
from fabula.graph.extraction import (
    MALFORMED,
    OVERLONG,
    SURPLUS,
    UNPRINTED,
    UNSUPPORTED,
    Records,
    WindowReplies,
)
from fabula.graphs.entities.corrections import APPLIED
from fabula.graphs.entities.extract import ITSELF, UNLISTED, ExtractedRecords
from fabula.graphs.entities.triples import StatedTriple, Triple
from fabula.graphs.entities.values import Entities
from fabula.text import tokens

OF_TYPE = "of_type_"
"""Begins the names of facts that count the entities of a type."""
RETYPED = "retyped"
"""The fact that counts the entities whose type is not listed."""
LEFT_OUT = DroppedRecords(
    {
        UNPRINTED: "with a name that is printed nowhere",
        UNLISTED: "that tie what is no entity",
        ITSELF: "that tie an entity to itself",
        MALFORMED: "that were no records",
        OVERLONG: "with a name too long to be one",
        SURPLUS: "more than a reply may have",
    },
    max_share=0.1,
    sentence="{count:,} of {records:,} records were not borne out by the text, and left out: "
    "{reasons}",
    others={
        RETYPED: "{count:,} entities had a type that is not listed",
        f"{DROPPED}{UNSUPPORTED}": "{count:,} descriptions were left out: less than a "
        "third of their words are in the text",
    },
)


@dataclass
class EntityReplies:
    """What a model replied in a build.

    Attributes:
        extracted: Of the entities and relations of windows.
        stated: Of the facts of windows; None where it was not asked for them.
        merged: The descriptions that it made of many statements.
        retyped: How many entities had a type that is not listed.
    """

    extracted: WindowReplies[ExtractedRecords] = field(default_factory=WindowReplies)
    stated: WindowReplies[Records[StatedTriple]] | None = None
    merged: list[str] = field(default_factory=list)
    retyped: int = 0


def count_facts(
    cast: Entities,
    triples: Sequence[Triple],
    dropped: Mapping[str, int],
    replies: EntityReplies,
) -> Mapping[str, Any]:
    """Return how much there is, how many records were left out and why, and means for a dry run."""
    counts = count_dropped(dropped)
    counts[RETYPED] = replies.retyped
    stated = replies.stated.replies if replies.stated else []
    for every in replies.extracted.replies:
        counts[RECORDS] += len(every.records) + sum(every.dropped.values())
    words = [{fact.words for fact in reply.records} for reply in stated]
    for reply, distinct in zip(stated, words, strict=True):
        counts.update(count_dropped(reply.dropped))
        counts[RECORDS] += len(distinct) + sum(reply.dropped.values())
    types = Counter(sorted(entity.type for entity in cast.entities))
    answers = [answer for _, answer in replies.extracted.usable]
    firsts = [answer.first for answer in answers]
    descriptions = [record.description for first in firsts for record in first.records]
    return {
        "entities": len(cast.entities),
        "relations": len(cast.relations),
        "triples": len(triples),
        **{f"{OF_TYPE}{type}": count for type, count in types.most_common()},
        "windows": len(replies.extracted.answers),
        "stated": replies.stated is not None,
        **effects_of(cast.effects),
        **+counts,
        **means(
            {
                "mean_entities": [len(first.entities) for first in firsts],
                "mean_relations": [len(first.relations) for first in firsts],
                "mean_gleaned": [
                    len(answer.every.records) - len(answer.first.records) for answer in answers
                ],
                "mean_said": tokens.count_all(descriptions),
                "mean_triples": [len(distinct) for distinct in words],
                "mean_merged": tokens.count_all(replies.merged),
            },
        ),
    }


def effects_of(effects: Mapping[int, str]) -> Mapping[str, Any]:
    """Return what became of people's corrections, as "3 applied"; nothing where there are none."""
    return (
        {EFFECTS: [f"{number} {effect}" for number, effect in effects.items()]} if effects else {}
    )


def describe(facts: Mapping[str, Any]) -> Sequence[str]:
    """Return how many there are of each type, and what was left out."""
    types = ", ".join(list_counts(facts, OF_TYPE))
    applied = sum(effect.endswith(APPLIED) for effect in facts.get(EFFECTS, ()))
    corrections = [f"corrections by people: {applied:,} applied"] if applied else []
    return [
        f"by type: {types}" if types else "no entities were found",
        *corrections,
        *LEFT_OUT.describe(facts),
    ]


def warnings(facts: Mapping[str, Any]) -> Sequence[str]:
    """Return what was left out if it is so much that the model is hardly fit for the task."""
    return LEFT_OUT.warnings(facts, facts.get(RETYPED, 0))
