"""The modes that are installed: Fabula's own, those of the graphs, and those of other packages.

A package registers a mode as an entry point of the group `fabula.modes`. The entry point is a
`Mode` or, for a mode without options, its `retrieve` function alone.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from fabula.ask import collapsed, hybrid, naive
from fabula.ask.agent import AgentOptions
from fabula.errors import SettingsError, did_you_mean
from fabula.graph.installed import graphs, load
from fabula.graph.method import LazyFunction
from fabula.graph.mode import Mode
from fabula.packages import describe_missing

GROUP = "fabula.modes"
"""The group of entry points that modes are registered in."""


CORE_MODES = {
    "agent": Mode(
        LazyFunction("fabula.ask.agent.loop:retrieve"),
        "a model searches and reads until it can answer (A-RAG)",
        options=AgentOptions,
        answer=LazyFunction("fabula.ask.agent.loop:answer"),
        sentence="A model searches and reads step by step until it can answer; slower "
        "and more expensive than the others.",
    ),
    "collapsed": Mode(
        collapsed.retrieve,
        "all levels at once, in one ranking by cosine",
        sentence="Finds the passages and summaries that are nearest in meaning to the question.",
    ),
    "hybrid": Mode(
        hybrid.retrieve,
        "cosine and BM25 over all levels at once, without a model over chunks",
        options=hybrid.Options,
        sentence="Finds passages and summaries by meaning and by words; suits most questions.",
    ),
    "naive": Mode(
        naive.retrieve,
        "chunks alone, by cosine",
        kinds=("chunk",),
        sentence="Finds passages of the text alone by meaning, without summaries.",
    ),
}


@cache
def modes() -> dict[str, Mode]:
    """Return all installed modes by name. Raises SettingsError if two have the same name."""
    installed = [(name, "Fabula itself", mode) for name, mode in CORE_MODES.items()]
    for graph in graphs().values():
        installed += [(name, f"the graph {graph.name}", mode) for name, mode in graph.modes.items()]
    installed += [
        (entry.name, entry.value, _load_mode(entry)) for entry in entry_points(group=GROUP)
    ]
    origins: dict[str, str] = {}
    for name, origin, _ in installed:
        if name in origins:
            raise SettingsError(
                f"There are two modes named {name!r}, one of {origins[name]} and one of {origin}: "
                "remove one of the two packages."
            )
        origins[name] = origin
    return {name: mode for name, _, mode in sorted(installed, key=lambda row: row[0])}


def mode(name: str) -> Mode:
    """Return the mode of this name. Raises SettingsError if it is not installed."""
    if name in modes():
        return modes()[name]
    hint = did_you_mean(name, modes(), f"There are: {', '.join(modes())}.")
    raise SettingsError(
        f"There is no mode {name!r}. {hint} {describe_missing()}".strip(),
        advice="It is set with --mode or FABULA_MODE.",
    )


def _load_mode(entry: EntryPoint) -> Mode:
    loaded = load(entry)
    return loaded if isinstance(loaded, Mode) else Mode(loaded, f"{entry.name}, of {entry.value}")
