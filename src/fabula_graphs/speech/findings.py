"""What this graph found, in the values that gold annotations are compared with."""

from __future__ import annotations

from fabula.graph import Part
from fabula.graph.findings import Findings, FoundQuotation
from fabula.graph.method import BuildText
from fabula_graphs.speech.labels import QUOTATION, SPOKEN_BY
from fabula_graphs.speech.values import SPEECH


def find(text: BuildText, part: Part) -> Findings:
    """Return the quotations that are spoken and in no other, each with its speaker."""
    speakers = {edge.start: edge.end for edge in part.edges if edge.type == SPOKEN_BY}
    quotations = []
    for node in part.nodes:
        values = node.properties
        if node.label != QUOTATION or values["depth"] or values["manner"] != SPEECH:
            continue
        words = (values["mention_start"], values["mention_end"])
        quotations.append(
            FoundQuotation(
                values["start"],
                values["end"],
                speakers.get(node.id, ""),
                words if any(words) else None,
                values.get("doubtful", False),
            )
        )
    in_order = tuple(sorted(quotations, key=lambda found: found.start))
    return Findings(quotations=in_order, finds_quotations=True)
