"""The pictures `network` and `communities`: who meets whom, and who speaks to whom."""

from __future__ import annotations

from functools import partial

from fabula.graph.entries import Entry
from fabula.library.drawing import Drawing, Picture, Search
from fabula.store import Store
from fabula_scholar.pictures.network.communities import find_groups
from fabula_scholar.pictures.network.figures import read_network, read_walked
from fabula_scholar.pictures.network.page import to_network_page
from fabula_scholar.pictures.network.spread import spread
from fabula_scholar.pictures.network.svg import draw_network
from fabula_scholar.pictures.shared.picture_parts import COMMUNITIES, NETWORK
from fabula_scholar.pictures.shared.png import svg_or_png


def draw(
    store: Store, entry: Entry, search: Search, format: str, *, with_communities: bool
) -> Drawing:
    """Draw the network of a document, with the entities that the search's mode visited."""
    picture = read_network(
        store,
        entry,
        search.question,
        search.mode,
        read_walked(search.trace),
        hits=search.hits,
        with_communities=with_communities,
    )
    communities = picture.communities
    groups = find_groups(communities, 0, len(picture.figures)) if communities else ()
    spots = spread(picture.figures, picture.relations, picture.walked, groups)
    if format == ".html":
        content = to_network_page(picture, spots).encode()
    else:
        content = svg_or_png(format, draw_network(picture, spots, alone=True))
    figures, walked = len(picture.figures), len(picture.walked)
    return Drawing(content, search.hits, entities=figures, walked=walked)


PICTURE = Picture(
    "network",
    "the network of its entities: who meets whom, and who speaks to whom",
    (NETWORK,),
    partial(draw, with_communities=False),
)
WITH_COMMUNITIES = Picture(
    "communities",
    "the network with its communities",
    (NETWORK, COMMUNITIES),
    partial(draw, with_communities=True),
)
