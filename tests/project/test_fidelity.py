"""The pages of fidelity name only what exists, and say of each step whether it is as published."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import fabula_bench
from cases import for_each
from fabula.ask.modes import modes
from fabula.config.settings import Settings, presets
from fabula.graph.installed import graphs
from fabula.graphs.entities.demonstrations import read_demonstrations

ROOT = Path(__file__).parents[2]
PAGES = ("fidelity.md", "graph-rag-fidelity.md")
TEXT = "".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in PAGES)
SUITES = Path(fabula_bench.__file__).parent / "suites"


def tables() -> list[list[list[str]]]:
    """The rows of each table, as cells, without its head."""
    found: list[list[list[str]]] = []
    for block in re.findall(r"(?m)(?:^\|.*\n)+", TEXT):
        rows = [
            [cell.strip() for cell in line.strip("|").split(" | ")] for line in block.splitlines()
        ]
        found.append(rows[2:])
    return found


def options() -> set[str]:
    """All settings of graphs and modes by their whole names, and those of the core."""
    names = set(Settings.model_fields)
    for name, graph in graphs().items():
        names |= {f"{name}.{option}" for option in graph.options.model_fields}
    for name, mode in modes().items():
        names |= {f"{name}.{option}" for option in mode.options.model_fields}
    return names


def test_each_step_is_the_same_or_says_why_it_is_not() -> None:
    assert len(tables()) == 6
    for table in tables():
        assert len(table) >= 9
        for row in table:
            assert len(row) == 3, row
            assert row[2] == "same" or re.fullmatch(r"different: .{10,}", row[2]), row


@for_each("name", sorted(set(re.findall(r"--preset ([\w-]+)", TEXT))))
def test_a_preset_of_the_page_exists(name: str) -> None:
    assert name in presets()


@for_each("name", sorted(set(re.findall(r"bench run ([\w-]+)", TEXT))))
def test_a_suite_of_the_page_exists(name: str) -> None:
    assert (SUITES / f"{name}.toml").is_file()


@for_each("name", sorted(set(re.findall(r"--mode ([\w-]+)", TEXT))))
def test_a_mode_of_the_page_exists(name: str) -> None:
    assert name in modes()


@for_each("name", sorted(set(re.findall(r"`([a-z_]+\.[a-z_]+)`", TEXT))))
def test_an_option_of_the_page_exists(name: str) -> None:
    assert name in options() or name == "fabula.summarisers"


def test_what_was_published_is_a_preset_of_the_page() -> None:
    published = {name for name in presets() if name.endswith("-published")} | {"thesis"}
    assert published <= set(re.findall(r"--preset ([\w-]+)", TEXT))


def test_the_options_that_presets_set_exist() -> None:
    """A preset with an option that was renamed would set nothing."""
    for name, values in presets().items():
        dotted = {key for key in values if "." in key}
        assert dotted <= options(), name


def test_the_demonstrations_of_the_page_can_be_read(tmp_path: Path) -> None:
    [block] = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    assert tomllib.loads(block)["entities"]
    file = tmp_path / "law.toml"
    file.write_text(block, encoding="utf-8")
    read = read_demonstrations(str(file))
    assert (read.text, len(read.by_question["entities"])) == ("a court's judgment", 1)
