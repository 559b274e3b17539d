"""The settings of communities of a collection: the table `[collection_communities]`."""

from __future__ import annotations

from fabula.graphs.communities.labels import Labels
from fabula.graphs.communities.options import DivisionOptions

IDENTITIES = "identities"
"""The graph that says who is whom across documents."""
LABELS = Labels("CollectionCommunity", "CollectionReport")


class Options(DivisionOptions):
    """How the graph is made, as a document's communities are."""
