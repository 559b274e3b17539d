"""Install the wheel of a folder as a user does, and use it: `python scripts/check_wheel.py dist`.

Each step runs in one environment of its own with an empty home, outside the repository:

1. The core alone has its version, and says in one message how to get the private Neo4j.
2. With the extra `local`, `fabula demo` and a question work.
3. With the extra `serve`, the service answers.

The size of the environment is printed after each step (docs/installing.md has them).
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
from pathlib import Path

FOREIGN = ("FABULA_", "NEO4J_", "OPENAI_", "XDG_", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
"""Settings of whoever runs this, which the wheel's user does not have."""
START_SECONDS = 120
"""How long the service may take until it answers, its Neo4j included."""


class Installation:
    """An environment with the wheel, and a home where nothing is."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder = folder
        self.wheel = wheel
        self.bin = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        self.home = folder / "home"
        self.home.mkdir()
        kept = {key: value for key, value in os.environ.items() if not key.startswith(FOREIGN)}
        self.environment = kept | {"HOME": str(self.home), "USERPROFILE": str(self.home)}
        venv.create(folder / "venv", with_pip=True)

    def install(self, extra: str = "") -> None:
        """Install the wheel with an extra, and print the environment's size."""
        wheel = f"{self.wheel}[{extra}]" if extra else str(self.wheel)
        # The user's own settings of pip hold here: where packages come from, and versions.
        pip = [str(self.bin / "python"), "-m", "pip", "install", "--quiet", wheel]
        subprocess.run(pip, check=True)
        size = sum(path.stat().st_size for path in self.folder.glob("venv/**/*") if path.is_file())
        print(f"fabula{f'[{extra}]' if extra else ''}: {size / 1e6:.0f} MB", flush=True)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run `fabula` with these words; its output is captured."""
        return subprocess.run(
            [self.bin / "fabula", *words],
            cwd=self.home,
            env=self.environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )


def main(folder: Path) -> None:
    """Check the one wheel of a folder."""
    [wheel] = folder.resolve().glob("fabula-*.whl")
    with tempfile.TemporaryDirectory() as place:
        installation = Installation(Path(place), wheel)
        try:
            check_core(installation)
            check_demo(installation)
            check_service(installation)
        finally:
            installation.run("db", "stop", "--yes")


def check_core(installation: Installation) -> None:
    """Check that the core alone works, and tells what it lacks."""
    installation.install()
    version = installation.wheel.name.split("-")[1]
    expect(installation.run("--version"), version)
    demo = installation.run("demo")
    if demo.returncode == 0 or "Traceback" in demo.stderr:
        fail("`fabula demo` without a Neo4j", demo)
    if "'fabula[local]'" not in demo.stderr or "NEO4J_URI" not in demo.stderr:
        fail("`fabula demo` says how to get a Neo4j", demo)


def check_demo(installation: Installation) -> None:
    """Check the README's command, and a question after it."""
    installation.install("local")
    expect(installation.run("demo"), r"\[1\] A Christmas Carol · STAVE")
    expect(installation.run("query", "Who is Tiny Tim?"), r"\[1\] .*A Christmas Carol")


def check_service(installation: Installation) -> None:
    """Check that the service starts, answers and stops."""
    installation.install("local,serve")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = installation.folder / "serve.log"
    with log.open("w") as output:
        service = subprocess.Popen(
            [installation.bin / "fabula", "serve", "--port", str(port)],
            cwd=installation.home,
            env=installation.environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/readyz", service)
    finally:
        service.terminate()
        code = service.wait(60)
    if code not in (0, -15, 143):
        sys.exit(f"`fabula serve` ended with {code}:\n{log.read_text()}")
    print("the service answered and stopped")


def wait_for(url: str, service: subprocess.Popen[bytes]) -> None:
    """Return once an address answers with 200."""
    began = time.monotonic()
    while time.monotonic() - began < START_SECONDS and service.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    sys.exit(f"{url} did not answer")


def expect(done: subprocess.CompletedProcess[str], pattern: str) -> None:
    """End with a message if a command failed, or did not print what it should."""
    if done.returncode or not re.search(pattern, done.stdout):
        fail(f"prints {pattern!r}", done)
    print(f"{' '.join(map(str, ['fabula', *done.args[1:]]))}: well", flush=True)


def fail(what: str, done: subprocess.CompletedProcess[str]) -> None:
    """End with what was expected, and what came instead."""
    sys.exit(f"not so: {what}. It ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
