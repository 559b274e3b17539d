"""What an edit changes of a book's communities, and of what reports are written from.

Names and ties are what rules find; what is told of them is all that was said, as with a model, so
that only what was edited reads otherwise. An edited chunk loses every second sentence. A report
that reads the same is not asked for again: the share that is, is what an edit costs.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

from fabula.graphs.communities.contexts import ContextRenderer
from fabula.graphs.communities.ids import community_id
from fabula.graphs.communities.leiden import find_communities, modularity, sum_weights
from fabula.graphs.communities.mapping import chunk_places, make_network
from fabula.graphs.communities.options import DivisionOptions
from fabula.graphs.communities.values import Community, Member, MemberNetwork, MemberRelation
from fabula.graphs.entities.descriptions import Statements
from fabula.graphs.entities.values import Mention, RelationMention
from fabula.load import find, load
from fabula.text.chunk import split
from fabula.text.document import Chunk
from fabula.text.ids import chunk_id
from fabula.text.sentences import sentences
from fabula_bench.speed.books import STORY
from fabula_bench.speed.names import find_cast
from fabula_bench.speed.report import Figure

CHUNK_TOKENS = 200
EDITS = {"one chunk": 0.0, "1 % of the chunks": 0.01, "10 % of the chunks": 0.1}
"""Shares of the chunks; one at least."""
REPEATED = 6
FIFTH = 20.0
KNOBS = DivisionOptions()


Divided = tuple[Sequence[Community], Set[str]]
"""A text's communities, and the digests of what their reports are written from."""


def measure(books: Path | None) -> list[Figure]:
    """Per cent of communities and of reports that an edit changes, the mean of some edits."""
    files = find([books]).files if books else [STORY]
    return [figure for file in files for figure in _measure(Path(file))]


def _measure(file: Path) -> Iterator[Figure]:
    document = load(file, "bench", 10**8)
    chunks = split(document, CHUNK_TOKENS)
    network = read(chunks, document.language)
    whole = communities, _ = divide(network)
    name = file.stem
    yield Figure(f"{name}: communities", len(communities), "")
    top = [community.members for community in communities if community.level == 0]
    yield Figure(f"{name}: modularity", modularity(_weights(network), top), "")
    for what, share in EDITS.items():
        changed: dict[str, list[tuple[float, float]]] = {"": [], ", from nothing": []}
        for seed in range(REPEATED):
            now = read(edited(chunks, share, seed, document.language), document.language)
            changed[""].append(differ(whole, divide(now, communities)))
            changed[", from nothing"].append(differ(whole, divide(now)))
        for how, figures in changed.items():
            goal = FIFTH if what == "one chunk" and not how else None
            groups, reports = (
                100 * statistics.fmean(column) for column in zip(*figures, strict=True)
            )
            yield Figure(f"{name}: {what}{how}: communities changed", groups, "%", goal)
            yield Figure(f"{name}: {what}{how}: reports asked again", reports, "%", goal)


def read(chunks: Sequence[Chunk], language: str) -> MemberNetwork:
    """Who is in a text and what ties them, by rules."""
    cast = find_cast(chunks, language)
    order = {chunk.id: place for place, chunk in enumerate(chunks)}

    def describe_mentions(
        subject: str, records: Sequence[Mention | RelationMention]
    ) -> tuple[str, tuple[str, ...]]:
        statements = Statements.of(subject, records)
        return statements.joined, tuple(sorted(statements.chunks, key=order.__getitem__))

    members = [
        Member(each.id, each.name, each.type, text, each.names, where, (each.id,))
        for each in cast.entities
        for text, where in [describe_mentions(each.name, each.mentions)]
    ]
    bonds = [
        MemberRelation(
            tied.id, tied.source, tied.target, text, float(len(where)), where, (tied.id,)
        )
        for tied in cast.relations
        for text, where in [describe_mentions("", tied.mentions)]
    ]
    return make_network(members, bonds, chunk_places(chunks))


def divide(network: MemberNetwork, before: Sequence[Community] = ()) -> Divided:
    """Its communities, started from others, and what would be read of each that has a report."""
    communities = find_communities(
        _weights(network),
        KNOBS.max_cluster_size,
        before,
        lambda level, members: community_id("bench", level, sorted(members)),
    )
    renderer = ContextRenderer(network, KNOBS.report_tokens_in)
    reported = [community for community in communities if len(community.members) > 1]
    return communities, {renderer.render(community).text for community in reported}


def differ(was: Divided, now: Divided) -> tuple[float, float]:
    """The shares of communities that have other members, and of reports that read otherwise."""
    before = {(community.level, community.members) for community in was[0]}
    groups = sum((community.level, community.members) not in before for community in now[0])
    reports = len(now[1] - was[1])
    return groups / max(1, len(now[0])), reports / max(1, len(now[1]))


def edited(chunks: Sequence[Chunk], share: float, seed: int, language: str) -> list[Chunk]:
    """The chunks, of which a share, one at least, has lost every second sentence."""
    draw = random.Random(seed)
    rows = set(draw.sample(range(len(chunks)), max(1, round(share * len(chunks)))))
    edited_chunks: list[Chunk] = []
    start = 0
    for row, chunk in enumerate(chunks):
        text = chunk.text
        if row in rows:
            text = " ".join(sentences(text, language)[::2]) + "\n"
        id = chunk_id("bench", text, row)
        edited_chunks.append(
            Chunk(id, row, chunk.section, start, start + len(text), text, chunk.tokens)
        )
        start += len(text)
    return edited_chunks


def _weights(network: MemberNetwork) -> dict[tuple[str, str], float]:
    return sum_weights(
        (bond.source, bond.target, bond.weight) for bond in network.relations.values()
    )
