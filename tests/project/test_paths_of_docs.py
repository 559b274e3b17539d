"""The files and functions that docs/contributing.md leads a reader to are where it says."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "fabula"
CHAIN = re.compile(r"`([^`]+)`((?:\s*→\s*`[^`]+`)+)")
FILE = re.compile(r"`((?:[\w.-]+/)+[\w-]+\.\w+)`")


def page() -> str:
    return (ROOT / "docs" / "contributing.md").read_text("utf-8")


def test_each_path_by_names_leads_to_what_it_names() -> None:
    section = page().partition("### Ten paths by names alone")[2].partition("\n## ")[0]
    chains = [[first, *re.findall(r"`([^`]+)`", rest)] for first, rest in CHAIN.findall(section)]
    assert len(chains) >= 10
    for chain in chains:
        names = [name for name in chain if "/" not in name and "." not in name]
        file = SOURCE / "".join(name for name in chain if name not in names)
        assert file.is_file(), chain
        text = file.read_text("utf-8")
        assert all(re.search(rf"^(?:def|class) {name}\b", text, re.M) for name in names), chain


def test_each_file_that_is_named_is_there() -> None:
    files = {name for name in FILE.findall(page()) if not name.startswith("src/fabula_")}
    assert len(files) > 50
    homes = (SOURCE, ROOT)
    assert [name for name in sorted(files) if not any((at / name).exists() for at in homes)] == []
