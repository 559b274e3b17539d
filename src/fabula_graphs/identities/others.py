"""What is known about an entity in other documents, and how to change that."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabula.graph.method import OtherEntities
from fabula.graphs.entities.resolve import person_or_place
from fabula_graphs.identities.options import Options

Row = Mapping[str, Any]

GRAPH = "identities"
DECIDERS = {"names": "by names", "model": "by the model", "person": "by a person", None: "unknown"}
"""Who decided that two entities are the same, in words."""


def find_others(
    rows: Callable[..., Sequence[Row]],
    collection: str,
    options: Options,
    stale: Sequence[str],
    entities: Sequence[Row],
) -> Mapping[str, OtherEntities]:
    """Return what is known about entities, by their ids; see `Graph.find_others`."""
    described = _Described(collection, options, stale)
    by_id = {entity["id"]: entity for entity in entities}
    found = rows("fabula_graphs/identities/find_others", collection=collection, nodes=[*by_id])
    return {row["id"]: described.of(by_id[row["id"]], row) for row in found}


@dataclass(frozen=True, slots=True)
class _Described:
    collection: str
    options: Options
    stale: Sequence[str]

    def of(self, entity: Row, row: Row) -> OtherEntities:
        namesakes = row["namesakes"]
        if len({person_or_place(member["type"]) for member in (entity, *namesakes)} - {""}) > 1:
            # A person and a place of the same name are not the same.
            namesakes = [
                namesake
                for namesake in namesakes
                if person_or_place(namesake["type"]) == person_or_place(entity["type"])
            ]
        others = row["others"]
        return OtherEntities(others, namesakes, tuple(self._describe(entity, others, namesakes)))

    def _describe(
        self, entity: Row, others: Sequence[Row], namesakes: Sequence[Row]
    ) -> Iterator[str]:
        """Yield lines on each decision, with its reason, and the command that changes it."""
        for other in others:
            is_same = "the same as" if other["same"] else "not the same as"
            why = f"{other['why'] or 'no reason was given'} ({DECIDERS[other['by']]})"
            yield f"  {is_same} {other['name']} · {other['title']}: {why}"
            yield f"    {self._how_to_change(entity, other)}"
        if others:
            yield (
                "    to make a decision last, `fabula correct split` or `merge` with these ids or "
                f"names, or write it into fabula.toml, under [{GRAPH}]"
            )
        for other in namesakes:
            yield f"  read as one with {other['name']} · {other['title']}: equal names"
        if namesakes:
            yield f"    `{self._build_command()}` decides who is the same"
        if self.stale and (others or namesakes):
            stale = ", ".join(self.stale)
            yield f"    {GRAPH} is stale ({stale}): `{self._build_command()}`"

    def _how_to_change(self, entity: Row, other: Row) -> str:
        pair = f"{entity['id']} = {other['id']}"
        option = "keep_apart" if other["same"] else "join"
        if other["by"] == "person":
            return (
                "not so? undo the decision (`fabula corrections`), or remove the pair from "
                f"the settings {GRAPH}.keep_apart and .join"
            )
        decided = getattr(self.options, option)
        return f"not so? {self._build_command(option, *decided, pair)}"

    def _build_command(self, option: str = "", *pairs: str) -> str:
        words = ["fabula", "build", GRAPH, "--collection", self.collection]
        assignment = f"{GRAPH}.{option}={'; '.join(pairs)}"
        return shlex.join(words + (["--set", assignment] if option else []))
