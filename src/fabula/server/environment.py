"""What the private server's programs see of the environment of whoever starts them."""

from __future__ import annotations

import os

ALLOWED_VARIABLES = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "JDK_JAVA_OPTIONS",
    "JAVA_TOOL_OPTIONS",
    # Windows starts no program without these.
    "SYSTEMROOT",
    "TEMP",
    "TMP",
)
UMASK = 0o077 if os.name == "posix" else -1
"""The umask of the programs: what they write is for this user alone."""
ENCODING_VARIABLES = ("LC_ALL", "LC_CTYPE", "LANG")
"""The variables that name an encoding, the strongest first."""


def java_environment() -> dict[str, str]:
    """An environment without keys and passwords, in which Java can name every file."""
    given = {name: os.environ[name] for name in ALLOWED_VARIABLES if os.environ.get(name)}
    encoding = next((given[name] for name in ENCODING_VARIABLES if name in given), "")
    if not encoding.upper().replace("-", "").endswith("UTF8"):
        given["LC_ALL"] = "C.UTF-8"  # else Java can't open a path that isn't ASCII
    return given
