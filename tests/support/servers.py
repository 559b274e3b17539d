"""A small private server in a folder, and the commands for it."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from fabula.cli import main
from fabula.server.private import PrivateServer


def server_of(home: Path) -> PrivateServer:
    return PrivateServer(home, "256m", "64m")


def fabula_db(home: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["db", words[0], "--home", str(home), *words[1:]])
