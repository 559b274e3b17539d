"""The lock list: every jar of the private server, with its version and its SHA-256."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

LOCK_FILE = Path(__file__).parent / "artifacts.lock"
NO_CLASSIFIER = "-"


@dataclass(frozen=True, slots=True)
class Artifact:
    """One jar, by its Maven coordinates; `size` is in bytes."""

    group: str
    name: str
    version: str
    classifier: str
    sha256: str
    size: int

    @property
    def filename(self) -> str:
        """Return the jar's file name in a Maven repository."""
        suffix = f"-{self.classifier}" if self.classifier else ""
        return f"{self.name}-{self.version}{suffix}.jar"


@dataclass(frozen=True, slots=True)
class LockList:
    """The artifacts of one server; `digest` identifies the list, as 12 hexadecimal digits."""

    artifacts: tuple[Artifact, ...]
    digest: str

    @property
    def version(self) -> str:
        """Return the version of Neo4j itself."""
        [version] = [jar.version for jar in self.artifacts if jar.name == "neo4j"]
        return version

    @property
    def class_path(self) -> str:
        """Return the class path for a Java that runs in the jars' folder.

        The path of the folder itself may have characters that a class path can't.
        """
        return os.pathsep.join(jar.filename for jar in self.artifacts)


def read_lock(file: Path = LOCK_FILE) -> LockList:
    """Return the list in a file of one artifact a line; `#` begins a comment."""
    text = file.read_text(encoding="utf-8")
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    artifacts = tuple(
        Artifact(group, name, version, "" if kind == NO_CLASSIFIER else kind, sha256, int(size))
        for group, name, version, kind, sha256, size in lines
    )
    return LockList(artifacts, hashlib.sha256(text.encode()).hexdigest()[:12])


def write_lock(artifacts: Iterable[Artifact], file: Path) -> None:
    """Write a file that `read_lock` reads."""
    lines = ["# group name version classifier sha256 bytes; see scripts/renew_server_lock.py"]
    lines += [
        f"{jar.group} {jar.name} {jar.version} {jar.classifier or NO_CLASSIFIER}"
        f" {jar.sha256} {jar.size}"
        for jar in artifacts
    ]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
