"""What the graph of facts counts of a document's part, and how it describes that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fabula.graph.counts import DROPPED, RECORDS, DroppedRecords, count_dropped, list_counts, means
from fabula.graph.extraction import MALFORMED, OVERLONG, SURPLUS, UNPRINTED, Records, WindowReplies
from fabula_graphs.facts.checking import ITSELF, UNFIT, UNRELATED, UNTYPED, Checked
from fabula_graphs.facts.normalising import MISNUMBERED
from fabula_graphs.facts.values import FactStatement

OF_RELATION = "of_relation_"
"""Begins the names of facts that count those of a relation."""
LEFT_OUT = DroppedRecords(
    {
        UNPRINTED: "with a name that is printed nowhere",
        UNRELATED: "whose predicate is no relation of the ontology",
        UNTYPED: "with an end that is of no class of it",
        UNFIT: "whose ends are not of the classes that the relation is between",
        ITSELF: "that tie something to itself",
        MALFORMED: "that were no records",
        OVERLONG: "with a name too long to be one",
        SURPLUS: "more than a reply may have",
    },
    # If more are left out, the ontology may not fit the text, or the model not the task.
    max_share=0.5,
    sentence="{count:,} of {records:,} statements were left out: {reasons}",
    others={f"{DROPPED}{MISNUMBERED}": "{count:,} answers named no candidate that was listed"},
)
MAX_LISTED = 6
"""Relations that are listed by name."""


def count_facts(
    checked: Checked,
    replies: WindowReplies[Records[FactStatement]],
    misnumbered: Mapping[str, int],
) -> Mapping[str, Any]:
    """Return how many there are, how many statements were left out and why, and means."""
    counts = count_dropped({why: len(found) for why, found in checked.left_out.items()})
    for reply in replies.replies:
        counts.update(count_dropped(reply.dropped))
    counts.update(count_dropped(misnumbered))
    stated = [len({statement.words for statement in reply.records}) for reply in replies.replies]
    relations = Counter(fact.predicate for fact in checked.facts)
    statements = sum(len(fact.statements) for fact in checked.facts)
    return {
        "facts": len(checked.facts),
        RECORDS: statements + LEFT_OUT.count(counts),
        "turned": checked.turned,
        "proved": sum(
            any(statement.proof for statement in fact.statements) for fact in checked.facts
        ),
        "windows": len(replies.answers),
        **{f"{OF_RELATION}{name}": count for name, count in sorted(relations.items())},
        **+counts,
        **means({"mean_statements": stated}),
    }


def describe(facts: Mapping[str, Any]) -> Sequence[str]:
    """Return how many there are of the commonest relations, and what was left out."""
    relations = list_counts(facts, OF_RELATION)
    common = ", ".join(relations[:MAX_LISTED])
    rest = len(relations) - MAX_LISTED
    more = f", and {rest} relations more" if rest > 0 else ""
    return [
        f"by relation: {common}{more}" if common else "no facts were found",
        *LEFT_OUT.describe(facts),
    ]
