"""Find the private server if it runs already, as it does for almost every command."""

from __future__ import annotations

from fabula.server import process
from fabula.server.state import Address, Home, LastStart


def find_address(home: Home) -> Address | None:
    """Return the address of the server of a folder; None if it does not run or does not answer."""
    last = home.last_start()
    if last is None or not is_running(home, last):
        return None
    # The password is sent only to the process that is the server and listens itself.
    if not process.listens(last.pid, last.ports):
        return None
    password = home.password()
    if password is None or not process.answers(last.bolt):
        return None
    return last.address(password)


def is_running(home: Home, last: LastStart) -> bool:
    """Return whether the process of the last start still runs, and is the server."""
    return process.is_running(last.pid, home, last.begun)
