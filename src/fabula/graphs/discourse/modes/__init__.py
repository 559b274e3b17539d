"""The mode that walks the discourse graph."""

from __future__ import annotations

from fabula.graphs.discourse.modes import discourse

MODES = {"discourse": discourse.MODE}
