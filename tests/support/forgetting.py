"""What is installed, looked up again: for tests that put a package on the path."""

from __future__ import annotations

from fabula import cli
from fabula.ask.modes import modes
from fabula.config import settings
from fabula.graph.installed import graphs
from fabula.library.drawing import pictures
from fabula.operations.kit import find_operation, operation_entries


def forget_installed() -> None:
    """What is installed is looked up again."""
    found = (cli.find_commands, pictures, find_operation, operation_entries)
    for known in (graphs, modes, settings.table_models, settings.setting_fields, *found):
        known.cache_clear()
