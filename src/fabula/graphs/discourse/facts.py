"""What the graph itself tells of a document's part, and how it is put into words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from fabula.graph import Edge, Node
from fabula.graphs.discourse.border import EVENT, IS, LINK, TERM
from fabula.graphs.discourse.records import (
    MALFORMED,
    MISPLACED,
    OVERLONG,
    REPEATED,
    SURPLUS,
    UNLISTED,
    Told,
)
from fabula.graphs.discourse.values import ENTITY, EXPLICIT, IMPLICIT, NONE, Event, Link

DROPPED = {
    MALFORMED: "that say nothing",
    MISPLACED: "of no passage or pair that was asked about",
    OVERLONG: "too long",
    REPEATED: "said twice",
    SURPLUS: "too many",
    UNLISTED: "with a sense that is not listed",
}
"""Why records are left out, in words."""
DOUBTFUL = 0.1
"""Share of the records, or of the pairs: where more are of no use, a model may be unfit for it."""
SAME, FEWEST = 0.5, 40
"""Share of so many links, at least, of one sense from which a model may give the same to all."""
OF_CLASS = "class_"


@dataclass
class Tally:
    """Counts what models write while a build goes on.

    `windows` and `pairs` are all that there are, `reused` and `kept` those of which all was known.
    """

    windows: int = 0
    reused: int = 0
    pairs: int = 0
    kept: int = 0
    told: list[Told] = field(default_factory=list)
    passages: int = 0
    judged: int = 0

    def means(self) -> dict[str, float]:
        """What a dry run expects of other documents; nothing where there was nothing to count."""
        events = [event for one in self.told for event in one.events]
        values = [value for event in events for value in event.slots.values()]
        found: dict[str, float] = {}
        if self.passages:
            found["mean_events"] = len(events) / self.passages
        if events:
            found["mean_slots"] = len(values) / len(events)
            found["mean_words"] = fmean(len(value.split()) for value in values)
        if self.judged:
            found["mean_linked"] = sum(len(one.links) for one in self.told) / self.judged
        return found


def facts(
    nodes: Iterable[Node],
    edges: Iterable[Edge],
    events: Sequence[Event],
    links: Sequence[Link],
    tally: Tally,
    before: Mapping[str, Any],
) -> Mapping[str, Any]:
    """How much there is, what was said of pairs, what was left out and why; means for a dry run.

    What was not asked again has the share in what was counted `before` that it has in all.
    """
    labels = Counter(node.label for node in nodes)
    resolved = {edge.start for edge in edges if edge.type == IS}
    dropped: Counter[str] = Counter()
    for told in tally.told:
        dropped.update({f"dropped_{why}": count for why, count in told.dropped.items()})
        dropped.update(
            {f"said_{what}": told.said[what] for what in (ENTITY, NONE) if what in told.said}
        )
        dropped["records"] += told.records
    share = (tally.reused + tally.kept) / max(1, tally.windows + tally.pairs)
    for name, count in before.items():
        if name == "records" or name.startswith(("dropped_", "said_")):
            dropped[name] += round(share * count)
    classes = Counter(link.sense.partition(".")[0] for link in links)
    return {
        "events": labels[EVENT],
        "terms": labels[TERM],
        "resolved": len(resolved),
        "links": labels[LINK],
        "pairs": tally.pairs,
        EXPLICIT: sum(link.form == EXPLICIT for link in links),
        IMPLICIT: sum(link.form == IMPLICIT for link in links),
        "most_of_one_sense": max(Counter(link.sense for link in links).values(), default=0),
        **{f"{OF_CLASS}{name}": count for name, count in classes.most_common()},
        **{name: count for name, count in sorted(dropped.items()) if count},
        **{name: value for name, value in before.items() if name.startswith("mean_")},
        **tally.means(),
    }


def tell(facts: Mapping[str, Any]) -> Sequence[str]:
    """How many events and links there are and of what classes, and what was left out."""
    classes = {
        name.removeprefix(OF_CLASS): count
        for name, count in facts.items()
        if name.startswith(OF_CLASS)
    }
    of = ", ".join(
        f"{count:,} {name}"
        for name, count in sorted(classes.items(), key=lambda one: (-one[1], one))
    )
    linked = f"{facts['links']:,} of {facts['pairs']:,} pairs of neighbouring chunks are linked"
    events = f"{facts['events']:,} events"
    if facts["resolved"]:
        events += f", {facts['resolved']:,} of whose people and places are entities"
    return [events, f"{linked}: {of}" if of else linked, *_left_out(facts)]


def doubt(facts: Mapping[str, Any]) -> Sequence[str]:
    """What speaks against the model: much left out, pairs without a word, one sense for most."""
    pairs, links = facts.get("pairs", 0), facts.get("links", 0)
    lost = sum(facts.get(f"dropped_{why}", 0) for why in DROPPED)
    said = _left_out(facts) if lost > DOUBTFUL * facts.get("records", 0) else []
    unanswered = facts.get("dropped_unanswered", 0)
    if unanswered > DOUBTFUL * pairs:
        said.append(f"of {unanswered:,} of {pairs:,} pairs the model said nothing")
    most = facts.get("most_of_one_sense", 0)
    if facts.get(IMPLICIT) and links >= FEWEST and most > SAME * links:
        said.append(
            f"{most:,} of {links:,} links are of one sense: the model may not tell senses apart"
        )
    return said


def _left_out(facts: Mapping[str, Any]) -> list[str]:
    said: list[str] = []
    lost = {words: facts.get(f"dropped_{why}", 0) for why, words in DROPPED.items()}
    if total := sum(lost.values()):
        reasons = ", ".join(f"{count:,} {words}" for words, count in lost.items() if count)
        said.append(f"{total:,} of {facts['records']:,} records were left out: {reasons}")
    if unprinted := facts.get("dropped_unprinted", 0):
        said.append(f"{unprinted:,} connectives that were called printed are not")
    return said
