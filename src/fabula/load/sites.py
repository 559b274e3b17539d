"""What known sites put around a story in HTML and EPUB, as a table: a row for each site.

A site is known by words that its pages have. A row says which elements are not the story, what they
are counted as, and where the metadata stand; the elements are named by XPath, in lower case.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from lxml import etree, html

from fabula.load.clean import one_line
from fabula.load.left_out import HEADER, count_characters

AUTHORS_NOTES = "author's notes"
"""What is between the parts of a story, but told about it: summaries, thanks, and notes."""
_HEAD = 100_000
"""In how many characters a page says what site it is from."""


@dataclass(frozen=True, slots=True)
class Site:
    """A site whose pages are known.

    Attributes:
        pages: What its pages have in the head of their text.
        left_out: The elements that are no part of a story, with what they are counted as, in the
            order in which they are removed.
        metadata: Where 'title', 'author' and 'published' stand: the element, and a pattern whose
            group is the value.
    """

    pages: re.Pattern[str]
    left_out: tuple[tuple[str, str], ...]
    metadata: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def _has_class(name: str) -> str:
    return f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')"


SITES = {
    "Archive of Our Own": Site(
        pages=re.compile(
            r"posted originally on the.{0,200}archive of our own|<div[^>]+id=.workskin", re.I | re.S
        ),
        left_out=(
            (f"//*[@id='preface' or {_has_class('meta')}]//blockquote", AUTHORS_NOTES),
            (f"//*[@id='afterword' or {_has_class('preface')}]//blockquote", AUTHORS_NOTES),
            (f"//div[{_has_class('notes')} or {_has_class('summary')}]", AUTHORS_NOTES),
            ("//*[@id='preface' or @id='afterword' or @id='feedback']", HEADER),
            ("//*[@id='header' or @id='footer' or @id='skiplinks' or @id='kudos']", HEADER),
            (f"//div[{_has_class('meta')}]/p | //dl[{_has_class('meta')}]", HEADER),
            (f"//*[{_has_class('endnote-link')} or {_has_class('landmark')}]", HEADER),
            (
                f"//ul[{_has_class('actions')} or {_has_class('work')}] | //p[@role='status']",
                HEADER,
            ),
            (f"//div[@id='workskin']/div[{_has_class('preface')}]", HEADER),
            (f"//*[{_has_class('toc-heading')}][. = 'Preface' or . = 'Afterword']", HEADER),
        ),
        metadata={
            "title": (f"//*[@id='preface']//h1 | //h2[{_has_class('title')}]", "(.+)"),
            "author": (f"//*[{_has_class('byline')}]", r"(?:by\s+)?(.+)"),
            "published": (
                f"//dd[contains(., 'Published')] | //dd[{_has_class('published')}]",
                r".*?(\d{4}-\d\d-\d\d).*",
            ),
        },
    ),
}


@dataclass(frozen=True, slots=True)
class StoryPage:
    """A page without what its site has put around the story.

    Attributes:
        text: The page, as HTML.
        metadata: What the site says of the story.
        left_out: The characters that are the site's, by kind.
    """

    text: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)


def find_site(text: str) -> Site | None:
    """Return the site whose page this is, by what it says of itself."""
    return next((site for site in SITES.values() if site.pages.search(text, 0, _HEAD)), None)


def take_story(text: str, site: Site) -> StoryPage:
    """Return a page of a site without what is not the story."""
    try:
        root = html.document_fromstring(
            text.encode("utf-8", "replace"), html.HTMLParser(encoding="utf-8")
        )
    except etree.LxmlError:
        return StoryPage(text)
    metadata: dict[str, str] = {}
    for name, (where, pattern) in site.metadata.items():
        for element in root.xpath(where)[:1]:
            if match := re.fullmatch(pattern, one_line(element.text_content())):
                metadata[name] = match[1]
    left_out: Counter[str] = Counter()
    for where, kind in site.left_out:
        for element in root.xpath(where):
            # One within another is counted with that, and gone already.
            if root in element.iterancestors():
                left_out[kind] += count_characters(element.text_content())
                element.drop_tree()
    return StoryPage(html.tostring(root, encoding="unicode"), metadata, +left_out)
