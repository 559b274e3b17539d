"""Read HTML: blocks of text from a stream of tags, so that nesting may have any depth."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from lxml import etree

from fabula.errors import LoadError
from fabula.load import gutenberg
from fabula.load.blocks import Block, Draft
from fabula.load.clean import lines, one_line, prose, remove_markers
from fabula.load.encoding import decode
from fabula.load.headings import confirm, join_title, stated_title
from fabula.load.paratext import remove_library_text

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
_METADATA = {
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
_IMPLICITLY_CLOSED_NAMES = "p li dt dd option thead tbody tfoot tr th td"
_IMPLICITLY_CLOSED = frozenset(_IMPLICITLY_CLOSED_NAMES.split())
_MAX_STRAYS = 1000
_MAX_DEPTH = 2000
"""The most tags open at once; a page with more is flattened."""
_WHOLE_TAG = re.compile(
    r"<!--(?:.*?-->|.*)"
    r"""|<(?P<end>/?)(?P<name>[a-z][^\s<>/]*+)(?P<attributes>(?:[^<>"']|"[^"]*"|'[^']*')*+)>""",
    re.IGNORECASE | re.DOTALL,
)
_MAY_HIDE = re.compile(r"\b(?:class|id|style|hidden)\b", re.IGNORECASE)
_UNNESTED = frozenset(["html", "head", "body", "title", "script", "style"])
"""Tags that a page has once, or whose content is not markup."""
_TITLE_END = re.compile(r"\s+[|]\s+.*$")


@dataclass(frozen=True, slots=True)
class PageContent:
    """The blocks of a page with their headings, and its metadata by 'title', 'author', ..."""

    blocks: tuple[Block, ...]
    metadata: Mapping[str, str]


def read(data: bytes, source: str, limit: int = 0) -> Draft:
    """Read an HTML file. Raises LoadError if it is not text."""
    parsed = page(decode(data, source), source)
    name, writer = gutenberg.split_title(parsed.metadata.get("title", ""))
    blocks = remove_library_text(parsed.blocks)
    title = name or stated_title(blocks)
    return Draft(
        blocks=confirm(blocks, title),
        title=title,
        author=parsed.metadata.get("author", writer),
        language=parsed.metadata.get("language", ""),
    )


def page(text: str, source: str) -> PageContent:
    """Return the blocks of a page of HTML or XHTML. Raises LoadError if it can't be parsed."""
    builder = _BlockBuilder()
    # Encoded again, as lxml refuses a str that declares an encoding, and must not guess another.
    parser = etree.HTMLParser(target=builder, encoding="utf-8", huge_tree=True, no_network=True)
    try:
        etree.fromstring(_remove_strays(text).encode("utf-8", "replace"), parser)
    except etree.LxmlError as error:
        raise LoadError(f"{source} can't be read as HTML: {error}.") from error
    return PageContent(tuple(builder.blocks), builder.metadata)


def _remove_strays(text: str) -> str:
    """Remove end tags that end nothing from a page with many of them.

    For each of them the parser searches all open elements: a megabyte took a minute. Some are not
    recognised here, as those after an end tag that has ended two elements. So a page with very many
    open tags is flattened.
    """
    opened: Counter[str] = Counter()
    strays = depth = deepest = 0

    def keep(tag: re.Match[str]) -> str:
        nonlocal strays, depth, deepest
        name = (tag["name"] or "").lower()
        if name and not tag["end"]:
            if name in _IMPLICITLY_CLOSED:
                opened[name] = 1
            elif name not in _VOID:
                opened[name] += 1
                depth += 1
                deepest = max(deepest, depth)
        elif opened[name]:
            opened[name] -= 1
            depth -= name not in _IMPLICITLY_CLOSED
        elif name:
            strays += 1
            return "<p></p>" if name == "p" else ""
        return tag[0]

    cleaned = _TAG.sub(keep, text)
    if deepest > _MAX_DEPTH:
        return _flatten(text)
    return cleaned if strays > _MAX_STRAYS else text


def _flatten(text: str) -> str:
    """Remove the tags that do not matter here, and all that would be open beyond _MAX_DEPTH.

    The text and its paragraphs stay: a block's tag that is nested too deeply becomes an empty
    paragraph.
    """
    opened: defaultdict[str, list[bool]] = defaultdict(list)
    depth = 0

    def keep(tag: re.Match[str]) -> str:
        nonlocal depth
        name = (tag["name"] or "").lower()
        if not name or name in _UNNESTED or name in _VOID:
            return tag[0]
        is_block = name in _BLOCKS or name in _LINES
        is_nested = name not in _IMPLICITLY_CLOSED
        if tag["end"]:
            is_kept = opened[name].pop() if opened[name] else False
            depth -= is_kept and is_nested
        else:
            hides = name in _SKIPPED or _MAY_HIDE.search(tag["attributes"])
            is_kept = bool(is_block or hides) and depth < _MAX_DEPTH
            if is_nested:
                opened[name].append(is_kept)
                depth += is_kept
            else:
                opened[name] = [is_kept]
        if is_kept:
            return tag[0]
        return "<p></p>" if is_block else ""

    return _WHOLE_TAG.sub(keep, text)


@dataclass(slots=True)
class _BlockBuilder:
    """Makes blocks from the tags and texts that lxml passes to it."""

    blocks: list[Block] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    _text: list[str] = field(default_factory=list)
    _title: list[str] | None = None
    _heading: str = ""
    _verbatim: bool = False
    _open: list[str] = field(default_factory=list)
    _skipped_from: int = 0
    """The depth at which skipping began; 0 if nothing is being skipped."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        tag = _local_name(tag)
        if tag == "div" and not _VERSE.isdisjoint(attributes.get("class", "").split()):
            tag = "li"
        if tag not in _VOID:
            self._open.append(tag)
        self._read_metadata(tag, attributes)
        if self._skipped_from:
            return
        if tag in _SKIPPED or _is_hidden(attributes):
            if tag not in _VOID:
                self._skipped_from = len(self._open)
        elif tag in _BLOCKS:
            self._flush()
            self._heading = tag if tag in _HEADINGS else self._heading
            self._verbatim = self._verbatim or tag == "pre"
        elif tag in _LINES:
            self._text.append("\n")

    def end(self, tag: str) -> None:
        tag = _local_name(tag)
        if tag in _VOID:
            return
        if tag == "title" and self._title is not None:
            self.metadata.setdefault("title", _TITLE_END.sub("", one_line("".join(self._title))))
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
            # Outside <pre>, a line break is a space; only tags break lines.
            self._text.append(text if self._verbatim else text.replace("\n", " "))

    def comment(self, text: str) -> None:
        """Ignore comments."""

    def close(self) -> None:
        self._flush()

    def _read_metadata(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "title" and "svg" not in self._open:
            self._title = []
        elif tag == "html":
            language = attributes.get("lang") or attributes.get("xml:lang") or ""
            self.metadata.setdefault("language", language)
        elif tag == "meta":
            name = (attributes.get("name") or attributes.get("property") or "").casefold()
            if name in _METADATA and attributes.get("content"):
                self.metadata.setdefault(_METADATA[name], one_line(attributes["content"]))

    def _flush(self) -> None:
        text = "".join(self._text)
        self._text.clear()
        if self._verbatim:
            self.blocks += [Block(paragraph) for paragraph in prose(text)]
            return
        block = lines(remove_markers(text))
        if block:
            self.blocks.append(Block(block, join_title(block) if self._heading else ""))


def _local_name(tag: str) -> str:
    return tag.rpartition("}")[2].rpartition(":")[2].lower()


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    names = f"{attributes.get('class', '')} {attributes.get('id', '')}"
    style = attributes.get("style", "").replace(" ", "")
    return "hidden" in attributes or "display:none" in style or bool(_SKIPPED_CLASS.search(names))
