"""A small Maven repository over HTTP on loopback, which can also fail in the ways real ones do."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from fabula.server.artifacts import Artifact


class Repository:
    """Serves jars by their path; `asked` counts requests for each, `cuts` is left to cut off.

    `before` is called with the name of each jar before it is sent.
    """

    def __init__(self) -> None:
        self.jars: dict[str, bytes] = {}
        self.asked: Counter[str] = Counter()
        self.cuts: Counter[str] = Counter()
        self.before: Callable[[str], None] = lambda _: None
        self.url = ""

    def add(self, name: str, size: int = 50_000) -> Artifact:
        """A jar of `size` bytes, as the lock list would name it."""
        content = (name.encode() * size)[:size]
        artifact = Artifact("org.test", name, "1.0", "", hashlib.sha256(content).hexdigest(), size)
        self.jars[artifact.filename] = content
        return artifact

    @contextmanager
    def served(self) -> Iterator[Repository]:
        """Answers requests until the end of the block."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        server.daemon_threads = True
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        repository = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.rsplit("/", 1)[-1]
                content = repository.jars.get(name)
                if content is None:
                    self.send_error(404)
                    return
                repository.asked[name] += 1
                repository.before(name)
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if repository.cuts[name] > 0:
                    repository.cuts[name] -= 1
                    self.wfile.write(content[: len(content) // 2])
                    self.close_connection = True
                    return
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                """Keeps the tests' output quiet."""

        return Handler
