"""What the graph of speech counts of a document's part, and how it describes that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fabula.graph.counts import DROPPED, RECORDS, DroppedRecords, count_dropped, list_counts, means
from fabula.graph.extraction import (
    MALFORMED,
    MODEL,
    OVERLONG,
    SURPLUS,
    UNPRINTED,
    Records,
    WindowReplies,
)
from fabula_graphs.speech.persons import Persons
from fabula_graphs.speech.questions import MISPLACED, PRONOUNS, REPEATED, UNPROVEN, SpeakerRecord
from fabula_graphs.speech.values import THOUGHT, Placed

BY_RULE = "rule_"
"""Begins the names of facts that count quotations by what says who speaks."""
LEFT_OUT = DroppedRecords(
    {
        UNPRINTED: "with a speaker who is printed nowhere",
        PRONOUNS: "with a pronoun as speaker",
        MISPLACED: "of no quotation that was asked about",
        REPEATED: "of a quotation that was answered",
        MALFORMED: "that were no records",
        OVERLONG: "with a name too long to be one",
        SURPLUS: "more than a reply may have",
    },
    max_share=0.2,
    sentence="{count:,} of {records:,} answers on speakers were left out: {reasons}",
    others={f"{DROPPED}{UNPROVEN}": "{count:,} addressees or words of answers are not printed"},
)


def count_facts(
    placed: Sequence[Placed],
    persons: Persons,
    language_has_rules: bool,
    replies: WindowReplies[Records[SpeakerRecord]],
) -> Mapping[str, Any]:
    """Return how many quotations there are, how their speakers are known, and what was left out."""
    rules = Counter(item.spoken.rule for item in placed if item.spoken.rule)
    counts: Counter[str] = Counter()
    for reply in replies.replies:
        dropped = count_dropped(reply.dropped)
        counts.update(dropped)
        counts[RECORDS] += len(reply.records) + LEFT_OUT.count(dropped)
    named = [item.spoken.speaker for item in placed if item.spoken.speaker]
    return {
        "quotations": len(placed),
        "spoken": len(named),
        "entities": sum(persons.find(name) in persons.entities for name in named),
        "without_entities": int(not persons.entities),
        "addressed": sum(bool(item.spoken.addressee) for item in placed),
        "thoughts": sum(item.spoken.kind == THOUGHT for item in placed),
        "by_model": sum(item.by == MODEL for item in placed),
        "windows": len(replies.answers),
        **({} if language_has_rules else {"without_rules": 1}),
        **{f"{BY_RULE}{rule}": count for rule, count in sorted(rules.items())},
        **+counts,
        **means({"mean_answered": _answered_shares(replies)}),
    }


def _answered_shares(replies: WindowReplies[Records[SpeakerRecord]]) -> list[float]:
    """The share of the records of each reply that name somebody."""
    return [
        sum(bool(record.speaker) for record in reply.records) / len(reply.records)
        for reply in replies.replies
        if reply.records
    ]


def describe(facts: Mapping[str, Any]) -> Sequence[str]:
    """Return how many quotations have a speaker, how that is known, and what was left out."""
    rules = ", ".join(list_counts(facts, BY_RULE))
    spoken = f"of {facts['spoken']:,} of {facts['quotations']:,} quotations the speaker is known"
    sentences = [f"{spoken}: {rules}" if rules else spoken]
    if facts.get("without_entities") and facts["quotations"]:
        sentences.append("there is no graph of entities: speakers are the names printed")
    if facts.get("without_rules"):
        sentences.append("there are no rules for speakers in this language")
    return [*sentences, *LEFT_OUT.describe(facts)]
