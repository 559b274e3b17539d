"""Read HTML: blocks of text from a stream of tags, so that nesting may have any depth."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from lxml import etree

from fabula.errors import LoadError
from fabula.load import doctype
from fabula.load.blocks import Block, Draft
from fabula.load.chapters import MAX_HEADING_CHARACTERS
from fabula.load.clean import lines, one_line, prose, remove_markers, tidy
from fabula.load.encoding import decode_text
from fabula.load.headings import confirm, join_title, stated_title
from fabula.load.left_out import count_characters
from fabula.load.libraries import PageRules, StoryPage, find_rules, take_story
from fabula.load.library_pages import books_warning, split_title
from fabula.load.locators import MAX_LABEL_CHARACTERS, line_mark, page_mark, without_marks
from fabula.load.paratext import split_library_text
from fabula.load.references import CONTEXT_CHARACTERS, mark_raised, note_label
from fabula.load.titles import real_author, real_title
from fabula.load.wrap import join_source_lines
from fabula.text.metadata import state_metadata

_HEADINGS = frozenset(("h1", "h2", "h3"))
_BLOCK_NAMES = (
    "h1 h2 h3 h4 h5 h6 address article aside blockquote body caption center dd details dialog dir"
    " div dl dt fieldset figcaption figure footer form header hr legend listing main menu ol p pre"
    " search section summary table td th ul xmp"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_LINES = frozenset(("br", "li", "tr"))
_HEADING_GROUP = "hgroup"
"""A heading with its subtitles: HTML makes them one heading, of the first level among them."""
_GROUPED = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "p", "br"))
"""The tags within such a group: it ends at any other block, as files may not close it."""
_MAX_GROUP_CHARACTERS = 3 * MAX_HEADING_CHARACTERS
_VERSE = frozenset(("line", "poem-line", "poetry-line", "vers", "verse", "verse-line"))
"""Classes of a <div> or <span> that is one line of a stanza."""
_QUOTATION_MARKS = {
    **dict.fromkeys(["cs", "da", "de", "et", "is", "lt", "sk", "sl"], "„“‚‘"),
    **dict.fromkeys(["bg", "hr", "hu", "pl", "ro", "sr"], "„”’’"),
    **dict.fromkeys(["ca", "el", "es", "fr", "it", "no", "pt", "ru", "uk"], "«»“”"),
    **dict.fromkeys(["fi", "sv"], "””’’"),
    **dict.fromkeys(("ja", "zh"), "「」『』"),
}
"""What browsers print around <q>, and around one in another, by language; others have “”‘’."""
_MAX_BREAKS = 20
"""How many pieces of text are looked at for a line break before another one."""
_MAX_QUOTATIONS = 2
"""How deep quotations have marks of their own."""
_OPENING_QUOTES = "\"'“‘„‚«‹「『"
_ANY_QUOTES = "\"'“”‘’„‚«»‹›「」『』"
_LEFT_OUT = {
    **dict.fromkeys(("button", "datalist", "select", "textarea"), "forms"),
    **dict.fromkeys(("audio", "canvas", "iframe", "object", "svg", "video"), "pictures"),
    **dict.fromkeys(("noscript", "template"), "hidden text"),
    **dict.fromkeys(("annotation", "annotation-xml"), "formulas again"),
    **dict.fromkeys(("rp", "rt", "rtc"), "readings"),
    "case": "alternative forms",
    "del": "deleted text",
    "nav": "navigation",
    "script": "",
    "style": "",
}
"""The elements that are no text, and what their characters are counted as; '' if they have none."""
_SKIPPED = frozenset(_LEFT_OUT)
_FORMULAS = {"mfrac": "/", "msup": "^"}
"""The elements of MathML whose parts are drawn above each other, and what is written instead."""
_RUBY_PARTS = frozenset(("rb", "rp", "rt", "rtc"))
_VOID_NAMES = "area base br col embed hr img input link meta param source track wbr"
_VOID = frozenset(_VOID_NAMES.split())
_LIBRARY_CLASS = re.compile(
    r"\b(?:pg-boilerplate|pgheader|pg-?header|pg-?footer|boilerplate)\b", re.IGNORECASE
)
_PAGE_CLASS = re.compile(
    r"\b(?:page-?(?:num\w*|nos?|nr)|x-ebookmaker-pageno)(?![\w])", re.IGNORECASE
)
"""The class or id of the number of a printed page."""
_PAGE_TYPES = frozenset(("pagebreak", "doc-pagebreak", "page-break", "pb"))
_PAGE_ID = re.compile(r"(?:page|pg|pagebreak)[_-]?(\d{1,4}|[ivxlc]{1,8})", re.IGNORECASE)
"""The id of an anchor at the top of a printed page."""
_PAGE_LABEL = re.compile(
    r"[\W_]*(?:pages?|pg|p|seite|s|strona|str)?[\s._-]*(\d{1,4}|[ivxlcdm]{1,9})[\W_]*",
    re.IGNORECASE,
)
_PAGE_ATTRIBUTES = ("data-page-number", "title", "aria-label", "value", "id", "name")
_NAVIGATION_NAMES = (
    "backlink backlinks breadcrumb breadcrumbs doc-backlink footnote-back footnote-backref"
    " mw-editsection mw-jump-link navbar navigation noprint reversefootnote search site-nav"
    " skip-link toctoggle ws-noexport"
)
_NAVIGATION = frozenset(_NAVIGATION_NAMES.split())
"""Classes and roles of what leads elsewhere."""
_CONTENTS = frozenset(("toc", "doc-toc", "landmarks", "page-list"))
"""Types and roles of a list of contents, or of pages."""
_BACK_SIGNS = frozenset("↩↑⏎↵⤴^") | {"back", "return", "back to text", "return to text", "jump up"}
"""The texts of links from a note to where it is referred to."""
_NOTE_REFERENCE = re.compile(
    r"\b(?:(?:doc-)?noteref|fn-?(?:ref|anchor|link)"
    r"|(?:foot|end)?note-?(?:ref\w*|link|anchor|call))\b",
    re.IGNORECASE,
)
_NOTE_NAMES = "footnote endnote rearnote note doc-footnote doc-endnote footnotes-item fn"
_NOTE = frozenset(_NOTE_NAMES.split())
"""Types, roles and classes of a note."""
_INNER_NOTE = _NOTE - {"note", "fn"}
"""Those of a note within a paragraph, where other names mean other things."""
_HIDDEN_NOTE = frozenset(_NOTE_NAMES.split()) - {"note", "fn"} | {"footnotes", "endnotes"}
"""Those of a note that may be hidden until somebody asks for it."""
_NOTE_ID = re.compile(
    r"(?:foot|end|rear|cite_)?(?:note|fn|ftn|edn|en)[_:-]?(\d{1,4})", re.IGNORECASE
)
_LETTER = re.compile(r"\s*[\[(]?\s*([a-z])\s*[\])]?\s*")
_NOTE_NUMBERS = re.compile(r"\[(?:\d{1,4}|[*†‡§¶‖#])\]")
_LINE_CLASS = re.compile(r"\b(?:line-?(?:num\w*|no|nr))(?!\w)", re.IGNORECASE)
"""The class of the number of a line of verse."""
_NOTE_LINK = re.compile(r"#.*(?:note|fn|ftn|edn|ref|back|anchor)", re.IGNORECASE)
_NOTE_START = re.compile(r"(\d{1,4}|[*†‡§¶])[.):]?[ \n]+(?=\S)")
_SIDE_NOTE = re.compile(r"\b(?:side-?note|margin-?note|marginalia|margin-note)\b", re.IGNORECASE)
_RAISED = re.compile(r"\b(?:sup|super|superscript)\b", re.IGNORECASE)
_INITIAL = re.compile(
    r"(?:.*\b(?:initial|capital|drop(?:ped)?[ -]?cap|letter)\b.*?[\s:])?"
    r"([\"'“‘«„(]?[^\W\d_][\"'”’)]?)\.?",
    re.IGNORECASE,
)
"""The alternative text of a picture that is the first letter of a word."""
_INITIAL_CLASS = re.compile(
    r"\b(?:drop-?cap\w*|(?:big|large|fancy)?-?(?:cap|capital|initial)|lettrine|first-?letter)\b",
    re.IGNORECASE,
)
_DROPPED = re.compile(rf"[{_OPENING_QUOTES}(]?(?:(?P<vowel>[AEIOUY])|[B-DF-HJ-NP-TV-XZ])")
"""The first letter of a word in an element of its own; a vowel may be a word itself."""
_NO_WORD = re.compile(r"[b-df-hjl-np-rtx]\b(?!['’.])")
"""A letter that is no word of its own, in any language that has spaces between words."""
_CAPITALS = re.compile(rf"[A-Z]{{2,}}\b|{_NO_WORD.pattern}")
_MAX_INITIAL_CHARACTERS = 3
_HIDING_RULE = re.compile(
    r"([^{}]*)\{[^{}]*(?:display\s*:\s*none|visibility\s*:\s*hidden)[^{}]*\}", re.IGNORECASE
)
_CLASS_SELECTOR = re.compile(r"[a-z]*\.([\w-]+)", re.IGNORECASE)
_CONDITIONAL_RULES = re.compile(r"@[^{};]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}|/\*.*?\*/", re.DOTALL)
_METADATA = {
    "author": "author",
    "dc.creator": "author",
    "dcterms.creator": "author",
    "book:author": "author",
    "dc.title": "title",
    "dcterms.title": "title",
    "dc.language": "language",
    "dcterms.language": "language",
    "citation_author": "author",
    "citation_publication_date": "published",
    "article:published_time": "published",
}
_TAG = re.compile(
    r"<!--(?:.*?-->|.*)|<(?P<end>/?)(?P<name>[a-z][^\s<>/]*+)(?(end)[^<>]*+>)",
    re.IGNORECASE | re.DOTALL,
)
_IMPLICITLY_CLOSED_NAMES = "p li dt dd option thead tbody tfoot tr th td"
_IMPLICITLY_CLOSED = frozenset(_IMPLICITLY_CLOSED_NAMES.split())
_MAX_STRAYS = 1000
_MAX_STYLE_CHARACTERS = 200_000
_MAX_DEPTH = 2000
"""The most tags open at once; a page with more is flattened."""
_WHOLE_TAG = re.compile(
    r"<!--(?:.*?-->|.*)"
    r"""|<(?P<end>/?)(?P<name>[a-z][^\s<>/]*+)(?P<attributes>(?:[^<>"']|"[^"]*"|'[^']*')*+)>""",
    re.IGNORECASE | re.DOTALL,
)
_MAY_HIDE = re.compile(r"\b(?:class|id|style|hidden|role|type)\b", re.IGNORECASE)
_UNNESTED = frozenset(["html", "head", "body", "title", "script", "style"])
"""Tags that a page has once, or whose content is not markup."""
_TITLE_END = re.compile(r"\s+[|]\s+.*$")


@dataclass(frozen=True, slots=True)
class PageContent:
    """The blocks of a page with their headings, its metadata, and what is left out of it.

    Attributes:
        blocks: The blocks; the level of a heading is that of its tag.
        metadata: The values of 'title', 'author', 'language' and 'published'.
        ids: The block at which, or before which, the element with an id begins, by its index.
        left_out: The characters that are not in the blocks, by kind.
        fields: Other fields that its source states, as tags.
    """

    blocks: tuple[Block, ...]
    metadata: Mapping[str, str]
    ids: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    fields: Mapping[str, list[str]] = field(default_factory=dict)


def read(data: bytes, source: str, limit: int = 0) -> Draft:
    """Read an HTML file. Raises LoadError if it is not text."""
    decoded = decode_text(data, source)
    parsed = page(decoded.text, source)
    name, writer = split_title(real_title(parsed.metadata.get("title", "")))
    body = split_library_text(parsed.blocks)
    facts = body.metadata
    # A library's header has the title and the author apart; <title> often has both in one line.
    title = facts.get("title") or name or stated_title(body.blocks)
    author = facts.get("author") or parsed.metadata.get("author", writer)
    return Draft(
        blocks=confirm(body.blocks, title, author),
        title=title,
        author=author,
        language=parsed.metadata.get("language") or facts.get("language", ""),
        published=parsed.metadata.get("published", "").partition("T")[0]
        or facts.get("published", ""),
        edition=facts.get("edition", ""),
        left_out=Counter(parsed.left_out) + body.left_out,
        warnings=(*decoded.warnings, *filter(None, [books_warning(body.books)])),
        metadata=state_metadata(parsed.fields),
    )


def page(
    text: str,
    source: str,
    page_labels: Mapping[str, str] | None = None,
    rules: PageRules | None = None,
) -> PageContent:
    """Return the blocks of a page of HTML or XHTML.

    Args:
        text: The page.
        source: What messages call it.
        page_labels: The numbers of the printed pages that begin at elements, by their ids.
        rules: What is known of its source, if another page of the same book names it.

    Raises:
        LoadError: It can't be parsed.
    """
    text = doctype.resolve_html(text)
    story = StoryPage(text)
    if rules := rules or find_rules(text):
        story = take_story(text, rules)
    builder = _BlockBuilder(page_labels=page_labels or {})
    # Encoded again, as lxml refuses a str that declares an encoding, and must not guess another.
    parser = etree.HTMLParser(target=builder, encoding="utf-8", huge_tree=True, no_network=True)
    try:
        etree.fromstring(_remove_strays(story.text).encode("utf-8", "replace"), parser)
    except etree.LxmlError as error:
        raise LoadError(f"{source} can't be read as HTML: {error}.") from error
    left_out = builder.left_out + Counter(story.left_out)
    return PageContent(
        tuple(builder.blocks),
        {**builder.metadata, **story.metadata},
        builder.ids,
        left_out,
        story.fields,
    )


def _remove_strays(text: str) -> str:
    """Remove end tags that end nothing from a page with many; flatten one that nests too deeply."""
    # For each of them the parser searches all open elements: a megabyte took a minute.
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
    # Some strays are not recognised above, as those after an end tag that has ended two elements.
    if deepest > _MAX_DEPTH:
        return _flatten(text)
    return cleaned if strays > _MAX_STRAYS else text


def _flatten(text: str) -> str:
    """Remove the tags that do not matter here, and all that would be open beyond _MAX_DEPTH."""
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
        # A block that is nested too deeply still divides paragraphs.
        return "<p></p>" if is_block else ""

    return _WHOLE_TAG.sub(keep, text)


@dataclass(slots=True)
class _Open:
    """A tag that is open.

    Attributes:
        tag: The tag's name.
        role: What is done with its text, if it is not simply text.
        label: What its text is counted as, the label of a page, or the address of a link.
        is_number: Whether the file says that its text is the number of a page.
        start: Where its text begins among the pieces of the block.
        text_number: The number of the block that it began in; a note has one of its own.
        around: The pieces of the block around a note.
        has_operand: Whether the first part of a fraction or power has ended.
    """

    tag: str
    role: Literal[
        "",
        "skipped",
        "page",
        "raised",
        "reference",
        "link",
        "aside",
        "line",
        "quotation",
        "apart",
        "first",
    ] = ""
    label: str = ""
    is_number: bool = False
    start: int = 0
    text_number: int = 0
    around: list[str] = field(default_factory=list)
    has_operand: bool = False


@dataclass(slots=True)
class _BlockBuilder:
    """Makes blocks from the tags and texts that lxml passes to it."""

    blocks: list[Block] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    page_labels: Mapping[str, str] = field(default_factory=dict)
    _text: list[str] = field(default_factory=list)
    _title: list[str] | None = None
    _heading: str = ""
    _group: _Open | None = None
    """The open <hgroup>, whose blocks are lines of one heading."""
    _verbatim: bool = False
    _open: list[_Open] = field(default_factory=list)
    _skipping: _Open | None = None
    """The open tag whose text is not that of the block."""
    _skipped: list[str] = field(default_factory=list)
    _after: list[Block] = field(default_factory=list)
    """The notes within the present block."""
    _asides: int = 0
    _page: str = ""
    _initial: str = ""
    """The dropped initial with which the present block begins."""
    _pictured_heading: str = ""
    """The words of the picture in the present heading, which may have no others."""
    _carried: str = ""
    """A dropped initial that has a block of its own."""
    _begins_note: bool = False
    _note_number: str = ""
    """The number of the note that begins, if only its place in a list or its id says it."""
    _hiding: set[str] = field(default_factory=set)
    """The classes that the page's own style sheet hides."""
    _goes_on: Callable[[str], object] | None = None
    """Tells, behind a dropped initial, whether a text is the rest of its word."""
    _text_number: int = 0
    _texts: int = 0
    _counts: Counter[str] = field(default_factory=Counter)
    """How many tags of each name are open."""
    _labels: list[bool] = field(default_factory=list)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        tag = _local_name(tag)
        if tag in ("div", "span") and not _VERSE.isdisjoint(attributes.get("class", "").split()):
            tag = "li"
        frame = _Open(tag)
        if tag not in _VOID:
            self._open.append(frame)
            self._counts[tag] += 1
            self._labels.append("aria-label" in attributes)
        self._read_metadata(tag, attributes)
        self._start_text(frame, attributes)
        if name := attributes.get("id") or attributes.get("name"):
            self.ids.setdefault(name, len(self.blocks))
            self._begin_page(self.page_labels.get(name, ""))

    def _start_text(self, frame: _Open, attributes: Mapping[str, str]) -> None:
        tag = frame.tag
        if self._skipping is not None and not self._skipping.label and _is_page_anchor(attributes):
            self._skipping.label = _page_label(attributes)
        if self._skipping is not None and not self._resume(tag):
            return
        if self._skip(frame, attributes):
            if tag in _VOID:
                self._end_skipped(frame)
            return
        if self._group and (tag in _BLOCKS or tag in _LINES or tag == _HEADING_GROUP):
            self._go_on_in_group(self._group, tag)
        if self._group and tag in _GROUPED:
            self._heading = self._heading or (tag if tag in _HEADINGS else "")
            self._text.append("\n")
        elif tag in _BLOCKS or tag == _HEADING_GROUP:
            self._start_block(frame, attributes)
            self._group = frame if tag == _HEADING_GROUP else None
        elif tag in _LINES:
            self._break_line(tag)
            self._start_note(tag, attributes)
        elif tag == "img":
            self._start_picture(attributes.get("alt", ""))
        else:
            self._start_inline(frame, attributes)

    def _break_line(self, tag: str) -> None:
        if tag == "br" and self._is_second_break():
            self._flush()
        self._text.append("\n")

    def _is_second_break(self) -> bool:
        """Whether a line break is the second in a row, so that a paragraph ends."""
        is_inner = self._heading or self._group or self._asides or self._verbatim
        if is_inner or self._counts["li"] or self._counts["tr"]:
            return False
        is_second = False
        for piece in reversed(self._text[-_MAX_BREAKS:]):
            if piece.strip():
                return is_second
            is_second = is_second or "\n" in piece
        return False

    def end(self, tag: str) -> None:
        tag = _local_name(tag)
        if tag in _VOID:
            return
        if tag == "title" and self._title is not None:
            self._end_title(self._title)
        frame = self._open.pop() if self._open else _Open(tag)
        self._counts[frame.tag] -= 1
        if self._labels:
            self._labels.pop()
        self._end_element(frame)
        if self._skipping is None and self._open and self._open[-1].tag in _FORMULAS:
            self._end_operand(self._open[-1])

    def _end_element(self, frame: _Open) -> None:
        if self._skipping is not None:
            if frame is self._skipping:
                self._end_skipped(frame)
        elif frame.role == "aside":
            self._end_aside(frame)
        elif self._group is not None:
            self._end_in_group(frame)
        elif frame.tag in _BLOCKS:
            if frame.label == "initial":
                letter = one_line("".join(self._text))
                self._initial = letter if len(letter) <= _MAX_INITIAL_CHARACTERS else ""
            self._flush()
            self._heading = "" if frame.tag in _HEADINGS else self._heading
            self._verbatim = self._verbatim and frame.tag != "pre"
        elif frame.role and frame.text_number == self._text_number:
            self._end_inline(frame)

    def _end_operand(self, formula: _Open) -> None:
        """Write between the two parts of a formula what MathML draws by their places."""
        if not formula.has_operand:
            self._text.append(_FORMULAS[formula.tag])
        formula.has_operand = True

    def _end_title(self, parts: Sequence[str]) -> None:
        title = real_title(_TITLE_END.sub("", one_line("".join(parts))))
        self.metadata.setdefault("title", title)
        self._title = None

    def _go_on_in_group(self, group: _Open, tag: str) -> None:
        """End the group before a tag that can't be in it, and before what is below its subtitle."""
        self._cut_group(group)
        if tag not in _GROUPED or (group.label == "subtitle" and tag != "br"):
            self._end_group()
        elif tag == "p":
            group.label = "subtitle" if group.label else ""
        elif tag != "br":
            group.label = "heading"

    def _cut_group(self, group: _Open) -> None:
        """End the group above its last paragraph if that makes it longer than a heading."""
        if self._group is None or self._asides:
            return
        above, last = self._text[: group.start], self._text[group.start :]
        length = len(one_line("".join(self._text)))
        if length > _MAX_GROUP_CHARACTERS and one_line(without_marks("".join(above))):
            self._text = above
            self._end_group()
            self._text += last
            self._flush()
        else:
            group.start = len(self._text)

    def _end_group(self) -> None:
        if self._group is not None:
            self._flush()
            self._heading, self._group = "", None

    def _end_in_group(self, frame: _Open) -> None:
        if self._group is not None and (frame is self._group or frame.tag in _BLOCKS):
            self._cut_group(self._group)
        if frame is self._group:
            self._end_group()
        elif frame.tag in _BLOCKS:
            self._text.append("\n")
        elif frame.role and frame.text_number == self._text_number:
            self._end_inline(frame)

    def data(self, text: str) -> None:
        if self._title is not None:
            self._title.append(text)
        elif self._skipping is not None:
            self._skipped.append(text)
        else:
            # Outside <pre>, a line break is a space; only tags break lines.
            text = text.replace("\x85", "…")
            text = text if self._verbatim else join_source_lines(text)
            if self._goes_on and text.strip():
                # Space between a dropped initial and the rest of its word is that of the page.
                goes_on, self._goes_on = self._goes_on, None
                if goes_on(text.lstrip()):
                    text = text.lstrip()
                    self._text[-1] = self._text[-1].rstrip()
            self._text.append(text)

    def comment(self, text: str) -> None:
        """Ignore comments."""

    def close(self) -> None:
        if self._skipping is not None:
            self._end_skipped(self._skipping)
        self._asides = 0
        self._flush()
        self._emit(self._carried, "")
        if marks := "".join(self._text):
            self.blocks.append(Block(marks))

    def _read_metadata(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "title" and all(frame.tag != "svg" for frame in self._open):
            self._title = []
        elif tag == "html":
            language = attributes.get("lang") or attributes.get("xml:lang") or ""
            self.metadata.setdefault("language", language)
        elif tag == "meta":
            name = (attributes.get("name") or attributes.get("property") or "").casefold()
            content = one_line(attributes.get("content", ""))
            fact = _METADATA.get(name, "")
            if fact == "author":
                self._add_author(name, real_author(content))
            elif fact and content:
                self.metadata.setdefault(fact, content)

    def _add_author(self, name: str, author: str) -> None:
        """Add an author; the file may list several by one name, and all of them by another."""
        known = self.metadata.get("author", "")
        if author and not known:
            self.metadata["author"] = author
            self.metadata["authors by"] = name
        elif author and name == self.metadata["authors by"] and author not in known.split(", "):
            self.metadata["author"] = f"{known}, {author}"

    def _skip(self, frame: _Open, attributes: Mapping[str, str]) -> bool:
        """Skip an element that is not text, or the number of a page; return whether it is."""
        names = f"{attributes.get('class', '')} {attributes.get('id', '')}"
        kinds = f"{_type(attributes)} {attributes.get('role', '')}".split()
        is_number = bool(_PAGE_CLASS.search(names))
        is_page = is_number or not _PAGE_TYPES.isdisjoint((*kinds, *names.lower().split()))
        is_page = is_page and frame.tag not in ("article", "body", "html", "section")
        if _LINE_CLASS.search(attributes.get("class", "")):
            frame.role = "line"
        elif is_page or (frame.tag in ("a", "span") and _is_page_anchor(attributes)):
            frame.role, frame.label = "page", _page_label(attributes)
            frame.is_number = is_number
        elif (kind := self._kind(frame.tag, names, kinds, attributes)) is not None:
            if frame.tag in _VOID:
                return True
            frame.role, frame.label = "skipped", kind
        else:
            return False
        self._skipping = frame
        return True

    def _kind(
        self, tag: str, names: str, kinds: list[str], attributes: Mapping[str, str]
    ) -> str | None:
        """What the characters of an element are counted as that is left out; None if it is text."""
        if _LIBRARY_CLASS.search(names):
            return "licence"
        if not _CONTENTS.isdisjoint(kinds) and tag not in ("body", "html", "a"):
            return "contents"
        if not _NAVIGATION.isdisjoint((*names.split(), *kinds)):
            return "navigation"
        style = attributes.get("style", "").replace(" ", "").lower()
        # Readers show a note that the page hides where its number is touched.
        if not _is_note(attributes, _HIDDEN_NOTE) and (
            "hidden" in attributes
            or "display:none" in style
            or "visibility:hidden" in style
            or not self._hiding.isdisjoint(attributes.get("class", "").split())
        ):
            return "hidden text"
        # What has another form for those who listen is not there twice.
        is_labelled = len(self._labels) > 1 and self._labels[-2]
        if attributes.get("aria-hidden") == "true" and not is_labelled:
            return "hidden text"
        return _LEFT_OUT.get(tag)

    def _resume(self, tag: str) -> bool:
        """End what is being skipped if a tag can't be inside it; return whether it has ended."""
        skipping = self._skipping
        if skipping is None:
            return True
        is_ruby = skipping.tag in ("rt", "rp") and tag in _RUBY_PARTS
        is_page = skipping.role == "page" and (tag in _BLOCKS or tag == "br")
        if is_ruby or is_page:
            self._end_skipped(skipping)
            skipping.role = ""
        return self._skipping is None

    def _end_skipped(self, frame: _Open) -> None:
        self._skipping = None
        text = "".join(self._skipped)
        self._skipped.clear()
        if frame.tag == "style":
            self._hiding |= _hidden_classes(text)
        printed = one_line(text)
        if frame.role == "line":
            self._end_line_number(printed)
            return
        if frame.role != "page":
            if frame.label:
                self.left_out[frame.label] += count_characters(printed)
            return
        label = _PAGE_LABEL.fullmatch(printed)
        is_text = not frame.is_number or len(printed) > MAX_LABEL_CHARACTERS
        if printed and not label and is_text:
            self._text.append(text)
        elif printed:
            self.left_out["page numbers"] += count_characters(printed)
        self._begin_page(label[1] if label else frame.label)

    def _begin_page(self, number: str) -> None:
        """Put a mark where a printed page begins, once; its number is no part of the text."""
        if number and number != self._page:
            self._page = number
            self._text.append(page_mark(number))

    def _end_line_number(self, printed: str) -> None:
        """Mark the beginning of the present line of verse, whose number stands beside it."""
        if mark := line_mark(printed if printed.isdecimal() else ""):
            breaks = (i for i in range(len(self._text), 0, -1) if "\n" in self._text[i - 1])
            self._text.insert(next(breaks, 0), mark)
            self.left_out["line numbers"] += count_characters(printed)
        else:
            self._text.append(f" {printed} ")

    def _start_block(self, frame: _Open, attributes: Mapping[str, str]) -> None:
        names = attributes.get("class", "")
        is_note = _SIDE_NOTE.search(names) or (
            _is_note(attributes, _INNER_NOTE)
            and any(around.tag == "p" for around in self._open[:-1])
        )
        if is_note and one_line("".join(self._text)):
            self._start_aside(frame)
        else:
            self._flush()
        self._start_note(frame.tag, attributes)
        if _INITIAL_CLASS.search(names):
            frame.label = "initial"
        self._heading = frame.tag if frame.tag in _HEADINGS else self._heading
        self._verbatim = self._verbatim or frame.tag == "pre"

    def _start_note(self, tag: str, attributes: Mapping[str, str]) -> None:
        number = _NOTE_ID.fullmatch(attributes.get("id", ""))
        if number and tag == "li":
            self._flush()
            self._note_number = number[1]
        elif number or _is_note(attributes):
            self._begins_note = True

    def _start_aside(self, frame: _Open) -> None:
        frame.role, frame.around, self._text = "aside", self._text, []
        frame.text_number = self._text_number
        self._begin_text()
        self._asides += 1

    def _end_aside(self, frame: _Open) -> None:
        label = note_label("".join(self._text))
        if label:
            # It is not the note, but its number.
            self._text.clear()
        self._flush()
        self._asides -= 1
        self._text = [*frame.around, f"[{label}]"] if label else frame.around
        self._text_number = frame.text_number

    def _start_inline(self, frame: _Open, attributes: Mapping[str, str]) -> None:
        frame.start, frame.text_number = len(self._text), self._text_number
        names = f"{attributes.get('class', '')} {_type(attributes)} {attributes.get('role', '')}"
        style = attributes.get("style", "").replace(" ", "")
        if _SIDE_NOTE.search(names) or (
            frame.tag in ("span", "small") and _is_note(attributes, _INNER_NOTE)
        ):
            self._start_aside(frame)
        elif _NOTE_REFERENCE.search(names):
            frame.role = "reference"
        elif frame.tag == "a" and "#" in attributes.get("href", ""):
            frame.role = "link"
            frame.label = f"{attributes['href']} {attributes.get('id', '')}"
        elif frame.tag == "q" and self._counts["q"] <= _MAX_QUOTATIONS:
            frame.role = "quotation"
        elif separator := _separator(style.lower()):
            frame.role, frame.label = "apart", separator
            self._text.append(separator)
        elif frame.tag == "mfrac" and self._text and self._text[-1][-1:].isdigit():
            self._text.append(" ")
        elif frame.tag == "sup" or _RAISED.search(names) or "vertical-align:super" in style:
            frame.role = "raised"
        elif not self._has_text(but=f"{_OPENING_QUOTES}("):
            is_styled = attributes.get("class") or style or frame.tag in ("big", "font")
            frame.role, frame.label = "first", "styled" if is_styled else ""

    def _has_text(self, but: str = " ") -> bool:
        """Whether a paragraph has begun with more than these characters; its first pieces tell."""
        return any(one_line(without_marks(piece)).strip(but) for piece in self._text)

    def _end_inline(self, frame: _Open) -> None:
        """Put the number of a note into brackets, so that it is not glued to the word before it."""
        if frame.role == "apart":
            self._text.append(frame.label)
            return
        text = "".join(self._text[frame.start :])
        if frame.role == "first":
            if initial := _DROPPED.fullmatch(one_line(without_marks(text))):
                of_consonant: Callable[[str], object] = _goes_on if frame.label else _CAPITALS.match
                self._goes_on = _NO_WORD.match if initial["vowel"] else of_consonant
            return
        if frame.role == "quotation":
            self._end_quotation(frame, text)
            return
        before = without_marks("".join(self._text[max(0, frame.start - 8) : frame.start]))
        label = note_label(text)
        if not label and (letter := _LETTER.fullmatch(text)):
            is_linked = any(f.role in ("raised", "reference") for f in self._open)
            label = letter[1] if frame.role == "reference" or is_linked else ""
        is_first = not before.strip(" ") or before.endswith("\n")
        is_note = bool(label) and (
            frame.role == "reference"
            or (frame.role == "link" and not is_first and not before[-1].isspace())
            or (frame.role == "link" and is_first and _NOTE_LINK.search(frame.label))
            or (frame.role == "link" and any(f.role in ("raised", "reference") for f in self._open))
            or (frame.role == "raised" and any(f.role in ("link", "reference") for f in self._open))
            or (frame.role == "raised" and is_first)
        )
        if frame.role == "link" and text.strip(" []()\ufe0e\ufe0f").casefold() in _BACK_SIGNS:
            self.left_out["navigation"] += count_characters(text)
            self._text[frame.start :] = []
        elif is_note:
            self._text[frame.start :] = [f"[{label}]" + (" " if is_first else "")]
        elif frame.role == "raised":
            self._text[frame.start :] = [mark_raised(text, before[-CONTEXT_CHARACTERS:])]

    def _end_quotation(self, frame: _Open, text: str) -> None:
        """Print the marks around a quotation, unless the text has them."""
        before = "".join(self._text[max(0, frame.start - 3) : frame.start]).rstrip()
        has_marks = before[-1:] in tuple(_OPENING_QUOTES) or text.strip()[:1] in _ANY_QUOTES
        if not text.strip() or has_marks:
            return
        language = self.metadata.get("language", "").partition("-")[0].lower()
        is_inner = self._counts["q"] > 0
        marks = _QUOTATION_MARKS.get(language, "“”‘’")[2 * is_inner :]
        self._text[frame.start :] = [marks[0], text, marks[1]]

    def _start_picture(self, alt: str) -> None:
        initial = _INITIAL.fullmatch(one_line(alt))
        if initial and not self._has_text():
            self._initial = initial[1]
            self._text.append(initial[1])
        elif self._heading:
            self._pictured_heading = one_line(alt)

    def _begin_text(self) -> None:
        self._texts += 1
        self._text_number = self._texts

    def _flush(self) -> None:
        text = "".join(self._text)
        self._text.clear()
        self._begin_text()
        if self._verbatim:
            paragraphs = prose(text)
            self.left_out["pictures"] += _lost(text, "".join(paragraphs))
            for paragraph in paragraphs:
                self._emit(paragraph, "")
        else:
            block = lines(remove_markers(text))
            self.left_out["pictures"] += _lost(text, block)
            if self._pictured_heading and not without_marks(block).strip():
                block += self._pictured_heading
            self._pictured_heading = ""
            initial, self._initial = self._initial, ""
            if initial and block == initial:
                self._carried = initial
            else:
                # Some pages show a picture of the letter, and write it as well.
                is_twice = initial and re.match(rf"(?i:{re.escape(initial * 2)})[^\W\dA-Z_]", block)
                self._emit(block.removeprefix(initial) if is_twice else block, self._heading)

    def _emit(self, text: str, heading: str) -> None:
        """Add a block, and the notes within it."""
        if not without_marks(text).strip():
            # The mark of a page without text belongs to the next block.
            self._text += [text] if text else []
        else:
            if self._carried and not heading:
                text = f"{self._carried}{text}" if _goes_on(text) else text
                self._carried = ""
            if self._note_number:
                text, self._note_number = f"[{self._note_number}] {text}", ""
            if self._begins_note:
                text = _NOTE_START.sub(r"[\1] ", text, count=1) if _NOTE_START.match(text) else text
                self._begins_note = False
            printed = _NOTE_NUMBERS.sub("", without_marks(text)).strip()
            title = join_title(printed) if heading and not self._asides else ""
            block = Block(text, title, int(heading[1]) if title else 0)
            (self._after if self._asides else self.blocks).append(block)
        if not self._asides and text:
            self.blocks += self._after
            self._after.clear()


def _separator(style: str) -> str:
    """What is between inline text and an element that its style puts apart; '' if it does not."""
    # A dropped initial floats, and belongs to its word.
    if "float:" in style:
        return ""
    return "\n" if "display:block" in style else " " if "position:absolute" in style else ""


def _local_name(tag: str) -> str:
    return tag.rpartition("}")[2].rpartition(":")[2].lower()


def _type(attributes: Mapping[str, str]) -> str:
    """The semantic type of an element of EPUB."""
    return next((value for key, value in attributes.items() if key.endswith(":type")), "")


def _is_note(attributes: Mapping[str, str], kinds: frozenset[str] = _NOTE) -> bool:
    names = f"{attributes.get('class', '')} {_type(attributes)} {attributes.get('role', '')}"
    return not kinds.isdisjoint(names.lower().split())


def _goes_on(text: str) -> bool:
    """Whether a text begins within a word, whose first letter is a picture."""
    word = re.match(r"\w+", without_marks(text))
    return word is not None and (word[0][0].islower() or (word[0].isupper() and len(word[0]) > 1))


def _is_page_anchor(attributes: Mapping[str, str]) -> bool:
    return any(_PAGE_ID.fullmatch(attributes.get(name, "")) for name in ("id", "name"))


def _page_label(attributes: Mapping[str, str]) -> str:
    """The label of a page in the attributes of its mark; '' if none has it."""
    for name in _PAGE_ATTRIBUTES:
        if match := _PAGE_LABEL.fullmatch(attributes.get(name, "")):
            return match[1]
    return ""


def _hidden_classes(style_sheet: str) -> set[str]:
    """The classes that a style sheet hides on any screen."""
    rules = _CONDITIONAL_RULES.sub("", style_sheet[:_MAX_STYLE_CHARACTERS])
    selectors = [part for rule in _HIDING_RULE.finditer(rules) for part in rule[1].split(",")]
    matches = (_CLASS_SELECTOR.fullmatch(selector.strip()) for selector in selectors)
    return {match[1] for match in matches if match}


def _lost(text: str, left: str) -> int:
    """How many characters that are not spaces a text has lost."""
    if "[" not in text:
        return 0
    return count_characters(tidy(text)) - count_characters(left)
