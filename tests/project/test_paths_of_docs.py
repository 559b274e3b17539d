"""The files and functions that a contributor is led to are where the docs say."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "fabula"
CHAIN = re.compile(r"`([^`]+)`((?:\s*→\s*`[^`]+`)+)")
FILE = re.compile(r"`((?:[\w.-]+/)+[\w-]+\.\w+)`")


def page() -> str:
    return "".join(
        (ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in ("contributing", "extending")
    )


def test_a_question_is_followed_in_few_stops() -> None:
    heading = "### A question, from definition to definition"
    stops = [len(names) for names in check_chains(heading)]
    by_command, by_page = stops[:19], stops[19:]
    from_page = sum(by_page) - 1 + sum(by_command[1:-1])
    assert max(sum(by_command), from_page) <= 40
    assert f"From the command line, {sum(by_command)} stops:" in page()
    assert f"posts the question, {from_page} stops:" in page()


def check_chains(heading: str) -> list[list[str]]:
    """Check that each file below a heading has the functions that its chain names."""
    section = re.split(r"\n##+ ", page().partition(heading)[2])[0]
    found = []
    for first, rest in CHAIN.findall(section):
        chain = [first, *re.findall(r"`([^`]+)`", rest)]
        names = [name for name in chain if "/" not in name and "." not in name]
        file = SOURCE / "".join(name for name in chain if name not in names)
        assert file.is_file(), chain
        text = file.read_text("utf-8")
        assert all(
            re.search(rf"^ *(?:(?:async )?def|class) {name}\b", text, re.M) for name in names
        ), chain
        found.append(names)
    return found


def test_each_file_that_is_named_is_there() -> None:
    files = {name for name in FILE.findall(page()) if not name.startswith("src/fabula_")}
    assert len(files) > 50
    homes = (SOURCE, ROOT)
    assert [name for name in sorted(files) if not any((at / name).exists() for at in homes)] == []
