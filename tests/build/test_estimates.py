"""A dry run counts the calls that the build makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from building import in_order
from endpoint import Endpoint
from fabula.build.driver import Rounds, run
from fabula.build.make import open_build
from fabula.build.outcome import SilentProgress
from fabula.build.values import DocumentPlan, GraphPlan
from fabula.config.model_factory import ModelFactory
from fabula.config.recipes import make_recipes
from fabula.config.settings import Settings
from fabula.graph import TEXT
from fabula.graph.installed import graphs
from fabula.graph.method import Known
from fabula.load import read_text
from fabula.models.counted import Meter
from fabula.models.parallel import TaskGroup
from fabula.models.placeholders import DryRun
from fabula.text.document import Vector
from small_models import STATIC
from stories import WINTER, harbour_story


def plan(text: str, settings: Settings) -> DocumentPlan:
    document = read_text(text, source="book", collection="default")
    known = [graph for graph in graphs().values() if graph.build and not graph.needs_model]
    built = in_order(known)
    names = [graph.name for graph in built]
    assert {"aspects", "entities", "communities", "episodes"} <= {*names}
    recipes = make_recipes(settings, document.sha256, built)
    steps = tuple(
        GraphPlan(
            graph.name,
            settings.table(graph.name),
            recipes[graph.name],
            (*graph.rests_on, *(name for name in graph.uses if name in names)),
            Known(),
        )
        for graph in built
    )
    return DocumentPlan(
        status="added",
        document=document,
        text_recipe=recipes[TEXT],
        chunks=(),
        graphs=steps,
        unchanged={},
    )


@pytest.mark.parametrize("text", [WINTER, harbour_story("slept", 8)])
def test_without_a_chat_model_it_counts_as_many_calls_of_all_graphs(
    text: str, tmp_path: Path
) -> None:
    def embed(text: str, dimensions: int) -> Vector:
        """A placeholder's, as other vectors would make another tree of summaries."""
        row: Vector = STATIC.embed([text], "passage").vectors[0]
        return row

    with Endpoint(embed=embed) as server:
        settings = Settings(
            base_url=server.url,
            api_key="sk-test",
            model="offline",
            embedding_model="text-embedding-3-small",
            chunk_tokens=40,
            cache_folder=tmp_path,
            concurrency=1,
        )
        models, expected, paid = ModelFactory(settings), Meter(), Meter()
        dry = models.view(dry_run=DryRun(embedded=set())).models
        with TaskGroup(models.workers) as job:
            whole = open_build(plan(text, settings), dry, expected)
            assert Rounds(whole, job, SilentProgress()).resume(job).is_done
        assert server.paid_calls == 0
        with TaskGroup(models.workers) as job:
            run(open_build(plan(text, settings), models.models, paid), job, SilentProgress())
        models.close()
        assert (expected.total().calls, expected.total().saved) == (
            paid.total().calls,
            paid.total().saved,
        )
        assert server.paid_calls == paid.total().calls > 5
