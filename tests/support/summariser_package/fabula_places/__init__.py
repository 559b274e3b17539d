"""Summarisers for one aspect each, as another package could bring them."""

from __future__ import annotations

import re
from collections import Counter

from fabula.errors import BadReply
from fabula.graph.builds import Build
from fabula.graphs.aspects.summarisers import SummariserTools


class PlaceSummariser:
    """Names the places of the passages, by the preposition before a capital letter."""

    def __init__(self, tools: SummariserTools) -> None:
        self.aspect = tools.aspect.name

    def summarize(self, context: str, max_tokens: int = 200) -> str:
        """Return the places, the commonest first."""
        counts = Counter(re.findall(r"\b(?:in|at|to|from) (?:the )?([A-Z]\w+)", context))
        names = [name for name, _ in counts.most_common()]
        return f"{self.aspect}: {', '.join(names) or 'none is named'}."


class PromptedSummariser:
    """Asks the build's model, with a prompt of its own."""

    version = 7

    def __init__(self, tools: SummariserTools) -> None:
        self.complete = tools.complete

    def summarize(self, context: str, max_tokens: int = 200) -> Build[str]:
        """Return what the model says; nothing can be said without one."""
        if self.complete is None:
            raise BadReply("This aspect needs a chat model.")
        fenced = context.replace("<", "(")
        prompt = f"<passages>\n{fenced}\n</passages>"
        return (yield from self.complete("You list the places.", prompt, max_tokens))
