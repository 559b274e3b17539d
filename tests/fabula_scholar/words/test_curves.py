"""Curves of words as SVG, and lines of a concordance that fit a screen."""

from __future__ import annotations

from xml.etree.ElementTree import fromstring

from fabula_scholar.words.curves import COLOURS, draw_curves
from fabula_scholar.words.operations import Concordance, ConcordanceLine

SVG = "{http://www.w3.org/2000/svg}"


def test_each_curve_ends_as_high_as_its_count_and_is_named() -> None:
    root = fromstring(draw_curves([("ghost & co", (0, 4)), ("chain", (2, 2))]))
    first, second = (each.get("points") for each in root.iter(f"{SVG}polyline"))
    assert first == "214,214 574,14"
    assert second == "214,114 574,114"
    named = ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]
    assert named[-2:] == ["ghost & co: 4", "chain: 4"]


def test_more_curves_than_colours_are_left_out_and_none_is_drawn_of_nothing() -> None:
    root = fromstring(draw_curves([(f"{row}", (1, 2)) for row in range(9)]))
    assert len([*root.iter(f"{SVG}polyline")]) == len(COLOURS)
    assert [*fromstring(draw_curves([])).iter(f"{SVG}polyline")] == []


def test_the_words_of_a_concordance_stand_in_one_column_and_whole_words_beside_them() -> None:
    def line(left: str, node: str, right: str) -> ConcordanceLine:
        return ConcordanceLine("d", "T", "s", 0, 3, left, node, right, "", "")

    rows = (
        line("it was the best of times and the worst of all ", "ages", ", as everybody said then"),
        line("", "age", " of wisdom"),
        line("in the ", "age", "s' midst"),
    )
    lines = [*Concordance(3, (), rows).to_lines(40)]
    assert {line.index("age") for line in lines} == {18}
    assert max(map(len, lines)) <= 40
    assert lines[0].split()[0] in rows[0].left.split()
    assert lines[0] == " the worst of all ages, as everybody"
    assert lines[2].endswith("in the ages' midst")
