"""Graphs that need a model, built by the tests' endpoint upon graphs that rules have built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from endpoint import Endpoint
from fabula.build.make import make
from fabula.build.outcome import SilentProgress
from fabula.build.plan import Planner
from fabula.build.values import DocumentPlan
from fabula.config.embedding_space import name_space
from fabula.config.recipes import make_recipes
from fabula.config.settings import Settings
from fabula.graph.installed import graph, graphs
from fabula.graph.recipes import with_bases
from fabula.library import App
from fabula.library.collection import Collection
from fabula.models.counted import Meter

BY_A_MODEL = ("communities", "discourse", "facts")
"""Communities are built again for their reports."""


def build_with_a_model(
    settings: Settings, collection: str, names: Sequence[str] = BY_A_MODEL
) -> None:
    """Build graphs of all documents of a collection, and leave those that they rest on alone.

    An ordinary build with another model would make all graphs anew.
    """
    with Endpoint() as endpoint:
        online = settings.model_copy(
            update={"model": "m", "base_url": endpoint.url, "timeout": 120.0}
        )
        with App(online) as app:
            for name in names:
                _build(app.collection(collection), name)


def _build(collection: Collection, name: str) -> None:
    store, models = collection.store, collection.models
    for entry in list(collection.documents()):
        planner = Planner(store, models, collection.name, [name])
        every = with_bases(graphs(), [name, *(each for each in entry.graphs if each in graphs())])
        recipes = make_recipes(models.settings, entry.sha256, every)
        plan: DocumentPlan = planner._plan(entry, [graph(name)], recipes, {})
        [part] = make(replace(plan, strict=True), models, SilentProgress(), Meter()).parts
        # It rests on the parts that are there, and not on those that this model would make.
        below = {base: entry.graphs[base].fingerprint for base in part.record.made_from["rests_on"]}
        record = replace(part.record, made_from={**part.record.made_from, "rests_on": below})
        store.apply([replace(part, record=record)], name_space(models.settings))
