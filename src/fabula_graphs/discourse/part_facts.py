"""What the graph counts of a document's part, and how it describes that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabula.graph import Edge, Node
from fabula.graph.counts import DROPPED, RECORDS, DroppedRecords, count_dropped, list_counts, means
from fabula.graph.extraction import MALFORMED, OVERLONG, SURPLUS, UNPRINTED, WindowReplies
from fabula_graphs.discourse.labels import EVENT, IS, LINK, TERM
from fabula_graphs.discourse.questions import (
    INVENTED,
    MISPLACED,
    NAMELESS,
    REPEATED,
    UNANSWERED,
    UNLISTED,
    DiscourseRecords,
)
from fabula_graphs.discourse.values import ENTITY, EXPLICIT, IMPLICIT, NONE, Event, Link

LEFT_OUT = DroppedRecords(
    {
        MALFORMED: "that say nothing",
        INVENTED: "of somebody or some place that the text does not print there",
        MISPLACED: "of no passage or pair that was asked about",
        OVERLONG: "too long",
        REPEATED: "said twice",
        SURPLUS: "too many",
        UNLISTED: "with a sense that is not listed",
    },
    max_share=0.1,
    others={
        f"{DROPPED}{NAMELESS}": "of {count:,} events who or where was left out, as the text does "
        "not print it there",
        f"{DROPPED}{UNPRINTED}": "{count:,} connectives that were called printed are not",
    },
)
MAX_UNANSWERED = 0.1
"""Share of the pairs; if a model does not mention more, it may be unfit."""
MAX_SHARE_OF_SENSE, MIN_LINKS = 0.5, 40
"""If more than this share of at least so many links are of one sense, the model may give the same
sense to all."""
OF_CLASS = "class_"
"""Begins the names of facts that count the links of a class of senses."""


@dataclass
class PairReplies:
    """What a model replied about pairs: of all of them, and of those `judged` in this build."""

    pairs: int = 0
    judged: int = 0
    new: list[DiscourseRecords[Link]] = field(default_factory=list)


def count_facts(
    nodes: Iterable[Node],
    edges: Iterable[Edge],
    links: Sequence[Link],
    event_replies: WindowReplies[DiscourseRecords[Event]],
    link_replies: PairReplies,
) -> Mapping[str, Any]:
    """Return how much there is, what was left out and why, and means for a dry run."""
    labels = Counter(node.label for node in nodes)
    resolved = {edge.start for edge in edges if edge.type == IS}
    counts: Counter[str] = Counter()
    read = event_replies.replies
    replies: list[DiscourseRecords[Any]] = [*read, *link_replies.new]
    for reply in replies:
        counts.update(count_dropped(reply.dropped))
        counts.update({f"said_{form}": reply.forms.get(form, 0) for form in (ENTITY, NONE)})
        counts[RECORDS] += reply.listed
    passages = [len(window.chunks) for window, _ in event_replies.usable]
    classes = Counter(link.sense.partition(".")[0] for link in links)
    return {
        "events": labels[EVENT],
        "terms": labels[TERM],
        "resolved": len(resolved),
        "links": labels[LINK],
        "pairs": link_replies.pairs,
        EXPLICIT: sum(link.form == EXPLICIT for link in links),
        IMPLICIT: sum(link.form == IMPLICIT for link in links),
        "most_of_one_sense": max(Counter(link.sense for link in links).values(), default=0),
        **{f"{OF_CLASS}{name}": count for name, count in classes.most_common()},
        **+counts,
        **means(_lengths(read, sum(passages), link_replies)),
    }


def _lengths(
    read: Sequence[DiscourseRecords[Event]], passages: int, link_replies: PairReplies
) -> dict[str, Sequence[float]]:
    """What a dry run expects of other documents; nothing if there was nothing to count."""
    events = [event for reply in read for event in reply.records]
    values = [value for event in events for value in event.slots.values()]
    linked = sum(len(reply.records) for reply in link_replies.new)
    return {
        "mean_events": [len(events) / passages] if passages else [],
        "mean_slots": [len(values) / len(events)] if events else [],
        "mean_words": [len(value.split()) for value in values],
        "mean_linked": [linked / link_replies.judged] if link_replies.judged else [],
    }


def describe(facts: Mapping[str, Any]) -> Sequence[str]:
    """Return how many events and links there are, of what classes, and what was left out."""
    classes = ", ".join(list_counts(facts, OF_CLASS))
    linked = f"{facts['links']:,} of {facts['pairs']:,} pairs of neighbouring chunks are linked"
    events = f"{facts['events']:,} events"
    if facts["resolved"]:
        events += f", {facts['resolved']:,} of whose people and places are entities"
    return [events, f"{linked}: {classes}" if classes else linked, *LEFT_OUT.describe(facts)]


def warnings(facts: Mapping[str, Any]) -> Sequence[str]:
    """Return what speaks against the model: records left out, pairs ignored, one sense for most."""
    pairs, links = facts.get("pairs", 0), facts.get("links", 0)
    found = LEFT_OUT.warnings(facts)
    unanswered = facts.get(f"{DROPPED}{UNANSWERED}", 0)
    if unanswered > MAX_UNANSWERED * pairs:
        found.append(f"of {unanswered:,} of {pairs:,} pairs the model said nothing")
    most = facts.get("most_of_one_sense", 0)
    if facts.get(IMPLICIT) and links >= MIN_LINKS and most > MAX_SHARE_OF_SENSE * links:
        found.append(
            f"{most:,} of {links:,} links are of one sense: the model may not tell senses apart"
        )
    return found
