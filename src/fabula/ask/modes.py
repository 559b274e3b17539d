"""Ways to find passages, by name: the core's own, those that graphs bring, and other packages'.

A package registers a mode as an entry point of the group `fabula.modes`: a `Mode`, or its function
alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from fabula.ask import collapsed, hybrid, naive
from fabula.errors import SettingsError, did_you_mean
from fabula.graph.installed import graphs, load
from fabula.graph.mode import Kind, Mode

GROUP = "fabula.modes"


# Plain RAG's in GraphRAG-Bench's Novel table (Xiang et al. 2025, arXiv 2506.05690; as its site had
# it in 2026): passages by cosine, beside which summaries and details stand here.
PLAIN: Mapping[Kind, float] = {
    "fact": 58.76,
    "reasoning": 41.35,
    "overview": 50.08,
    "creative": 41.52,
}
CORE = {
    "collapsed": Mode(
        collapsed.retrieve, "all levels at once, in one ranking by cosine", serves=PLAIN
    ),
    "hybrid": Mode(
        hybrid.retrieve,
        "cosine and BM25 over all levels at once",
        knobs=hybrid.Knobs,
        serves=PLAIN,
        # Measured on three novels: sentences, 1,000 tokens (`python -m bench choosing`).
        serves_offline={"fact": 64.5, "reasoning": 47.1, "overview": 35.0, "creative": 26.5},
    ),
    "naive": Mode(naive.retrieve, "chunks alone, by cosine", kinds=("chunk",)),
}


@cache
def modes() -> dict[str, Mode]:
    """The modes that are installed, by name. Raises SettingsError for a name in two places."""
    found = [(name, "Fabula itself", mode) for name, mode in CORE.items()]
    for graph in graphs().values():
        found += [(name, f"the graph {graph.name}", mode) for name, mode in graph.modes.items()]
    found += [(entry.name, entry.value, _loaded(entry)) for entry in entry_points(group=GROUP)]
    places: dict[str, str] = {}
    for name, place, _ in found:
        if name in places:
            raise SettingsError(
                f"There are two modes named {name!r}, one of {places[name]} and one of {place}: "
                "remove one of the two packages."
            )
        places[name] = place
    return {name: mode for name, _, mode in sorted(found, key=lambda one: one[0])}


def mode(name: str) -> Mode:
    """The mode of that name. Raises SettingsError for one that no package has."""
    if name in modes():
        return modes()[name]
    hint = did_you_mean(name, modes(), f"There are: {', '.join(modes())}.")
    raise SettingsError(
        f"There is no mode {name!r}. {hint}", advice="It is set with --mode or FABULA_MODE."
    )


def _loaded(entry: EntryPoint) -> Mode:
    loaded = load(entry)
    return loaded if isinstance(loaded, Mode) else Mode(loaded, f"{entry.name}, of {entry.value}")
