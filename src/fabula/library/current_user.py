"""The name of who runs this process, by which corrections and notes are signed."""

from __future__ import annotations

import getpass


def current_user() -> str:
    """Return the name of the user who runs this process."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # no such user, as in some containers
        return "unknown"
