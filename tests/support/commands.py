"""`fabula` as it is typed, in the test's own process."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from fabula.cli import main


def run(*words: str | Path, code: int = 0, answer: str | bytes = "") -> Result:
    """The result of a command whose exit code is as expected, and which shows no traceback."""
    result = CliRunner().invoke(main, [*map(str, words)], input=answer)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result
