"""What is one book in a folder: its parts, its copies in other formats, and what is no book."""

from __future__ import annotations

import io
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from fabula.errors import LoadError
from fabula.load.clean import fold_heading, one_line, tidy
from fabula.load.content import FileContent
from fabula.load.encoding import decode_text
from fabula.load.files import printable, read_file, too_large
from fabula.load.front_matter import read_fenced, split_front_matter
from fabula.load.readers import PACKED, READERS

_LICENCE = re.compile(
    r"(?i:(?:un)?licen[cs]e|copying)(?:[-_.].*)?"
    r"|NOTICE|README|AUTHORS|CHANGELOG|CONTRIBUTING|SECURITY|CODE_OF_CONDUCT"
)
"""What repositories keep beside a book: any spelling of a licence, the others in capitals."""
_TEXTS = (".md", ".markdown", ".txt", ".text")
_MAX_EMPTY_BYTES = 20_000
"""A larger file is not looked at: it has words."""
_FORMATS = (".tei", ".xml", ".epub", ".html", ".htm", ".xhtml", ".fb2", ".docx", ".odt", ".md")
"""The formats that say most of a book's structure come first."""
_VARIANT = re.compile(r"[-_.](?:h|0|8|utf-?8|ascii|latin-?1|images?(?:-3)?|noimages)$", re.I)
"""What Project Gutenberg and others add to the name of a file to say how it is encoded."""
_OLD = "old"
"""The folder in which Project Gutenberg keeps earlier versions."""
_FEW = 6
"""Of so few files in several formats, any two may be one book; of more, only those whose names say
so: each file that is compared is read once more."""
_SHINGLE_WORDS = 4
_MIN_ALIKE = 0.7
"""Two texts are one book if so much of their runs of four words is in both."""
_NUMBER = re.compile(r"\d+")
_PART_NAME = re.compile(
    r"\d{1,3}\b.*|(?:chapter|scene|part|kapitel|chapitre|rozdzia[łl]|capitolo|cap[ií]tulo)\W*\d.*",
    re.I,
)
_MIN_PARTS = 3


@dataclass(frozen=True, slots=True)
class Manuscript:
    """A book in several files.

    Attributes:
        folder: The folder that it is known by.
        files: Its files in the order of the text.
        title: Its title; '' if only the folder's name says it.
    """

    folder: Path
    files: tuple[Path, ...]
    title: str = ""

    def open(self, collection: str, max_bytes: int) -> FileContent:
        """Return the content of all files as one.

        Raises:
            LoadError: A file can't be read, or all are larger than `max_bytes`.
        """
        name = printable(self.folder)
        packed = io.BytesIO()
        size = 0
        with zipfile.ZipFile(packed, "w") as archive:
            for number, file in enumerate(self.files):
                data = read_file(file, printable(file), max_bytes)
                size += len(data)
                if size > max_bytes:
                    raise too_large(name, size, max_bytes)
                archive.writestr(f"{number:05}/{printable(file.name)}", data)
            archive.comment = (self.title or self.folder.resolve().name).encode()[:60_000]
        source = printable(self.folder.resolve())
        return FileContent(packed.getvalue(), PACKED, name, source, collection, max_bytes)


@dataclass(frozen=True, slots=True)
class FolderBooks:
    """What of a folder's files are books.

    Attributes:
        files: Those that are a book each.
        manuscripts: The books in several files.
        left_out: Why a file is no document of its own, by the file.
    """

    files: list[Path]
    manuscripts: list[Manuscript]
    left_out: dict[Path, str]


def sort_folder(
    folder: Path, files: Sequence[Path], max_bytes: int, *, as_one: bool = False
) -> FolderBooks:
    """Return what is a book of the files of a folder.

    Args:
        folder: The folder.
        files: The files in it that can be read.
        max_bytes: The largest file.
        as_one: Whether all files are the parts of one book.
    """
    left_out = _find_no_books(files)
    rest = [file for file in files if file not in left_out]
    if not rest:
        return FolderBooks(list(files), [], {})
    left_out |= _find_copies(rest, max_bytes)
    rest = [file for file in rest if file not in left_out]
    manuscripts: list[Manuscript] = []
    for file in files:
        if manuscript := _read_index(file):
            manuscripts.append(manuscript)
            left_out[file] = "lists the parts of one book, which are one document"
    rest = [file for file in rest if file not in left_out]
    if as_one and not manuscripts:
        parts = [file for file in rest if file.suffix.lower() in READERS]
        manuscripts = [Manuscript(folder, tuple(sorted(parts, key=_in_order)))]
    for manuscript in manuscripts:
        rest = [file for file in rest if file not in manuscript.files]
        for file in manuscript.files:
            left_out.pop(file, None)
    return FolderBooks(rest, manuscripts, left_out)


def describe_parts(folder: Path, files: Iterable[Path]) -> str:
    """Return a hint if files look like the parts of one book, as 01.md and 02.md do; '' if not."""
    by_place: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    for file in files:
        if file.suffix.lower() in READERS and _PART_NAME.fullmatch(file.stem):
            by_place[file.parent, file.suffix.lower()].append(file)
    parts = max(by_place.values(), key=len, default=[])
    if len(parts) < _MIN_PARTS:
        return ""
    parts.sort(key=_in_order)
    return (
        f"{len(parts)} files from {printable(parts[0].name)} to {printable(parts[-1].name)} look "
        f"like the parts of one book: `fabula ingest {printable(folder)} --as-one` makes one "
        "document of them."
    )


def _find_no_books(files: Sequence[Path]) -> dict[Path, str]:
    """Why files are no books: licences and the like, and texts without a word."""
    reasons: dict[Path, str] = {}
    for file in files:
        if file.suffix.lower() not in _TEXTS:
            continue
        if _LICENCE.fullmatch(file.stem):
            reasons[file] = "is about the files beside it, and no book"
        elif file.stat().st_size <= _MAX_EMPTY_BYTES and not _has_words(file):
            reasons[file] = "has no words in it"
    return reasons


def _has_words(file: Path) -> bool:
    try:
        text = decode_text(read_file(file, printable(file), _MAX_EMPTY_BYTES), "").text
    except LoadError:
        return True
    return any(map(str.isalnum, split_front_matter(tidy(text), markdown=True).text))


@dataclass(frozen=True, slots=True)
class _Words:
    """What two files are compared by: the title and author that a file states, and its words."""

    title: str
    author: str
    runs: frozenset[tuple[str, ...]]

    def is_of(self, other: _Words) -> bool:
        """Whether both are of one book: nothing that both state differs, and most words agree."""
        for mine, yours in ((self.title, other.title), (self.author, other.author)):
            if mine and yours and mine != yours:
                return False
        longest = max(len(self.runs), len(other.runs))
        return longest > 0 and len(self.runs & other.runs) >= _MIN_ALIKE * longest


def _find_copies(files: Sequence[Path], max_bytes: int) -> dict[Path, str]:
    """Why files are left out that have the words of another one, in another format or encoding."""
    reasons: dict[Path, str] = {}
    for group in _groups(files):
        taken: list[tuple[Path, _Words]] = []
        for file in sorted(group, key=_preference):
            words = _words(file, max_bytes)
            same = next(
                (
                    other
                    for other, known in taken
                    if _may_be_copies(file, other) and words.is_of(known)
                ),
                None,
            )
            if same is None:
                taken.append((file, words))
            else:
                reasons[file] = f"is the same book as {printable(same)}, which was taken"
    return reasons


def _may_be_copies(one: Path, other: Path) -> bool:
    """Whether the names allow it: files of one format with names of their own are versions."""
    is_old = _OLD in (one.parent.name.casefold(), other.parent.name.casefold())
    return is_old or one.suffix.lower() != other.suffix.lower() or _stem(one) == _stem(other)


def _stem(file: Path) -> str:
    return _VARIANT.sub("", file.stem).casefold()


def _groups(files: Sequence[Path]) -> Iterator[list[Path]]:
    """The files that may be one book by their names and folders."""
    readable = [file for file in files if file.suffix.lower() in READERS]
    if len(readable) <= _FEW and len({file.suffix.lower() for file in readable}) > 1:
        return iter([readable])
    by_name: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    for file in readable:
        by_name[file.parent, _stem(file)].append(file)
    for (folder, _), group in list(by_name.items()):
        above = [key for key in by_name if key[0] == folder.parent]
        if folder.name.casefold() == _OLD and len(above) == 1:
            by_name[above[0]] += group
            group.clear()
    return (group for group in by_name.values() if len(group) > 1)


def _preference(file: Path) -> tuple[bool, int, str]:
    suffix = file.suffix.lower()
    rank = _FORMATS.index(suffix) if suffix in _FORMATS else len(_FORMATS)
    return file.parent.name.casefold() == _OLD, rank, file.name


def _words(file: Path, max_bytes: int) -> _Words:
    """The words of a text; none if it can't be read, which is said later."""
    from fabula.load import load
    from fabula.load.document import title_of_file

    try:
        document = load(file, "", max_bytes)
    except LoadError:
        return _Words("", "", frozenset())
    words = re.findall(r"\w+", document.text.casefold())
    runs = frozenset(zip(*(words[at:] for at in range(_SHINGLE_WORDS)), strict=False))
    title = "" if document.title == title_of_file(document.source) else document.title
    return _Words(fold_heading(title), fold_heading(document.author), runs)


def _in_order(file: Path) -> list[tuple[int, str]]:
    """The key by which 2.md comes before 10.md, and a folder's files before its folders."""
    pieces: list[tuple[int, str]] = []
    for part in file.parts:
        text = part.casefold()
        start = 0
        for number in _NUMBER.finditer(text):
            pieces += [(-1, text[start : number.start()]), (int(number[0]), "")]
            start = number.end()
        pieces.append((-1, text[start:]))
    return pieces


def _read_index(file: Path) -> Manuscript | None:
    """The book whose scenes a file lists, as Longform in Obsidian does; None for any other file."""
    if file.suffix.lower() not in _TEXTS[:2]:
        return None
    try:
        with file.open("rb") as opened:
            head = opened.read(_MAX_EMPTY_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    if "longform:" not in head:
        return None
    fields = read_fenced(tidy(head)).get("longform")
    if not isinstance(fields, dict) or not isinstance(fields.get("scenes"), list):
        return None
    folder = file.parent / str(fields.get("sceneFolder") or "").strip("/")
    if not folder.resolve().is_relative_to(file.parent.resolve()):
        return None
    names = (f"{name}.md" for name in _names(fields["scenes"]))
    scenes = (folder / PurePath(name).name for name in names)
    found = tuple(scene for scene in scenes if scene.is_file())
    title = one_line(str(fields.get("title") or ""))
    return Manuscript(file.parent, found, title) if found else None


def _names(scenes: Iterable[object]) -> Iterator[str]:
    """The names in a list of scenes, in which those below another one are lists."""
    for scene in scenes:
        if isinstance(scene, list):
            yield from _names(scene)
        else:
            yield str(scene)
