"""The network of a document: who is read of the graph, where each stands, and the command."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner, Result

from fabula.cli import main
from fabula.graph import Edge, Node, Owner, Part, Record
from fabula.graph.hits import Hit
from fabula.graph.trace import Trace as Steps
from fabula_scholar.pictures.network.communities import (
    GREY,
    HUES,
    assign_hues,
    cited_chunks,
    find_groups,
    read_communities,
)
from fabula_scholar.pictures.network.conversation import read_conversation
from fabula_scholar.pictures.network.figures import (
    MAX_FIGURES,
    DrawnRelation,
    Figure,
    Meeting,
    NetworkPicture,
    add_conversation,
    first_types,
    read_figures,
    read_walked,
    section_titles,
)
from fabula_scholar.pictures.network.page import to_network_page
from fabula_scholar.pictures.network.spread import (
    LETTER_WIDTH,
    LINE_HEIGHT,
    MAIN_FIGURES,
    Spot,
    label,
    spread,
)
from fabula_scholar.pictures.network.svg import FIRST_FIGURES, draw_network, type_hues
from graphs import small_communities
from plotted import HOSTILE, sociogram, together
from scripted import Models, built, entity, made_chunks, relation, script
from stories import LIGHTHOUSE

SPACE = "{http://www.w3.org/2000/svg}"


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, ["plot", *arguments])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def spots(of: NetworkPicture) -> tuple[Spot, ...]:
    return spread(of.figures, of.relations, of.walked)


def points(some: Sequence[Spot]) -> np.ndarray:
    return np.array([(one.x, one.y) for one in some])


def classes(svg: str, word: str) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(svg)
    return [one for one in root.iter() if word in one.get("class", "").split()]


# What is read


def test_figures_and_ties_are_counted_by_section_with_their_first_and_last_meeting() -> None:
    texts = ("Anna met Boris. ", "Clara slept. ", "Boris left, and Anna wept. ", "Anna sang. ")
    sections = ("I", "I", "II", "III")
    chunks = [
        replace(one, section=section)
        for one, section in zip(made_chunks(*texts), sections, strict=True)
    ]
    one, many = entity("Anna", 1), entity("Anna", 1, 2)
    told = script(
        {
            "Anna met": {
                "entities": [many, entity("Boris", 1, 2), entity("Clara", 2)],
                "relations": [relation("Anna", "Boris", 1, description="They meet.")],
            },
            "Boris left": {
                "entities": [many, entity("Boris", 1)],
                "relations": [relation("Boris", "Anna", 1, description="They part.")],
            },
            "Anna sang": {"entities": [one], "relations": []},
        }
    )
    made, _ = built(chunks, Models(told), window_tokens=200, gleanings=0)
    figures, bonds = read_figures(made.nodes, made.edges, chunks[::-1])
    assert [(one.name, one.mentions) for one in figures] == [
        ("Anna", {0: 1, 1: 1, 2: 1}),
        ("Boris", {0: 1, 1: 1}),
        ("Clara", {0: 1}),
    ]
    assert section_titles(chunks) == ("I", "II", "III")
    [bond] = bonds
    assert {figures[row].name for row in bond.ends} == {"Anna", "Boris"}
    assert bond.chunks == {0: 1, 1: 1}
    assert (bond.first.section, bond.first.text) == (0, "They meet.")
    assert (bond.last.section, bond.last.text) == (1, "They part.")
    assert figures[2].place < figures[0].place


def test_of_very_many_the_first_are_drawn_and_whoever_was_walked() -> None:
    names = [
        [f"Person{number + one}" for one in range(20)] for number in range(0, MAX_FIGURES + 20, 20)
    ]
    chunks = made_chunks(*(". ".join(some) + ". " for some in names))
    told = script(
        {
            f"{some[0]}.": {"entities": [entity(name, 1) for name in some], "relations": []}
            for some in names
        }
    )
    made, _ = built(chunks, Models(told), window_tokens=100, gleanings=0)
    figures, _ = read_figures(made.nodes, made.edges, chunks)
    assert len(figures) == MAX_FIGURES
    left = next(one.id for one in made.nodes if one.id not in {figure.id for figure in figures})
    more, _ = read_figures(made.nodes, made.edges, chunks, [left])
    assert [one.id for one in more] == [*(one.id for one in figures), left]


def test_a_text_without_sections_has_tenths() -> None:
    chunks = made_chunks(*(f"This is {number}. " for number in range(25)))
    titles = section_titles(chunks)
    assert (len(titles), titles[0], titles[-1]) == (10, "part 1 of 10", "part 10 of 10")
    assert len(section_titles(chunks[:3])) == 3


def test_what_a_mode_walked_is_read_of_its_path() -> None:
    def hit(id: str, kind: str) -> Hit:
        return Hit(id, kind, "d", "A", "", "", "", 0, 0, 1, "text", 1, 0.5)

    steps = Steps()
    with steps.step("retrieve", "local"):
        with steps.step("elements", "entity") as step:
            step.record([hit(f"near{number}", "entity") for number in range(20)])
        with steps.step("entities") as step:
            found = [hit("e2", "entity"), hit("e1", "entity"), hit("c1", "chunk")]
            step.record([*found, hit("r1", "relation")], [found[0], found[2]])
        with steps.step("walk") as step:
            step.walked = ("e3", "e2")
    assert read_walked(steps) == ["e2", "e3"]


# Where each stands


def test_the_same_network_is_laid_out_the_same() -> None:
    one = sociogram(80)
    assert spread(one.figures, one.relations) == spread(one.figures, one.relations[::-1])


@pytest.mark.parametrize("count", [1, 2, 60, 200])
def test_names_of_those_that_are_shown_first_do_not_meet(count: int) -> None:
    one = sociogram(count)
    placed = spread(one.figures, one.relations)
    first = sorted(range(count), key=lambda row: one.figures[row].type not in {"person", "group"})
    boxes = []
    for row in first[:MAIN_FIGURES]:
        half = max(len(label(one.figures[row].name)) * LETTER_WIDTH / 2, placed[row].radius)
        spot = placed[row]
        top, foot = spot.y - spot.radius, spot.y + spot.radius + LINE_HEIGHT
        boxes.append((spot.x - half, spot.x + half, top, foot))
    for (left, right, top, foot), (start, end, head, base) in itertools.combinations(boxes, 2):
        assert left >= end or start >= right or top >= base or head >= foot


def test_a_small_edit_moves_nobody_far() -> None:
    one = sociogram(80)
    edited = list(one.relations)
    edited[10] = replace(edited[10], chunks={0: edited[10].weight + 1})
    del edited[40]
    before, after = (points(spread(one.figures, bonds)) for bonds in (one.relations, edited))
    size = np.linalg.norm(before - before.mean(axis=0), axis=1).mean()
    moved = np.linalg.norm(before - after, axis=1) / size
    assert np.median(moved) < 0.1
    assert np.quantile(moved, 0.9) < 0.4


def test_500_figures_are_placed_in_seconds() -> None:
    one = sociogram(500)
    began = time.process_time()
    placed = spread(one.figures, one.relations)
    assert time.process_time() - began < 30
    assert np.isfinite(points(placed)).all()


def test_a_community_keeps_its_hue_from_level_to_level() -> None:
    first, second, third = assign_hues(
        [["Anna", "Boris"], ["Clara", "Anna", "Boris"], ["Clara", ""]]
    )
    assert (first, third) == (second[1:], [second[0], GREY])
    assert len(set(second)) == 3
    [many] = assign_hues([[f"P{number}" for number in range(9)]])
    assert sorted(many) == [*range(HUES), GREY, GREY]


def test_communities_are_read_with_their_reports_and_who_is_drawn() -> None:
    chunks = made_chunks("Anna met Boris. ", "Clara slept. ")
    everyone = {"Anna met": [entity("Anna", 1), entity("Boris", 1), entity("Clara", 2)]}
    told = script({words: {"entities": who, "relations": []} for words, who in everyone.items()})
    made, _ = built(chunks, Models(told), window_tokens=200, gleanings=0)
    cast = Part(Owner("default", "entities", "d"), made.nodes, made.edges, Record({}))
    part = small_communities(cast, [one.id for one in chunks])
    figures, _ = read_figures(made.nodes, made.edges, chunks)
    numbers = {one.id: number for number, one in enumerate(chunks)}
    shown = [one.id for one in figures][:2]
    report = next(one.id for one in part.nodes if one.label == "Report")
    found = read_communities(part.nodes, part.edges, shown, ["A", "B"], numbers, ["x", report])
    assert [(one.level, one.numbers, one.parent, one.size) for one in found] == [
        (0, (1,), -1, 3),
        (1, (1,), 0, 2),
        (1, (2,), 0, 1),
    ]
    assert [one.rank for one in found] == [2, 0, 0]
    assert (found[0].members, found[0].findings[0].chunks) == ((0, 1), (0,))
    assert find_groups(found, 0, 3) == [0, 0, -1]
    assert cited_chunks(found) == {0, *found[2].findings[0].chunks}


def test_a_picture_of_communities_has_their_numbers_and_names() -> None:
    one = together(sociogram(30))
    spots = spread(one.figures, one.relations, (), find_groups(one.communities, 0, 30))
    assert spots == spread(
        one.figures, one.relations[::-1], (), find_groups(one.communities, 0, 30)
    )
    svg = draw_network(one, spots, alone=True)
    assert {span.text for span in classes(svg, "of")} == {"1", "2"}
    assert len(classes(svg, "key")) == 2


def test_nobody_is_a_picture_too() -> None:
    empty = replace(sociogram(3), figures=(), relations=(), entities=0)
    assert spread((), ()) == ()
    ElementTree.fromstring(draw_network(empty, (), alone=True))
    assert "0 entities" in to_network_page(empty, ())


# Files


def test_a_picture_has_the_first_people_and_all_who_were_walked() -> None:
    one = sociogram(200, words=HOSTILE, question="Who?")
    svg = draw_network(one, spots(one), alone=True)
    drawn = {int(group.attrib["id"][1:]) for group in classes(svg, "figure")}
    people = [row for row, figure in enumerate(one.figures) if figure.type != "place"]
    assert drawn == {*people[:FIRST_FIGURES], 2, 199}
    assert {group.attrib["id"] for group in classes(svg, "walked")} >= {"f2", "f199"}
    told = [group.findtext(f"{SPACE}title") or "" for group in classes(svg, "figure")]
    assert all("</script><script>window.broken = 1</script>" in one for one in told)


def test_a_narrow_picture_is_as_wide_as_its_key_and_heading() -> None:
    one = replace(sociogram(3), title="Anna " * 20, question="Who is Anna to Boris? " * 6)
    types = [replace(who, type=f"a type of {n}") for n, who in enumerate(one.figures * 4)]
    for drawn, last in (
        (one, "said"),
        (replace(one, question=""), "title"),
        (
            replace(one, title="A", author="", question="", figures=tuple(types), relations=()),
            "key",
        ),
    ):
        svg = draw_network(drawn, spots(drawn), alone=True)
        width = float(ElementTree.fromstring(svg).attrib["width"])
        element = classes(svg, last)[-1]
        text = element.find(f"{SPACE}text") if last == "key" else element
        assert text is not None
        assert float(text.attrib["x"]) + len(text.text or "") * 6.9 < width


def test_a_page_holds_all_and_lets_nothing_out() -> None:
    one = sociogram(60, words=HOSTILE, question=HOSTILE)
    html = to_network_page(one, spots(one))
    assert html.count("</script>") == 2
    assert "<b>" not in html
    assert not re.search(r"(?:src|href)=|url\(|@import|https?://(?!www\.w3\.org/2000/svg)", html)
    assert len(classes(html[html.index("<svg") : html.index("</svg>") + 6], "figure")) == 60


def test_people_are_shown_at_first_where_some_are_known() -> None:
    figures = sociogram(40).figures
    assert first_types(figures) == {"person", "group"}
    unknown = [replace(one, type="name") for one in figures]
    assert first_types(unknown) == {"name"}
    assert type_hues(figures) == {"person": 0, "place": 2, "group": 1}
    assert type_hues([*unknown[:3], *_of("river", "Person")]) == {
        "name": 7,
        "river": 3,
        "Person": 0,
    }


def _of(*types: str) -> list[Figure]:
    return [replace(sociogram(5).figures[0], type=type, mentions={0: 1}) for type in types]


# The command


def test_the_network_is_drawn_with_whom_a_mode_walked(graph_url: str, tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    (tmp_path / "lighthouse.txt").write_text(LIGHTHOUSE)
    invoked = CliRunner().invoke(main, ["ingest", "lighthouse.txt", "--graphs", "entities"])
    assert invoked.exit_code == 0, invoked.output
    asked = ("--mode", "hippo", "--query", "What did Elias carry up the stairs?")
    said = run("lighthouse", "--network", *asked).stdout
    file = "The Lighthouse (network).html"
    assert re.fullmatch(
        rf"{re.escape(file)}: \d+ entities, [1-9]\d* visited for the question\n", said
    )
    html = (tmp_path / file).read_text(encoding="utf-8")
    walked = classes(html[html.index("<svg") : html.index("</svg>") + 6], "walked")
    assert "Elias" in {one.findtext(f"{SPACE}text") for one in walked}
    run("lighthouse", "--network", "--out", "a.png")
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")
    assert "0 visited" in run("lighthouse", "--network", "--mode", "naive", *asked[2:]).stdout


def test_a_document_without_the_graph_is_told_how_to_get_it(graph_url: str, tmp_path: Path) -> None:
    (tmp_path / "lighthouse.txt").write_text(LIGHTHOUSE)
    CliRunner().invoke(main, ["ingest", "--graphs", "aspects", "lighthouse.txt"])
    said = run("lighthouse", "--network", code=1).output
    assert "The Lighthouse has no graph of entities" in said
    assert "`fabula build entities " in said
    assert len(said.strip().splitlines()) == 1


# Who speaks to whom


def quotation(id: str, start: int, speaker: str, addressee: str, manner: str = "speech") -> Node:
    values = {"speaker": speaker, "addressee": addressee, "text": f"“{id}!”", "start": start}
    return Node(id, "Quotation", {**values, "manner": manner}, (f"c{start}",))


def test_what_two_say_to_each_other_is_a_layer_of_the_network() -> None:
    said = [
        quotation("go", 2, "Anna", "Boris"),
        quotation("no", 1, "Boris", "Anna"),
        quotation("hm", 1, "Anna", "Boris", manner="thought"),
        quotation("hey", 3, "Anna", "Clara"),
        quotation("who", 3, "Anna", ""),
    ]
    ends = [("SPOKEN_BY", one.properties["speaker"]) for one in said]
    to = [("SPOKEN_TO", one.properties["addressee"]) for one in said]
    edges = [
        Edge(type, one.id, name.lower())
        for one, pair in zip(said, zip(ends, to, strict=True), strict=True)
        for type, name in pair
        if name
    ]
    conversation = read_conversation(
        Part(Owner("c", "speech", "d"), tuple(said), tuple(edges), Record({}))
    )
    assert conversation == {
        ("anna", "boris"): [("c1", "Boris to Anna: “no!”"), ("c2", "Anna to Boris: “go!”")],
        ("anna", "clara"): [("c3", "Anna to Clara: “hey!”")],
    }
    met = DrawnRelation("r", (1, 0), "They meet.", (), {0: 4}, Meeting(0, ""), Meeting(0, ""))
    rows, sections = {"anna": 0, "boris": 1, "clara": 2}, {"c1": 0, "c2": 1, "c3": 1}
    other, both = add_conversation([met], conversation, rows, sections)
    assert both == replace(met, quotations={0: 1, 1: 1})
    assert (other.ends, other.chunks, other.quotations) == ((0, 2), {1: 1}, {1: 1})
    assert other.first == other.last == Meeting(1, "Anna to Clara: “hey!”")


def test_lines_of_those_who_speak_to_each_other_are_marked() -> None:
    picture = sociogram(12)
    spoken = replace(picture.relations[0], quotations={0: 3})
    picture = replace(picture, relations=(spoken, *picture.relations[1:]))
    drawn = ElementTree.fromstring(draw_network(picture, spots(picture), alone=False))
    [marked] = [one for one in drawn.iter(f"{SPACE}g") if "speaks" in one.get("class", "")]
    assert marked.get("id") == "b0"
    page = to_network_page(picture, spots(picture))
    assert '"quotations":[[0,3]]' in page.replace(" ", "")
