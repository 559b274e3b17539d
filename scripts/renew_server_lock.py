"""Renews src/fabula/server/artifacts.lock: every jar of the private Neo4j, with its SHA-256.

Change the versions below, run `python scripts/renew_server_lock.py`, run the tests, commit the
list. It takes a minute or two: jgo resolves the dependencies and fetches all of it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import jgo

from fabula.server.artifacts import LOCK_FILE, Artifact, write_lock

WANTED = (
    "org.neo4j:neo4j:2026.08.1",
    "org.neo4j.app:neo4j-server:2026.08.1",
    "org.neo4j.client:neo4j-browser:5.24.0",
)


def resolved(coordinates: Sequence[str], cache: Path) -> list[Artifact]:
    """The artifacts of `coordinates` and all they need; the jars are left under `cache`."""
    environment = jgo.build("+".join(coordinates), cache_dir=cache)
    assert environment.lockfile is not None
    sizes = {jar.name: jar.stat().st_size for jar in environment.all_jars}
    artifacts = []
    for dependency in environment.lockfile.dependencies:
        classifier = dependency.classifier or ""
        suffix = f"-{classifier}" if classifier else ""
        size = sizes.pop(f"{dependency.artifactId}-{dependency.version}{suffix}.jar")
        assert dependency.sha256 is not None
        artifacts.append(
            Artifact(
                dependency.groupId,
                dependency.artifactId,
                dependency.version,
                classifier,
                dependency.sha256,
                size,
            )
        )
    assert not sizes, f"jars that are not in jgo's lock file: {', '.join(sizes)}"
    return sorted(artifacts, key=lambda artifact: (artifact.group, artifact.filename))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        renewed = resolved(WANTED, Path(folder))
    write_lock(renewed, LOCK_FILE)
    megabytes = sum(artifact.size for artifact in renewed) / 1e6
    print(f"{LOCK_FILE}: {len(renewed)} files, {megabytes:.0f} MB")
