"""Whatever is killed, and whenever: the same command again finishes, and pays nothing twice."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fabula.graph import Node, Owner, Part
from fabula.graph.installed import graphs as shipped
from fabula.server.private import PrivateServer
from fabula.store import Store
from fabula.store.integrity import check
from fabula.store.part_reader import read_part
from forked import Forked
from ports import free_port
from stories import winter_story

pytestmark = [
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.own_server,
]

RUNS = 20
SUPPORT = Path(__file__).parents[1] / "support"
VICTIMS = (("fabula",), ("neo4j",), ("endpoint",), ("fabula", "neo4j"), ("fabula", "endpoint"))
EARLIEST = 0.3
"""Seconds into an ingest; the latest kill is as long into it as one takes undisturbed."""
PATIENCE = 600
"""Seconds for what takes a few: a machine may have other work to do."""
AT_ONCE = 4
MOST_KILLS = 3
COLLECTION = "default"
Passage = tuple[str, str, dict[str, object], tuple[str, ...], bytes]
"""Id, label, properties, the chunks it rests on, and the embedding."""
Tie = tuple[str, str, str, str]
"""Type, ends and properties, as JSON."""
ALL = ("aspects", "entities", "communities", "discourse", "facts")
"""Graphs that a text may have."""


@dataclass
class Tally:
    """What happened in a run: who was killed when, and what was lost or paid for twice."""

    kills: list[tuple[str, float]] = field(default_factory=list)
    repeated: int = 0
    losses: list[str] = field(default_factory=list)
    resumed: float = 0.0


class Kills:
    """A private server, an endpoint of its own process, and a book in two versions."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder = folder
        self.graphs = [shipped()[name] for name in names]
        self.server = PrivateServer(folder / "home", "512m", "128m")
        self.book = folder / "winter.txt"
        self.base = folder / "base"
        self.notes = folder / "notes"
        self.typed = 0
        # Nobody else gets it while the endpoint is killed and begun again.
        self._held = ExitStack()
        self.port = self._held.enter_context(free_port())
        self.endpoint = self._endpoint()
        self.environment = {
            **{name: value for name, value in os.environ.items() if "FABULA" not in name},
            "FABULA_HOME": str(folder / "home"),
            "FABULA_CHUNK_TOKENS": "48",
            "FABULA_GRAPHS": ",".join(names),
            "FABULA_CONCURRENCY": str(AT_ONCE),
            "FABULA_ATTEMPTS": "2",
            "OPENAI_BASE_URL": self.url,
            "OPENAI_API_KEY": "sk-test",
        }
        self.book.write_text(winter_story("short"))
        self._must(self._ingest(self.base))
        self.old = self._graph()
        self.book.write_text(winter_story("cold"))
        began = time.monotonic()
        self._must(self._ingest(self._cache("reference")))
        self.latest = time.monotonic() - began
        self.new = self._graph()

    def close(self) -> None:
        """Ends the endpoint and deletes the server's data."""
        self._end_endpoint()
        self._held.close()
        self.server.destroy(programs=True)

    def run(self, seed: int) -> Tally:
        """Old version, then the new one, killed and run again until it is there."""
        draw, tally = random.Random(seed), Tally()
        cache = self.folder / f"run {seed}"
        # Where every kill was drawn too late, it is done again with other draws.
        while not tally.kills:
            shutil.rmtree(cache, ignore_errors=True)
            self.book.write_text(winter_story("short"))
            self._must(self._ingest(self.base))
            self.book.write_text(winter_story("cold"))
            self._cache(cache.name)
            self.notes.write_text("")
            for _ in range(draw.randint(1, MOST_KILLS)):
                self._kill_one(cache, draw, tally)
                self._look(tally)
        began = time.monotonic()
        self._must(self._ingest(cache))
        tally.resumed = time.monotonic() - began
        if self._look(tally) != self.new:
            tally.losses.append("the graph is not that of an undisturbed run")
        counts = Counter(line.split()[1] for line in self.notes.read_text().splitlines())
        tally.repeated = sum(count - 1 for count in counts.values())
        shutil.rmtree(cache)
        return tally

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def _endpoint(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "endpoint", "--port", str(self.port), "--delay", "0.1"]
        process = subprocess.Popen(
            [*command, "--notes", str(self.notes)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=SUPPORT,
        )
        assert process.stdout is not None
        assert process.stdout.readline().strip() == self.url
        return process

    def _cache(self, name: str) -> Path:
        """A cache with the old version's replies in it and none of the new one's."""
        return Path(shutil.copytree(self.base, self.folder / name))

    def _ingest(self, cache: Path) -> Forked:
        # Another file each time: one that was killed may still have its own open.
        self.typed += 1
        path = self.folder / f"said {self.typed}"
        environment = {**self.environment, "FABULA_CACHE_FOLDER": str(cache)}
        return Forked(path, "ingest", self.book, environment=environment)

    def _must(self, process: Forked) -> None:
        assert process.wait(PATIENCE) == 0, process.output

    def _kill_one(self, cache: Path, draw: random.Random, tally: Tally) -> None:
        """Begins an ingest and kills it, or what it needs, unless it is done before its time."""
        victims, after = draw.choice(VICTIMS), draw.uniform(EARLIEST, self.latest)
        process = self._ingest(cache)
        try:
            assert process.wait(after) == 0, process.output
            return
        except subprocess.TimeoutExpired:
            tally.kills.append(("+".join(victims), round(after, 2)))
        for victim in victims:
            self._kill(victim, process)
        process.wait(PATIENCE)
        if "Traceback" in process.output:
            tally.losses.append(f"a traceback: {process.output[-500:]}")
        if "endpoint" in victims:
            self.endpoint = self._endpoint()

    def _kill(self, victim: str, process: Forked) -> None:
        if victim == "endpoint":
            self._end_endpoint()
        elif victim == "fabula":
            process.kill()
        elif pid := self.server.status().pid:
            os.kill(pid, signal.SIGKILL)

    def _end_endpoint(self) -> None:
        self.endpoint.kill()
        self.endpoint.communicate()

    def _store(self) -> Store:
        address = self.server.start()
        return Store.connect(address.uri, address.username, address.password, "neo4j")

    def _graph(self) -> list[tuple[list[Passage], list[Tie]]]:
        """All there is to tell two graphs apart by."""
        with self._store() as store:
            return [
                _told(read_part(store, Owner(COLLECTION, name, entry.id), embeddings=True))
                for entry in store.documents(COLLECTION)
                for name in sorted(entry.graphs)
            ]

    def _look(self, tally: Tally) -> list[tuple[list[Passage], list[Tie]]]:
        """What a reader finds between two runs: one of the versions, and whole."""
        found = self._graph()
        if found not in (self.old, self.new):
            tally.losses.append("neither the old graph nor the new one")
        with self._store() as store:
            tally.losses += [violation.what for violation in check(store, self.graphs).violations]
        return found


def _told(part: Part) -> tuple[list[Passage], list[Tie]]:
    ties = [(edge.type, edge.start, edge.end, _rounded(edge.properties)) for edge in part.edges]
    return [_passage(node) for node in part.nodes], sorted(ties)


def _rounded(properties: Mapping[str, object]) -> str:
    """Sums in another order differ in their last digits."""
    rounded = {
        name: round(value, 9) if isinstance(value, float) else value
        for name, value in properties.items()
    }
    return json.dumps(rounded, sort_keys=True, default=str)


def _passage(node: Node) -> Passage:
    vector = b"" if node.embedding is None else node.embedding.tobytes()
    return node.id, node.label, dict(node.properties), node.sources, vector


@pytest.fixture(scope="module")
def kills(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kills]:
    made = Kills(tmp_path_factory.mktemp("kills"), ALL)
    yield made
    made.close()


@pytest.mark.parametrize("run", range(RUNS))
def test_an_ingest_that_is_killed_anywhere_goes_on_where_it_was(kills: Kills, run: int) -> None:
    # Another each time; KILL_SEED does one again.
    seed = int(os.environ.get("KILL_SEED") or random.randrange(10**6))
    tally = kills.run(seed)
    assert tally.losses == [], f"seed {seed}: {tally}"
    # What was on its way when one end was killed had been answered, but never arrived.
    on_the_way = sum("fabula" in who or "endpoint" in who for who, _ in tally.kills)
    assert tally.repeated <= AT_ONCE * on_the_way, f"seed {seed}: {tally}"
