"""The pages of docs/ as the site needs them: links, and lists as Python-Markdown reads them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from markdown_it import MarkdownIt

README = "readme.md"
"""The page that the repository's README becomes."""
GENERATED = "reference/"
FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>.*)$")
LINK = re.compile(r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^()\s]+)\)")
NAME = re.compile(r"(?:docs/)?[\w-]+\.md")
"""The text of a link that is only the name of the file."""
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
DEFINITION = re.compile(r"^\[(?P<name>[^\]]+)\]: (?P<target>\S+)$", re.MULTILINE)
ITEM = re.compile(r"(?P<marker>[-*+]|\d+[.)])(?P<space> +|$)")
COMMONMARK = MarkdownIt("commonmark").enable("table")


@dataclass
class Pages:
    """The texts of all pages by their paths below docs/, and the other files there."""

    texts: dict[str, str] = field(default_factory=dict)
    files: dict[str, Path] = field(default_factory=dict)

    @classmethod
    def read(cls, root: Path) -> Pages:
        """Read docs/ and the README of a repository."""
        pages = cls()
        docs = root / "docs"
        for path in sorted(docs.rglob("*")):
            name = path.relative_to(docs).as_posix()
            if path.suffix == ".md":
                pages.texts[name] = path.read_text(encoding="utf-8")
            elif path.is_file():
                pages.files[name] = path
        readme = (root / "README.md").read_text(encoding="utf-8")
        pages.texts[README] = readme.replace("](docs/", "](")
        return pages

    def add(self, made: Mapping[str, str]) -> None:
        """Add generated pages.

        Raises:
            ValueError: A page of that name is there already.

        """
        if twice := self.texts.keys() & made.keys():
            raise ValueError(f"docs/{min(twice)} has the name of a page that is generated.")
        self.texts |= made

    def write(self, folder: Path) -> None:
        """Write all pages and files, as the site's builder takes them, into an empty folder."""
        if folder.exists():
            shutil.rmtree(folder)
        for name, text in self.texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(widen_lists(self.relink(name, text)), encoding="utf-8")
        for name, source in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, path)

    def relink(self, page: str, text: str) -> str:
        """Lead links to the README to its page, and make links to files of the code plain text."""
        definitions = {match["name"]: match["target"] for match in DEFINITION.finditer(text)}
        gone = [name for name, target in definitions.items() if self._leads_out(page, target)]
        for name in gone:
            text = re.sub(rf"\[([^\]]+)\]\[{re.escape(name)}\]", r"\1", text)
            text = re.sub(rf"(?m)^\[{re.escape(name)}\]: .*\n?", "", text)

        def change(match: re.Match[str]) -> str:
            target, _, anchor = match["target"].partition("#")
            if self._is_readme(page, target):
                place = os.path.relpath(README, PurePosixPath(page).parent)
                return f"[{match['text']}]({place}{'#' if anchor else ''}{anchor})"
            if self._leads_out(page, match["target"]):
                return match["text"]
            if NAME.fullmatch(match["text"]) and (title := self._title(page, target)):
                # On GitHub a file's name says where a link leads; here it is a page with a title.
                return f"[{title}]({match['target']})"
            return match[0]

        return "".join(
            part if is_code else LINK.sub(change, part) for is_code, part in split_code(text)
        )

    def _place(self, page: str, target: str) -> str:
        folder = PurePosixPath(page).parent
        return os.path.normpath(folder / target.partition("#")[0])

    def _title(self, page: str, target: str) -> str:
        match = TITLE.search(self.texts.get(self._place(page, target), ""))
        return match[1] if match else ""

    def _is_readme(self, page: str, target: str) -> bool:
        return self._place(page, target) == "../README.md"

    def _leads_out(self, page: str, target: str) -> bool:
        """Whether a link leads to a file of the repository that is not on the site."""
        if "://" in target or target.startswith(("#", "mailto:")):
            return False
        place = self._place(page, target)
        if page == README and place not in self.texts and place not in self.files:
            return True
        return place.startswith("../")


def split_code(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the parts of a page, with whether each is a fenced block of code."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        match = FENCE.match(line.rstrip("\n"))
        if not fence and match:
            yield False, "".join(lines)
            lines, fence = [line], match["fence"]
        elif fence and match and match["fence"].startswith(fence) and not match["info"].strip():
            yield True, "".join([*lines, line])
            lines, fence = [], ""
        else:
            lines.append(line)
    yield bool(fence), "".join(lines)


def widen_lists(text: str) -> str:
    """Indent what belongs to an item of a list by four spaces for each level.

    CommonMark, as GitHub reads it, indents to the item's text; Python-Markdown wants four spaces,
    and a blank line before a list.
    """
    lines = text.split("\n")
    levels: list[list[int]] = [[] for _ in lines]
    first: dict[int, int] = {}
    for token in COMMONMARK.parse(text):
        if token.type not in ("bullet_list_open", "ordered_list_open", "list_item_open"):
            continue
        assert token.map is not None
        begin, end = token.map
        if token.type != "list_item_open":
            first[begin] = token.level
            continue
        before = sum(levels[begin])
        match = ITEM.match(lines[begin][before:].lstrip(" "))
        assert match is not None, lines[begin]
        own = len(lines[begin]) - before - len(lines[begin][before:].lstrip(" "))
        width = own + len(match[0]) if lines[begin][before:].strip() else own + 2
        for number in range(begin, end):
            levels[number].append(width)
        first.setdefault(begin, -1)
    widened: list[str] = []
    for number, (line, widths) in enumerate(zip(lines, levels, strict=True)):
        depth, indent = len(widths), sum(widths)
        if not widths or not line.strip():
            widened.append(line)
            continue
        if number in first:
            # The line of an item: what is before its marker belongs to the level above.
            kept = line[sum(widths[:-1]) :].lstrip(" ")
            if first[number] >= 0 and widened and widened[-1].strip():
                widened.append("")
            match = ITEM.match(kept)
            assert match is not None, line
            widened.append(f"{'    ' * (depth - 1)}{match['marker']} {kept[match.end() :]}")
        else:
            # A lazy continuation has less indentation than its item.
            kept = line[min(indent, len(line) - len(line.lstrip(" "))) :]
            widened.append("    " * depth + kept)
    return "\n".join(widened)


class _Config(yaml.SafeLoader):
    """Reads mkdocs.yml without importing the functions that it names."""


_Config.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)


def read_config(path: Path) -> dict[str, Any]:
    """Return the content of mkdocs.yml, with its functions as names."""
    config: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), _Config)
    return config


def titles(config: Path) -> list[tuple[tuple[str, ...], str]]:
    """Return the navigation in order: the headings and the title of each page, and its path."""
    return [*_walk(read_config(config)["nav"], ())]


def _walk(entry: Any, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(entry, str):
        yield above, entry
    elif isinstance(entry, list):
        for one in entry:
            yield from _walk(one, above)
    else:
        for title, below in entry.items():
            yield from _walk(below, (*above, title))
