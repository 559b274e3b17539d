"""A question's filters, checked, and its hits, as the settings say how to find them."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.errors import FabulaError, NotFound
from fabula.kit import Kit
from fabula.model import Filters, Hit
from fabula.providers.counted import Meter
from fabula.retrieve import Options, retrieve
from fabula.retrieve.modes import Tools, mode
from fabula.retrieve.path import Path
from fabula.settings import STATIC, Settings
from fabula.store import Store

KINDS = ("chunk", "summary", "detail")


def refuse_senseless(question: str, kinds: Sequence[str]) -> None:
    """Raises FabulaError for a question without a character, NotFound for an unknown kind."""
    if not question.strip():
        raise FabulaError("The question is empty: ask something.")
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise NotFound(f"There is no kind {unknown[0]!r}; there are: {', '.join(KINDS)}.")


def gathered(store: Store, kit: Kit, settings: Settings, meter: Meter, path: Path) -> Tools:
    """What the settings give a mode to work with; `meter` counts calls, `path` is told steps."""
    return Tools(
        store=store,
        embedder=kit.counted_embedder(meter),
        guide=kit.guide(meter),
        aspects=kit.method.aspects,
        path=path,
        k=settings.top_k,
        width=settings.width,
        depth=settings.depth,
        fusion=settings.fusion,
    )


def search(question: str, filters: Filters, tools: Tools, settings: Settings) -> list[Hit]:
    """The passages that serve the question best, best first.

    Raises SettingsError for a mode that isn't there, or that needs a model where there is none.
    """
    name = _mode_name(settings)
    options = Options(settings.rewrite, settings.rerank, settings.diversity, settings.expand)
    with tools.path.step("retrieve", name):
        return retrieve(question, filters, mode(name), tools, options)


def _mode_name(settings: Settings) -> str:
    """Static vectors miss what words find."""
    if settings.mode != "auto":
        return settings.mode
    return "hybrid" if settings.embedding_model == STATIC else "collapsed"
