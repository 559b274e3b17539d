"""Response caches that end with their test: from Python 3.13 on an open one is a warning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fabula.models.cache import ResponseCache

OpenCache = Callable[[Path], ResponseCache]
"""What the fixture `open_cache` is: it opens the cache of a folder."""
