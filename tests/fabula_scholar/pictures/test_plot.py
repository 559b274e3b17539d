"""The plot of a document: where each passage is, what a file says, and the command."""

from __future__ import annotations

import itertools
import json
import re
import sys
import webbrowser
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from cases import for_each
from commands import run as run_command
from database import connect, cypher, name_server
from fabula.cli import main
from fabula.config.settings import STATIC
from fabula.graphs.aspects.values import StoredAspects
from fabula.server import Address
from fabula.store import Store
from fabula_scholar.pictures.shared.png import has_fonts, to_png
from fabula_scholar.pictures.trees.layout import GUTTER, LENGTH, Box, assign_lanes, lay_out
from fabula_scholar.pictures.trees.page import to_tree_page
from fabula_scholar.pictures.trees.svg import draw_trees
from graphs import put, small_graph
from isolation import shared_graph
from plotted import HOSTILE, QUESTION, found, known, picture
from stories import LIGHTHOUSE

SPACE = "{http://www.w3.org/2000/svg}"


run = partial(run_command, "plot")


@pytest.fixture(scope="module")
def filled(address: Address, tmp_path_factory: pytest.TempPathFactory) -> None:
    with shared_graph(address, tmp_path_factory.mktemp("plot")):
        Path("lighthouse.txt").write_text(LIGHTHOUSE)
        for more in ((), ("--preset", "naive")):
            assert CliRunner().invoke(main, ["ingest", *more, "lighthouse.txt"]).exit_code == 0


@pytest.fixture
def ingested(filled: None, address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names a graph of one book, with trees and without, which no test changes."""
    name_server(monkeypatch, address)


def graph_of(html: str) -> dict[str, Any]:
    """The JSON in a page."""
    [held] = re.findall(r'<script type="application/json" id="graph">(.*?)</script>', html)
    graph: dict[str, Any] = json.loads(held)
    return graph


def nodes(svg: str) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(svg)
    return [element for element in root.iter() if "node" in element.get("class", "").split()]


def apart(boxes: Iterable[Box]) -> bool:
    ranked = sorted(boxes, key=lambda box: box.x)
    return all(one.right <= other.x + 1e-9 for one, other in itertools.pairwise(ranked))


# Layout


@pytest.mark.parametrize("chunks", [1, 2, 12, 1000])
def test_chunks_stand_in_order_beside_each_other_in_the_line(chunks: int) -> None:
    layout = lay_out(known(max(chunks, 2)) if chunks > 1 else StoredAspects(known(2).chunks[:1]))
    assert [chunk.index for chunk, _ in layout.chunks] == list(range(chunks))
    boxes = [box for _, box in layout.chunks]
    assert boxes == sorted(boxes, key=lambda box: box.x)
    assert apart(boxes)
    assert boxes[0].x == GUTTER
    assert boxes[-1].right <= GUTTER + LENGTH + 1e-6


def test_details_are_under_their_chunk_and_beside_each_other() -> None:
    layout = lay_out(known())
    where = {chunk.id: box for chunk, box in layout.chunks}
    assert len(layout.details) == 24
    assert apart(box for _, box in layout.details)
    for detail, box in layout.details:
        assert where[detail.chunk].x <= box.x
        assert box.right <= where[detail.chunk].right + 1e-9


def test_a_summary_spans_its_members_and_is_marked_within_its_span() -> None:
    layout = lay_out(known())
    across = {chunk.id: box for chunk, box in layout.chunks}
    for band in layout.bands:
        for placed in band.summaries:
            assert placed.span.x - 1e-9 <= placed.mark.x
            assert placed.mark.right <= placed.span.right + 1e-9
            for member in placed.summary.members:
                assert placed.span.x <= across[member.id].x + 1e-9
                assert across[member.id].right <= placed.span.right + 1e-9
            across[placed.summary.id] = placed.span


def test_a_level_is_above_the_one_below_it_and_no_two_summaries_meet() -> None:
    for band in lay_out(known()).bands:
        low = [summary.span for summary in band.summaries if summary.summary.level == 1]
        high = [summary.span for summary in band.summaries if summary.summary.level == 2]
        assert max(box.bottom for box in high) < min(box.y for box in low)
        assert max(box.bottom for box in low) < band.strip < band.height
        assert min(box.y for box in high) > 0
        for y in {box.y for box in low}:
            assert apart(box for box in low if box.y == y)


def test_a_lane_holds_what_does_not_meet() -> None:
    assert assign_lanes([(0, 2), (2, 4), (1, 3), (5, 6), (0, 9)]) == [0, 0, 1, 0, 2]


def test_lines_lead_down_from_a_mark_to_each_member_with_its_weight() -> None:
    [theme, plot] = lay_out(known(), ("theme",)).bands
    assert (theme.aspect, plot.aspect) == ("theme", "plot")
    members = [member for summary in plot.summaries for member in summary.summary.members]
    assert [line.weight for line in plot.lines] == [member.weight for member in members]
    assert all(line.y < line.to_y <= plot.strip for line in plot.lines)
    assert set(plot.covered) == set(range(12))


def test_the_same_passages_in_any_order_are_drawn_the_same() -> None:
    aspects = known()
    other = StoredAspects(aspects.chunks[::-1], aspects.summaries[::-1], aspects.details[::-1])
    assert lay_out(other) == lay_out(aspects)


def test_sections_are_marked_where_they_begin() -> None:
    first, second = lay_out(known()).sections
    assert (first.title, second.title) == ("One", "Two word")
    assert (first.x, second.x) == (GUTTER, GUTTER + LENGTH / 2)


def test_a_summary_whose_members_are_gone_is_still_drawn() -> None:
    whole = known()
    lost = StoredAspects(
        whole.chunks, tuple(replace(summary, members=()) for summary in whole.summaries)
    )
    for band in lay_out(lost).bands:
        assert all(summary.span.width == pytest.approx(LENGTH) for summary in band.summaries)


# Files


def test_every_passage_is_in_the_picture_and_told_by_its_title() -> None:
    page = known(words=HOSTILE)
    drawn = nodes(draw_trees(picture(page, HOSTILE, QUESTION), alone=True))
    assert len(drawn) == len(page.chunks) + len(page.summaries) + len(page.details)
    titles = [node.findtext(f"{SPACE}title") or "" for node in drawn]
    assert sum('</script><script>window.broken = 1</script><b>"' in title for title in titles) > 30
    assert sum("hit" in node.attrib["class"].split() for node in drawn) == 3


def test_a_page_holds_each_text_and_lets_none_out() -> None:
    page = known(words=HOSTILE)
    html = to_tree_page(picture(page, HOSTILE, QUESTION), found(page), "hybrid")
    assert html.count("</script>") == 2
    assert "<b>" not in html
    assert "\u2028" not in html.partition('id="graph"')[2]
    assert not re.search(r"(?:src|href)=|url\(|@import|https?://(?!www\.w3\.org/2000/svg)", html)
    graph = graph_of(html)
    texts = {node["text"] for node in graph["nodes"]}
    assert {chunk.text for chunk in page.chunks} <= texts
    assert graph["question"] == QUESTION
    hits = [graph["nodes"][number]["kind"] for number, _ in graph["hits"]]
    assert hits == ["chunk", "summary", "detail"]


def test_a_png_is_one_and_says_whether_it_has_words() -> None:
    pytest.importorskip("resvg_py")
    drawn = to_png(draw_trees(picture(known(), question="Who?"), alone=True))
    assert drawn.startswith(b"\x89PNG")
    assert isinstance(has_fonts(), bool)


def test_a_book_of_120_000_words_is_a_page_of_a_few_megabytes() -> None:
    html = to_tree_page(picture(known(1000, "word " * 120)), [], "")
    assert len(html) < 3_000_000


# The command


def test_a_page_is_named_by_the_title_and_has_the_whole_graph(
    ingested: None, address: Address, tmp_path: Path
) -> None:
    output = run("lighthouse", "--query", "What broke the great lens?").stdout
    assert output.startswith("The Lighthouse.html: ")
    graph = graph_of((tmp_path / "The Lighthouse.html").read_text(encoding="utf-8"))
    with connect(address) as store:
        rows = cypher(
            store,
            "MATCH (n:Chunk|Summary|Detail {collection: 'default'}) RETURN n.text AS text",
        )
    assert sorted(node["text"] for node in graph["nodes"]) == sorted(row["text"] for row in rows)
    assert (graph["question"], graph["mode"]) == ("What broke the great lens?", "hybrid")
    best, score = graph["hits"][0]
    assert "storm broke the great lens" in graph["nodes"][best]["text"]
    assert score > graph["hits"][1][1]


def test_settings_say_how_a_question_is_asked(ingested: None, tmp_path: Path) -> None:
    run("lighthouse", "--query", "storm", "--mode", "naive", "--top-k", "2", "--out", "a.html")
    graph = graph_of(Path("a.html").read_text(encoding="utf-8"))
    assert graph["mode"] == "naive"
    assert [graph["nodes"][number]["kind"] for number, _ in graph["hits"]] == ["chunk"] * 2


def test_svg_and_png_are_written_by_the_suffix(ingested: None) -> None:
    pytest.importorskip("resvg_py")
    run("lighthouse", "--out", "a.SVG")
    run("lighthouse", "--out", "a.png")
    assert len(nodes(Path("a.SVG").read_text(encoding="utf-8"))) > 3
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")


def test_the_file_is_opened_in_the_web_browser_or_said_not_to_be(
    ingested: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_once(address: str) -> bool:
        opened.append(address)
        return len(opened) == 1

    monkeypatch.setattr(webbrowser, "open", open_once)
    assert run("lighthouse", "--open").stderr == ""
    assert opened == [Path("The Lighthouse.html").absolute().as_uri()]
    output = run("lighthouse", "--open").stderr
    assert (
        output == "No web browser could be opened here: open The Lighthouse.html in one yourself.\n"
    )


def test_a_document_without_trees_is_its_line_of_chunks(ingested: None) -> None:
    known = ("--out", "a.html", "--collection", "naive")
    assert run("lighthouse", *known).stdout == "a.html: 3 passages\n"


@for_each(
    ("words", "message"),
    [
        (["carol"], "There is no document 'carol'"),
        (["a", "--out", "a.pdf"], "end the file in .html, .svg or .png, not as a.pdf"),
        (["A", "--out", "nowhere/a.html"], "nowhere/a.html can't be written: No such file"),
        (["A", "--query", " "], "The question is empty"),
        (["A", "--network"], "A has no graph of entities, so there is no network to draw"),
        (["A", "--communities", "--story"], "A has no graph of discourse, so there is no story"),
        (["A", "--story", "--picture", "network"], "so there is no network to draw"),
        (["A", "--picture", "tree"], "There is no picture 'tree'"),
        (["twin"], "'twin' could be 2 documents; name one by its id"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(
    store: Store, graph_url: str, words: list[str], message: str
) -> None:
    store.prepare("default", STATIC, 8)
    for source in ("a.txt", "twin one.txt", "twin two.txt"):
        put(store, small_graph(source), STATIC)
    output = run(*words, code=1).output
    assert message in output
    assert len(output.strip().splitlines()) == 1


def test_a_missing_extra_is_told_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert "run `pip install 'fabula[png]'`" in run("A", "--out", "a.png", code=1).output
