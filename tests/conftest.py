"""What tests share: a private Neo4j, a model endpoint, a book, and no settings from outside."""

from __future__ import annotations

import functools
import logging
import os
import re
import ssl
from collections.abc import Container, Iterator
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpcore2
import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

import archive_classes
from caches import OpenCache
from database import connect, make_indexes, name_server, wipe
from endpoint import Endpoint
from fabula.models.cache import ResponseCache
from fabula.models.offline import embedder
from fabula.server import Address, config
from fabula.server.private import PrivateServer
from fabula.store import Store
from graphs import DIMENSIONS, MODEL
from isolation import isolate, name_endpoint
from reach import opened
from stories import WINTER

if TYPE_CHECKING:
    import httpx2
    from playwright.sync_api import Browser

    from served import Served

pytest_plugins = ["run_reports"]
pytest.register_assert_rewrite("reembedding")

# How long an example takes depends on what else the machine does. The examples are the same in each
# run: new ones are drawn by night, where a failure is news, and nobody's change waits for it.
PATIENT = hypothesis_settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.register_profile("patient", PATIENT, derandomize=True, database=None)
hypothesis_settings.register_profile("nightly", PATIENT)
hypothesis_settings.load_profile("patient")

os.environ.setdefault("JDK_JAVA_OPTIONS", archive_classes.flags())


ASIDE = {"own_server", "waits"}
"""Marks of files that need none of the Neo4js that the workers share."""
STARTING = {"address", "addresses", "kills"}
"""Fixtures that start a Neo4j."""
SHARED = "shared_library"
"""The mark of files that read one library, which one worker runs, one after the other."""
LAYERS = ("nightly", "statement", "journey", "screen", "kill")
"""Marks that say when a test runs, whatever it needs; all but the first: at each change."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that change the schema first, then the long ones: no core waits at the end.

    A test that needs a server, or waits, is marked so, for `make check`, which leaves it out,
    as it does what has to be alone. A test of each change is marked so, for `make test`.
    """
    items.sort(key=_place)
    touched = {*os.environ.get("TOUCHED_TESTS", "").split()}
    for item in items:
        starts = STARTING.intersection(getattr(item, "fixturenames", ()))
        if starts or item.get_closest_marker("own_server"):
            item.add_marker("server")
        if item.get_closest_marker("waits") or item.get_closest_marker("alone"):
            item.add_marker("slow")
        layer = _layer(item, touched)
        item.user_properties.append(("layer", layer))
        if layer not in ("nightly", "other"):
            item.add_marker("each_change")


def _layer(item: pytest.Item, touched: Container[str]) -> str:
    """Return the layer of tests that a test belongs to: a mark, 'pure', 'touched' or 'other'."""
    marked = next((layer for layer in LAYERS if item.get_closest_marker(layer)), "")
    if marked:
        return marked
    if not any(item.get_closest_marker(mark) for mark in ("server", "slow")):
        return "pure"
    return "touched" if item.nodeid.partition("::")[0] in touched else "other"


def _place(item: pytest.Item) -> int:
    # After a change of the schema a server plans every statement anew: all of them at the start.
    order = ("replans", SHARED, "long")
    return next((n for n, mark in enumerate(order) if item.get_closest_marker(mark)), len(order))


@functools.cache
def marks_of(file: str) -> frozenset[str]:
    """Return the marks of a whole file of tests, as its `pytestmark` names them.

    xdist's controller gives files to workers by their names: it has no items to ask.
    """
    found = re.search(r"^pytestmark = (\[\n(?s:.*?)^\]|.+)", Path(file).read_text("utf-8"), re.M)
    return frozenset(re.findall(r"pytest\.mark\.(\w+)", found[1] if found else ""))


class BesideOthers(LoadFileScheduling):  # type: ignore[misc]
    """Gives files that share a library to one worker, and a third only what needs no Neo4j.

    Two workers leave a core idle whenever one of them waits; a third Neo4j would take as much CPU
    as that is.
    """

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return SHARED if SHARED in marks_of(str(self.config.rootpath / file)) else file

    def _first(self, node: WorkerController) -> str | None:
        """The file that a worker is given next, if there is one."""
        files: list[str] = list(self.workqueue)
        root = self.config.rootpath
        aside = [file for file in files if file != SHARED and ASIDE & marks_of(str(root / file))]
        if node.gateway.id == "gw2":
            files = aside
        else:
            files = [file for file in files if file not in aside] or aside
        return files[0] if files else None

    def _reschedule(self, node: WorkerController) -> None:
        if self.workqueue and not node.shutting_down and self._first(node) is None:
            node.shutdown()
        else:
            super()._reschedule(node)

    def _assign_work_unit(self, node: WorkerController) -> None:
        if first := self._first(node):
            self.workqueue.move_to_end(first, last=False)
            super()._assign_work_unit(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling:
    return BesideOthers(config, log)


NUMBERS = count()


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the test's own; pytest's looks through those of all tests before it."""
    folder = tmp_path_factory.getbasetemp() / f"test{next(NUMBERS)}"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(scope="session", autouse=True)
def read_once() -> Iterator[None]:
    """Word vectors and certificates, which each process reads, and of which tests play many."""
    read = httpcore2.default_ssl_context

    @functools.cache
    def kept(trust_env: bool, *_places: str | None) -> ssl.SSLContext:
        return read(_trust_env=trust_env)

    def certificates(*, _trust_env: bool = True) -> ssl.SSLContext:
        places = [os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")]
        return kept(_trust_env, *places)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpcore2, "default_ssl_context", certificates)
        patch.setattr(embedder, "_load", functools.cache(embedder._load))
        yield


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test sees the settings of whoever runs it."""
    isolate(monkeypatch, tmp_path)


class FaultsLogged(logging.Handler):
    """Keeps what is logged of rules that failed."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.logged: list[str] = []
        self.setFormatter(logging.Formatter())

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it if it is of a rule."""
        if record.module == "gaps":
            self.logged.append(self.format(record))


@pytest.fixture(autouse=True)
def no_rule_fails(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """A rule that fails is a gap for users, and fails the test, unless this has `faults`.

    What a test changes of Fabula's log, as each command does, ends with it.
    """
    handler = FaultsLogged()
    log = logging.getLogger("fabula")
    level, handlers = log.level, [*log.handlers]
    log.addHandler(handler)
    yield handler.logged
    log.setLevel(level)
    log.handlers[:] = handlers
    if handler.logged and "faults" not in request.fixturenames:
        pytest.fail(handler.logged[0])


@pytest.fixture
def faults(no_rule_fails: list[str]) -> list[str]:
    """What was logged of rules that failed: a test that asks for it may have some."""
    return no_rule_fails


@pytest.fixture(autouse=True)
def nothing_left_open() -> Iterator[None]:
    """What a test reached is closed after it."""
    yield
    while opened:
        opened.pop().close()


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """The tests' own Neo4j, on free ports and in a temporary home, started once."""
    server = PrivateServer(tmp_path_factory.mktemp("neo4j") / "home", "512m", "128m")
    with pytest.MonkeyPatch.context() as patch:
        # However full the last test left the graph, a statement is not planned anew for the next.
        patch.setitem(config.SETTINGS, "dbms.cypher.statistics_divergence_threshold", "1.0")
        patch.setitem(config.SETTINGS, "dbms.cypher.min_replan_interval", "1h")
        # Whoever waits in vain for another's turn is told so by a look at clocks every two seconds.
        patch.setitem(config.SETTINGS, "db.transaction.monitor.check.interval", "100ms")
        address = server.start()
        with connect(address) as store:
            make_indexes(store)
    yield address
    server.destroy()


@pytest.fixture
def store(address: Address) -> Iterator[Store]:
    """An empty graph."""
    with connect(address) as store:
        wipe(store)
        yield store


@pytest.fixture
def graph_url(store: Store, address: Address, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty graph, which the environment names as the one to use."""
    name_server(monkeypatch, address)
    return address.uri


@pytest.fixture
def ready(store: Store) -> Store:
    """An empty graph that takes the embeddings of graphs made by hand."""
    store.prepare("default", MODEL, DIMENSIONS)
    return store


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A model endpoint that answers everything well."""
    with Endpoint() as server:
        yield server


@pytest.fixture
def online(graph_url: str, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names a model endpoint and an empty graph."""
    name_endpoint(monkeypatch, endpoint)


@pytest.fixture
def batching(online: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names a model endpoint, which is sent batches of any size."""
    monkeypatch.setenv("FABULA_BATCH_MIN_TOKENS", "0")


@pytest.fixture
def model(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    """A chat model, beside the static embeddings of the books that a file of tests has."""
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    monkeypatch.setenv("FABULA_EMBEDDING_MODEL", "wordllama-256")
    return endpoint


@pytest.fixture(scope="module")
def client(it: Served) -> httpx2.Client:
    """A client with an admin's key of the service that a file of tests calls `it`."""
    return it.client()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for the tests of a file."""
    # Not where no test needs it: it takes a second to import.
    from chromium import browser

    with browser() as chromium:
        yield chromium


@pytest.fixture
def story(tmp_path: Path) -> Path:
    """A book of five chapters."""
    path = tmp_path / "winter.txt"
    path.write_text(f"Title: Winter\nAuthor: Nobody\nLanguage: en\n\n{WINTER}")
    return path


@pytest.fixture
def open_cache() -> Iterator[OpenCache]:
    """Opens response caches, and closes them after the test."""
    with ExitStack() as opened:

        def open_one(folder: Path) -> ResponseCache:
            return opened.enter_context(closing(ResponseCache(folder)))

        yield open_one


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[ResponseCache]:
    """A response cache that has kept nothing yet."""
    cache = ResponseCache(tmp_path / "kept")
    yield cache
    cache.close()
