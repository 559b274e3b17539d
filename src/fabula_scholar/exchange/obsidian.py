"""Write a document as notes of an Obsidian vault: one for each character, place and chapter.

Notes are Markdown with properties (YAML between `---`) and links as `[[folder/file|name]]`. File
names are valid on Windows, macOS and Linux, and none differs from another by case alone. Each book
has a folder of its own in the vault, also where two have one title.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.errors import FabulaError, NotFound, SettingsError
from fabula.export.annotated_text import AnnotatedText
from fabula.export.export_formats import ExportFormat
from fabula.export.files import Written, replace_file
from fabula.export.markdown import escape_markdown
from fabula.graph.annotations import ENTITY, QUOTATION, Annotation
from fabula.graph.structure import TextStructure
from fabula.text.document import Document
from fabula.text.names import file_name, source_name

if TYPE_CHECKING:
    from fabula.library.collection import Collection

FOLDERS = {"person": "Characters", "place": "Places"}
"""What entities of other types are not written as."""
CHAPTERS = "Chapters"
MIN_MENTIONS = 2
"""Who is named less often has no note of their own: most of these are no names."""
MAX_QUOTATIONS = 20
"""Quotations in the note of a character."""
MAX_HEAD_CHARACTERS = 20_000
"""Of a note, in which its properties are looked for."""
MAX_CHARACTERS = 300
"""Of a quotation there."""


@dataclass(slots=True)
class _Names:
    """Gives file names, each once, whatever the case of its letters."""

    used: set[str] = field(default_factory=set)

    def take(self, title: str, default: str) -> str:
        # A default may come from a file of others, as the id of a group does.
        name = file_name(title, file_name(default, "unnamed"))
        number, free = 2, name
        while free.casefold() in self.used:
            free, number = f"{name} {number}", number + 1
        self.used.add(free.casefold())
        return free


@dataclass(frozen=True, slots=True)
class _Thing:
    name: str
    folder: str
    file: str
    mentions: tuple[Annotation, ...]

    def link(self, root: str) -> str:
        return _link(f"{root}/{self.folder}/{self.file}", self.name)


def vault_folder(vault: Path, document: Document) -> str:
    """Return the name of the folder of a document in a vault: that of its title.

    If the vault has a folder of this name which was written for another document, a number is added
    to it. A folder that has this document's notes already is used again.

    Raises:
        FabulaError: The vault can't be read.
    """
    names = _Names()
    try:
        taken = {each.name.casefold() for each in vault.iterdir()} if vault.is_dir() else set()
        while (name := names.take(document.title, document.id)).casefold() in taken:
            if _is_of(vault / name / f"{name}.md", document):
                break
    except OSError as error:
        raise FabulaError(f"{vault} can't be read: {error.strerror}.") from error
    return name


def _is_of(index: Path, document: Document) -> bool:
    """Whether the first note of a folder is that of a document."""
    if not index.is_file():
        return False
    head = index.read_text("utf-8", "replace")[:MAX_HEAD_CHARACTERS]
    return f"\ndocument: {json.dumps(document.id, ensure_ascii=False)}\n" in head


def vault_notes(text: AnnotatedText, structure: TextStructure, root: str = "") -> dict[str, str]:
    """Return the notes of a document by their paths in a vault, with `/` between folders.

    Args:
        text: The document with what is marked in it.
        structure: Its chapters.
        root: The name of its folder, as `vault_folder` returns it; '' for that of its title.

    Raises:
        NotFound: The document has neither entities nor chapters.
    """
    document = text.document
    root = root or _Names().take(document.title, document.id)
    annotations = [a for a in text.annotations() if a.start >= 0]
    things = _things(annotations)
    starts = [s.start for s in structure.outline.sections if s.start < len(document.text)]
    paths = structure.paths[: len(starts)]
    if not (things or starts):
        raise NotFound(
            f"{document.title} has neither chapters nor entities: `fabula build entities` finds "
            "who and what it is about."
        )
    names = _Names()
    chapters = [
        names.take(f"{number:03d} {path}", f"{number:03d}") for number, path in enumerate(paths, 1)
    ]

    def chapter_link(character: int) -> str:
        number = bisect_right(starts, character) - 1
        if number < 0:
            return ""
        return _link(f"{root}/{CHAPTERS}/{chapters[number]}", paths[number])

    notes = {f"{root}/{root}.md": _index(text, root, things, chapters, paths)}
    said = [a for a in annotations if a.kind == QUOTATION]
    for group, thing in things.items():
        spoken = [a for a in said if a.group == group]
        notes[f"{root}/{thing.folder}/{thing.file}.md"] = _thing_note(thing, spoken, chapter_link)
    for number, (file, path) in enumerate(zip(chapters, paths, strict=True)):
        end = starts[number + 1] if number + 1 < len(starts) else len(document.text)
        inside = [a for a in annotations if starts[number] <= a.start < end]
        notes[f"{root}/{CHAPTERS}/{file}.md"] = _chapter_note(root, path, inside, things)
    return notes


def write_vault(notes: Mapping[str, str], folder: Path) -> int:
    """Write notes into a folder, and return how many; other files of the folder stay.

    Raises:
        FabulaError: A file can't be written.
    """
    for path, content in notes.items():
        file = folder.joinpath(*path.split("/"))
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FabulaError(f"{file.parent} can't be made: {error.strerror}.") from error
        with replace_file(file) as stream:
            stream.write(content)
    return len(notes)


def _export(collection: Collection, document: str, out: Path) -> Written:
    if not document:
        raise SettingsError("A vault has notes of one document: name it.")
    from fabula.library.annotating import read_annotated

    store, entry = collection.open_store(), collection.document(document)
    text = read_annotated(store, entry)
    notes = vault_notes(text, store.structure(entry), vault_folder(out, text.document))
    return Written(write_vault(notes, out), 0)


FORMAT = ExportFormat(
    "a folder of notes for Obsidian: of each character, place and chapter", _export, noun="note"
)


def _things(annotations: Sequence[Annotation]) -> dict[str, _Thing]:
    mentions: dict[str, list[Annotation]] = {}
    for annotation in annotations:
        if annotation.kind == ENTITY and annotation.properties.get("type", "") in FOLDERS:
            mentions.setdefault(annotation.group or annotation.id, []).append(annotation)
    names = {folder: _Names() for folder in FOLDERS.values()}
    things = {}
    for group, of_thing in sorted(mentions.items(), key=lambda item: (-len(item[1]), item[0])):
        if len(of_thing) >= MIN_MENTIONS:
            folder = FOLDERS[of_thing[0].properties["type"]]
            name = of_thing[0].label or of_thing[0].quote.exact
            file = names[folder].take(name, group)
            things[group] = _Thing(name, folder, file, tuple(of_thing))
    return things


def _index(
    text: AnnotatedText,
    root: str,
    things: Mapping[str, _Thing],
    chapters: Sequence[str],
    paths: Sequence[str],
) -> str:
    document = text.document
    head = _properties(
        {
            "title": document.title,
            "author": document.author,
            "source": source_name(document.source),
            "document": document.id,
        }
    )
    parts = [head, f"# {_escape(document.title)}"]
    for folder in FOLDERS.values():
        if listed := [
            f"- {thing.link(root)} ({len(thing.mentions)})"
            for thing in things.values()
            if thing.folder == folder
        ]:
            parts += [f"## {folder}", "\n".join(listed)]
    if chapters:
        links = zip(chapters, paths, strict=True)
        listed = [f"- {_link(f'{root}/{CHAPTERS}/{file}', path)}" for file, path in links]
        parts += [f"## {CHAPTERS}", "\n".join(listed)]
    return _join(parts)


def _thing_note(thing: _Thing, spoken: Sequence[Annotation], link: Callable[[int], str]) -> str:
    aliases = dict.fromkeys(" ".join(a.quote.exact.split()) for a in thing.mentions)
    aliases.pop(thing.name, None)
    head = _properties({"aliases": list(aliases), "mentions": len(thing.mentions)})
    parts = [head, f"# {_escape(thing.name)}"]
    where = Counter(found for a in thing.mentions if (found := link(a.start)))
    if where:
        listed = [f"- {found}: {count}" for found, count in where.items()]
        parts += ["## Named in", "\n".join(listed)]
    if spoken:
        parts.append("## Says")
        for quotation in spoken[:MAX_QUOTATIONS]:
            parts.append(_quote(quotation, link(quotation.start)))
        if len(spoken) > MAX_QUOTATIONS:
            parts.append(f"These are the first {MAX_QUOTATIONS} of {len(spoken):,} quotations.")
    return _join(parts)


def _chapter_note(
    root: str, path: str, inside: Sequence[Annotation], things: Mapping[str, _Thing]
) -> str:
    parts = [f"# {_escape(path)}"]
    for folder in FOLDERS.values():
        counts = Counter(
            a.group or a.id for a in inside if a.kind == ENTITY and (a.group or a.id) in things
        )
        if listed := [
            f"- {things[group].link(root)} ({count})"
            for group, count in counts.most_common()
            if things[group].folder == folder
        ]:
            parts += [f"## {folder}", "\n".join(listed)]
    others = [a for a in inside if a.kind not in (ENTITY, QUOTATION, "event")]
    if others:
        parts.append("## Notes")
        for note in others:
            parts.append(_quote(note, ""))
            said = ". ".join(filter(None, (note.label, note.body)))
            parts.append(_escape(said) if said else "(highlighted)")
    return _join(parts)


def _quote(annotation: Annotation, link: str) -> str:
    words = " ".join(annotation.quote.exact.split())
    cut = words if len(words) <= MAX_CHARACTERS else f"{words[: MAX_CHARACTERS - 1]}…"
    where = f"characters {annotation.start}-{annotation.end}"
    return f"> {_escape(cut)}\n>\n> — {f'{link}, ' if link else ''}{where}"


def _escape(text: str) -> str:
    """Escape Markdown, with the signs by which Obsidian marks comments, formulas and highlights."""
    return re.sub(r"(?<!\\)[%$=^]", r"\\\g<0>", escape_markdown(text))


def _link(path: str, name: str) -> str:
    shown = " ".join(re.sub(r"[\[\]|#^]", " ", name).split())
    return f"[[{path}|{shown or path}]]"


def _properties(values: Mapping[str, str | int | Sequence[str]]) -> str:
    # JSON is YAML, whatever signs a title has.
    lines = [
        f"{name}: {json.dumps(value, ensure_ascii=False)}"
        for name, value in values.items()
        if value
    ]
    return "\n".join(["---", *lines, "---"])


def _join(parts: Iterable[str]) -> str:
    return "\n\n".join(parts) + "\n"
