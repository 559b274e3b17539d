"""The aspect graph: a tree of summaries for each aspect of a text, and details.

An extension of RAPTOR (Sarthi et al. 2024, arXiv 2401.18059), whose one tree of general summaries
becomes a tree for each aspect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from fabula.graph import CHUNK
from fabula.graph.method import Graph, LazyFunction
from fabula.graph.queries import FOLDER
from fabula.graphs.aspects import labels, prompts
from fabula.graphs.aspects.modes import MODES
from fabula.graphs.aspects.options import CHAT_ONLY, CHOOSING, Options

if TYPE_CHECKING:
    from fabula.graphs.aspects.values import Aspect


def _settings(options: Options, offline: bool) -> Mapping[str, Any]:
    """Return the options that the result depends on, with the aspect set written out."""
    from fabula.graphs.aspects.sets import chosen_aspects

    aspect_set = chosen_aspects(options)
    # The words for the kind of text go into prompts alone.
    words = {} if offline else {"words": list(astuple(aspect_set.words))}
    # So another set in a file of the same name is seen as a change.
    aspects = {
        aspect.name: [aspect.description, aspect.focus, *_summariser(aspect)]
        for aspect in aspect_set.aspects
    }
    left_out = CHOOSING | (CHAT_ONLY if offline else frozenset())
    return options.model_dump(mode="json", exclude=set(left_out)) | {"set": aspects} | words


def _summariser(aspect: Aspect) -> list[str]:
    if not aspect.summariser:
        return []
    from fabula.graphs.aspects.summarisers import summariser_version

    return [f"{aspect.summariser} {summariser_version(aspect)}".strip()]


def _aspects(options: Options) -> Mapping[str, str]:
    from fabula.graphs.aspects.sets import chosen_aspects

    return {aspect.name: aspect.description for aspect in chosen_aspects(options).aspects}


def _describe(facts: Mapping[str, Any]) -> Sequence[str]:
    lines = []
    if rounds := facts.get("rounds"):
        missed = Counter(facts.get("missed_in", ()))
        after = ", ".join(
            f"{count} missing after round {number}" for number, count in sorted(missed.items())
        )
        names = ", ".join(dict.fromkeys(facts.get("missed", ())))
        looked = f"aspects looked for in {rounds} round{'s' if rounds > 1 else ''}"
        lines.append(f"{looked}: {f'{after} ({names})' if missed else 'none was missing'}")
    if facts.get("assigned"):
        names = ", ".join(facts["assigned"])
        lines.append(f"found in no cluster, so assigned to the nearest one: {names}")
    return lines


GRAPH = Graph(
    name="aspects",
    title="Summaries",
    about="a tree of summaries for each narrative aspect, and details",
    version=1,
    options=Options,
    build=LazyFunction(f"{__name__}.build:build"),
    passages=(labels.SUMMARY, labels.DETAIL),
    edges=(labels.SUMMARIZES, labels.DETAILS),
    connects=(
        (labels.SUMMARY, labels.SUMMARIZES, CHUNK),
        (labels.SUMMARY, labels.SUMMARIZES, labels.SUMMARY),
        (labels.DETAIL, labels.DETAILS, CHUNK),
    ),
    modes=MODES,
    prompts=prompts.FOLDER,
    cypher=FOLDER / "aspects",
    settings=_settings,
    describe=_describe,
    aspects=_aspects,
    tools=LazyFunction(f"{__name__}.tools:make_tools"),
)
