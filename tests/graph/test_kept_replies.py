"""What models replied is kept with a part, and the next build is answered by it."""

from __future__ import annotations

from dataclasses import replace

from building import finish
from fabula.errors import BadReply
from fabula.graph import REPLIES, Owner
from fabula.graph.builds import Build, ChatStep, Piece, Start, one
from fabula.graph.installed import graphs
from fabula.graph.kept_replies import REPLIES_PER_NODE, keep_replies, make_nodes, read_nodes
from fabula.graph.method import BuildText, BuildWork, Built, Known
from fabula.graph.parts import known_of
from fabula.models import Prompt
from fabula.models.roles import ModelProfile
from fabula.store import Store
from fabula.store.export_reader import ExportReader
from fabula.store.integrity import check
from fabula.store.part_reader import read_part
from fabula.store.whole_collection import read_collection
from graphs import nodes, put, small_cast, small_graph
from scripted import Models, Says, made_chunks, told

CHAT = ChatStep("model", "reading", 1)
TEXT = told(made_chunks("Anna came. "))


def read(reply: str) -> str:
    if reply == "bad":
        raise BadReply("It is bad.")
    return reply


def ask(user: str) -> Build[str]:
    return CHAT.ask(Prompt("Read.", user, 10, 0.5), read, 3)


@keep_replies
def build(
    text: BuildText, questions: list[str], models: ModelProfile, known: Known, work: BuildWork
) -> Build[Built]:
    """Ask in every way in which a build can."""
    first, *others = questions
    started = yield Start(one(Piece("reading", ask(first))))
    replies = yield [*map(ask, others)]
    [[last]] = yield [started]
    return Built((), (), {"said": [last, *replies]})


def made(questions: list[str], says: Says, known: Known) -> tuple[Built, BuildWork]:
    work = BuildWork()
    models = Models(says)
    return finish(build(TEXT, questions, models, known, work), models, work), work


def test_only_what_is_new_is_asked() -> None:
    first, _ = made(["a", "b"], Says(lambda user: f"{user}!"), Known())
    assert first.facts == {"said": ["a!", "b!"]}
    says = Says(lambda user: f"{user}?")
    second, work = made(["b", "c", "a"], says, Known(kept=first.kept))
    assert second.facts == {"said": ["b!", "c?", "a!"]}
    assert [prompt.user for prompt in says.prompts] == ["c"]
    assert work.saved == {"reading": 2}
    third, _ = made(["c"], Says(lambda user: "never"), Known(kept=second.kept))
    assert third.facts == {"said": ["c?"]}
    assert len(third.kept) == 1, "what is not asked any more is forgotten"


def test_a_reply_that_could_not_be_read_is_not_kept() -> None:
    replies = iter(["bad", "good"])
    first, _ = made(["a"], Says(lambda user: next(replies)), Known())
    assert [*first.kept.values()] == ["good"]
    says = Says(lambda user: "better")
    unfit = dict.fromkeys(first.kept, "bad")
    again, _ = made(["a"], says, Known(kept=unfit))
    assert (again.facts, [*again.kept.values()]) == ({"said": ["better"]}, ["better"])
    assert len(says.prompts) == 1


def test_a_window_is_the_same_after_another_text() -> None:
    before = "<passages>\n[before] He {}.\n\n[1] Anna came.\n</passages>"
    first, _ = made([before.format("slept")], Says(lambda user: "Anna"), Known())
    says = Says(lambda user: "never")
    for user in (before.format("woke"), "<passages>\n[1] Anna came.\n</passages>"):
        again, _ = made([user], says, Known(kept=first.kept))
        assert again.facts == first.facts
    assert says.prompts == []


def test_replies_are_kept_in_slices() -> None:
    replies = {f"{number}": f"“{number}” \ud800" for number in range(REPLIES_PER_NODE + 1)}
    nodes = make_nodes(Owner("c", "names", "d"), replies, ["chunk"])
    assert [(node.id, node.sources) for node in nodes] == [
        (nodes[0].id, ("chunk",)),
        (nodes[1].id, ("chunk",)),
    ]
    assert nodes[0].id != nodes[1].id
    assert read_nodes(nodes) == replies


def test_replies_are_given_to_the_next_build_and_to_nobody_else(ready: Store) -> None:
    text, aspects = small_graph()
    cast = small_cast([text, aspects])
    kept = make_nodes(cast.owner, {"a": "Anna!"}, [nodes([text], "Chunk")[-1].id])
    put(ready, [text, aspects, replace(cast, nodes=(*cast.nodes, *kept))])
    found = read_part(ready, cast.owner, replies=True)
    assert known_of(found, (), {}).kept == {"a": "Anna!"}
    assert not nodes([read_part(ready, cast.owner)], REPLIES)
    [entry] = ready.documents("default")
    reader = ExportReader(ready, [entry])
    assert not [node for node in reader.nodes() if REPLIES in node.labels]
    assert "content" not in reader.types()
    assert "replies" not in ready.count_kinds("default", entry.id)
    wrong = {violation.id for violation in check(ready, graphs().values(), "default").violations}
    assert wrong.isdisjoint(node.id for node in kept)
    # Another server gets them.
    rows = [row for kind, row in read_collection(ready, "default") if kind == "node"]
    assert [row["properties"]["content"] for row in rows if REPLIES in row["labels"]] == [
        kept[0].properties["content"]
    ]
    ready.remove("default", entry.id)
    assert ready.rows("core/find_part_ids", **cast.owner._asdict(), replies=True) == []
