"""The network of a document: who is read of the graph, where each stands, and the command."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

from commands import run as run_command
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


run = partial(run_command, "plot")


def spots(of: NetworkPicture) -> tuple[Spot, ...]:
    return spread(of.figures, of.relations, of.walked)


def points(some: Sequence[Spot]) -> np.ndarray:
    return np.array([(spot.x, spot.y) for spot in some])


def classes(svg: str, word: str) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(svg)
    return [element for element in root.iter() if word in element.get("class", "").split()]


# What is read


def test_figures_and_ties_are_counted_by_section_with_their_first_and_last_meeting() -> None:
    texts = ("Anna met Boris. ", "Clara slept. ", "Boris left, and Anna wept. ", "Anna sang. ")
    sections = ("I", "I", "II", "III")
    chunks = [
        replace(chunk, section=section)
        for chunk, section in zip(made_chunks(*texts), sections, strict=True)
    ]
    anna, many = entity("Anna", 1), entity("Anna", 1, 2)
    replies = script(
        {
            "Anna met": {
                "entities": [many, entity("Boris", 1, 2), entity("Clara", 2)],
                "relations": [relation("Anna", "Boris", 1, description="They meet.")],
            },
            "Boris left": {
                "entities": [many, entity("Boris", 1)],
                "relations": [relation("Boris", "Anna", 1, description="They part.")],
            },
            "Anna sang": {"entities": [anna], "relations": []},
        }
    )
    made, _ = built(chunks, Models(replies), window_tokens=200, gleanings=0)
    figures, bonds = read_figures(made.nodes, made.edges, chunks[::-1])
    assert [(figure.name, figure.mentions) for figure in figures] == [
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
        [f"Person{number + offset}" for offset in range(20)]
        for number in range(0, MAX_FIGURES + 20, 20)
    ]
    chunks = made_chunks(*(". ".join(some) + ". " for some in names))
    replies = script(
        {
            f"{some[0]}.": {"entities": [entity(name, 1) for name in some], "relations": []}
            for some in names
        }
    )
    made, _ = built(chunks, Models(replies), window_tokens=100, gleanings=0)
    figures, _ = read_figures(made.nodes, made.edges, chunks)
    assert len(figures) == MAX_FIGURES
    left = next(node.id for node in made.nodes if node.id not in {figure.id for figure in figures})
    more, _ = read_figures(made.nodes, made.edges, chunks, [left])
    assert [figure.id for figure in more] == [*(figure.id for figure in figures), left]


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
    picture = sociogram(80)
    assert spread(picture.figures, picture.relations) == spread(
        picture.figures, picture.relations[::-1]
    )


@pytest.mark.parametrize("count", [1, 2, 60, 200])
def test_names_of_those_that_are_shown_first_do_not_meet(count: int) -> None:
    picture = sociogram(count)
    placed = spread(picture.figures, picture.relations)
    first = sorted(
        range(count), key=lambda row: picture.figures[row].type not in {"person", "group"}
    )
    boxes = []
    for row in first[:MAIN_FIGURES]:
        half = max(len(label(picture.figures[row].name)) * LETTER_WIDTH / 2, placed[row].radius)
        spot = placed[row]
        top, foot = spot.y - spot.radius, spot.y + spot.radius + LINE_HEIGHT
        boxes.append((spot.x - half, spot.x + half, top, foot))
    for (left, right, top, foot), (start, end, head, base) in itertools.combinations(boxes, 2):
        assert left >= end or start >= right or top >= base or head >= foot


def test_a_small_edit_moves_nobody_far() -> None:
    picture = sociogram(80)
    edited = list(picture.relations)
    edited[10] = replace(edited[10], chunks={0: edited[10].weight + 1})
    del edited[40]
    before, after = (
        points(spread(picture.figures, bonds)) for bonds in (picture.relations, edited)
    )
    size = np.linalg.norm(before - before.mean(axis=0), axis=1).mean()
    moved = np.linalg.norm(before - after, axis=1) / size
    assert np.median(moved) < 0.1
    assert np.quantile(moved, 0.9) < 0.4


def test_500_figures_are_placed_in_seconds() -> None:
    picture = sociogram(500)
    began = time.process_time()
    placed = spread(picture.figures, picture.relations)
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
    replies = script({words: {"entities": who, "relations": []} for words, who in everyone.items()})
    made, _ = built(chunks, Models(replies), window_tokens=200, gleanings=0)
    cast = Part(Owner("default", "entities", "d"), made.nodes, made.edges, Record({}))
    part = small_communities(cast, [chunk.id for chunk in chunks])
    figures, _ = read_figures(made.nodes, made.edges, chunks)
    numbers = {chunk.id: number for number, chunk in enumerate(chunks)}
    shown = [figure.id for figure in figures][:2]
    report = next(node.id for node in part.nodes if node.label == "Report")
    found = read_communities(part.nodes, part.edges, shown, ["A", "B"], numbers, ["x", report])
    assert [
        (community.level, community.numbers, community.parent, community.size)
        for community in found
    ] == [
        (0, (1,), -1, 3),
        (1, (1,), 0, 2),
        (1, (2,), 0, 1),
    ]
    assert [community.rank for community in found] == [2, 0, 0]
    assert (found[0].members, found[0].findings[0].chunks) == ((0, 1), (0,))
    assert find_groups(found, 0, 3) == [0, 0, -1]
    assert cited_chunks(found) == {0, *found[2].findings[0].chunks}


def test_a_picture_of_communities_has_their_numbers_and_names() -> None:
    picture = together(sociogram(30))
    spots = spread(picture.figures, picture.relations, (), find_groups(picture.communities, 0, 30))
    assert spots == spread(
        picture.figures, picture.relations[::-1], (), find_groups(picture.communities, 0, 30)
    )
    svg = draw_network(picture, spots, alone=True)
    assert {span.text for span in classes(svg, "of")} == {"1", "2"}
    assert len(classes(svg, "key")) == 2


def test_nobody_is_a_picture_too() -> None:
    empty = replace(sociogram(3), figures=(), relations=(), entities=0)
    assert spread((), ()) == ()
    ElementTree.fromstring(draw_network(empty, (), alone=True))
    assert "0 people, places and things" in to_network_page(empty, ())


# Files


def test_a_picture_has_the_first_people_and_all_who_were_walked() -> None:
    picture = sociogram(200, words=HOSTILE, question="Who?")
    svg = draw_network(picture, spots(picture), alone=True)
    drawn = {int(group.attrib["id"][1:]) for group in classes(svg, "figure")}
    people = [row for row, figure in enumerate(picture.figures) if figure.type != "place"]
    assert drawn == {*people[:FIRST_FIGURES], 2, 199}
    assert {group.attrib["id"] for group in classes(svg, "walked")} >= {"f2", "f199"}
    titles = [group.findtext(f"{SPACE}title") or "" for group in classes(svg, "figure")]
    assert all("</script><script>window.broken = 1</script>" in title for title in titles)


def test_a_narrow_picture_is_as_wide_as_its_key_and_heading() -> None:
    picture = replace(sociogram(3), title="Anna " * 20, question="Who is Anna to Boris? " * 6)
    types = [replace(who, type=f"a type of {n}") for n, who in enumerate(picture.figures * 4)]
    for drawn, last in (
        (picture, "said"),
        (replace(picture, question=""), "title"),
        (
            replace(picture, title="A", author="", question="", figures=tuple(types), relations=()),
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
    picture = sociogram(60, words=HOSTILE, question=HOSTILE)
    html = to_network_page(picture, spots(picture))
    assert html.count("</script>") == 2
    assert "<b>" not in html
    assert not re.search(r"(?:src|href)=|url\(|@import|https?://(?!www\.w3\.org/2000/svg)", html)
    assert len(classes(html[html.index("<svg") : html.index("</svg>") + 6], "figure")) == 60


def test_people_are_shown_at_first_where_some_are_known() -> None:
    figures = sociogram(40).figures
    assert first_types(figures) == {"person", "group"}
    unknown = [replace(figure, type="name") for figure in figures]
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
    options = ("--mode", "hippo", "--query", "What did Elias carry up the stairs?")
    output = run("lighthouse", "--network", *options).stdout
    file = "The Lighthouse (network).html"
    assert re.fullmatch(
        rf"{re.escape(file)}: \d+ entities, [1-9]\d* visited for the question\n", output
    )
    html = (tmp_path / file).read_text(encoding="utf-8")
    walked = classes(html[html.index("<svg") : html.index("</svg>") + 6], "walked")
    assert "Elias" in {group.findtext(f"{SPACE}text") for group in walked}
    run("lighthouse", "--network", "--out", "a.png")
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")
    assert "0 visited" in run("lighthouse", "--network", "--mode", "naive", *options[2:]).stdout


def test_a_document_without_the_graph_is_told_how_to_get_it(graph_url: str, tmp_path: Path) -> None:
    (tmp_path / "lighthouse.txt").write_text(LIGHTHOUSE)
    CliRunner().invoke(main, ["ingest", "--graphs", "aspects", "lighthouse.txt"])
    output = run("lighthouse", "--network", code=1).output
    assert "The Lighthouse has no graph of entities" in output
    assert "`fabula build entities " in output
    assert len(output.strip().splitlines()) == 1


# Who speaks to whom


def quotation(
    id: str,
    start: int,
    speaker: str,
    addressee: str,
    manner: str = "speech",
    *,
    doubtful: bool = False,
) -> Node:
    values = {"speaker": speaker, "addressee": addressee, "text": f"“{id}!”", "start": start}
    values |= {"manner": manner, "doubtful": doubtful}
    return Node(id, "Quotation", values, (f"c{start}",))


def test_what_two_say_to_each_other_is_a_layer_of_the_network() -> None:
    quotations = [
        quotation("go", 2, "Anna", "Boris"),
        quotation("no", 1, "Boris", "Anna"),
        quotation("hm", 1, "Anna", "Boris", manner="thought"),
        quotation("hey", 3, "Anna", "Clara"),
        quotation("who", 3, "Anna", ""),
        quotation("why", 2, "Boris", "Clara", doubtful=True),
    ]
    ends = [("SPOKEN_BY", quotation.properties["speaker"]) for quotation in quotations]
    to = [("SPOKEN_TO", quotation.properties["addressee"]) for quotation in quotations]
    edges = [
        Edge(type, one.id, name.lower())
        for one, pair in zip(quotations, zip(ends, to, strict=True), strict=True)
        for type, name in pair
        if name
    ]
    conversation = read_conversation(
        Part(Owner("c", "speech", "d"), tuple(quotations), tuple(edges), Record({}))
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
    [marked] = [
        element for element in drawn.iter(f"{SPACE}g") if "speaks" in element.get("class", "")
    ]
    assert marked.get("id") == "b0"
    page = to_network_page(picture, spots(picture))
    assert '"quotations":[[0,3]]' in page.replace(" ", "")
