"""Keeps the classes that a Neo4j has loaded in a file, from which others start with half the CPU.

`python tests/archive_classes.py FILE`; tests/conftest.py has every Java of the tests use it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from fabula.server.process import java
from graphs import DIMENSIONS, MODEL, put, small_graph, vector

FLAGS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A server that lives for minutes is not worth compiling well: a start costs half of the CPU. It
takes a quarter less where one thread collects its garbage."""
FILE = Path(sys.prefix) / "neo4j-classes.jsa"


def flags() -> str:
    """What the tests' Javas are started with."""
    return f"{FLAGS} -XX:SharedArchiveFile={FILE}" if FILE.exists() else FLAGS


def archive(file: Path) -> None:
    """Writes the classes of Java itself, then those of a server that has done what servers do."""
    from conftest import connect
    from fabula.model import Filters
    from fabula.server import PrivateServer

    base = file.with_suffix(".base.jsa")
    java_own = [str(java()), *FLAGS.split(), "-Xshare:dump", f"-XX:SharedArchiveFile={base}"]
    subprocess.run(java_own, check=True, stdout=subprocess.DEVNULL)
    os.environ["JDK_JAVA_OPTIONS"] = (
        f"{FLAGS} -XX:SharedArchiveFile={base} -XX:ArchiveClassesAtExit={file}"
    )
    with tempfile.TemporaryDirectory() as folder:
        server = PrivateServer(Path(folder) / "home", "512m", "128m")
        with connect(server.start()) as store:
            store.prepare("default", MODEL, DIMENSIONS)
            put(store, small_graph())
            store.nearest(vector(0), 3, Filters("default"), MODEL)
        server.stop()
        assert file.exists(), f"no classes in {file}"
        server.destroy(programs=True)


if __name__ == "__main__":
    archive(Path(sys.argv[1]).absolute())  # The server runs in a folder of its own.
