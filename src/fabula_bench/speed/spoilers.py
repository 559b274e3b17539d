"""Whether a reader with a place is told anything of what comes later: probes, which must not leak.

Of a book with all graphs, each name, text, report, fact and heading is a secret until the place at
which the book first supports it. A probe asks about one secret with a place before that, in one of
the modes, and no secret of later text may be in what comes back. Lists, pictures and exports are
looked through as well. The second figure is how much longer a question takes with a place.
"""

from __future__ import annotations

import json
import random
import re
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any, get_args

from fabula import App, Collection
from fabula.ask.modes import modes
from fabula.config.settings import OFFLINE, STATIC
from fabula.errors import NotFound
from fabula.export.annotation_formats import annotation_formats, write_annotations
from fabula.export.until import ReadSoFar
from fabula.graph import TEXT, Owner
from fabula.graph.entries import Entry
from fabula.graph.queries import read_statement
from fabula.graph.trace import Trace
from fabula.graphs.entities.known_until import find_called, list_entities
from fabula.library.annotating import read_annotated
from fabula.library.drawing import draw_document
from fabula.operations.passages import Direction, neighbours
from fabula.operations.texts import read as read_text
from fabula.store.part_reader import read_part
from fabula_bench.speed.books import STORY
from fabula_bench.speed.report import Figure
from fabula_bench.speed.server import running
from fabula_scholar.exchange.obsidian import vault_notes
from fabula_scholar.words.operations import concordance
from modelled import build_with_a_model

PROBES = 10_000
GRAPHS = ("aspects", "entities", "episodes", "speech")
"""Those that rules build; the tests' endpoint builds the others upon them."""
PICTURES = ("trees", "network", "communities", "story")
RESTATED = ("Term", "Triple")
MIN_TEXT = 25
"""Characters of a text that are enough to know it again."""
SHOWN_IN_MODE = 12
"""Hits that a probe asks for."""
ANSWERED = 10
"""Every tenth probe asks for a whole answer, with its context and the trace."""
EXCERPT_CHARACTERS = 12
"""So many characters before a name are enough to know an excerpt of the text that was read."""
TIMED_MODES = ("hybrid", "collapsed", "top-down", "fast", "global")
TIMED_QUESTIONS = 15


@dataclass(frozen=True, slots=True)
class Secret:
    """What a reader must not see before a place: a name, a text or a heading."""

    kind: str
    text: str
    place: int

    @property
    def question(self) -> str:
        """A question that is after it."""
        if self.kind == "name":
            return f"Who or what is {self.text}?"
        if self.kind == "heading":
            return f"What happens in {self.text}?"
        return self.text[:300]


@dataclass(slots=True)
class Probing:
    """What probes found."""

    probes: int = 0
    checks: int = 0
    leaks: list[str] = field(default_factory=list)
    by_kind: Counter[str] = field(default_factory=Counter)


def measure(books: Path | None, probes: int = PROBES) -> list[Figure]:
    """Return the leaks of the probes over the shipped story, or over all books of a folder.

    Several books share the probes. Each is in a collection of its own, as a reader asks one book.
    """
    files = (sorted(books.glob("*.txt")) if books else []) or [STORY]
    figures = []
    found: list[Probing] = []
    with running() as address, tempfile.TemporaryDirectory() as home:
        reach: dict[str, Any] = {"neo4j_uri": address.uri, "neo4j_username": address.username}
        reach |= {"neo4j_password": address.password, "model": OFFLINE}
        for number, file in enumerate(files):
            # The models of an App keep what they have embedded, which several books need not share.
            with App(embedding_model=STATIC, home=Path(home), **reach) as app:
                collection = app.collection(f"spoilers-{number}")
                [outcome] = collection.ingest(file, graphs=GRAPHS)
                build_with_a_model(app.settings, collection.name)
                entry = collection.document(outcome.document)
                places = places_of(collection, entry)
                share = (number + 1) * probes // len(files) - number * probes // len(files)
                probing = probe(collection, entry, places, share)
                ratios = compare_times(collection, entry)
            found.append(probing)
            print(
                f"  {file.name}: {len(probing.leaks)} leaks in {probing.probes:,} probes, "
                f"{probing.checks:,} comparisons",
                flush=True,
            )
            for leak in probing.leaks[:20]:
                print(f"  leak: {leak}", flush=True)
            figures += [
                Figure(f"time with a place, {file.name}, mode {mode}", ratio, "x", 1.2)
                for mode, ratio in ratios.items()
            ]
    asked, leaks = sum(each.probes for each in found), sum(len(each.leaks) for each in found)
    by_kind = sum((each.by_kind for each in found), Counter[str]())
    return [
        Figure(f"leaks in {asked:,} probes", leaks, "", 0.0, must=True),
        Figure("comparisons of a secret with an output", sum(each.checks for each in found), ""),
        *(Figure(f"probes about a {kind}", n, "") for kind, n in sorted(by_kind.items())),
        *figures,
    ]


def places_of(collection: Collection, entry: Entry, shares: int = 10) -> list[int]:
    """Return the ends of all sections but the last, and some shares of the text."""
    structure = collection.open_store().structure(entry)
    starts = [section.start for section in structure.outline.sections][1:]
    length = collection.reading_place("100%", entry.id).length
    return sorted({*starts[:40], *(length * share // shares for share in range(1, shares))} - {0})


def secrets_of(collection: Collection, entry: Entry) -> list[Secret]:
    """Return the names, texts and headings of a document, each with where it is first supported."""
    parts = {
        name: read_part(collection.open_store(), Owner(collection.name, name, entry.id))
        for name in entry.graphs
    }
    chunks = sorted(
        (node for node in parts[TEXT].nodes if "index" in node.properties),
        key=lambda node: int(node.properties["index"]),
    )
    ends = {node.id: int(node.properties["end"]) for node in chunks}
    text = "".join(str(node.properties["text"]) for node in chunks)
    flat, offsets = _flatten(text)
    texts: dict[str, int] = {}
    lines: dict[str, list[str]] = {}
    names: set[str] = set()
    for part in parts.values():
        for node in part.nodes:
            names |= set(node.properties.get("names", ()))
            # The same words are stated anew by each chunk of a term or a triple.
            support = min if node.label in RESTATED else max
            last = support((ends[id] for id in node.sources), default=0)
            for column in ("text", "title", "summary"):
                stated = str(node.properties.get(column) or "")
                shown = " ".join(stated.split())
                if len(shown) >= MIN_TEXT:
                    lines[shown] = [" ".join(line.split()) for line in stated.splitlines()]
                    texts[shown] = min(last, texts.get(shown, last))
    secrets = [
        Secret("text", shown, _first(lines[shown], last, flat, offsets))
        for shown, last in texts.items()
    ]
    for name in sorted(names):
        if name in entry.title:  # it is on the cover
            continue
        if match := re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            secrets.append(Secret("name", name, match.end()))
    headings: dict[str, int] = {}
    for section in collection.open_store().structure(entry).outline.sections:
        headings.setdefault(section.title, section.start + 1)
    secrets += [Secret("heading", title, place) for title, place in headings.items()]
    return secrets


def _flatten(text: str) -> tuple[str, list[int]]:
    """Return a text with single spaces, and the offset of each of its characters."""
    letters: list[str] = []
    offsets: list[int] = []
    for match in re.finditer(r"\S+", text):
        for at, letter in enumerate(match[0] + " "):
            letters.append(letter)
            offsets.append(match.start() + at)
    return "".join(letters), offsets


def _first(lines: Sequence[str], last: int, flat: str, offsets: Sequence[int]) -> int:
    """Return where a text is first supported: where its lines are printed, or its sources end."""
    # Who has read all sentences of an extract is told nothing by it, whatever else it rests on.
    ends = [(flat.find(line), len(line)) for line in lines if line]
    if any(at < 0 for at, _ in ends):
        return last
    return min(last, max(offsets[at + length - 1] + 1 for at, length in ends))


def probe(collection: Collection, entry: Entry, places: Sequence[int], count: int) -> Probing:
    """Ask about so many secrets, each with a place before it, and look for secrets in all replies.

    The collection's models are offline, the document has all graphs, and places are in characters.
    """
    secrets = secrets_of(collection, entry)
    probing = Probing()
    text = "".join(chunk["text"] for chunk in collection.open_store().find_chunks(entry))
    later = {
        place: _Later([each for each in secrets if each.place > place], text[:place])
        for place in places
    }
    for place in places:
        for surface, output in lists(collection, entry, place):
            _check(probing, later[place], f"{surface} at {place:,}", output)
    names = cycle(modes())
    turns = [(place, secret) for place in places for secret in later[place].secrets]
    if not turns:
        return probing
    random.Random(0).shuffle(turns)
    for number, (place, secret) in zip(range(count), cycle(turns), strict=False):
        mode = next(names)
        output = ask(collection, entry, secret.question, mode, place, whole=number % ANSWERED == 0)
        probing.probes += 1
        probing.by_kind[secret.kind] += 1
        _check(probing, later[place], f"{mode} at {place:,}: {secret.question[:60]!r}", output)
    return probing


class _Later:
    """The secrets after a place, and what finds them in an output.

    A name that stands in the output after the same characters as in the text before the place is no
    secret: an excerpt may end within a longer word that was printed there.
    """

    def __init__(self, secrets: Sequence[Secret], read: str) -> None:
        self.secrets = secrets
        self.read = " ".join(read.split())
        names = sorted(
            {each.text for each in secrets if each.kind == "name"}, key=len, reverse=True
        )
        alternatives = "|".join(map(re.escape, names))
        self.names = re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)") if names else None
        self.texts = [each for each in secrets if each.kind != "name"]

    def find(self, output: str) -> Iterator[str]:
        """Yield what of the secrets is in an output."""
        flat = " ".join(output.split())
        for match in self.names.finditer(flat) if self.names else ():
            start, end = match.span()
            excerpt = flat[max(0, start - EXCERPT_CHARACTERS) : end]
            if start < EXCERPT_CHARACTERS or excerpt not in self.read:
                yield f"name {match[0]!r} in {flat[max(0, start - 60) : end + 40]!r}"
                break
        for secret in self.texts:
            if secret.text in flat:
                yield f"{secret.kind} {secret.text[:60]!r}"


def _check(probing: Probing, later: _Later, where: str, output: str) -> None:
    probing.checks += len(later.secrets)
    probing.leaks += [f"{where}: {found}" for found in later.find(output)]


def ask(
    collection: Collection, entry: Entry, question: str, mode: str, place: int, *, whole: bool
) -> str:
    """Return all that a question gives back, but for the question itself."""
    options: dict[str, Any] = {"mode": mode, "document": entry.id, "until": str(place)}
    if not whole:
        hits = collection.retrieve(question, k=SHOWN_IN_MODE, **options)
        return "\n".join(f"{hit.section}\n{hit.text}" for hit in hits)
    trace = Trace()
    answer = collection.stream(question, path=trace, **options).answer
    shown = [f"{each.hit.section}\n{each.hit.text}" for each in answer.context]
    shown += [f"{hit.section}\n{hit.text}" for hit in answer.hits]
    shown += [path for structure in answer.structures.values() for path in structure.paths]
    shown += _notes(trace.root)
    return "\n".join([answer.text, *shown]).replace(question, "")


def _notes(step: Any) -> list[str]:
    return [step.note, *(note for below in step.steps for note in _notes(below))]


def lists(whole: Collection, entry: Entry, place: int) -> Iterator[tuple[str, str]]:
    """Yield what commands that ask no question show a reader with a place."""
    collection = whole.as_read(entry.id, str(place))
    known, store = collection.filters(entry.id), collection.open_store()
    read = store.read
    entities = list_entities(store, known, limit=10_000)
    yield "entities", json.dumps(entities, ensure_ascii=False)
    for entity in entities[:20]:
        cards = find_called(store, known, entity["name"], 50)
        yield f"entity {entity['name']}", json.dumps(cards, ensure_ascii=False)
    scope: dict[str, Any] = {"document": entry.id, "type": ""}
    ties = read(read_statement("entities/find_ties"), known, **scope)
    yield "ties", json.dumps(ties, ensure_ascii=False)
    said = {"speaker": "", "addressee": "", "about": [], "limit": 10_000, "doubtful": True}
    rows = read(read_statement("fabula_graphs/speech/find_said"), known, document=entry.id, **said)
    yield "speech", json.dumps(rows, ensure_ascii=False)
    named = {"name": "", "relation": "", "limit": 10_000, "document": entry.id}
    rows = read(read_statement("fabula_graphs/facts/find_facts"), known, **named)
    yield "facts", json.dumps(rows, ensure_ascii=False)
    for name in ("fabula_graphs/discourse/find_events", "fabula_graphs/discourse/find_links"):
        rows = read(read_statement(name), known, document=entry.id)
        yield name, json.dumps(rows, ensure_ascii=False)
    # Before the end of the first chunk there is nothing to draw.
    for picture in (
        PICTURES if whole.open_store().find_chunks(entry, 0, 1)[0]["end"] <= place else ()
    ):
        for suffix in (".svg", ".html"):
            try:
                drawing = draw_document(collection, entry, suffix, picture=picture)
                shown = drawing.content.decode()
            except NotFound as error:  # nothing to draw is before the place
                shown = str(error)
            yield f"picture {picture}{suffix}", shown
    exported: ReadSoFar = collection.read_so_far(entry.id)
    lines = [json.dumps(asdict(node), ensure_ascii=False) for node in exported.nodes()]
    lines += [json.dumps(asdict(edge), ensure_ascii=False) for edge in exported.relationships()]
    yield "export", "\n".join(lines)
    annotated = read_annotated(collection.open_store(), entry)
    for format in (each for each in annotation_formats().values() if each.write):
        with suppress(NotFound):  # nothing is marked before the place
            files = write_annotations(annotated, format, ())
            yield f"annotations as {format.name}", "\n".join(files.values())
    with suppress(NotFound):
        vault = vault_notes(annotated, collection.open_store().structure(entry))
        yield "vault", "\n".join(["\n".join(vault), *vault.values()])
    found = concordance(collection, "*e", entry.id, limit=10_000)
    lines = [f"{line.section}\n{line.left}{line.node}{line.right}" for line in found.rows]
    yield "concordance", "\n".join(lines)
    text = read_text(collection, entry.id)
    paths = [section.path for section in text.sections]
    yield (
        "text over HTTP",
        "\n".join([text.text, *paths, *(chunk.section for chunk in text.chunks)]),
    )
    for chunk in text.chunks[-2:]:
        for direction in get_args(Direction):
            around = neighbours(collection, chunk.id, direction)
            yield (
                f"{direction} over HTTP",
                "\n".join(f"{each.section}\n{each.text}" for each in around.rows),
            )
    reading = collection.read(entry.id, f"{max(0, place - 200)}-{max(1, place - 50)}")
    printed = [lines.section + lines.text for lines in reading.lines]
    yield "read", "\n".join([*printed, *(hit.text for hit in reading.related)])


def compare_times(collection: Collection, entry: Entry) -> dict[str, float]:
    """Return by mode how many times as long a question takes with a place in the middle.

    Questions without and with a place alternate, so that what else the machine does slows both.
    """
    secrets = [each for each in secrets_of(collection, entry) if each.kind == "name"]
    questions = [each.question for each in secrets[:TIMED_QUESTIONS]]
    ratios = {}
    for mode in TIMED_MODES:
        times: dict[str, list[float]] = {"": [], "50%": []}
        for number, question in enumerate(questions):
            for until in times:
                began = time.perf_counter()
                collection.context(question, mode=mode, document=entry.id, until=until or None)
                if number:  # the first one reads what is cached
                    times[until].append(time.perf_counter() - began)
        ratios[mode] = statistics.median(times["50%"]) / statistics.median(times[""])
    return ratios
