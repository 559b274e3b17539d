"""Summarisers of other packages: a class of one's own for one aspect of an aspect set.

An aspect set names a summariser by its entry point of the group `fabula.summarisers`:

    [[aspects]]
    name = "dialogue"
    description = "..."
    focus = "..."
    summariser = "dialogue"

and a package brings it:

    [project.entry-points."fabula.summarisers"]
    dialogue = "fabula_dialogue:DialogueSummariser"

It names a class, or a function, that makes a document's `Summariser` of `SummariserTools`. Its
attribute `version`, a number or a text, is part of what a graph is made from: with another version,
the graph is stale. Without it, the version of the package counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol

from fabula.errors import BadReply, SettingsError, did_you_mean
from fabula.graph.builds import Build, settle
from fabula.graph.installed import load
from fabula.graphs.aspects.values import Aspect
from fabula.graphs.aspects.writer import Writer
from fabula.models.replies import read_summary, shorten

GROUP = "fabula.summarisers"
"""The group of entry points by which a package brings summarisers."""


class Summariser(Protocol):
    """Summarises the passages of one cluster about one aspect."""

    def summarize(self, context: str, max_tokens: int = 200) -> str | Build[str]:
        """Return a summary of a cluster, about the summariser's aspect alone.

        One that asks the chat model is a generator: `text = yield from tools.complete(...)`. The
        clusters of a level are then asked about side by side.

        Args:
            context: The texts of the cluster's passages in text order, with an empty line between
                them: chunks on the lowest level, summaries above it.
            max_tokens: The most tokens that the summary may have. A longer one is cut at the end
                of a sentence.

        Returns:
            The summary. White space becomes single spaces.

        Raises:
            BadReply: There is no summary of these passages; the graph gets a gap in its place.
        """
        ...


class Complete(Protocol):
    """Asks the build's chat model for a text: a call that may cost money."""

    def __call__(
        self, system: str, user: str, max_tokens: int, placeholder: str = ""
    ) -> Build[str]:
        """Return the model's reply.

        The call is cached, within the budget, and counted to the step `summaries`.

        Args:
            system: The system prompt.
            user: The user prompt. A book's text in it should be fenced with
                `fabula.models.prompts.fill_template`, so that it cannot close its fence.
            max_tokens: The most tokens of the reply.
            placeholder: The reply that a dry run assumes; '' for the beginning of `user`.

        Raises:
            ModelError: The endpoint fails, or refuses the text.
        """
        ...


@dataclass(frozen=True, slots=True)
class SummariserTools:
    """What a summariser is made with.

    Attributes:
        aspect: The aspect that it is named by.
        language: The language of the document, as 'en'; '' if unknown.
        complete: Asks the chat model; None if there is none, as offline.
    """

    aspect: Aspect
    language: str
    complete: Complete | None


@dataclass(frozen=True, slots=True)
class WriterWithSummarisers:
    """A `Writer` that leaves the summaries of some aspects to summarisers of other packages."""

    writer: Writer
    summarisers: Mapping[str, Summariser]
    """By the names of their aspects."""
    summary_tokens: int

    def detect(
        self, text: str, aspects: Sequence[Aspect], sample: int = 0
    ) -> Build[dict[str, str]]:
        """Return the aspects that the writer finds; without its summary where another writes it."""
        drafts = yield from settle(self.writer.detect(text, aspects, sample))
        return {name: "" if name in self.summarisers else draft for name, draft in drafts.items()}

    def summarise(self, texts: Sequence[str], aspect: Aspect) -> Build[str]:
        """Return the summary of the aspect's own summariser, or of the writer."""
        if (summariser := self.summarisers.get(aspect.name)) is None:
            return (yield from settle(self.writer.summarise(texts, aspect)))
        wanted = summariser.summarize("\n\n".join(texts), self.summary_tokens)
        summary = yield from settle(wanted)
        return shorten(read_summary(summary), self.summary_tokens)

    def condense(
        self, texts: Sequence[str]
    ) -> Sequence[tuple[str, ...] | BadReply] | Build[Sequence[tuple[str, ...] | BadReply]]:
        """Return the writer's details."""
        return self.writer.condense(texts)


def make_summarisers(
    aspects: Sequence[Aspect], language: str, complete: Complete | None
) -> dict[str, Summariser]:
    """Return the summariser of each aspect that names one, by the aspect's name.

    Raises:
        SettingsError: No package brings a summariser of that name, or it cannot be loaded.
    """
    return {
        aspect.name: load(_find(aspect))(SummariserTools(aspect, language, complete))
        for aspect in aspects
        if aspect.summariser
    }


def summariser_version(aspect: Aspect) -> str:
    """Return the version of an aspect's summariser: its own, or that of its package.

    Raises:
        SettingsError: No package brings a summariser of that name, or it cannot be loaded.
    """
    entry = _find(aspect)
    make: Any = load(entry)
    version = getattr(make, "version", None)
    return str(version if version is not None else entry.dist.version if entry.dist else "")


def _find(aspect: Aspect) -> EntryPoint:
    installed = {entry.name: entry for entry in entry_points(group=GROUP)}
    if aspect.summariser in installed:
        return installed[aspect.summariser]
    there = f"There are: {', '.join(sorted(installed))}." if installed else "No package has any."
    hint = did_you_mean(aspect.summariser, installed, there)
    raise SettingsError(
        f"The aspect {aspect.name!r} names the summariser {aspect.summariser!r}, which no package "
        f"brings by an entry point of {GROUP}. {hint}"
    )
