"""The former name of `fabula.ask.passage_quotes`, for programs that import from it; deprecated."""

from __future__ import annotations

import warnings

from fabula.ask import passage_quotes


def __getattr__(name: str) -> object:
    """Return what `fabula.ask.passage_quotes` calls so, with a warning."""
    value = getattr(passage_quotes, name)
    message = "fabula.ask.quotes is now called fabula.ask.passage_quotes."
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return value
