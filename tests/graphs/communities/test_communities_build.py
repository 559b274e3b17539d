"""The graph of communities is built of what models say, and of nothing twice."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from communities import CHUNKS, TEXTS, built, entities, known_from, labelled, report, writes
from fabula.errors import BadReply
from fabula.graph import Node, Part
from fabula.graph.method import Built
from fabula.graphs.communities.claims import PROMPTS, ClaimShape, attribute, read_claims
from fabula.graphs.communities.part_facts import LEFT_OUT, describe
from fabula.text.ids import digest
from scripted import Models, Says, made_chunks, window
from stories import HOUSE, MILL


def members(made: Built, community: Node, below: Part) -> set[str]:
    names = {node.id: node.properties["name"] for node in below.nodes}
    return {
        names[edge.end]
        for edge in made.edges
        if (edge.type, edge.start) == ("HAS_MEMBER", community.id)
    }


def edges(made: Built, type: str) -> list[tuple[str, str]]:
    return [(edge.start, edge.end) for edge in made.edges if edge.type == type]


def test_each_group_has_its_report() -> None:
    below = entities()
    made = built(Models(writes()), below=below)
    one, other = labelled(made, "Community")
    assert {frozenset(members(made, it, below)) for it in (one, other)} == {
        frozenset(HOUSE),
        frozenset(MILL),
    }
    properties = one.properties
    assert (properties["level"], properties["size"], properties["weight"]) == (0, 4, 1.0)
    assert properties["chunks"] == len(one.sources) == 7
    assert one.embedding is None
    first, _ = labelled(made, "Report")
    assert (first.properties["title"], first.properties["importance"]) == (properties["title"], 6.0)
    assert first.embedding is not None
    assert (first.id, one.id) in edges(made, "REPORTS")
    cited = {end for start, end in edges(made, "CITES") if start == first.id}
    labels = {node.id: node.label for node in below.nodes}
    assert sorted(labels[id] for id in cited) == ["Entity"] * 4 + ["Relation"] * 6
    [finding] = json.loads(first.properties["findings"])
    assert set(finding["chunks"]) == set(first.sources)
    assert len(first.sources) == 6, "the road, where a member is alone, tells nothing of the group"
    assert describe(made.facts) == ["2 communities on 1 level, 2 with a report"]


def test_the_same_text_is_divided_alike_whatever_its_ids_are() -> None:
    draw = random.Random(5)
    names = [f"{first}{last}" for first in "ABCDEFGH" for last in ("nne", "ert", "ull", "osa")]
    pairs = [tuple(draw.sample(names, 2)) for _ in range(90)]
    chunks = made_chunks(*(f"{one} spoke with {other}. " for one, other in pairs))
    part = entities(chunks)
    divisions = set()
    for path in "abcdefgh":
        new = {node.id: digest(10, path, node.id) for node in part.nodes}
        below = replace(
            part,
            nodes=tuple(replace(node, id=new[node.id]) for node in part.nodes),
            edges=tuple(
                replace(edge, start=new[edge.start], end=new.get(edge.end, edge.end))
                for edge in part.edges
            ),
        )
        made = built(Models(writes()), chunks, below)
        groups = (members(made, each, below) for each in labelled(made, "Community"))
        divisions.add(frozenset(map(frozenset, groups)))
    [division] = divisions
    assert len(division) > 2


def test_the_same_entities_are_not_asked_about_again() -> None:
    before = built(Models(writes()))
    models = Models(writes())
    again = built(models, known=known_from(before))
    assert (again.nodes, again.edges) == (before.nodes, before.edges)
    assert models.meter.total().calls == 0
    assert models.meter.usage()["reports"].saved == 2
    assert models.embedder.sent == []


def test_an_edit_asks_for_the_report_of_its_community_alone() -> None:
    before = built(Models(writes()))
    texts = [text.replace("Anna spoke with Dora", "Anna broke with Dora") for text in TEXTS]
    chunks = made_chunks(*texts)
    says = writes()
    now = built(Models(says), chunks, entities(chunks, Dora="Dora is angry."), known_from(before))
    [asked] = says.prompts
    assert "Dora is angry" in asked.user
    was, is_now = ({node.id for node in labelled(it, "Report")} for it in (before, now))
    assert was == is_now, "ids stay"
    kept = [node for node in labelled(now, "Report") if node in before.nodes]
    assert len(kept) == 1


def test_what_reads_the_same_follows_where_its_chunks_moved() -> None:
    before = built(Models(writes()))
    chunks = made_chunks("It rained, and rained again. ", *TEXTS)
    models = Models(writes())
    now = built(models, chunks, entities(chunks), known_from(before))
    assert models.meter.usage()["reports"].calls == 0
    starts = [[node.properties["start"] for node in labelled(it, "Report")] for it in (before, now)]
    assert starts[1] == [start + chunks[0].end for start in starts[0]]


def test_leaves_are_reported_on_first_and_stand_for_what_does_not_fit_above() -> None:
    """Pairs in a chain: three levels of them, and little room."""
    names = [f"{chr(65 + n)}{'abcdefgh'[m]}na" for n in range(4) for m in range(8)]
    texts = [f"{one} spoke with {other}. " for one, other in pairwise(names)]
    chunks = made_chunks(*texts)
    below = entities(chunks, **{name: f"{name} " + "is told of " * 5 for name in names})
    says = writes()
    made = built(
        Models(says), chunks, below, max_cluster_size=3, report_tokens_in=300, report_tokens=50
    )
    by_id = {node.id: node for node in made.nodes}
    parents = edges(made, "PARENT_COMMUNITY")
    assert parents
    for child, parent in parents:
        assert members(made, by_id[child], below) < members(made, by_id[parent], below)
    with_parts = {parent for _, parent in parents}
    replaced = [prompt.user for prompt in says.prompts if "Groups within:" in prompt.user]
    assert 0 < len(replaced) <= len(with_parts)
    first = min(number for number, one in enumerate(says.prompts) if one.user in replaced)
    leaves = [one for one in labelled(made, "Community") if one.id not in with_parts]
    deepest = max(leaf.properties["level"] for leaf in leaves)
    assert first >= sum(leaf.properties["level"] == deepest for leaf in leaves)
    labels = {node.id: node.label for node in below.nodes}
    assert {labels[end] for _, end in edges(made, "CITES")} == {"Entity", "Relation"}


def test_a_report_that_is_not_to_be_had_is_a_gap_and_asked_for_again() -> None:
    chunks = made_chunks(*TEXTS)
    with pytest.raises(BadReply):
        built(Models(writes(lambda user: {"no": "report"})), chunks)
    # Of so many that one is less than a tenth of them.
    texts = [re.sub(r"\b([A-Z])", rf"{chr(65 + n)}\1", text) for n in range(6) for text in TEXTS]
    chunks = made_chunks(*texts)
    below = entities(chunks)

    def say_most(user: str) -> Any:
        return {"no": "report"} if "AWalter" in user else report(user)

    made = built(Models(writes(say_most)), chunks, below)
    [gap] = made.gaps
    [without] = {node.id for node in labelled(made, "Community")} - {
        end for _, end in edges(made, "REPORTS")
    }
    assert (gap.step, dict(gap.rests_on)) == ("reports", {without: 1.0})
    models = Models(writes())
    whole = built(models, chunks, below, known_from(made, chunks))
    assert (whole.gaps, models.meter.usage()["reports"].calls) == ((), 1)


def test_the_order_of_nodes_and_edges_does_not_matter() -> None:
    below = entities()
    wanted = built(Models(writes()), below=below)
    draw = random.Random(1)
    shuffled = replace(
        below,
        nodes=tuple(draw.sample(below.nodes, len(below.nodes))),
        edges=tuple(draw.sample(below.edges, len(below.edges))),
    )
    made = built(Models(writes()), below=shuffled)
    assert (made.nodes, made.edges) == (wanted.nodes, wanted.edges)


def test_nobody_who_is_tied_to_anybody_is_no_fault() -> None:
    chunks = made_chunks("It rained. ", "Anna was there. ")
    made = built(Models(writes()), chunks)
    assert (made.nodes, made.edges) == ((), ())
    assert describe(made.facts) == ["nobody is tied to anybody: there are no communities"]
    assert list(LEFT_OUT.warnings(made.facts)) == []


def test_offline_there_are_communities_and_no_reports() -> None:
    below = entities()
    models = Models(Says(lambda user: "no"), offline=True)
    made = built(models, below=below)
    assert models.meter.total().calls == 0
    assert {frozenset(members(made, it, below)) for it in labelled(made, "Community")} == {
        frozenset(HOUSE),
        frozenset(MILL),
    }
    assert labelled(made, "Report") == []
    assert describe(made.facts) == ["2 communities on 1 level, without reports"]


# Claims

PROMISE = {
    "subject": "Anna",
    "object": "Berta",
    "type": "Promise",
    "status": "true",
    "start": None,
    "end": "Monday",
    "speaker": "Anna",
    "description": "Anna promises Berta to come.",
    "quotes": ["Anna spoke with\n Berta"],
}


def claims(*some: Any) -> str:
    return json.dumps({"claims": some})


def test_a_claim_is_kept_where_its_words_are_printed() -> None:
    texts = window("“I will come,” said Anna. ", "Anna spoke with Berta. Berta wept. ")
    unquoted = {**PROMISE, "quotes": ["Anna flew to the moon", ""]}
    across = {**PROMISE, "description": "Both.", "quotes": ["said Anna. Anna spoke"]}
    long = {**PROMISE, "subject": "A" * 10_000}
    said = read_claims(claims(PROMISE, unquoted, across, long, {"subject": "it"}, 7, *[{}] * 9000))
    records = attribute(texts, said)
    found = records.records
    assert [(one.chunk, one.text) for one in found] == [
        (texts.chunks[1].id, "Anna promises Berta to come."),
        (texts.chunks[0].id, "Both."),
    ]
    assert (found[0].type, found[0].since, found[0].until) == ("promise", "", "Monday")
    assert records.dropped == {"unquoted": 1, "overlong": 1, "malformed": 36, "surplus": 8966}


def test_a_claim_with_a_description_of_something_else_is_left_out_and_counted() -> None:
    texts = window("“I will come,” said Anna. ", "Anna spoke with Berta. Berta wept. ")
    moon = {**PROMISE, "description": "The Emperor promises his army the burning city of Moscow."}
    records = attribute(texts, read_claims(claims(PROMISE, moon)), "en")
    assert [claim.text for claim in records.records] == ["Anna promises Berta to come."]
    assert records.dropped == {"unsupported": 1}


def test_claims_are_in_reports_and_in_the_graph_and_asked_for_once() -> None:
    def say(user: str) -> str:
        if "Which claims" not in user:
            return json.dumps(report(user))
        own = "Anna spoke with Berta" in user.partition("[before]")[0]
        again = {**PROMISE, "description": "Anna promises more.", "quotes": ["in the house"]}
        is_missed = "were listed before" in user
        return claims(*([again] if is_missed else [PROMISE]) if own else ())

    says = Says(say)
    below = entities()
    made = built(Models(says), below=below, claims=True)
    first, second = sorted(labelled(made, "Claim"), key=lambda node: str(node.properties["text"]))
    assert second.properties["text"] == "Anna promises more.", "what was missed is kept, too"
    assert first.sources == (CHUNKS[0].id,)
    assert first.properties["quotes"] == ["Anna spoke with Berta"]
    names = {node.id: node.properties["name"] for node in below.nodes}
    assert names[dict(edges(made, "SUBJECT"))[first.id]] == "Anna"
    assert names[dict(edges(made, "OBJECT"))[first.id]] == "Berta"
    prompts = [prompt.user for prompt in says.prompts if "<group>" in prompt.user]
    assert any(
        "Anna of Anna and Berta (promise, true, Monday): Anna promises" in one for one in prompts
    )
    assert first.id in {end for _, end in edges(made, "CITES")}
    again = Models(Says(say))
    same = built(again, below=below, known=known_from(made), claims=True)
    assert (same.nodes, again.meter.total().calls) == (made.nodes, 0)
    off = built(Models(writes()), below=below, known=known_from(made))
    assert labelled(off, "Claim") == []
    assert made.facts["claims"] == 2


def test_claims_that_were_missed_in_vain_are_a_gap_and_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fabula.graph.gaps.MAX_SHARE", 1.0)

    def say(user: str) -> str:
        return "no" if "were listed before" in user else writes_claims(user)

    def writes_claims(user: str) -> str:
        return json.dumps(report(user)) if "Which claims" not in user else claims(PROMISE)

    made = built(Models(Says(say)), CHUNKS[:6], claims=True)
    assert len(labelled(made, "Claim")) == 1
    assert {gap.step for gap in made.gaps} == {"claims"}
    says = Says(lambda user: claims() if "listed before" in user else writes_claims(user))
    again = built(Models(says), CHUNKS[:6], known=known_from(made, CHUNKS[:6]), claims=True)
    assert again.gaps == ()
    assert any("were listed before" in prompt.user for prompt in says.prompts)


def test_every_field_that_is_asked_of_a_claim_is_read() -> None:
    read = {"subject", "object", "type", "status", "start", "end", "speaker"}
    assert ClaimShape.model_fields.keys() == read | {"description", "quotes"}
    assert "parts" not in (PROMPTS / "claims_system.txt").read_text()


def test_what_a_dry_run_counts_is_what_is_asked() -> None:
    """Stand-ins are read as replies are."""

    class StandsIn(Says):
        def complete(self, prompt: Any) -> Any:
            assert prompt.placeholder is not None
            return Says(lambda _: prompt.placeholder()).complete(prompt)

    models = Models(StandsIn(lambda user: ""))
    made = built(models, claims=True)
    assert models.meter.usage()["reports"].calls == 2
    assert not any(name.startswith("dropped") for name in made.facts), made.facts
    assert 200 < made.facts["mean_report"] < 400
