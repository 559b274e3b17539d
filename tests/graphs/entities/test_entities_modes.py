"""Ways to ask the entity graph, on a real Neo4j: a small cast by hand, with and without a model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from cases import for_each
from casts import NAME, Cast, put_cast
from database import connect, cypher, name_server, wipe
from endpoint import Endpoint
from fabula import Fabula
from fabula.cli import main
from fabula.errors import NotFound
from fabula.graph import Owner
from fabula.graph.hits import Filters
from fabula.graph.queries import read_statement
from fabula.graph.trace import Trace as Steps
from fabula.graph.trace import TraceStep
from fabula.graphs.entities.modes import MODES
from fabula.server import Address
from fabula.text import tokens
from fabula_scholar.pictures.network.figures import read_walked
from hits import rounded

QUESTION = "Who gave Boris the lamp of the mill?"
STORY = {
    "I": "Anna lived at the mill with her brother Boris. The mill stood by the river.",
    "II": "Clara came from the harbour with a lamp. She gave the lamp to Boris at the mill.",
    "III": "The harbour froze that winter. Dmitri, the pilot, took no ship out of the harbour.",
    "IV": "Anna wrote to Dmitri of the lamp. Dmitri read her letter in the tower.",
    "V": "Соня sang alone in the tower. Nobody in the village knew her songs or her name.",
    "VI": "Rain fell for a week upon the fields. The road to the south was closed to all carts.",
}
CAST: Cast = {
    "Anna": ("person", {"Anna": "I IV"}, "Anna lives at the mill."),
    "Boris": ("person", {"Boris": "I II"}, "Boris is Anna's brother."),
    "Clara": ("person", {"Clara": "II"}, "Clara brings a lamp from the harbour."),
    "Dmitri": ("person", {"Dmitri": "III IV", "the pilot": "III"}, "Dmitri is a pilot."),
    "mill": ("place", {"mill": "I II"}, "The mill stands by the river."),
    "harbour": ("place", {"harbour": "II III"}, "The harbour freezes in winter."),
    "lamp": ("object", {"lamp": "II IV"}, "Clara gives the lamp to Boris."),
    "Соня": ("person", {"Соня": "V"}, "Соня sings."),
}
TIES = {
    ("Anna", "Boris"): ("I", "Anna and Boris are sister and brother."),
    ("Anna", "Dmitri"): ("IV", "Anna writes to Dmitri."),
    ("Boris", "Clara"): ("II", "Clara gives Boris the lamp."),
    ("Clara", "lamp"): ("II", "Clara brings the lamp."),
    ("Dmitri", "harbour"): ("III", "Dmitri is the pilot of the harbour."),
}


def write(folder: Path, name: str, story: dict[str, str]) -> Path:
    chapters = "\n\n".join(f"CHAPTER {number}\n\n{text}" for number, text in story.items())
    path = folder / f"{name}.txt"
    path.write_text(f"Title: {name.title()}\nLanguage: en\n\n{chapters}\n")
    return path


@pytest.fixture(scope="module")
def books(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Two books with casts, and one without, made without a model."""
    folder = tmp_path_factory.mktemp("books")
    with connect(address) as store, pytest.MonkeyPatch.context() as patch:
        wipe(store)
        _reached(address, patch)
        patch.setenv("XDG_CONFIG_HOME", str(folder))
        with Fabula(chunk_tokens=24, graphs=(), cache=False) as fabula:
            fabula.ingest(write(folder, "mill", STORY), write(folder, "other", {"I": STORY["I"]}))
            fabula.ingest(write(folder, "bare", {"I": "Boris is not told of in this book."}))
            put_cast(fabula, "Mill", CAST, TIES)
            put_cast(fabula, "Other", {"Anna": CAST["Anna"], "Boris": CAST["Boris"]}, {})
        yield


@pytest.fixture(autouse=True)
def reached(books: None, address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names the tests' Neo4j."""
    _reached(address, monkeypatch)


def _reached(address: Address, patch: pytest.MonkeyPatch) -> None:
    name_server(patch, address)
    patch.setenv("FABULA_CHUNK_TOKENS", "24")


def names(steps: list[TraceStep]) -> list[str]:
    return [name for step in steps for name in (step.name, *names(step.steps))]


# All modes


@pytest.mark.journey
@pytest.mark.parametrize("name", MODES)
@pytest.mark.parametrize("by", ["words", "a model"])
def test_a_mode_finds_the_answers_chunk_first_of_all_chunks(
    name: str, by: str, request: pytest.FixtureRequest
) -> None:
    if by == "a model":
        request.getfixturevalue("model")
    with Fabula(mode=name, top_k=9) as fabula:
        hits = fabula.retrieve(QUESTION, document="Mill")
        stretches = fabula.sources(hits)
    chunks = [hit for hit in hits if hit.kind == "chunk"]
    [first, *_] = [hit for hit in chunks if "gave the lamp to Boris" in hit.text]
    # Two chunks are level for a model's mini, and equal ones come by their ids.
    assert chunks.index(first) <= ((name, by) == ("mini", "a model"))
    assert first.score == pytest.approx(chunks[0].score)
    assert len({hit.id for hit in hits}) == len(hits) <= 9
    assert [(-hit.score, hit.id) for hit in hits] == sorted((-hit.score, hit.id) for hit in hits)
    assert {hit.title for hit in hits} == {"Mill"}
    assert all(stretches[hit.id] for hit in hits), "all rest on characters of the book"


@pytest.mark.parametrize("name", MODES)
def test_a_mode_tells_whom_it_went_through(name: str) -> None:
    steps = Steps()
    with Fabula(mode=name, top_k=9) as fabula:
        fabula.retrieve(QUESTION, document="Mill", path=steps)
        nodes = read_walked(steps)
        records = fabula.open_store().read(
            read_statement("entities/find_records"), Filters(fabula.name), nodes=nodes
        )
    assert "Boris" in {row["name"] for row in records if row["kind"] == "entity"}
    assert {row["title"] for row in records} == {"Mill"}


@pytest.mark.parametrize("name", MODES)
def test_a_mode_stays_within_the_filters(name: str) -> None:
    with Fabula(mode=name, top_k=9) as fabula:
        chunks = fabula.retrieve(QUESTION, kinds=["chunk"])
        entities = fabula.retrieve(QUESTION, kinds=["entity"])
        other = fabula.retrieve("Where does Anna live?", document="Other")
        above = fabula.retrieve(QUESTION, levels=(1, 9))
    assert {hit.kind for hit in chunks} == {"chunk"}
    assert {hit.kind for hit in entities} == {"entity"}
    assert {hit.title for hit in other} == {"Other"}
    assert above == []


@pytest.mark.parametrize("name", MODES)
def test_a_question_about_nobody_is_answered_as_hybrid_would(name: str) -> None:
    steps = Steps()
    with Fabula(mode=name, top_k=3) as fabula:
        hits = fabula.retrieve("Which road was closed?", kinds=["chunk"], path=steps)
    if name in ("hippo", "mini"):
        assert "fall back" in names(steps.root.steps)
        [why] = [step.note for step in steps.root.steps[0].steps if step.name == "fall back"]
        assert why.startswith("the question names no entity")
        assert "road" in hits[0].text
    assert hits


@pytest.mark.parametrize("name", MODES)
def test_a_document_without_the_graph_has_nothing_to_walk(name: str) -> None:
    with Fabula(mode=name) as fabula:
        command = f"fabula build entities {fabula.document('Bare').id}"
        with pytest.raises(NotFound, match=f"Bare does not have: .* Run `{command}"):
            fabula.retrieve("Who is Boris?", document="Bare")


def test_a_collection_without_the_graph_says_what_to_build(tmp_path: Path) -> None:
    with Fabula(collection="bare", graphs=(), mode="hippo") as fabula:
        fabula.ingest(write(tmp_path, "bare", {"I": STORY["I"]}))
        with pytest.raises(NotFound, match="fabula build entities"):
            fabula.retrieve(QUESTION)


def test_records_of_two_kinds_share_the_hits_where_chunks_are_not_asked_for() -> None:
    for name in ("light", "local"):
        with Fabula(mode=name, top_k=4) as fabula:
            hits = fabula.retrieve(QUESTION, document="Mill", kinds=["entity", "relation"])
        assert [hit.kind for hit in hits] == ["entity", "entity", "relation", "relation"]
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)
        assert scores[1] > 1 >= scores[2]


# What a model is asked


def chats(endpoint: Endpoint) -> list[str]:
    """The prompts that a chat model was asked."""
    return [body["messages"][-1]["content"] for body in endpoint.bodies if "messages" in body]


def test_one_call_reads_the_question_for_all_modes(model: Endpoint) -> None:
    for name in ("light", "fast", "mini"):
        with Fabula(mode=name) as fabula:
            steps = Steps()
            fabula.retrieve(QUESTION, document="Mill", path=steps)
            [read] = [
                step for step in steps.root.steps[0].steps if step.name == "read the question"
            ]
            assert "named Boris" in read.note
            assert fabula.settings.model in read.note
    [prompt] = chats(model)
    assert "- person: Anna, Boris" in prompt
    with Fabula(mode="local") as fabula:
        fabula.retrieve(QUESTION)
    assert len(chats(model)) == 1, "local asks nothing"


def test_a_reading_of_no_use_is_made_up_for_by_words(model: Endpoint) -> None:
    model.plan = lambda count: "nonsense"
    steps = Steps()
    with Fabula(mode="fast", cache=False) as fabula:
        hits = fabula.retrieve(QUESTION, document="Mill", path=steps)
    [read] = [step for step in steps.root.steps[0].steps if step.name == "read the question"]
    assert "no reply of the model could be used" in read.note
    assert "named boris" in read.note
    assert hits


def test_hippo_shows_a_model_five_facts_and_walks_from_those_it_keeps(model: Endpoint) -> None:
    steps = Steps()
    with Fabula(mode="hippo", top_k=2) as fabula:
        [first, _] = fabula.retrieve(QUESTION, document="Mill", path=steps)
    [prompt] = chats(model)
    assert len([line for line in prompt.splitlines() if line.startswith("[")]) == 5
    [facts] = [step for step in steps.root.steps[0].steps if step.name == "facts"]
    assert len(facts.hits) == 5
    assert 0 < len(facts.passed_on) < 5
    assert "gave the lamp to Boris" in first.text


def test_where_no_fact_helps_hippo_finds_what_hybrid_does(model: Endpoint) -> None:
    question = "Which road stayed closed?"
    steps = Steps()
    with Fabula(mode="hippo") as fabula:
        hits = fabula.retrieve(question, document="Mill", path=steps)
        hybrid = fabula.retrieve(question, document="Mill", mode="hybrid")
    assert "fall back" in names(steps.root.steps)
    assert rounded(hits) == rounded(hybrid)


# Citations


def test_a_record_that_is_cited_is_read_in_the_book(model: Endpoint) -> None:
    with Fabula(mode="light") as fabula:
        answer = fabula.query(QUESTION, document="Mill")
        kinds = {passage.hit.kind for passage in answer.context}
        assert {"entity", "relation", "chunk"} <= kinds
        cited = [entry.hit for entry in answer.context if entry.number in answer.cited]
        assert cited
        for hit in cited:
            reading = fabula.read("Mill", hit.id)
            assert reading is not None
            [first, *_] = fabula.sources([hit])[hit.id]
            assert (first.start, first.end) == (hit.start, hit.end)
    texts = [passage.text for passage in answer.context if passage.hit.kind == "relation"]
    assert "Boris - Clara: Clara gives Boris the lamp." in texts


def test_records_keep_within_their_share(model: Endpoint) -> None:
    knobs = {"entity_share": 0.2, "relation_share": 0.1}
    with Fabula(mode="light", context_tokens=200) as fabula:
        context = fabula.context(QUESTION, document="Mill", knobs=knobs)
    spent = {
        kind: sum(tokens.count(entry.text) for entry in context if entry.hit.kind == kind)
        for kind in ("entity", "relation")
    }
    assert 0 < spent["entity"] <= 40
    assert 0 < sum(spent.values()) <= 60


@for_each("name", MODES)
@for_each("question", [QUESTION, "Which road was closed?"])
def test_the_last_step_of_the_way_is_what_is_found(name: str, question: str) -> None:
    steps = Steps()
    with Fabula(mode=name, top_k=4) as fabula:
        hits = fabula.retrieve(question, path=steps)
    last = steps.root.steps[0].steps[-1]
    assert [hit for hit in last.hits if hit.id in last.passed_on] == hits


def test_the_command_line_explains_the_way() -> None:
    result = CliRunner().invoke(main, ["search", QUESTION, "--mode", "hippo", "--json"])
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    [root] = answer["path"]
    steps = {step["step"]: step["note"] for step in root["steps"]}
    assert steps["names"] == "boris, lamp, mill"
    assert "lamp 0.5" in steps["walk"]
    assert steps["network"] == "8 entities, 5 relations, 8 chunks"


# What is kept in memory


def test_the_network_is_read_again_once_it_has_changed() -> None:
    with Fabula(mode="hippo") as fabula:
        before = fabula.retrieve("What did Clara do?", document="Other")
        every = Filters(fabula.name)
        made: list[str] | None = fabula.open_store().cached("network", every, ("text", NAME), list)
        assert fabula.open_store().cached("network", every, ("text", NAME), list) is made
        grown = {name: CAST[name] for name in ("Anna", "Boris")}
        grown["Clara"] = ("person", {"Clara": "I"}, "Clara visits.")
        put_cast(fabula, "Other", grown, {})
        assert fabula.open_store().cached("network", every, ("text", NAME), list) is not made
        steps = Steps()
        after = fabula.retrieve("What did Clara do?", document="Other", path=steps)
        assert "from Clara" in str([step.note for step in steps.root.steps[0].steps])
        fabula.open_store().drop([Owner(fabula.name, NAME, fabula.document("Other").id)])
        with pytest.raises(NotFound, match="Other does not have"):
            fabula.retrieve("What did Clara do?", document="Other")
        put_cast(fabula, "Other", {"Anna": CAST["Anna"], "Boris": CAST["Boris"]}, {})
    assert [hit.id for hit in before] == [hit.id for hit in after]


def test_the_same_cast_again_changes_nothing_of_the_walk() -> None:
    # HippoRAG's code adds all its ties of synonyms again, and Fast GraphRAG's ties other entities.
    def hits(fabula: Fabula, mode: str) -> list[tuple[str, float]]:
        found = fabula.retrieve(QUESTION, document="Mill", mode=mode)
        return [(hit.id, round(hit.score, 6)) for hit in found]

    with Fabula() as fabula:
        before = [hits(fabula, mode) for mode in MODES]
        put_cast(fabula, "Mill", CAST, TIES)
        assert [hits(fabula, mode) for mode in MODES] == before


def test_a_fact_about_one_entity_alone_is_a_fact() -> None:
    with Fabula(collection="facts", graphs=(), mode="hippo") as fabula:
        fabula.ingest(write(Path(), "mill", STORY))
        put_cast(fabula, "Mill", CAST, {}, {("Anna", "Boris"): ("I", "Anna loves Boris")})
        tie = "MATCH (:Triple {collection: 'facts'})-[end:OBJECT]->() DELETE end"
        cypher(fabula.open_store(), tie)
        steps = Steps()
        fabula.retrieve(QUESTION, path=steps)
        [note] = [step.note for step in steps.root.steps[0].steps if step.name == "network"]
    assert note == "8 entities, 1 facts, 6 chunks"


def test_the_way_tells_how_many_documents_have_no_facts() -> None:
    with Fabula(collection="some facts", graphs=(), mode="hippo") as fabula:
        fabula.ingest(write(Path(), "mill", STORY), write(Path(), "other", {"I": STORY["I"]}))
        put_cast(fabula, "Mill", CAST, TIES, {("Anna", "Boris"): ("I", "Anna loves Boris")})
        few = {"Anna": CAST["Anna"], "Boris": CAST["Boris"]}
        put_cast(fabula, "Other", few, {("Anna", "Boris"): ("I", "They are kin.")})
        steps = Steps()
        fabula.retrieve(QUESTION, path=steps)
        [note] = [step.note for step in steps.root.steps[0].steps if step.name == "network"]
    assert note.endswith("; documents with relations, but no facts: 1")


# The faults of references, which must not be here


def walked(question: str, mode: str, **knobs: int) -> dict[str, TraceStep]:
    """The steps of a question to one book, by their names."""
    steps = Steps()
    with Fabula(mode=mode, top_k=9) as fabula:
        fabula.retrieve(question, document="Mill", knobs=knobs, path=steps)
    [inside] = [step.steps for step in steps.root.steps if step.name == "retrieve"]
    return {step.name: step for step in inside}


def test_mini_takes_the_nearest_of_a_type_for_the_answer_and_not_half_a_novel() -> None:
    everyone = walked(QUESTION, "mini")["answers"].note.split(", ")
    assert set(everyone) == {name for name, (type, *_) in CAST.items() if type == "person"}
    nearest = walked(QUESTION, "mini", answers=2)["answers"].note.split(", ")
    assert len(nearest) == 2
    assert "Clara" in nearest, "who brings a lamp is nearest to who gave it"


def test_of_the_nearest_entities_local_takes_as_many_as_it_says_and_all_that_are_named() -> None:
    nobody = "Which ship sailed in the ice of the winter?"
    assert MODES["local"].options().model_dump()["entities"] == 10, "the reference takes 20"
    assert len(walked(nobody, "local", entities=2)["entities"].hits) == 2
    named = [
        hit.text.partition(" (")[0]
        for hit in walked(QUESTION, "local", entities=2)["entities"].hits
    ]
    assert sorted(named) == ["Boris", "lamp", "mill"]


def test_the_least_cosine_of_light_is_not_compared_with_a_score_of_two_rankings() -> None:
    """Without a model an element that shares words with the question counts whatever its cosine."""
    steps = walked(QUESTION, "light", least=1)
    records = [hit.text for hit in steps["records"].hits]
    assert "Clara (person): Clara brings a lamp from the harbour." in records
