"""Run Neo4j's admin tool, which comes with the server's jars."""

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
"""The process lasts seconds, so thorough compilation would not pay."""
NOISE = re.compile(
    r"WARNING:|(NOTE: )?Picked up |-+$|Command Failed|Load failed|Dump failed|Full exception"
    r"|Please "
)


@dataclass(frozen=True, slots=True)
class AdminTool:
    """Neo4j's admin tool, run with a Java and the jars in the folder `lib`."""

    java: Path
    lib: Path

    def run(self, neo4j: Path, *arguments: str, stdin: BinaryIO | None = None) -> None:
        """Run one command.

        Args:
            neo4j: Neo4j's home folder.
            *arguments: The command and its arguments.
            stdin: What the tool reads.

        Raises:
            ServerError: The command failed; the message quotes the tool.
        """
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
            raise ServerError(
                f"Neo4j's admin tool failed: {_find_message(done.stderr or done.stdout)}."
            )


def _find_message(output: str) -> str:
    """Return the first line that is no noise, without a full stop."""
    lines = (line.strip() for line in output.splitlines())
    messages = [line for line in lines if line and not NOISE.match(line)]
    return messages[0][:300].rstrip(".") if messages else "it printed no message"
