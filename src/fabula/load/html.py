"""HTML: blocks of text out of a stream of tags, so that no depth of nesting matters."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from lxml import etree

from fabula.errors import LoadError
from fabula.load import gutenberg
from fabula.load.blocks import Block, Draft
from fabula.load.clean import lines, one_line, prose, without_markers
from fabula.load.encoding import decode
from fabula.load.headings import confirm, joined, stated_title
from fabula.load.paratext import without_library

_HEADINGS = frozenset(("h1", "h2", "h3"))
_BLOCK_NAMES = (
    "h1 h2 h3 h4 h5 h6 address article aside blockquote body center dd div dl dt fieldset"
    " figcaption figure footer form header hr main ol p pre section table td th ul"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_LINES = frozenset(("br", "li", "tr"))
_VERSE = frozenset(("line", "poem-line", "poetry-line", "vers", "verse", "verse-line"))
"""Classes of a <div> that is one line of a stanza."""
_SKIPPED_NAMES = (
    "audio button canvas datalist head iframe math nav noscript object script select style svg"
    " template textarea video"
)
_SKIPPED = frozenset(_SKIPPED_NAMES.split())
_VOID_NAMES = "area base br col embed hr img input link meta param source track wbr"
_VOID = frozenset(_VOID_NAMES.split())
_SKIPPED_CLASS = re.compile(
    r"\b(?:pg-boilerplate|pgheader|pg-?header|pg-?footer|page-?(?:num|no)\w*"
    r"|x-ebookmaker-pageno|boilerplate)\b",
    re.IGNORECASE,
)
_FACTS = {
    "author": "author",
    "dc.creator": "author",
    "dcterms.creator": "author",
    "book:author": "author",
    "dc.title": "title",
    "dcterms.title": "title",
    "dc.language": "language",
    "dcterms.language": "language",
}
_TAG = re.compile(
    r"<!--(?:.*?-->|.*)|<(?P<end>/?)(?P<name>[a-z][^\s<>/]*+)(?(end)[^<>]*+>)",
    re.IGNORECASE | re.DOTALL,
)
_CLOSED_BY_THE_NEXT_NAMES = "p li dt dd option thead tbody tfoot tr th td"
_CLOSED_BY_THE_NEXT = frozenset(_CLOSED_BY_THE_NEXT_NAMES.split())
_MOST_STRAYS = 1000
_MAX_DEPTH = 2000
"""Tags that may be open at once before a page is flattened."""
_WHOLE_TAG = re.compile(
    r"<!--(?:.*?-->|.*)"
    r"""|<(?P<end>/?)(?P<name>[a-z][^\s<>/]*+)(?P<attributes>(?:[^<>"']|"[^"]*"|'[^']*')*+)>""",
    re.IGNORECASE | re.DOTALL,
)
_MAY_HIDE = re.compile(r"\b(?:class|id|style|hidden)\b", re.IGNORECASE)
_UNNESTED = frozenset(["html", "head", "body", "title", "script", "style"])
"""What a page has once, or whose content is no markup."""
_TITLE_END = re.compile(r"\s+[|]\s+.*$")


@dataclass(frozen=True, slots=True)
class Page:
    """A page's blocks, with the headings its tags gave, and its facts by 'title', 'author', ..."""

    blocks: tuple[Block, ...]
    facts: Mapping[str, str]


def read(data: bytes, source: str) -> Draft:
    """An HTML file's content. LoadError, naming `source`, if it isn't text."""
    found = page(decode(data, source), source)
    name, writer = gutenberg.named(found.facts.get("title", ""))
    blocks = without_library(found.blocks)
    title = name or stated_title(blocks)
    return Draft(
        blocks=confirm(blocks, title),
        title=title,
        author=found.facts.get("author", writer),
        language=found.facts.get("language", ""),
    )


def page(text: str, source: str) -> Page:
    """The blocks of a page of HTML or XHTML. LoadError, naming `source`, if it can't be parsed."""
    walk = _Walk()
    # Encoded again: lxml refuses text that declares an encoding, and its own guess isn't wanted.
    parser = etree.HTMLParser(target=walk, encoding="utf-8", huge_tree=True, no_network=True)
    try:
        etree.fromstring(_without_strays(text).encode("utf-8", "replace"), parser)
    except etree.LxmlError as error:
        raise LoadError(f"{source} can't be read as HTML: {error}.") from error
    return Page(tuple(walk.blocks), walk.facts)


def _without_strays(text: str) -> str:
    """A page of many end tags that end nothing, without them; any other page as it is.

    The parser looks for what such a tag ends among all that is open: a megabyte took a minute. Some
    of them only the parser knows, as where another end tag has ended two elements: so where very
    many tags are open at once, the page is flattened.
    """
    opened: Counter[str] = Counter()
    strays = depth = deepest = 0

    def keep(tag: re.Match[str]) -> str:
        nonlocal strays, depth, deepest
        name = (tag["name"] or "").lower()
        if name and not tag["end"]:
            if name in _CLOSED_BY_THE_NEXT:
                opened[name] = 1
            elif name not in _VOID:
                opened[name] += 1
                depth += 1
                deepest = max(deepest, depth)
        elif opened[name]:
            opened[name] -= 1
            depth -= name not in _CLOSED_BY_THE_NEXT
        elif name:
            strays += 1
            return "<p></p>" if name == "p" else ""
        return tag[0]

    kept = _TAG.sub(keep, text)
    if deepest > _MAX_DEPTH:
        return _flattened(text)
    return kept if strays > _MOST_STRAYS else text


def _flattened(text: str) -> str:
    """A page without the tags that mean nothing to us, and with at most _MAX_DEPTH of others open.

    Words and paragraphs stay: a tag that begins a paragraph, but would be nested too deeply,
    becomes an empty one.
    """
    opened: defaultdict[str, list[bool]] = defaultdict(list)
    depth = 0

    def keep(tag: re.Match[str]) -> str:
        nonlocal depth
        name = (tag["name"] or "").lower()
        if not name or name in _UNNESTED or name in _VOID:
            return tag[0]
        parts = name in _BLOCKS or name in _LINES
        counts = name not in _CLOSED_BY_THE_NEXT
        if tag["end"]:
            is_kept = opened[name].pop() if opened[name] else False
            depth -= is_kept and counts
        else:
            hides = name in _SKIPPED or _MAY_HIDE.search(tag["attributes"])
            is_kept = bool(parts or hides) and depth < _MAX_DEPTH
            if counts:
                opened[name].append(is_kept)
                depth += is_kept
            else:
                opened[name] = [is_kept]
        if is_kept:
            return tag[0]
        return "<p></p>" if parts else ""

    return _WHOLE_TAG.sub(keep, text)


@dataclass(slots=True)
class _Walk:
    """What lxml calls for each tag and text; it gathers blocks as it goes."""

    blocks: list[Block] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    _text: list[str] = field(default_factory=list)
    _title: list[str] | None = None
    _heading: str = ""
    _verbatim: bool = False
    _open: list[str] = field(default_factory=list)
    _skipped_from: int = 0
    """The depth at which skipping began; 0 is not skipping."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        tag = _local(tag)
        if tag == "div" and not _VERSE.isdisjoint(attributes.get("class", "").split()):
            tag = "li"
        if tag not in _VOID:
            self._open.append(tag)
        self._note(tag, attributes)
        if self._skipped_from:
            return
        if tag in _SKIPPED or _hidden(attributes):
            if tag not in _VOID:
                self._skipped_from = len(self._open)
        elif tag in _BLOCKS:
            self._flush()
            self._heading = tag if tag in _HEADINGS else self._heading
            self._verbatim = self._verbatim or tag == "pre"
        elif tag in _LINES:
            self._text.append("\n")

    def end(self, tag: str) -> None:
        tag = _local(tag)
        if tag in _VOID:
            return
        if tag == "title" and self._title is not None:
            self.facts.setdefault("title", _TITLE_END.sub("", one_line("".join(self._title))))
            self._title = None
        if self._open:
            tag = self._open.pop()
        if self._skipped_from:
            self._skipped_from = 0 if len(self._open) < self._skipped_from else self._skipped_from
        elif tag in _BLOCKS:
            self._flush()
            self._heading = "" if tag in _HEADINGS else self._heading
            self._verbatim = self._verbatim and tag != "pre"

    def data(self, text: str) -> None:
        if self._title is not None:
            self._title.append(text)
        elif not self._skipped_from:
            # Outside <pre> a line break is a space; the breaks that count come from tags.
            self._text.append(text if self._verbatim else text.replace("\n", " "))

    def comment(self, text: str) -> None:
        """Comments are no text."""

    def close(self) -> None:
        self._flush()

    def _note(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "title" and "svg" not in self._open:
            self._title = []
        elif tag == "html":
            language = attributes.get("lang") or attributes.get("xml:lang") or ""
            self.facts.setdefault("language", language)
        elif tag == "meta":
            name = (attributes.get("name") or attributes.get("property") or "").casefold()
            if name in _FACTS and attributes.get("content"):
                self.facts.setdefault(_FACTS[name], one_line(attributes["content"]))

    def _flush(self) -> None:
        text = "".join(self._text)
        self._text.clear()
        if self._verbatim:
            self.blocks += [Block(paragraph) for paragraph in prose(text)]
            return
        block = lines(without_markers(text))
        if block:
            self.blocks.append(Block(block, joined(block) if self._heading else ""))


def _local(tag: str) -> str:
    return tag.rpartition("}")[2].rpartition(":")[2].lower()


def _hidden(attributes: Mapping[str, str]) -> bool:
    names = f"{attributes.get('class', '')} {attributes.get('id', '')}"
    style = attributes.get("style", "").replace(" ", "")
    return "hidden" in attributes or "display:none" in style or bool(_SKIPPED_CLASS.search(names))
