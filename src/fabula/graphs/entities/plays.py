"""The speakers of a play: who they are, that they are not each other, and who shares a scene.

A play prints the name of who speaks in capitals above each speech. So its persons are certain, as
are the scenes that they speak in: what DraCor (Fischer et al. 2019) makes networks of.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from fabula.graphs.entities.decisions import Decisions
from fabula.graphs.entities.names import titled
from fabula.graphs.entities.resolve import PERSON
from fabula.graphs.entities.values import Extraction, Mention, RelationMention
from fabula.text.document import Chunk
from fabula.text.sentences import spans
from fabula.text.speakers import is_speaker

MIN_SPEECHES = 3
"""How often a label must stand above a speech before a text is taken for a play, for two labels."""
MIN_SHARE = 0.2
"""The share of the paragraphs of a play that are speeches with such labels."""
SCENE = {
    "de": "dieselbe Szene",
    "en": "same scene",
    "es": "misma escena",
    "fr": "même scène",
    "it": "stessa scena",
    "pl": "wspólna scena",
    "ru": "одна сцена",
}
"""The keyword of a relation of two persons who speak in one scene, by the language of the play."""
_SCENE_KEYWORDS = frozenset(SCENE.values())
_EVERYBODY = frozenset(
    (
        *("all", "alle", "ambo", "beide", "both", "chor", "chœur", "choeur", "chór", "chórem"),
        *("chorus", "coro", "ensemble", "everybody", "oba", "obaj", "obie", "oboje", "omnes"),
        *("razem", "todos", "tous", "toutes", "tutti", "wszyscy", "wszystkie", "все", "оба"),
        "хор",
    )
)
"""Words of labels that stand above what several say at once, and are nobody's name."""
_AND = re.compile(r"\s*[,;&/]\s*|\.\s+|\s+(?:and|et|i|oraz|und|y|e|и)\s+", re.IGNORECASE)
_DIRECTION = re.compile(r"\s*[(\[][^()\[\]]{0,100}[)\]]")
_NUMBER = re.compile(r"\d+(?:ND|RD|ST|TH|GI|CI|SZY|TY|\.)?\s*")
_PARAGRAPH = re.compile(r"(?:[^\n]|\n(?![ \t]*\n))+")


@dataclass(frozen=True, slots=True)
class Speaker:
    """A name in a label, as it is printed, and where it begins in the document."""

    name: str
    start: int


@dataclass(frozen=True, slots=True)
class Speech:
    """A speech of a play.

    Attributes:
        chunk: The position of its chunk among all chunks.
        start: Where its label begins in the document.
        speakers: Those whom the label names; nobody where it says that all speak.
    """

    chunk: int
    start: int
    speakers: tuple[Speaker, ...]


def read_speeches(chunks: Sequence[Chunk]) -> list[Speech]:
    """Return the speeches of a play in text order; none where the text is no play."""
    labels: list[tuple[int, int, str]] = []
    paragraphs = 0
    for row, chunk in enumerate(chunks):
        for paragraph in _PARAGRAPH.finditer(chunk.text):
            paragraphs += 1
            line, _, speech = paragraph[0].strip().partition("\n")
            if speech and _is_label(line):
                indent = len(paragraph[0]) - len(paragraph[0].lstrip())
                labels.append((row, chunk.start + paragraph.start() + indent, line))
    counts = Counter(_bare(line) for _, _, line in labels)
    common = {label: count for label, count in counts.items() if count >= MIN_SPEECHES}
    if len(common) < 2 or sum(common.values()) < MIN_SHARE * paragraphs:
        return []
    # The lines of a title page are in capitals, too: a play begins with the scene in which somebody
    # first speaks who speaks again.
    first_row = next(row for row, _, line in labels if _bare(line) in common)
    first_scene = _scenes(chunks)[first_row]
    known = {label for label in counts if len(_parts(label)) == 1}
    return [
        Speech(row, start, tuple(_speakers(line, start, known)))
        for row, start, line in labels
        if row >= first_scene
    ]


def add_speakers(
    extraction: Extraction, speeches: Sequence[Speech], chunks: Sequence[Chunk], language: str
) -> Extraction:
    """Add the speakers of a play to an extraction, and who shares a scene with whom.

    What the extraction had at the place of a label is kept with the label's type, a person.
    """
    if not speeches:
        return extraction
    starts: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for speech in speeches:
        for speaker in speech.speakers:
            starts[chunks[speech.chunk].id][speaker.name].append(speaker.start)
    mentions = [_without(mention, starts.get(mention.chunk, {})) for mention in extraction.mentions]
    by_id = {chunk.id: chunk for chunk in chunks}
    for id, names in starts.items():
        sentences = spans(by_id[id].text, language)
        for name, places in names.items():
            sentence = _sentence(by_id[id], sentences, places[0])
            printed = {name: tuple(places)}
            mentions.append(Mention(id, by_id[id].start, name, printed, PERSON, sentence))
    relations = [mention for mention in extraction.relation_mentions if not is_of_scene(mention)]
    return replace(
        extraction,
        mentions=tuple(mention for mention in mentions if mention),
        relation_mentions=(*relations, *_scene_relations(speeches, chunks, language)),
    )


def keep_speakers_apart(
    decisions: Decisions, speeches: Sequence[Speech], chunks: Sequence[Chunk]
) -> Decisions:
    """Return the decisions with all pairs of names that speak in one scene.

    A scene prints one label for one person. What somebody decided goes before.
    """
    joined = {frozenset(map(titled, pair)) for pair in decisions.join}
    pairs: set[tuple[str, str]] = set()
    for first_rows in _first_speeches(speeches, chunks):
        for first, second in combinations(sorted(first_rows), 2):
            keys = {titled(first), titled(second)}
            if len(keys) == 2 and frozenset(keys) not in joined:
                pairs.add((first, second))
    return replace(decisions, keep_apart=(*decisions.keep_apart, *sorted(pairs)))


def is_of_scene(mention: RelationMention) -> bool:
    """Return whether a mention of a relation says that two persons speak in one scene."""
    return not _SCENE_KEYWORDS.isdisjoint(mention.keywords)


def _scene_relations(
    speeches: Sequence[Speech], chunks: Sequence[Chunk], language: str
) -> Iterator[RelationMention]:
    """A mention for every two who speak in a scene, at the first chunk by which both have spoken.

    A scene is a section of the text, and no chunk is in two of them.
    """
    keyword = SCENE.get(language, SCENE["en"])
    for first_rows in _first_speeches(speeches, chunks):
        for source, target in combinations(first_rows, 2):
            chunk = chunks[max(first_rows[source], first_rows[target])]
            yield RelationMention(chunk.id, chunk.start, source, target, chunk.section, (keyword,))


def _first_speeches(
    speeches: Iterable[Speech], chunks: Sequence[Chunk]
) -> Iterable[Mapping[str, int]]:
    """For each scene, the names that speak in it, with the row of the chunk of the first speech."""
    scene_of = _scenes(chunks)
    scenes: dict[int, dict[str, int]] = defaultdict(dict)
    for speech in speeches:
        for speaker in speech.speakers:
            scenes[scene_of[speech.chunk]].setdefault(speaker.name, speech.chunk)
    return scenes.values()


def _scenes(chunks: Sequence[Chunk]) -> list[int]:
    """The number of the scene of each chunk: chunks of one section that follow each other."""
    numbers: list[int] = []
    for row, chunk in enumerate(chunks):
        is_same = row and chunks[row - 1].section == chunk.section
        numbers.append(numbers[-1] if is_same else row)
    return numbers


def _is_label(line: str) -> bool:
    """Whether a line is the name of a speaker, which may be numbered: 2ND LORD."""
    return is_speaker(_NUMBER.sub("", line)) and len(line) > 2


def _bare(line: str) -> str:
    return _DIRECTION.sub("", line).strip().rstrip(".:").strip()


def _parts(label: str) -> list[str]:
    return [part for part in _AND.split(label) if part]


def _speakers(line: str, start: int, known: set[str]) -> Iterator[Speaker]:
    """The names in a label; a label that is no list of known labels is one name."""
    label = _bare(line)
    if not _EVERYBODY.isdisjoint(label.casefold().split()):
        return
    parts = _parts(label)
    names = parts if len(parts) > 1 and known.issuperset(parts) else [label]
    for name in names:
        yield Speaker(name, start + line.index(name))


def _without(mention: Mention, labels: Mapping[str, Sequence[int]]) -> Mention | None:
    """A mention without the names that stand in labels; None where nothing is left of it."""
    at_labels = {start for starts in labels.values() for start in starts}
    if not at_labels or not mention.names:
        return mention
    names = {
        name: left
        for name, starts in mention.names.items()
        if (left := tuple(start for start in starts if start not in at_labels))
    }
    if names == mention.names:
        return mention
    return replace(mention, names=names) if names else None


def _sentence(chunk: Chunk, sentences: Sequence[tuple[int, int]], place: int) -> str:
    start, end = next(
        (start, end) for start, end in sentences if start <= place - chunk.start < end
    )
    return " ".join(chunk.text[start:end].split())
