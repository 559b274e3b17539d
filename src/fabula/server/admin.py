"""Neo4j's own admin tool, which the server's jars hold."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from fabula.errors import ServerError
from fabula.server.artifacts import read_lock
from fabula.server.environment import UMASK, java_environment

TOOL = "org.neo4j.cli.AdminTool"
JAVA_FLAGS = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""A process of seconds: it is not worth compiling well."""
NOISE = re.compile(
    r"WARNING:|(NOTE: )?Picked up |-+$|Command Failed|Load failed|Dump failed|Full exception"
    r"|Please "
)


@dataclass(frozen=True, slots=True)
class AdminTool:
    """Runs the tool of the jars in `lib`."""

    java: Path
    lib: Path

    def run(self, neo4j: Path, *arguments: str, stdin: BinaryIO | None = None) -> None:
        """One command on the Neo4j home `neo4j`. Raises ServerError with what the tool says."""
        done = subprocess.run(
            [self.java, *JAVA_FLAGS, "-cp", read_lock().class_path, TOOL, *arguments],
            cwd=self.lib,
            umask=UMASK,
            env={
                **java_environment(),
                "NEO4J_HOME": str(neo4j),
                "NEO4J_CONF": str(neo4j / "conf"),
            },
            stdin=stdin or subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode != 0:
            raise ServerError(f"Neo4j's admin tool says: {_said(done.stderr or done.stdout)}.")


def _said(output: str) -> str:
    """The first line that says something, without a full stop."""
    lines = (line.strip() for line in output.splitlines())
    said = [line for line in lines if line and not NOISE.match(line)]
    return said[0][:300].rstrip(".") if said else "it said nothing"
