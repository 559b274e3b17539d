"""The environment variables that the private server's programs are given."""

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
"""The umask of the programs, so that only this user can read what they write."""
ENCODING_VARIABLES = ("LC_ALL", "LC_CTYPE", "LANG")
"""The variables that name an encoding, in order of precedence."""


def java_environment() -> dict[str, str]:
    """Return an environment without keys and passwords, in which Java can open every path."""
    variables = {name: os.environ[name] for name in ALLOWED_VARIABLES if os.environ.get(name)}
    encoding = next((variables[name] for name in ENCODING_VARIABLES if name in variables), "")
    if not encoding.upper().replace("-", "").endswith("UTF8"):
        variables["LC_ALL"] = "C.UTF-8"  # or Java can't open a path that isn't ASCII
    return variables
