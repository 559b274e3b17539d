"""What a model does not give is a gap: the document comes in without it, and it is asked again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands import run
from database import cypher
from endpoint import Endpoint
from endpoint.faults import Fault
from fabula import Fabula, Outcome
from fabula.errors import BadReply, BudgetSpent, FabulaError, ModelError
from fabula.graph import Gap, Node
from fabula.graph.gaps import MAX_REASON_CHARACTERS, GapLimit
from fabula.graph.installed import LABELS, graphs
from fabula.graph.method import BuildText, Built
from fabula.graph.parts import chunks_of, known_of, part_of
from fabula.graphs.aspects import GRAPH
from fabula.operations.documents import remove_document, show_document
from fabula.store import Store
from fabula.store.integrity import check
from fabula.store.part_reader import read_part
from graphs import put, small_document, small_graph, vector
from stories import winter_story

pytestmark = pytest.mark.long

MURDER = "Then Anna murdered the miller with an axe, and his blood ran over the floor."
"""What no filter likes."""
SEVERAL, ALONE = "Below are", "<passage>\n"
"""What tells the prompts for details, of several chunks and of one."""
DETECTION = "Which of the aspects are clearest"
TIMES = 6
"""How often a reply that can't be read is asked for."""
PLACE = {"aspect": "plot", "level": 1, "section": "I", "start": 0, "end": 20, "tokens": 1}


@pytest.fixture
def endpoint(graph_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with Endpoint() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("FABULA_CHUNK_TOKENS", "48")
        yield server


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "winter.txt"
    text = winter_story("cold")
    half = text.index("CHAPTER III")
    path.write_text(f"Title: Winter\n\n{text[:half]}{MURDER}\n\n{text[half:]}")
    return path


APART: Mapping[str, Any] = {"aspects.aspects_with_summaries": False}
"""Each summary is a call of its own, which may be missing."""


def ingest(book: Path, **settings: Any) -> Outcome:
    with Fabula(**{**APART, **settings}) as fabula:
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


def take_out(store: Store) -> dict[str, str]:
    """The passages that are there, which are there no more."""
    whole = passages(store)
    with Fabula() as fabula:
        remove_document(fabula, "Winter")
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


@pytest.mark.journey
@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("nonsense", "No usable reply in 6 tries"),
        ("refusal", "declined"),
        ("filtered", "content filter"),
        ("blocked", "refused a text"),
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
    output = run("ingest", book).output
    assert "1 gap, 1 in details, as No usable reply in 6 tries: gpt" in output
    assert "; `fabula renew` asks again" in output
    assert "1 added, with 1 gap; " in output
    listed = run("list").output
    assert "1 gap in 1 document: `fabula renew` asks for them again" in listed
    shown = run("show", "Winter").output
    assert "  1 gap, asked for again by `fabula renew`:" in shown
    assert "    details · CHAPTER II · characters " in shown
    checked = run("check").output
    assert checked.startswith("No errors")
    assert "Note: Gaps in aspects: 1, of Winter; `fabula renew` asks" in checked
    [told_of] = json.loads(run("show", "Winter", "--json").output)["missing"]["aspects"]
    assert told_of["step"] == "details"
    assert told_of["properties"]["section"] == "CHAPTER II"
    with Fabula() as fabula:
        entry = fabula.document("Winter")
        assert (entry.gaps, entry.graphs["aspects"].gaps, entry.graphs["text"].gaps) == (1, 1, 0)
        missing = show_document(fabula, entry.id).missing
        assert [gap.step for gap in missing["aspects"]] == ["details"]
        assert fabula.stale(entry) == {}, "nothing is made from something else now"


# It is asked for again


def test_the_next_ingest_asks_for_the_details_alone(
    endpoint: Endpoint, book: Path, store: Store
) -> None:
    ingest(book, cache=False)
    whole = take_out(store)
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
    whole = take_out(store)
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


def test_a_summary_that_is_missing_above_is_asked_for_alone(
    endpoint: Endpoint, book: Path, store: Store
) -> None:
    ingest(book, cache=False)
    lost = withhold_summary(endpoint, store, 2)
    whole = take_out(store)
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
    ingest(book, cache=False)
    whole = take_out(store)
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


def test_where_no_cluster_could_be_asked_all_trees_wait(
    endpoint: Endpoint, book: Path, store: Store
) -> None:
    one_cluster: dict[str, Any] = {"aspects.cluster_size": 99}
    endpoint.withheld = {(DETECTION,): "filtered"}
    [gap] = ingest(book, **one_cluster).gaps
    assert gap.step == "aspects"
    assert cypher(store, "MATCH (s:Summary) RETURN s") == []
    assert violations() == ()
    outcome, _ = asked_anew(endpoint, book, **one_cluster)
    assert outcome.gaps == ()
    assert outcome.counts["summary"] > 0
    assert violations() == ()


def test_an_aspect_whose_summaries_are_all_missing_is_not_promised(
    endpoint: Endpoint, book: Path, store: Store
) -> None:
    promised = "MATCH (p:Part {graph: 'aspects'}) RETURN p.aspects AS names"
    ingest(book, cache=False)
    [every] = cypher(store, promised)
    [rare] = cypher(
        store,
        "MATCH (s:Summary {level: 1}) WITH s.aspect AS name, count(*) AS n "
        "RETURN name ORDER BY n, name LIMIT 1",
    )
    whole = take_out(store)
    endpoint.withheld = {(f"<aspect>\n{rare['name']}:",): "refusal"}
    gaps = ingest(book).gaps
    assert {gap.properties["aspect"] for gap in gaps} == {rare["name"]}
    [told] = cypher(store, promised)
    assert set(every["names"]) - set(told["names"]) == {rare["name"]}
    assert violations() == ()
    assert asked_anew(endpoint, book)[0].gaps == ()
    assert cypher(store, promised) == [every]
    assert passages(store) == whole, "nothing stands above"
    assert violations() == ()


@pytest.mark.parametrize("fault", ["blocked", "context"])
def test_a_text_that_is_refused_for_what_it_says_is_not_sent_again(
    fault: Fault, endpoint: Endpoint, book: Path
) -> None:
    withhold_details(endpoint, fault)
    assert len(ingest(book).gaps) == 1
    assert sum(ALONE in prompt and MURDER in prompt for prompt in chats(endpoint)) == 1
    endpoint.bodies.clear()
    assert len(ingest(book).gaps) == 1
    assert len(endpoint.bodies) == 1


def test_a_gap_that_stays_costs_nothing_but_itself(endpoint: Endpoint, book: Path) -> None:
    withhold_details(endpoint, "nonsense")
    [before] = ingest(book).gaps
    endpoint.bodies.clear()
    outcome = ingest(book)
    assert (outcome.status, outcome.error, outcome.gaps) == ("replaced", None, (before,))
    assert len(endpoint.bodies) == TIMES
    assert all(MURDER in prompt for prompt in chats(endpoint))


def test_an_edit_elsewhere_leaves_a_gap_where_it_is(
    endpoint: Endpoint, book: Path, store: Store
) -> None:
    withhold_details(endpoint, "refusal")
    ingest(book)
    book.write_text(book.read_text().replace("Title: Winter\n\n", "Title: Winter\n\nIt began. ", 1))
    [gap] = ingest(book).gaps
    [row] = cypher(store, "MATCH (g:Gap)-[:LACKS]->(c:Chunk) RETURN c.start AS start, c.text AS t")
    assert row["start"] == gap.properties["start"]
    assert MURDER in row["t"]
    outcome, asked = asked_anew(endpoint, book, cache=False)
    assert (outcome.gaps, len(asked)) == ((), 1)


def test_retry_asks_for_the_gaps_of_all_documents_without_their_files(
    endpoint: Endpoint, book: Path, store: Store, tmp_path: Path
) -> None:
    other = tmp_path / "other.txt"
    other.write_text(book.read_text().replace("Winter", "Other").replace("Boris", "Zeno"))
    sound = tmp_path / "sound.txt"
    sound.write_text("Title: Sound\n\nAnna went to the harbour. Nobody knew why she did.")
    withhold_details(endpoint, "refusal")
    assert "3 added, with 2 gaps; " in run("ingest", book, other, sound).output
    for file in (book, other, sound):
        file.unlink()
    endpoint.withheld = {}
    endpoint.bodies.clear()
    dry = run("renew", "--only", "gaps", "--dry-run").output
    assert "winter.txt: to be replaced" in dry
    assert "details" in dry
    assert endpoint.bodies == []
    output = run("renew", "--only", "gaps", "--yes", "--no-cache").output
    assert "2 replaced; " in output
    assert "gap" not in output
    assert len(chats(endpoint)) == 2
    assert cypher(store, "MATCH (g:Gap) RETURN g") == []
    assert violations() == ()
    assert "Nothing to do; no model calls." in run("renew", "--only", "gaps", "--yes").output


def test_build_asks_for_gaps_too(endpoint: Endpoint, book: Path) -> None:
    withhold_details(endpoint, "refusal")
    ingest(book)
    endpoint.withheld = {}
    endpoint.bodies.clear()
    with Fabula(cache=False, **APART) as fabula:
        [outcome] = fabula.build("aspects")
    assert (outcome.status, outcome.gaps, len(chats(endpoint))) == ("replaced", (), 1)


def test_a_copy_of_a_text_with_gaps_does_not_come_in_beside_it(
    endpoint: Endpoint, book: Path, tmp_path: Path
) -> None:
    withhold_details(endpoint, "refusal")
    ingest(book)
    calls = endpoint.calls
    copy = tmp_path / "copy.txt"
    copy.write_text(book.read_text())
    assert (ingest(copy).status, endpoint.calls) == ("unchanged", calls)


# What fails


def test_a_hopeless_model_fails_long_before_the_book_is_paid_for(
    endpoint: Endpoint, book: Path, store: Store
) -> None:
    endpoint.withheld = {("",): "refusal"}
    # Trees would be grown meanwhile, and calls go on while chunks are clustered.
    only_details = {"aspects.details_per_call": 1, "aspects.levels": 0}
    outcome = ingest(book, **only_details, concurrency=1)
    assert cypher(store, "MATCH (d:Document) RETURN d") == []
    assert isinstance(outcome.error, BadReply)
    assert "pieces of the graph are missing, more than a tenth" in str(outcome.error)
    assert "I can't help with that" in str(outcome.error)
    expected = int(str(outcome.error).partition(" of ")[2].split()[0])
    # A further piece may have begun before the last reply is read.
    assert len(chats(endpoint)) <= TIMES * (expected // 10 + 2)


def test_a_strict_run_fails_at_the_first_gap_and_keeps_what_was_there(
    endpoint: Endpoint, book: Path, store: Store
) -> None:
    withhold_details(endpoint, "filtered")
    failed = run("ingest", "--strict", book, code=1).output
    assert "winter.txt: No usable reply in 6 tries: gpt-4.1-mini's reply was withheld" in failed
    assert cypher(store, "MATCH (d:Document) RETURN d") == []
    run("ingest", book)
    before = passages(store)
    failed = run("renew", "--only", "gaps", "--yes", "--strict", code=1).output
    assert "1 failed; 6 calls, " in failed
    run("build", "aspects", "--strict", code=1)
    assert passages(store) == before
    assert "1 gap in 1 document" in run("list").output


@pytest.mark.parametrize("fault", ["quota", "error"])
def test_an_endpoint_in_trouble_is_no_gap(fault: Fault, endpoint: Endpoint, book: Path) -> None:
    endpoint.withheld = {(ALONE, MURDER): fault, (SEVERAL, MURDER): fault}
    with pytest.raises(ModelError), Fabula(attempts=2) as fabula:
        fabula.ingest(book)
    with Fabula() as fabula:
        assert list(fabula.documents()) == []


def test_a_spent_budget_is_no_gap(endpoint: Endpoint, book: Path) -> None:
    withhold_details(endpoint, "refusal")
    with pytest.raises(BudgetSpent), Fabula(max_calls=10) as fabula:
        fabula.ingest(book)


@pytest.mark.parametrize("stop", [{"max_calls": 20}, {"strict": True}])
def test_what_a_stopped_run_was_given_is_not_paid_for_again(
    stop: dict[str, Any], endpoint: Endpoint, book: Path
) -> None:
    withhold_details(endpoint, "refusal")
    with suppress(BudgetSpent), Fabula(max_calls=stop.get("max_calls")) as fabula:
        [outcome] = fabula.ingest(book, strict="strict" in stop)
        assert isinstance(outcome.error, BadReply)
    paid = set(chats(endpoint))
    endpoint.bodies.clear()
    assert len(ingest(book).gaps) == 1
    assert paid
    assert all(MURDER in prompt for prompt in paid.intersection(chats(endpoint)))


# Any graph


def test_any_graph_has_gaps_and_knows_them_at_its_next_build(ready: Store) -> None:
    base, _ = small_graph()
    put(ready, [base])
    document, chunks = small_document(), chunks_of(read_part(ready, base.owner))
    ids = tuple(chunk.id for chunk in chunks)
    section = Node("a section", "Summary", {"text": "x", **PLACE}, ids[:2], vector(1))
    gaps = (
        Gap("sections", "It declined.", ids[2:], {"a section": 1.0, ids[2]: 0.25}, {"number": 3}),
        Gap("sections", "It declined.", ids[:1], {ids[0]: 1.0}),
    )
    built = Built((section,), (), {"aspects": []}, gaps)
    made_from = {"graph": "aspects", "rests_on": {"text": base.record.fingerprint}}
    part = part_of(GRAPH, BuildText(document, chunks), built, made_from, {})
    put(ready, [part])
    found = read_part(ready, part.owner, embeddings=True)
    known = known_of(found, chunks, {})
    assert [node.id for node in known.nodes] == ["a section"]
    assert known.edges == ()
    assert found.record.gaps == 2
    placed = {"section": "I", "start": 20, "end": 40}
    assert known.gaps == (
        replace(gaps[1], properties={"section": "I", "start": 0, "end": 10}),
        replace(gaps[0], properties={"number": 3, **placed}),
    )
    assert ready.gaps("default", document.id) == {"aspects": list(known.gaps)}
    assert ready.gaps("other", document.id) == {}
    assert not [one for one in broken(ready) if "gaps" in one]
    cypher(ready, "MATCH (:Gap)-[lacks:LACKS]->() DELETE lacks")
    assert "gaps rest on nothing" in broken(ready)


def broken(store: Store) -> list[str]:
    return [violation.what for violation in check(store, graphs().values()).violations]


def test_a_graph_makes_no_nodes_of_that_label_itself() -> None:
    text = BuildText(small_document(), ())
    built = Built((Node("x", "Gap", {}, ("y",)),), ())
    with pytest.raises(
        FabulaError, match="a node labelled 'Gap' without an embedding, which is not on its list"
    ):
        part_of(GRAPH, text, built, {}, {})
    assert "Gap" in LABELS, "and none may list it"


# How many


def test_a_tenth_of_the_pieces_may_be_missing() -> None:
    limit = GapLimit()
    limit.expect(15)
    limit.expect(5)
    assert [limit.accept(BadReply("No.")) for _ in range(2)] == ["No.", "No."]
    with pytest.raises(BadReply, match=r"^3 of 20 pieces .* The last: Never\.$"):
        limit.accept(BadReply("Never."))


def test_what_is_expected_later_counts_from_then_on() -> None:
    limit = GapLimit()
    limit.expect(10)
    limit.accept(BadReply("No."))
    with pytest.raises(BadReply, match=r"^2 of 10 pieces"):
        limit.accept(BadReply("No."))
    limit.expect(20)
    limit.accept(BadReply("No."))


@pytest.mark.parametrize("pieces", [2, 9])
def test_a_short_text_may_miss_one_piece_and_no_second(pieces: int) -> None:
    limit = GapLimit()
    limit.expect(pieces)
    assert limit.accept(BadReply("No.")) == "No."
    with pytest.raises(BadReply, match=rf"^2 of {pieces} pieces .* more than a tenth"):
        limit.accept(BadReply("No."))


def test_where_a_run_is_strict_the_first_is_the_error() -> None:
    limit = GapLimit(strict=True)
    limit.expect(1000)
    with pytest.raises(BadReply, match=r"^No\.$"):
        limit.accept(BadReply("No."))


def test_threads_share_a_limit() -> None:
    limit = GapLimit()
    with ThreadPoolExecutor(8) as threads:
        for _ in range(1000):
            threads.submit(limit.expect, 1)
    with ThreadPoolExecutor(8) as threads:
        done = [threads.submit(limit.accept, BadReply("No.")) for _ in range(101)]
    assert sum(one.exception() is not None for one in done) == 1


def test_a_reason_is_one_line_of_bounded_length() -> None:
    limit = GapLimit()
    limit.expect(10)
    why = limit.accept(BadReply("It said:\n\t" + "blood " * 1000))
    assert why.startswith("It said: blood blood")
    assert len(why) <= MAX_REASON_CHARACTERS
