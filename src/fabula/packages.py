"""The packages beside the core: what each brings, where it is installed."""

from __future__ import annotations

from importlib.util import find_spec

BESIDE = {
    "fabula_graphs": "the graphs speech, discourse, facts, identities and collection_communities, "
    "with their commands, modes and RDF",
    "fabula_scholar": "concordances, collocates, key words and n-grams, pictures, and the formats "
    "TEI, BookNLP, CATMA and Obsidian",
    "fabula_bench": "experiments",
}
"""They come in by entry points: nothing of Fabula imports them."""


def describe_missing() -> str:
    """Return in a sentence which of the packages are not here and what they bring; '' if none."""
    missing = [f"{name} ({what})" for name, what in BESIDE.items() if not _is_here(name)]
    return f"Not installed here: {'; '.join(missing)}." if missing else ""


def _is_here(name: str) -> bool:
    spec = find_spec(name)
    # A folder of that name, as that of its tests, is a package of Python's, too, but has no origin.
    return spec is not None and spec.origin is not None
