"""The modes that read reports of communities, by name."""

from __future__ import annotations

from collections.abc import Mapping

from fabula.retrieve.modes import Mode

MODES: Mapping[str, Mode] = {}
