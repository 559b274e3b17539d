"""A peer's own environment: made once, found again by its name and version."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from packaging.specifiers import SpecifierSet

from fabula.errors import FabulaError
from fabula_bench.speed.peers.catalogue import Peer

READY = "installed.txt"
"""The list of what is installed; it is there when all is."""


class NotInstalled(FabulaError):
    """A peer that can't be installed here, and why."""


def installed(peer: Peer, cache: Path) -> Path:
    """The Python of the peer's environment, made where it isn't there. Raises NotInstalled."""
    version = ".".join(map(str, sys.version_info[:3]))
    if version not in SpecifierSet(peer.python):
        raise NotInstalled(f"{peer.package} needs Python {peer.python}, and this is {version}.")
    folder = cache / f"{peer.home}-{peer.version}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (folder / READY).is_file():
        shutil.rmtree(folder, ignore_errors=True)
        _run(peer, [sys.executable, "-m", "venv", "--without-pip", str(folder)])
        pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
        _run(peer, [*pip, "install", "--quiet", *peer.requirements])
        listed = _run(peer, [*pip, "freeze"])
        (folder / READY).write_text(listed, encoding="utf-8")
    return python


def _run(peer: Peer, command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        output = (done.stderr or done.stdout).strip().splitlines()
        reason = next((line for line in reversed(output) if "ERROR" in line), "".join(output[-1:]))
        raise NotInstalled(f"{' '.join(peer.requirements)} can't be installed: {reason}")
    return done.stdout
