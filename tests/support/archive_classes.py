"""Keeps what a Neo4j has loaded and linked in a file, from which others start with half the CPU.

`python tests/support/archive_classes.py FILE`; every Java of the tests uses it (tests/conftest.py).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from database import connect
from fabula.graph.hits import Filters
from fabula.graph.installed import graphs
from fabula.server.artifacts import read_lock
from fabula.server.private import PrivateServer
from fabula.server.process import JAVA_FLAGS, java
from fabula.store.integrity import check
from graphs import DIMENSIONS, MODEL, put, small_graph, vector

FLAGS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A server that lives for minutes is not worth compiling well: a start costs half of the CPU. It
takes a quarter less where one thread collects its garbage."""
FILE = Path(sys.prefix) / "neo4j-classes.aot"


def flags() -> str:
    """What the tests' Javas are started with."""
    # Neo4j's admin tool has other modules open, can't use the cache, and is not to complain of it.
    return f"{FLAGS} -XX:AOTCache={FILE} -Xlog:disable" if FILE.exists() else FLAGS


def archive(file: Path) -> None:
    """Writes the classes of a server that has done what servers do, linked."""
    with tempfile.TemporaryDirectory() as folder:
        recorded = f"{FLAGS} -XX:AOTMode=record -XX:AOTConfiguration={folder}/%p.recorded"
        os.environ["JDK_JAVA_OPTIONS"] = recorded
        server = PrivateServer(Path(folder) / "home", "512m", "128m")
        with connect(server.start()) as store:
            pid = server.status().pid
            store.prepare("default", MODEL, DIMENSIONS)
            put(store, small_graph())
            store.nearest(vector(0), 3, Filters("default"), MODEL)
            check(store, graphs().values())
        server.stop()
        record = next(Path(folder).glob(f"*{pid}.recorded"), None)
        if not record:
            # On a busy machine a server can be killed before it has stopped by itself.
            sys.stderr.write("Neo4j ended before it had written its classes: none are kept.\n")
            return
        del os.environ["JDK_JAVA_OPTIONS"]
        # Linked are only classes that are kept with their objects, which this collector can write.
        # The size of its heap says how addresses are kept; that of the machine must not.
        writing = ["-XX:TieredStopAtLevel=1", "-XX:+UseG1GC", "-Xmx2g", *JAVA_FLAGS]
        writing += ["-XX:AOTMode=create", f"-XX:AOTConfiguration={record}", "-Xlog:disable"]
        writing += [f"-XX:AOTCache={file}", "-cp", read_lock().class_path]
        jars = Path(folder) / "home" / "server" / read_lock().digest / "lib"
        subprocess.run([java(), *writing], check=True, cwd=jars, stdout=subprocess.DEVNULL)
        assert file.exists(), f"no classes in {file}"
        server.destroy(programs=True)


if __name__ == "__main__":
    archive(Path(sys.argv[1]).absolute())  # The server runs in a folder of its own.
