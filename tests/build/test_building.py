"""What becomes stale with what: graphs that rest on others, and graphs that use them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pydantic import BaseModel

from cases import for_each
from fabula.errors import SettingsError
from fabula.graph import TEXT, Record, fingerprint
from fabula.graph.builds import settle
from fabula.graph.entries import Entry
from fabula.graph.installed import _refuse_unfit
from fabula.graph.method import Built, Graph
from fabula.graph.parts import document_of
from fabula.graph.recipes import (
    Recipe,
    document_base,
    find_stale,
    recipe,
    text_recipe,
    with_bases,
    with_dependents,
    with_relatives,
)
from fabula.graph.structure import read_structure, structure_of
from fabula.text.chunk import split
from fabula.text.document import Document, Section
from graphs import small_document, vector


class Knobs(BaseModel):
    """None."""


def graph(name: str, rests_on: tuple[str, ...] = (), uses: tuple[str, ...] = ()) -> Graph[Any]:
    return Graph(
        name, name, 1, Knobs, lambda *_: settle(Built((), ())), rests_on=rests_on, uses=uses
    )


ENTITIES, ASPECTS = graph("entities"), graph("aspects")
FACTS = graph("facts", rests_on=("entities",))
EVENTS = graph("events", uses=("entities",))
ALL = {one.name: one for one in (ASPECTS, ENTITIES, FACTS, EVENTS)}


def recipes(*graphs: Graph[Any], entities: int = 1) -> dict[str, Recipe]:
    found = {TEXT: text_recipe("sha", 200, "static")}
    for graph in graphs:
        settings = {"knob": entities} if graph is ENTITIES else {}
        found[graph.name] = recipe(graph, settings, {}, document_base(graph, found), offline=True)
    return found


def entry(*graphs: Graph[Any]) -> Entry:
    made = {name: Record(made_from) for name, made_from in recipes(*graphs).items()}
    return Entry("id", "main", "a.txt", "A", "", "en", "sha", 10, "", "", made)


def test_what_rests_on_a_graph_or_uses_it_is_stale_with_it() -> None:
    graphs = (ASPECTS, ENTITIES, FACTS, EVENTS)
    there = entry(*graphs)
    assert find_stale(graphs, there, recipes(*graphs)) == []
    changed = recipes(*graphs, entities=2)
    assert find_stale(graphs, there, changed) == ["entities", "facts", "events"]


def test_what_uses_a_graph_is_stale_once_that_comes_in_and_once_it_goes() -> None:
    alone, both = (EVENTS,), (ENTITIES, EVENTS)
    assert find_stale(both, entry(*alone), recipes(*both)) == ["entities", "events"]
    assert find_stale(alone, entry(*both), recipes(*alone)) == ["events"]
    assert find_stale(alone, entry(*alone), recipes(*alone)) == []


def test_a_recipe_tells_of_what_is_used_only_where_it_is_there() -> None:
    alone, both = recipes(EVENTS), recipes(ENTITIES, EVENTS)
    assert set(alone["events"]["rests_on"]) == {TEXT}
    assert both["events"]["rests_on"]["entities"] == fingerprint(both["entities"])


def test_a_graph_brings_what_it_rests_on_and_is_dropped_with_it_but_not_with_what_it_uses() -> None:
    assert [base.name for base in with_bases(ALL, {"facts"})] == ["entities", "facts"]
    assert [base.name for base in with_bases(ALL, {"events"})] == ["events"]
    assert with_dependents(ALL, {"entities"}) == {"entities", "facts"}


@for_each("name", ["entities", "facts", "events"])
def test_relatives_are_built_together_and_strangers_left_alone(name: str) -> None:
    assert with_relatives(ALL, {name}) == {"entities", "facts", "events"}
    assert with_relatives(ALL, {"aspects"}) == {"aspects"}


def test_what_is_not_there_makes_nobody_relatives() -> None:
    there = {"facts": FACTS, "events": EVENTS}
    assert with_relatives(there, {"facts"}) == {"facts"}


def test_a_document_s_graph_can_not_use_what_belongs_to_a_collection() -> None:
    own: Graph[Any] = Graph(
        "own", "own", 1, Knobs, build_collection=lambda *_: settle(Built((), ()))
    )
    with pytest.raises(SettingsError, match="a document's, rests on 'own'"):
        _refuse_unfit({"own": own, "events": graph("events", uses=("own",))})
    _refuse_unfit({"events": graph("events", uses=("not installed",))})


def letters(*sections: tuple[str, str]) -> Document:
    """A document of sections, each with its heading as it is printed and what stands below it."""
    text, starts = "A word before.\n\n", []
    for title, body in sections:
        starts.append(Section(" ".join(title.split()), len(text)))
        text += f"{title}\n\n{body}\n\n"
    document = replace(small_document(), text=text, sections=tuple(starts))
    return replace(document, left_out={"notes": 3}, warnings=("A page is missing.",))


@for_each(
    "sections",
    [
        [("Letter", "Dear Anna."), ("Letter", "Dear Boris."), ("The End", "He died.")],
        [("Letter", "Dear Anna. " * 200), ("Letter", "Letter by letter he read on. " * 200)],
        [("Letter", ""), ("Letter", "Dear Boris.")],
        [("A LETTER\nFROM ANNA", "Dear me."), ("A LETTER\nFROM ANNA", "Dear you.")],
    ],
)
def test_a_document_that_is_read_back_has_the_sections_it_came_with(
    sections: list[tuple[str, str]],
) -> None:
    document = letters(*sections)
    chunks = [replace(chunk, embedding=vector(1)) for chunk in split(document, 60)]
    entry = cast(Entry, SimpleNamespace(**asdict_of(document)))
    structure = read_structure(structure_of(document).properties())
    assert document_of(entry, chunks, structure) == document


def asdict_of(document: Document) -> dict[str, object]:
    facts = ("id", "collection", "source", "title", "author", "language", "sha256")
    names = (*facts, "published", "edition", "reading", "left_out", "warnings", "appended")
    metadata = {"stated": document.metadata}
    return metadata | {name: getattr(document, name) for name in names}
