"""What can be seen of a book: a link for each of its graphs that a screen shows."""

from __future__ import annotations

from fabula.graph.entries import Entry
from fabula.library.drawing import pictures
from fabula.operations.choices import title_of
from fabula.operations.kit import find_operations
from fabula.service.http.addresses import address


def list_ways(collection: str, entry: Entry, q: str = "") -> list[tuple[str, str]]:
    """Return the names and the addresses of the screens of a book's graphs.

    Trees, people and the story so far have screens of their own. Another graph is shown by the
    picture that is drawn from it, or else by the operation of its name.
    """
    book = ("c", collection, "d", entry.id)
    found = {
        "aspects": ("Trees", address(*book, "trees", q=q)),
        "entities": ("People", address(*book, "entities", q=q)),
        "episodes": (title_of("episodes"), address(*book, "recap")),
    }
    for picture in pictures().values():
        for graph in picture.graphs[-1:]:
            found.setdefault(graph, (title_of(graph), address(*book, "pictures", picture.name)))
    for each in find_operations():
        if each.has_screen and each.has_collection:
            screen = address(
                "c", collection, each.group.lower(), tool=each.name, document=entry.id, run="true"
            )
            found.setdefault(each.name, (title_of(each.name), screen))
    return [way for graph, way in found.items() if graph in entry.graphs]
