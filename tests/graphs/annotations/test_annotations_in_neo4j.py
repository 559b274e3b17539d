"""Annotations and notes in the graph: imported, asked, kept through edits, exported, removed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cases import for_each
from database import connect, cypher, name_server, wipe
from fabula import Fabula
from fabula.build import plan
from fabula.cli import main
from fabula.config.settings import Settings
from fabula.errors import BadValue, NotFound
from fabula.export.web_annotation import collection_json, read_annotations
from fabula.graph.annotations import Annotation
from fabula.library.annotating import read_text_of
from fabula.operations.annotations import list_annotation_layers, remove_layer
from fabula.operations.documents import edit_document, remove_document
from fabula.operations.exports import export_annotations
from fabula.operations.notes import add_note
from fabula.server import Address
from fabula.store.annotations import read_layers
from fabula.text.anchoring import TextQuote, quote_at
from fabula.text.document import Document
from offline import offline_settings
from stories import HALES as STORY


@pytest.fixture(scope="module")
def settings(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    home = tmp_path_factory.mktemp("annotations")
    return offline_settings(address, home, graphs=("entities", "speech"))


@pytest.fixture
def fabula(settings: Settings, address: Address) -> Iterator[Fabula]:
    with connect(address) as store, Fabula(settings) as fabula:
        wipe(store)
        fabula.ingest_text(STORY, source="hale.txt", title="The Hales", language="en")
        yield fabula


@pytest.fixture
def run(fabula: Fabula, address: Address, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`fabula` with what follows it."""
    name_server(monkeypatch, address)
    monkeypatch.setenv("FABULA_CHUNK_TOKENS", "40")

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments)

    return run


def text_of(fabula: Fabula) -> str:
    return read_text_of(fabula.open_store(), fabula.document("Hales")).text


def marked(text: str, words: str, label: str, body: str = "", **more: Any) -> Annotation:
    at = text.index(words)
    return Annotation(quote_at(text, at, at + len(words)), "tag", label, body, **more)


def write(fabula: Fabula, file: Path, *annotations: Annotation) -> Path:
    entry = fabula.document("Hales")
    document = Document(entry.id, "", "", "", "", "en", "", (), "")
    file.write_text(json.dumps(collection_json(document, annotations)), "utf-8")
    return file


@pytest.fixture
def imported(fabula: Fabula, tmp_path: Path) -> Fabula:
    text = text_of(fabula)
    of_storm = marked(text, "The storm came in the night", "weather", "A turning point.", id="s")
    of_mill = marked(text, "The mill is shut", "economy", id="m")
    lost = Annotation(TextQuote("words of another book entirely"), "tag", "lost", id="l")
    file = write(fabula, tmp_path / "scheme.jsonld", of_storm, of_mill, lost)
    fabula.import_annotations(file, document="Hales", by="Ann")
    fabula.build("annotations")
    return fabula


def nodes(fabula: Fabula) -> list[tuple[str, str, str]]:
    rows = cypher(
        fabula.open_store(),
        "MATCH (n:Annotation)-[:FROM_CHUNK]->(c:Chunk) "
        "RETURN n.label AS label, n.quote AS quote, n.found AS found, "
        "substring(c.text, n.start - c.start, n.end - n.start) AS printed ORDER BY n.start",
    )
    assert [row["quote"] for row in rows] == [row["printed"] for row in rows]
    return [(row["label"], row["quote"], row["found"]) for row in rows]


@pytest.mark.whole
@pytest.mark.journey
def test_imported_annotations_are_a_graph_on_their_words(imported: Fabula) -> None:
    assert nodes(imported) == [
        ("economy", "The mill is shut", "position"),
        ("weather", "The storm came in the night", "position"),
    ]
    [layer] = list_annotation_layers(imported, "Hales").rows
    assert (layer.layer, layer.by, layer.orphaned) == ("scheme", "Ann", 1)
    facts = imported.document("Hales").graphs["annotations"].facts
    assert (facts["annotations"], facts["orphaned"]) == (2, 1)
    assert imported.check().violations == ()


def test_a_question_finds_the_passage_that_is_annotated(imported: Fabula) -> None:
    hits = imported.retrieve("Where is the turning point?", mode="annotations", k=1)
    assert "The storm came in the night" in hits[0].text
    [of_tag] = imported.retrieve("economy", mode="annotations", k=1)
    assert "The mill is shut" in of_tag.text
    # The reader has not come to the storm, so its annotation is not known.
    early = imported.retrieve("turning point", mode="annotations", k=1, until="CHAPTER I")
    assert "storm" not in early[0].text


def test_annotations_survive_an_edit_of_the_text_where_their_words_do(imported: Fabula) -> None:
    edited = STORY.replace('"The mill is shut."', '"Go home."').replace(
        "CHAPTER II", "It was a cold day, and long before the war.\n\nCHAPTER II"
    )
    imported.ingest_text(edited, source="hale.txt", title="The Hales", language="en")
    assert nodes(imported) == [("weather", "The storm came in the night", "quote")]
    [layer] = list_annotation_layers(imported, "Hales").rows
    assert (layer.moved, layer.orphaned) == (1, 2)
    # The text comes back as it was: nothing was lost.
    imported.ingest_text(STORY, source="hale.txt", title="The Hales", language="en")
    assert [label for label, _, _ in nodes(imported)] == ["economy", "weather"]


def test_an_import_makes_the_graph_stale_and_a_rebuild_keeps_it(
    imported: Fabula, tmp_path: Path
) -> None:
    entry = imported.document("Hales")
    assert imported.stale(entry) == {}
    file = write(imported, tmp_path / "more.jsonld", marked(text_of(imported), "boats", "sea"))
    imported.import_annotations(file, document="Hales")
    assert imported.stale(entry) == {"annotations": ["annotations.more"]}
    assert [outcome.status for outcome in imported.build("annotations")] == ["replaced"]
    assert len(nodes(imported)) == 3
    assert [outcome.status for outcome in imported.build("annotations")] == ["unchanged"]
    imported.build("annotations", rebuild=True)
    assert len(nodes(imported)) == 3
    remove_layer(imported, "Hales", "scheme")
    assert nodes(imported) == [("sea", "boats", "position")]
    with pytest.raises(NotFound, match="no annotations named 'scheme'"):
        remove_layer(imported, "Hales", "scheme")


def test_annotations_go_with_their_document_and_stay_in_their_collection(
    imported: Fabula, address: Address
) -> None:
    other = imported.app.collection("other")
    other.ingest_text(STORY, source="hale.txt", title="The Hales", language="en")
    add_note(other, "Hales", "boats", "Elsewhere.")
    assert [row.layer for row in list_annotation_layers(imported).rows] == ["scheme"]
    assert [row.layer for row in list_annotation_layers(other).rows] == ["notes"]
    remove_document(imported, "The Hales")
    with connect(address) as store:
        left = cypher(store, "MATCH (n:AnnotationSlice) RETURN n.collection AS c, n.layer AS layer")
    assert left == [{"c": "other", "layer": "notes"}]


def test_what_graphs_found_is_exported_with_layers_and_notes(
    imported: Fabula, tmp_path: Path
) -> None:
    add_note(imported, "Hales", "boats", "Whose?")
    export_annotations(imported, "Hales").write(path := tmp_path / "all.jsonld")
    every = read_annotations(path.read_bytes(), "all")
    text = text_of(imported)
    on_text = [a for a in every if a.start >= 0]
    assert all(text[a.start : a.end] == a.quote.exact for a in on_text)
    found = {(a.kind, a.label, a.quote.exact) for a in every}
    assert {
        ("entity", "Captain Reed", "Captain Reed"),
        ("quotation", "Anna Hale", '"You are late,"'),
        ("tag", "weather", "The storm came in the night"),
        ("tag", "lost", "words of another book entirely"),
        ("note", "", "boats"),
    } <= found
    export_annotations(imported, "Hales", what=("notes",)).write(only := tmp_path / "n.jsonld")
    assert [a.body for a in read_annotations(only.read_bytes(), "notes")] == ["Whose?"]
    read = imported.as_read("Hales", "CHAPTER I")
    export_annotations(read, "Hales").write(early := tmp_path / "i.jsonld")
    seen = read_annotations(early.read_bytes(), "early")
    assert {a.label for a in seen} == {"Anna Hale", "Captain Reed", "economy"}


def test_the_commands_import_list_export_and_remove(
    run: Any, fabula: Fabula, tmp_path: Path
) -> None:
    file = write(
        fabula, tmp_path / "scheme.jsonld", marked(text_of(fabula), "boats", "sea", id="b")
    )
    result = run("annotations", "import", str(file), "--document", "Hales")
    assert result.exit_code == 0, result.output
    assert "scheme: 1 annotation of The Hales; 1 in place, 0 found elsewhere" in result.output
    assert "sea" in run("annotations", "show", "Hales", "--layer", "scheme").stdout
    assert "There are: scheme." in run("annotations", "show", "Hales", "--layer", "x").output
    assert "scheme" in run("annotations", "list").stdout
    shown = json.loads(run("annotations", "show", "Hales", "--layer", "scheme", "--json").stdout)
    [row] = shown["rows"]
    assert (row["label"], row["quote"], row["found"]) == ("sea", "boats", "position")
    orphaned = run("annotations", "show", "Hales", "--orphaned")
    assert (orphaned.exit_code, "Nothing was found" in orphaned.stderr) == (0, True)
    out = tmp_path / "out.jsonld"
    assert (
        run("annotations", "export", "Hales", "--what", "scheme", "--out", str(out)).exit_code == 0
    )
    assert json.loads(out.read_text("utf-8"))["total"] == 1
    assert run("cypher", "annotated", "--param", "tag=sea").stdout.count("boats") == 1
    removed = run("annotations", "remove", "Hales", "scheme", "--yes")
    assert "removed scheme from The Hales: 1 annotation" in removed.output
    assert nodes(fabula) == []


def test_thousands_of_annotations_come_back_from_the_graph_on_the_same_characters(
    fabula: Fabula, tmp_path: Path
) -> None:
    # More than the rows of one batch, and than a small document has.
    check_many(fabula, tmp_path, 2_500)


@pytest.mark.nightly
def test_a_hundred_thousand_annotations_come_back_from_the_graph(
    fabula: Fabula, tmp_path: Path
) -> None:
    check_many(fabula, tmp_path, 100_000)


def check_many(fabula: Fabula, folder: Path, count: int) -> None:
    """Import, build, export: each annotation has its characters at each step."""
    novel = (resources.files("fabula.texts") / "a-christmas-carol.txt").read_text("utf-8")
    many = fabula.app.collection("many")
    many.ingest_text(novel[: 8 * count], source="n.txt", title="Novel", language="en")
    text = read_text_of(many.open_store(), many.document("Novel")).text
    drawn = random.Random(36)
    starts = [drawn.randrange(len(text) - 60) for _ in range(count)]
    every = [
        Annotation(quote_at(text, start, start + 1 + start % 50), "tag", f"t{start % 9}", id=str(n))
        for n, start in enumerate(starts)
    ]
    entry = many.document("Novel")
    document = Document(entry.id, "", "", "", "", "en", "", (), "")
    file = folder / "many.jsonld"
    file.write_text(json.dumps(collection_json(document, every)), "utf-8")
    imported = many.import_annotations(file, document="Novel")
    assert (imported.in_place, imported.moved, imported.orphaned) == (count, 0, 0)
    outcomes = many.build("annotations")
    assert [outcome.error for outcome in outcomes if outcome.error] == []
    rows = cypher(
        many.open_store(),
        "MATCH (n:Annotation {collection: 'many'}) RETURN n.key AS id, n.start AS s, n.end AS e",
    )
    expected = {annotation.id: (annotation.start, annotation.end) for annotation in every}
    assert {row["id"]: (row["s"], row["e"]) for row in rows} == expected
    export_annotations(many, "Novel", what=("many",)).write(path := folder / "out.jsonld")
    again = read_annotations(path.read_bytes(), "out")
    assert {a.id: (a.start, a.end) for a in again} == expected


def test_a_build_that_an_import_overtakes_is_made_with_what_is_there_then(
    imported: Fabula, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = text_of(imported)
    more = write(imported, tmp_path / "more.jsonld", marked(text, "Good day", "greeting", id="g"))
    read, overtakes = read_layers, iter([True, True])

    def read_late(*place: Any) -> Any:
        if next(overtakes, False):
            imported.import_annotations(more, document="Hales", layer="more")
        return read(*place)

    monkeypatch.setattr(plan, "read_layers", read_late)
    imported.import_annotations(more, document="Hales", layer="other")
    [outcome] = imported.build("annotations")
    assert (outcome.status, outcome.error) == ("replaced", None)
    found = cypher(imported.open_store(), "MATCH (n:Annotation) RETURN count(n) AS nodes")
    assert found[0]["nodes"] == 4  # two of the scheme, and one of each later layer


@for_each("name", ["a/b", "../x", "a\u202eb", "a\x1bb", "x" * 600])
def test_a_layer_has_a_name_that_can_be_shown_and_be_in_an_address(
    imported: Fabula, tmp_path: Path, name: str
) -> None:
    text = text_of(imported)
    file = write(imported, tmp_path / "more.jsonld", marked(text, "Good day", "greeting"))
    with pytest.raises(BadValue, match="The layer's name"):
        imported.import_annotations(file, document="Hales", layer=name)
    with pytest.raises(BadValue, match=r"The tag .* changes the order of what is shown"):
        add_note(imported, "Hales", "Good day", "A note.", tag="\u202egreeting")
    with pytest.raises(BadValue, match=r"changes the order of what is shown"):
        edit_document(imported, "Hales", title="The \u202eHales")
