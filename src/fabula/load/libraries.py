"""The table of sources of texts, `libraries.toml`: what each puts around a text.

The sentences and titles are used on paragraphs, whatever the format (`library_pages`); what is said
of a source's pages in HTML is used on the pages, before they are read.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from fabula.load.clean import one_line
from fabula.load.left_out import count_characters

_HEAD_CHARACTERS = 100_000
"""In how many characters a page says where it is from."""
_CLASS = re.compile(r"class\(([\w-]+)\)")
_METADATA = ("title", "author", "published")


@dataclass(frozen=True, slots=True)
class PageRules:
    """What the pages of a source in HTML are.

    Attributes:
        known_by: What they have near their beginning.
        left_out: The elements that are no part of the text, by XPath, and what they are counted as.
        metadata: Where 'title', 'author' and 'published' are: an element, and a pattern whose group
            is the value.
        fields: The elements that name other fields, by XPath; the links in the element after each
            are its values. '' for none.
    """

    known_by: re.Pattern[str]
    left_out: tuple[tuple[str, str], ...]
    metadata: Mapping[str, tuple[str, str]]
    fields: str


@dataclass(frozen=True, slots=True)
class StoryPage:
    """A page of HTML without what its source has put around the text.

    Attributes:
        text: The page.
        metadata: What the source says of the text.
        fields: Other fields that it states, as tags, by their names.
        left_out: The characters that are the source's, by kind.
    """

    text: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, list[str]] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)


@cache
def _sources() -> list[dict[str, Any]]:
    table = files(__package__).joinpath("libraries.toml").read_text("utf-8")
    sources: list[dict[str, Any]] = tomllib.loads(table)["source"]
    return sources


def find_values(name: str) -> Iterator[Any]:
    """Return the values of all sources under a name, as those of `pages`, one after the other."""
    return (value for source in _sources() for value in source.get(name, ()))


def make_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of all that the sources have under a name, as `header`."""
    return re.compile("|".join(find_values(name)), re.IGNORECASE)


@cache
def _page_rules() -> tuple[PageRules, ...]:
    return tuple(
        PageRules(
            re.compile(rules["known_by"], re.IGNORECASE | re.DOTALL),
            tuple((_to_xpath(where), kind) for where, kind in rules["left_out"]),
            {
                name: (_to_xpath(rules[name][0]), rules[name][1])
                for name in _METADATA
                if name in rules
            },
            _to_xpath(rules.get("fields", "")),
        )
        for source in _sources()
        if (rules := source.get("html"))
    )


def _to_xpath(where: str) -> str:
    return _CLASS.sub(r"contains(concat(' ', normalize-space(@class), ' '), ' \1 ')", where)


def find_rules(text: str) -> PageRules | None:
    """Return what is known of pages of the source that this page names; None without any."""
    return next(
        (rules for rules in _page_rules() if rules.known_by.search(text, 0, _HEAD_CHARACTERS)), None
    )


def take_story(text: str, rules: PageRules) -> StoryPage:
    """Return a page without what is no part of the text."""
    # Plain text, which has no pages, is read without lxml.
    from lxml import etree, html

    parser = html.HTMLParser(encoding="utf-8")
    try:
        root = html.document_fromstring(text.encode("utf-8", "replace"), parser)
    except etree.LxmlError:
        return StoryPage(text)
    metadata: dict[str, str] = {}
    for name, (where, pattern) in rules.metadata.items():
        for element in root.xpath(where)[:1]:
            if match := re.fullmatch(pattern, one_line(element.text_content())):
                metadata[name] = match[1]
    fields: dict[str, list[str]] = {}
    for named in root.xpath(rules.fields) if rules.fields else ():
        values = [one_line(link.text_content()) for link in named.getnext().iter("a")]
        fields[one_line(named.text_content()).rstrip(": ")] = values
    left_out: Counter[str] = Counter()
    for where, kind in rules.left_out:
        for element in root.xpath(where):
            # One within another is counted with that, and gone already.
            if root in element.iterancestors():
                left_out[kind] += count_characters(element.text_content())
                element.drop_tree()
    return StoryPage(html.tostring(root, encoding="unicode"), metadata, fields, +left_out)
