"""How a job is to be done: by whom it may be taken up, and why it waits for another server.

A job keeps what decides its result by the settings of the process that it was begun in. A worker
with other settings leaves it, so that a book is never made otherwise than it was asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fabula.graph import differences, fingerprint
from fabula.text.names import quoted

if TYPE_CHECKING:
    from fabula.app import App
    from fabula.service.core.jobs.job import Item, Kind
    from fabula.service.core.jobs.uploads import Uploads

ANY = ""
"""The recipe of what every worker does alike, and of jobs that an earlier version has begun."""
MAX_NAMED = 4
"""How many differences between two recipes are told one by one."""
MAX_VALUE = 80
"""Characters of a value that is told; of a longer one only that it is another."""
ORDER = ("models", "chunks", "default_graphs", "uploads", "graphs")
"""What a recipe has, what says most first."""
SHORT = ("chunks", "models", "settings", "graphs")
"""Parts of a setting's place in a recipe that say nothing to a person."""


@dataclass(frozen=True, slots=True)
class _Own:
    """The recipes of the kinds of jobs by one process' settings."""

    build: dict[str, Any]
    ingest: dict[str, Any]
    ingest_default: dict[str, Any]
    """Of documents that come in with the graphs that the settings name."""
    embed: dict[str, Any]


class Recipes:
    """The recipes by which one process does jobs. Safe to share between threads."""

    def __init__(self, app: App, uploads: Uploads) -> None:
        self._app, self._uploads = app, uploads

    @cached_property
    def digests(self) -> list[str]:
        """The digests of all recipes by which jobs are done here."""
        own = self._own
        each = (own.build, own.ingest, own.ingest_default, own.embed)
        return [ANY, *map(fingerprint, each)]

    @cached_property
    def _own(self) -> _Own:
        settings = self._app.settings
        build = self._app.kit.build_recipe()
        ingest = build | {"uploads": self._uploads.id()}
        return _Own(
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
        before: Mapping[str, Any] | None = None,
    ) -> tuple[str, str]:
        """Return the digest and the JSON of how a job is to be done that is begun here.

        Where a job goes on, `before` is the recipe that it had, and `items` are those that are
        still to be done: if their files are at another server, it goes on there.
        """
        own = self._own
        if kind == "ingest":
            recipe = own.ingest if options.get("graphs") else own.ingest_default
            elsewhere = (before or {}).get("uploads", recipe["uploads"])
            if elsewhere != recipe["uploads"] and not self._has_files(items):
                recipe = recipe | {"uploads": elsewhere}
        elif kind in ("build", "retry"):
            recipe = own.build
        else:
            recipe = own.embed if kind == "reembed" else {}
        return (fingerprint(recipe) if recipe else ANY), json.dumps(recipe, ensure_ascii=False)

    def explain(self, digest: str, made_with: str | None, kind: Kind) -> str:
        """Return why a job is not taken up here; '' where it is."""
        if digest in self.digests:
            return ""
        own, wanted = self._own, json.loads(made_with or "{}")
        if kind == "ingest":
            here = own.ingest_default if "default_graphs" in wanted else own.ingest
        else:
            here = own.embed if kind == "reembed" else own.build
        return _sentence(wanted, here)

    def _has_files(self, items: Iterable[Item]) -> bool:
        uploads = self._uploads
        return all(uploads.path(item.upload).is_file() for item in items if item.upload)


def _sentence(wanted: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    names = sorted(differences(wanted, here), key=_place)
    named = [_difference(name, wanted, here) for name in names[:MAX_NAMED]]
    if len(names) > MAX_NAMED:
        named.append(f"{len(names) - MAX_NAMED} more differences")
    return (
        "It waits for a server that does it as it was asked for: "
        f"{'; '.join(named) or 'with other settings than this one'}. Start one with those "
        "settings; or cancel the job and retry it here, and it is done with the settings of this "
        "server."
    )


def _difference(name: str, wanted: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """Return how two recipes differ at one place, as 'chunk_tokens 200 (this one has 40)'."""
    path = name.split(".")
    if path[-1] == "uploads":
        return "with the folder of uploads that its files are in (this one has another)"
    if path[-1] == "prompts":
        return f"with other prompts of the graph {path[1]}"
    if path[0] == "graphs" and len(path) == 2:
        return f"with the graph {path[1]} {'not ' if path[1] in here['graphs'] else ''}installed"
    shown = ".".join(part for part in path if part not in SHORT)
    shown = "graphs" if shown == "default_graphs" else shown
    there, own = _value(wanted, path), _value(here, path)
    if max(len(there), len(own)) > MAX_VALUE:
        return f"another {shown}"
    return f"{shown} {there} (this one has {own})"


def _value(recipe: Mapping[str, Any], path: Sequence[str]) -> str:
    value: Any = recipe
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else None
    if isinstance(value, str):
        return quoted(value)
    return "none" if value is None else json.dumps(value, ensure_ascii=False)


def _place(name: str) -> int:
    """Return where a difference is told; one that only a newer Fabula knows comes last."""
    top = name.split(".")[0]
    return ORDER.index(top) if top in ORDER else len(ORDER)
