"""Small casts made by hand, for tests of the entity graph's ways to ask."""

from __future__ import annotations

from collections.abc import Mapping

from fabula.graphs.entities.network import Network, make_network


def network(
    entities: Mapping[str, tuple[str, str]],
    relations: Mapping[str, tuple[str, str, str]],
    facts: Mapping[str, tuple[str, str, str]] | None = None,
    *,
    chunks: str = "",
    types: Mapping[str, str] | None = None,
    keywords: Mapping[str, str] | None = None,
    language: str = "en",
) -> Network:
    """A network.

    `entities`: names ("Fred|Scrooge"; the first counts as often as there are chunks, others once)
    and chunks ("c1 c2") by id; `relations` and `facts`: two entities and chunks by id. There are no
    chunks but these, unless some are named.
    """
    told = {chunk for _, some in entities.values() for chunk in some.split()}
    cast: dict[str, list[object]] = {
        name: [] for name in ("ids", "keys", "names", "counts", "types", "sources")
    }
    for id, (names, some) in entities.items():
        forms = names.split("|")
        cast["ids"].append(id)
        cast["keys"].append(forms[0].casefold())
        cast["names"].append(forms)
        cast["counts"].append([max(1, len(some.split())), *[1] * (len(forms) - 1)])
        cast["types"].append((types or {}).get(id, "person"))
        cast["sources"].append(some.split())
    return make_network(
        cast,
        chunks.split() if chunks else sorted(told),
        _columns(relations, keywords or {}),
        _columns(facts or {}, {}),
        language,
    )


def _columns(
    links: Mapping[str, tuple[str, str, str]], keywords: Mapping[str, str]
) -> dict[str, list[object]]:
    return {
        "ids": list(links),
        "starts": [start for start, _, _ in links.values()],
        "ends": [end for _, end, _ in links.values()],
        "counts": [len(some.split()) for _, _, some in links.values()],
        "sources": [some.split() for _, _, some in links.values()],
        "keywords": [keywords.get(id, "").split() for id in links],
    }
