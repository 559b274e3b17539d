"""Consoles and files that are not UTF-8: no traceback, and a line about what they lack."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("cp1252", "Élan “?”"),
        ("gbk", "Elan “水”"),
        ("cp437", 'Élan "?"'),
        ("ascii", 'Elan "?"'),
        ("utf-8", "Élan “水”"),
    ],
)
def test_what_an_encoding_lacks_is_written_as_something_else(
    tmp_path: Path, encoding: str, shown: str
) -> None:
    variables = {"PYTHONUTF8": "0", "PYTHONIOENCODING": encoding}
    home = tmp_path / "Élan “水”"
    ended = subprocess.run(
        [sys.executable, "-m", "fabula", "settings"],
        capture_output=True,
        check=False,
        env=os.environ | variables | {"FABULA_HOME": str(home)},
    )
    assert ended.returncode == 0, ended.stderr
    assert shown in ended.stdout.decode(encoding)
    stderr = ended.stderr.decode(encoding)
    assert (f"The encoding {encoding} lacks" in stderr) == (encoding != "utf-8")
    assert "Traceback" not in stderr
