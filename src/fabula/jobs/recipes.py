"""The recipe of a job: which servers may run it, and why it waits for another one.

A job is saved with the settings that decide its result, as they were in the process that added it.
A worker with other settings does not take it, so that a document is never built in another way than
was asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabula.config.recipes import make_build_recipe
from fabula.graph import differences, fingerprint
from fabula.jobs.job import OF_FILES, Item, Kind
from fabula.jobs.uploads import Uploads
from fabula.library import App
from fabula.text.names import quote_name

ANY_SERVER = ""
"""The digest of jobs that every worker does alike."""
MAX_DIFFERENCES = 4
"""How many differences between two recipes are named; the others are counted."""
MAX_VALUE_CHARACTERS = 80
"""The longest value that is shown; of a longer one it is only said that it differs."""
ORDER = ("models", "chunks", "default_graphs", "uploads", "graphs")
"""The parts of a recipe, most telling first."""
HIDDEN = ("chunks", "models", "settings", "graphs")
"""The parts of a path in a recipe that mean nothing to a reader."""


@dataclass(frozen=True, slots=True)
class _OwnRecipes:
    """The recipes of the kinds of jobs by the settings of this process."""

    build: dict[str, Any]
    ingest: dict[str, Any]
    ingest_default: dict[str, Any]
    """For documents that are ingested with the graphs that the settings name."""
    embed: dict[str, Any]


class Recipes:
    """The recipes by which this process does jobs. Safe to share between threads."""

    def __init__(self, app: App, uploads: Uploads) -> None:
        self._app, self._uploads = app, uploads

    @cached_property
    def digests(self) -> list[str]:
        """The digests of all recipes by which this process does jobs."""
        ours = self._own_recipes
        each = (ours.build, ours.ingest, ours.ingest_default, ours.embed)
        return [ANY_SERVER, *map(fingerprint, each)]

    @cached_property
    def _own_recipes(self) -> _OwnRecipes:
        settings = self._app.settings
        build = make_build_recipe(settings)
        ingest = build | {"uploads": self._uploads.id()}
        return _OwnRecipes(
            build=build,
            ingest=ingest,
            ingest_default=ingest | {"default_graphs": list(settings.graphs)},
            embed={"models": {"embedding_model": settings.embedding_model}},
        )

    def of(
        self,
        kind: Kind,
        options: Mapping[str, Any],
        items: Iterable[Item] = (),
        previous: Mapping[str, Any] | None = None,
    ) -> tuple[str, str]:
        """Return the recipe of a job that is added or resumed here, as a digest and as JSON.

        Args:
            kind: The kind of the job.
            options: Its options.
            items: The items that are still to be done, of a job that is resumed.
            previous: The recipe that a resumed job had. If the files of `items` are at another
                server, the job continues there.
        """
        ours = self._own_recipes
        if kind in OF_FILES:
            names_graphs = kind == "annotate" or options.get("graphs")
            recipe = ours.ingest if names_graphs else ours.ingest_default
            elsewhere = (previous or {}).get("uploads", recipe["uploads"])
            if elsewhere != recipe["uploads"] and not self._has_files(items):
                recipe = recipe | {"uploads": elsewhere}
        elif kind in ("build", "renew"):
            recipe = ours.build
        else:
            recipe = ours.embed if kind == "reembed" else {}
        return (fingerprint(recipe) if recipe else ANY_SERVER), json.dumps(
            recipe, ensure_ascii=False
        )

    def explain(self, digest: str, made_with: str | None, kind: Kind) -> str:
        """Return why this process does not take a job; '' if it does."""
        if digest in self.digests:
            return ""
        ours, recipe = self._own_recipes, json.loads(made_with or "{}")
        if kind in OF_FILES:
            here = ours.ingest_default if "default_graphs" in recipe else ours.ingest
        else:
            here = ours.embed if kind == "reembed" else ours.build
        return _explain(recipe, here)

    def _has_files(self, items: Iterable[Item]) -> bool:
        uploads = self._uploads
        return all(uploads.path(item.upload).is_file() for item in items if item.upload)


def _explain(recipe: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    names = sorted(differences(recipe, here), key=_rank)
    described = [_describe_difference(name, recipe, here) for name in names[:MAX_DIFFERENCES]]
    if len(names) > MAX_DIFFERENCES:
        described.append(f"{len(names) - MAX_DIFFERENCES} more differences")
    return (
        "It waits for a server that does it as it was asked for: "
        f"{'; '.join(described) or 'with other settings than this one'}. Start a server with those "
        "settings, or cancel the job and retry it here to use the settings of this server."
    )


def _describe_difference(name: str, recipe: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """Return how two recipes differ at one path, as 'chunk_tokens 200 (this one has 40)'."""
    path = name.split(".")
    if path[-1] == "uploads":
        return "with the folder of uploads that its files are in (this one has another)"
    if path[-1] == "prompts":
        return f"with other prompts of the graph {path[1]}"
    if path[0] == "graphs" and len(path) == 2:
        return f"with the graph {path[1]} {'not ' if path[1] in here['graphs'] else ''}installed"
    shown = ".".join(part for part in path if part not in HIDDEN)
    shown = "graphs" if shown == "default_graphs" else shown
    theirs, ours = _value(recipe, path), _value(here, path)
    if max(len(theirs), len(ours)) > MAX_VALUE_CHARACTERS:
        return f"another {shown}"
    return f"{shown} {theirs} (this one has {ours})"


def _value(recipe: Mapping[str, Any], path: Sequence[str]) -> str:
    value: Any = recipe
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else None
    if isinstance(value, str):
        return quote_name(value)
    return "none" if value is None else json.dumps(value, ensure_ascii=False)


def _rank(name: str) -> int:
    """Return the rank of a difference; one that only a newer Fabula knows comes last."""
    top = name.split(".")[0]
    return ORDER.index(top) if top in ORDER else len(ORDER)
