"""The peers, as peers.toml names them, each in an environment that is made once."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.specifiers import SpecifierSet

from fabula.errors import FabulaError

ADAPTERS = Path(__file__).with_name("adapters")
READY = "installed.txt"
"""The list of what is installed; it is there when all is."""


class NotInstalled(FabulaError):
    """A peer that can't be installed here, and why."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A system of others: its package in the version that was tried, and what must be beside it.

    `python` is what the package requires, as it says; `neo4j`: it needs a server. One that is `of`
    another is another `search` of the same index: package, adapter, environment and index are that
    one's, which is made once.
    """

    name: str
    title: str
    package: str
    version: str
    python: str
    licence: str
    extras: Sequence[str] = ()
    beside: Sequence[str] = ()
    neo4j: bool = False
    of: str = ""
    search: str = ""

    @property
    def home(self) -> str:
        """The name that its adapter, environment and index go by."""
        return self.of or self.name

    @property
    def adapter(self) -> Path:
        """The file that runs inside its environment."""
        return ADAPTERS / f"{self.home.replace('-', '_')}.py"

    @property
    def requirements(self) -> list[str]:
        """What is installed."""
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        return [f"{self.package}{extras}=={self.version}", *self.beside]

    def install(self, cache: Path) -> Path:
        """Return the Python of its environment, made where it isn't there. Raises NotInstalled."""
        version = ".".join(map(str, sys.version_info[:3]))
        if version not in SpecifierSet(self.python):
            raise NotInstalled(f"{self.package} needs Python {self.python}, and this is {version}.")
        folder = cache / f"{self.home}-{self.version}"
        python = folder / "bin" / "python"
        if not (folder / READY).is_file():
            shutil.rmtree(folder, ignore_errors=True)
            self._run(sys.executable, "-m", "venv", "--without-pip", str(folder))
            pip = [sys.executable, "-m", "pip", "--python", str(python)]
            self._run(*pip, "--disable-pip-version-check", "install", "--quiet", *self.requirements)
            (folder / READY).write_text(self._run(*pip, "freeze"), encoding="utf-8")
        return python

    def _run(self, *command: str) -> str:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            output = (done.stderr or done.stdout).strip().splitlines()
            errors = [line for line in output if "ERROR" in line] or output
            reason = f"{' '.join(self.requirements)} can't be installed: {''.join(errors[-1:])}"
            raise NotInstalled(reason)
        return done.stdout


def read_peers() -> dict[str, Peer]:
    """All peers by name."""
    tables = tomllib.loads(Path(__file__).with_name("peers.toml").read_text(encoding="utf-8"))
    return {
        name: Peer(name=name, **tables.get(entry.get("of", ""), {}) | entry)
        for name, entry in tables.items()
    }
