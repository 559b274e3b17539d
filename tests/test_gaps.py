"""What a model does not give is a gap: the document comes in without it, and it is asked again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from conftest import cypher
from endpoint import Endpoint
from endpoint.faults import Fault
from fabula import Fabula, Outcome
from fabula.cli import main
from fabula.store import Store
from kills import story

Words = tuple[str, ...]
MURDER = "Then Anna murdered the miller with an axe, and his blood ran over the floor."
"""What no filter likes."""
SEVERAL, ALONE = "Below are", "<passage>\n"
"""What tells the prompts for details, of several chunks and of one."""
DETECTION = "Which of the aspects are clearest"
TIMES = 6
"""How often a reply that can't be read is asked for."""


@pytest.fixture
def endpoint(graph_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with Endpoint() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("FABULA_CHUNK_TOKENS", "48")
        yield server


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "winter.txt"
    text = story("cold")
    half = text.index("CHAPTER III")
    path.write_text(f"Title: Winter\n\n{text[:half]}{MURDER}\n\n{text[half:]}")
    return path


def run(*words: str | Path, code: int = 0) -> Result:
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def ingest(book: Path, **settings: Any) -> Outcome:
    with Fabula(**settings) as fabula:
        [outcome] = fabula.ingest(book)
    return outcome


def violations() -> tuple[Any, ...]:
    with Fabula() as fabula:
        return fabula.check().violations


def chats(endpoint: Endpoint) -> list[str]:
    """The prompts that a chat model was asked."""
    return [body["messages"][-1]["content"] for body in endpoint.bodies if "messages" in body]


def asked_anew(endpoint: Endpoint, book: Path, **settings: Any) -> tuple[Outcome, list[str]]:
    """An ingest in which nothing is withheld any more, and the prompts that it took."""
    endpoint.withheld = {}
    endpoint.bodies.clear()
    outcome = ingest(book, **settings)
    return outcome, chats(endpoint)


def passages(store: Store, most: int = 99) -> dict[str, str]:
    """The texts of the aspect graph up to a level, by their ids."""
    rows = cypher(
        store,
        "MATCH (n:Summary|Detail) WHERE n.level <= $most RETURN n.id AS id, n.text AS text",
        most=most,
    )
    return {row["id"]: row["text"] for row in rows}


def without_trouble(book: Path, store: Store) -> dict[str, str]:
    """The graph as it is where every reply comes; it is taken out again, and nothing is kept."""
    assert ingest(book, cache=False).gaps == ()
    whole = passages(store)
    with Fabula() as fabula:
        fabula.remove("Winter")
    return whole


def withhold_details(endpoint: Endpoint, fault: Fault) -> None:
    """Nothing is told of what the murder's chunk says, alone or with others."""
    endpoint.withheld = {(SEVERAL, MURDER): fault, (ALONE, MURDER): fault}


def withhold_summary(endpoint: Endpoint, store: Store, level: int) -> Mapping[str, Any]:
    """A summary of that level is withheld; which one."""
    [row, *_] = cypher(
        store,
        "MATCH (s:Summary {level: $level})-[:SUMMARIZES]->(m) WITH s, m ORDER BY m.start, m.id "
        "WITH s, collect(m) AS members WHERE size(members) > 1 "
        "RETURN s.id AS id, s.aspect AS aspect, [m IN members | m.id] AS members, "
        "[m IN members | m.text] AS texts ORDER BY id LIMIT 1",
        level=level,
    )
    words = tuple(text.strip() for text in row["texts"])
    endpoint.withheld = {(f"<aspect>\n{row['aspect']}:", *words): "filtered"}
    return row


# It goes in


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("nonsense", "No usable reply in 6 tries"),
        ("refusal", "declined"),
        ("filtered", "content filter"),
        ("blocked", "withheld a text"),
        ("context", "too long"),
    ],
)
def test_a_document_goes_in_without_the_details_of_a_chunk(
    fault: Fault, why: str, endpoint: Endpoint, book: Path, store: Store
) -> None:
    withhold_details(endpoint, fault)
    outcome = ingest(book)
    assert (outcome.status, outcome.error) == ("added", None)
    [gap] = outcome.gaps
    assert gap.step == "details"
    assert why in gap.why
    assert "gap" not in outcome.counts
    [row] = cypher(
        store,
        "MATCH (g:Element:Gap)-[lacks:LACKS]->(c:Chunk) RETURN g.step AS step, g.why AS why, "
        "g.sources = [c.id] AS rests, g.start = c.start AND g.end = c.end AS there, c.text AS text",
    )
    assert (row["step"], row["why"], row["rests"], row["there"]) == ("details", gap.why, True, True)
    assert MURDER in row["text"]
    bare = cypher(store, "MATCH (c:Chunk) WHERE NOT (c)<-[:DETAILS]-() RETURN c.text AS text")
    assert bare == [{"text": row["text"]}]
    assert violations() == ()


def test_people_and_programs_are_told_of_a_gap(endpoint: Endpoint, book: Path) -> None:
    withhold_details(endpoint, "refusal")
    told = run("ingest", book).output
    assert "1 gap, 1 in details, as No usable reply in 6 tries: gpt" in told
    assert "; `fabula ingest --retry` asks again" in told
    assert "1 added, with 1 gap; " in told
    listed = run("list").output
    assert "aspects (1 gap)" in listed
    assert "1 gap in 1 document: `fabula ingest --retry` asks for them again" in listed
    shown = run("show", "Winter").output
    assert "  1 gap, asked for again by `fabula ingest --retry`:" in shown
    assert "    details · CHAPTER II · characters " in shown
    checked = run("check").output
    assert checked.startswith("All well")
    assert "Note: aspects has gaps, 1 in 1 documents, as in Winter: " in checked
    [told_of] = json.loads(run("show", "Winter", "--json").output)["gaps"]
    assert (told_of["graph"], told_of["step"]) == ("aspects", "details")
    assert told_of["properties"]["section"] == "CHAPTER II"
    with Fabula() as fabula:
        entry = fabula.document("Winter")
        assert (entry.gaps, entry.graphs["aspects"].gaps, entry.graphs["text"].gaps) == (1, 1, 0)
        assert [gap.step for gap in fabula.gaps(entry.id)["aspects"]] == ["details"]
        assert fabula.stale(entry) == {}, "nothing is made from something else now"


# It is asked for again


def test_the_next_ingest_asks_for_the_details_alone(
    endpoint: Endpoint, book: Path, store: Store
) -> None:
    whole = without_trouble(book, store)
    withhold_details(endpoint, "refusal")
    ingest(book)
    outcome, asked = asked_anew(endpoint, book, cache=False)
    assert (outcome.status, outcome.gaps) == ("replaced", ())
    [prompt] = asked
    assert ALONE in prompt
    assert MURDER in prompt
    assert passages(store) == whole
    assert cypher(store, "MATCH (g:Gap) RETURN g") == []
    assert violations() == ()
    assert ingest(book).status == "unchanged"


def test_the_next_ingest_asks_for_a_summary_and_what_stands_above_it(
    endpoint: Endpoint, book: Path, store: Store
) -> None:
    ingest(book, cache=False)
    lost = withhold_summary(endpoint, store, 1)
    whole = without_trouble_again(book, store)
    [gap] = ingest(book).gaps
    assert (gap.step, gap.properties["aspect"], gap.properties["level"]) == (
        "summaries",
        lost["aspect"],
        1,
    )
    assert gap.rests_on.keys() == set(lost["members"])
    assert lost["id"] not in passages(store)
    outcome, asked = asked_anew(endpoint, book, cache=False)
    assert outcome.gaps == ()
    assert all(f"<aspect>\n{lost['aspect']}:" in prompt for prompt in asked)
    assert len(asked) < 5, "the summary, and one of each level above it"
    low = passages(store, most=1)
    assert low == {id: whole[id] for id in low}
    assert lost["id"] in low
    assert violations() == ()


def without_trouble_again(book: Path, store: Store) -> dict[str, str]:
    """What is there, which is taken out again."""
    whole = passages(store)
    with Fabula() as fabula:
        fabula.remove("Winter")
    return whole


def test_a_summary_that_is_missing_above_is_asked_for_alone(
    endpoint: Endpoint, book: Path, store: Store
) -> None:
    ingest(book, cache=False)
    lost = withhold_summary(endpoint, store, 2)
    whole = without_trouble_again(book, store)
    [gap] = ingest(book).gaps
    assert (gap.step, gap.properties["level"]) == ("summaries", 2)
    assert gap.rests_on.keys() == set(lost["members"])
    chunks = {row["id"] for row in cypher(store, "MATCH (c:Chunk) RETURN c.id AS id")}
    assert set(gap.sources) <= chunks
    assert violations() == ()
    outcome, asked = asked_anew(endpoint, book, cache=False)
    assert outcome.gaps == ()
    assert 1 <= len(asked) <= 3
    now = passages(store)
    assert now[lost["id"]] == whole[lost["id"]]
    assert passages(store, most=1).items() <= whole.items()
    assert violations() == ()


def test_a_cluster_whose_aspects_are_withheld_waits_for_them(
    endpoint: Endpoint, book: Path, store: Store
) -> None:
    whole = without_trouble(book, store)
    endpoint.withheld = {(DETECTION, MURDER): "blocked"}
    gaps = ingest(book).gaps
    assert {gap.step for gap in gaps} == {"aspects"}
    for gap in gaps:
        members = {
            row["members"][0]
            for row in cypher(
                store,
                "MATCH (s:Summary {level: 1})-[:SUMMARIZES]->(m) WITH s, collect(m.id) AS ids "
                "RETURN [size(ids) = $size AND all(id IN ids WHERE id IN $ids)] AS members",
                size=len(gap.rests_on),
                ids=[*gap.rests_on],
            )
        }
        assert members == {False}, "no summary rests on the cluster"
    assert violations() == ()
    outcome, asked = asked_anew(endpoint, book, cache=False)
    assert outcome.gaps == ()
    assert sum(DETECTION in prompt for prompt in asked) == len(gaps)
    assert not any(ALONE in prompt or SEVERAL in prompt for prompt in asked)
    low = passages(store, most=1)
    assert low.keys() <= whole.keys()
    assert violations() == ()


def test_a_gap_that_stays_costs_nothing_but_itself(endpoint: Endpoint, book: Path) -> None:
    withhold_details(endpoint, "nonsense")
    [before] = ingest(book).gaps
    endpoint.bodies.clear()
    outcome = ingest(book)
    assert (outcome.status, outcome.error, outcome.gaps) == ("replaced", None, (before,))
    assert len(endpoint.bodies) == TIMES
    assert all(MURDER in prompt for prompt in chats(endpoint))
