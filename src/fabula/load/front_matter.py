"""Read the metadata in front of text and Markdown: YAML, TOML, fields, and pandoc's titles."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fabula.load.clean import one_line
from fabula.load.left_out import count_characters
from fabula.load.titles import real_author, real_title
from fabula.text.metadata import Metadata, state_metadata

_NAMES = {
    "title": "title",
    "author": "author",
    "authors": "author",
    "creator": "author",
    "by": "author",
    "language": "language",
    "lang": "language",
    "date": "published",
    "published": "published",
    "year": "published",
    "edition": "edition",
    "tytuł": "title",
    "autor": "author",
    "język": "language",
    "titel": "title",
    "sprache": "language",
    "titre": "title",
    "auteur": "author",
    "langue": "language",
    "título": "title",
    "titolo": "title",
    "autore": "author",
    "автор": "author",
    "название": "title",
    "书名": "title",
    "作者": "author",
    "標題": "title",
    "标题": "title",
    "タイトル": "title",
    "著者": "author",
}
_YAML_NAMES = {"subtitle", "tags", "layout", "draft", "slug", "categories", "category", "keywords"}
"""Names that a front matter has, and that say nothing of the text."""
_FENCED = re.compile(
    r"(?P<fence>---|\+\+\+)[ \t]*\n(?P<body>.{0,20000}?)\n(?:(?P=fence)|\.\.\.)[ \t]*(?:\n|$)",
    re.DOTALL,
)
_PANDOC = re.compile(r"%(?!%)[ \t]*(\S.*)\n(?:%[ \t]*(.*)(?:\n|$))?(?:%[ \t]*(.*)(?:\n|$))?")
_FIELD = re.compile(rf"({'|'.join(_NAMES)}) ?[:：] ?(\S.*)", re.IGNORECASE)
_YAML_FIELD = re.compile(r"([\w-]{1,40})[ \t]*[:=][ \t]*(.*)")
_FIRST_BLOCK_CHARACTERS = 2000
_NAME_KEYS = ("name", "text", "title", "value", "literal")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The metadata in front of a text.

    Attributes:
        fields: Its values by 'title', 'author', 'language', 'published' and 'edition'.
        text: The text below it.
        left_out: The characters of the metadata.
        others: Its other values, as metadata of one's own.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    left_out: int = 0
    others: Metadata = field(default_factory=dict)


def split_front_matter(text: str, *, markdown: bool = False) -> FrontMatter:
    """Return the metadata at the beginning of a text, and the text below it.

    Args:
        text: A tidied text.
        markdown: Whether a block between rules is metadata even if its fields are unknown.
    """
    start = len(text) - len(text.lstrip())
    if (fenced := _FENCED.match(text, start)) is not None:
        values = _values(fenced["body"], fenced["fence"])
        known = {name.casefold() for name in values} & (_NAMES.keys() | _YAML_NAMES)
        if values and (known or markdown):
            return _front_matter(values, text, fenced.end())
    if (title := _PANDOC.match(text, start)) is not None:
        names = ("title", "author", "date")
        return _front_matter(dict(zip(names, title.groups(""), strict=True)), text, title.end())
    return _first_block(text, start)


def read_fenced(text: str) -> dict[str, Any]:
    """Return all values between the rules at the beginning of a tidied text; none without them."""
    fenced = _FENCED.match(text.lstrip())
    return _values(fenced["body"], fenced["fence"]) if fenced else {}


def _front_matter(values: Mapping[str, Any], text: str, end: int) -> FrontMatter:
    fields: dict[str, str] = {}
    for key, value in values.items():
        name = _NAMES.get(str(key).casefold(), "")
        line = one_line(", ".join(_texts(value)))
        if name and line:
            fields.setdefault(name, line)
    # A person may have written "Anonymous"; where the title is a program's, a program wrote both.
    if "title" in fields and not real_title(fields["title"]):
        del fields["title"]
        if not real_author(fields.get("author", "")):
            fields.pop("author", None)
    others = {key: value for key, value in values.items() if str(key).casefold() not in _NAMES}
    left_out = count_characters(text[:end])
    return FrontMatter(fields, text[end:], left_out, state_metadata(others))


def _values(body: str, fence: str) -> dict[str, Any]:
    """The fields of a block of YAML or TOML; of its lines, if it is not valid."""
    import yaml

    try:
        values = tomllib.loads(body) if fence == "+++" else yaml.safe_load(body)
    except (tomllib.TOMLDecodeError, yaml.YAMLError, ValueError, RecursionError):
        values = None
    if isinstance(values, dict):
        return {str(key): value for key, value in values.items()}
    lines = [line for line in body.split("\n") if line.strip() and not line.startswith((" ", "#"))]
    matches = [_YAML_FIELD.fullmatch(line) for line in lines]
    if not all(matches):
        return {}
    return {match[1]: match[2].strip(" \"'[]") for match in matches if match}


def _texts(value: object) -> Iterator[str]:
    """The texts of a value: of a list, those of its items; of a mapping, its name."""
    if isinstance(value, (str, int, float)):
        yield str(value)
    elif isinstance(value, (datetime.date, datetime.datetime)):
        yield value.isoformat()[:10]
    elif isinstance(value, list):
        for item in value[:20]:
            if not isinstance(item, list):
                yield from _texts(item)
    elif isinstance(value, dict):
        name = next((value[key] for key in _NAME_KEYS if key in value), "")
        if isinstance(name, str):
            yield name


def _first_block(text: str, start: int) -> FrontMatter:
    """The fields in a text's first block, if it has nothing else."""
    values: dict[str, str] = {}
    end = start
    for line in text[start : start + _FIRST_BLOCK_CHARACTERS].split("\n"):
        match = _FIELD.fullmatch(line.strip())
        if not match:
            break
        values.setdefault(match[1], match[2])
        end += len(line) + 1
    else:
        line = ""
    if line.strip() or not values:
        return FrontMatter(text=text)
    return _front_matter(values, text, end)
