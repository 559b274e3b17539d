"""Convert episodes to nodes and edges."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from fabula.graph import Edge, Gap, Node
from fabula.graph.places import make_name
from fabula.graphs.episodes.labels import COMPRISES, EPISODE, EPISODES, NEXT_EPISODE
from fabula.graphs.episodes.values import Episode

PLACE = ("section", "start", "end", "text", "tokens", "level", "by")
"""Properties that a node has as an episode has them."""


def nodes_and_edges(episodes: Sequence[Episode]) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
    """Return episodes as passages without embeddings, and edges to members and to the next."""
    nodes = tuple(
        Node(
            episode.id,
            EPISODE,
            {
                # A caption for Neo4j Browser, as 'episode 2: Scrooge, a miser in London,…'.
                "name": f"episode {episode.level}: {make_name(episode.text)}",
                "aspect": "",
                **{name: getattr(episode, name) for name in PLACE},
            },
            episode.sources,
        )
        for episode in episodes
    )
    edges = [Edge(COMPRISES, episode.id, id) for episode in episodes for id in episode.members]
    lowest = sorted(
        (episode for episode in episodes if episode.level == 1), key=lambda each: each.start
    )
    edges += [Edge(NEXT_EPISODE, before.id, after.id) for before, after in pairwise(lowest)]
    return nodes, tuple(edges)


def make_gap(level: int, members: Sequence[str], sources: Sequence[str], why: str) -> Gap:
    """Return the gap that an episode leaves which no model gives."""
    return Gap(EPISODES, why, tuple(sources), dict.fromkeys(members, 1.0), {"level": level})
