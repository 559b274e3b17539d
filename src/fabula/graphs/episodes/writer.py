"""Write episodes: by a chat model, with the prompts of `prompts/`, or offline by extracts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fabula.errors import BadReply
from fabula.graph.builds import Build, ChatStep
from fabula.graph.extraction import MAX_TRIES, MODEL, RULES
from fabula.graph.method import BuildText
from fabula.graph.summaries import REPLY_ROOM, ask_summary, summary_size
from fabula.graphs.episodes.labels import EPISODES
from fabula.graphs.episodes.later_names import drop_sentences_with, find_later_names
from fabula.graphs.episodes.options import Options
from fabula.graphs.episodes.recap import extract
from fabula.models import Prompt
from fabula.models.prompts import fill_template
from fabula.models.replies import read_summary
from fabula.models.roles import ModelProfile
from fabula.text import tokens
from fabula.text.folding import fold
from fabula.text.sections import BETWEEN, SEPARATOR

PROMPTS = Path(__file__).parent / "prompts"
PRIORITY = 1
"""That of the calls, after embeddings."""
USUAL_SHARE = 0.7
"""How much of the length that it may write a model does, as long as nothing is known of it."""


class EpisodeWriter(Protocol):
    """Writes the episodes of one document."""

    @property
    def by(self) -> str:
        """Who writes: MODEL, or RULES for extracts of the text."""
        ...

    def write(self, texts: Sequence[str], level: int, end: int) -> str | Build[str]:
        """Return the summary of one stretch of the text.

        Args:
            texts: The chunks of the stretch, or the episodes below it, in text order.
            level: The level of the summary; 1 if the texts are chunks.
            end: The character after the stretch: what the text prints only later must not be
                named.

        Raises:
            BadReply: There is no summary of this stretch.
        """
        ...


def make_writer(
    text: BuildText, options: Options, models: ModelProfile, mean_tokens: float | None
) -> EpisodeWriter:
    """Return a writer that asks the chat model, or one that quotes the text if there is none.

    Args:
        text: The document.
        options: The options of the graph.
        models: The models to ask.
        mean_tokens: How long episodes of other documents are, for a dry run; None if unknown.
    """
    if models.offline:
        return ExtractedEpisodes(text)
    return PromptedEpisodes(
        ChatStep("model", EPISODES, PRIORITY),
        models.temperature,
        options.summary_tokens,
        text.document.text,
        text.document.language,
        round(mean_tokens or USUAL_SHARE * options.summary_tokens),
    )


@dataclass(frozen=True, slots=True)
class PromptedEpisodes:
    """Has a chat model write each episode from its stretch alone.

    A model is not shown what came before: so stretches are summarised in parallel, an edit renews
    only the episodes over it, and no mistake is handed on through the book.

    Attributes:
        chat: The model.
        temperature: Its sampling temperature.
        summary_tokens: Maximum tokens of an episode.
        text: The text of the document.
        language: Its language.
        expected_tokens: The tokens of the reply that a dry run assumes.
    """

    chat: ChatStep
    temperature: float
    summary_tokens: int
    text: str
    language: str
    expected_tokens: int
    by: str = MODEL

    def write(self, texts: Sequence[str], level: int, end: int) -> Build[str]:
        """Return a summary that names nobody whom the text names only after `end`.

        A reply with such a name is asked for again. If the model insists, the sentences with the
        name are left out.

        Raises:
            BadReply: No usable reply could be had.
        """
        passages, size = "\n\n".join(texts), summary_size(self.summary_tokens)
        name = "summarise" if level == 1 else "join"
        request = Prompt(
            system=_prompt(f"{name}_system"),
            user=_prompt(name, passages=passages, **size),
            max_tokens=REPLY_ROOM * self.summary_tokens,
            temperature=self.temperature,
            placeholder=lambda: tokens.cut(passages.strip(), self.expected_tokens),
        )
        tries = 0

        def read(reply: str) -> str:
            nonlocal tries
            tries += 1
            summary = read_summary(reply)
            later = find_later_names(summary, self.text, end, self.language)
            if later and tries < MAX_TRIES:
                raise BadReply(
                    f"{', '.join(later)}: the passages do not name this. Leave it out, and say "
                    "only what they say."
                )
            summary = drop_sentences_with(later, summary, self.language) if later else summary
            if not summary:
                raise BadReply("The summary says only what the text tells later.")
            return summary

        return (
            yield from ask_summary(
                self.chat,
                request,
                self.summary_tokens,
                lambda summary: _prompt("shorter", reply=summary, **size),
                read,
            )
        )


class ExtractedEpisodes:
    """Quotes three sentences of each stretch, in text order; no model is asked."""

    by: str = RULES

    def __init__(self, text: BuildText) -> None:
        # A heading looks like a sentence, and no sentence tells less of what happens.
        self._without_heading = {
            chunk.text.strip(): _drop_heading(chunk.text.strip(), chunk.section)
            for chunk in text.chunks
        }
        self._language = text.document.language

    def write(self, texts: Sequence[str], level: int, end: int) -> str:
        """Return whole sentences of the texts; for higher levels, of the extracts below."""
        if level == 1:
            texts = [self._without_heading[text] for text in texts]
        return extract(texts, self._language)


def _drop_heading(text: str, section: str) -> str:
    """Return a chunk's text without the lines of headings at its beginning, if more is left."""
    titles = {
        " ".join(fold(title).split()) for title in re.split(f"{SEPARATOR}|{BETWEEN}", section)
    }
    lines = text.splitlines()
    first = 0
    # A heading may be printed on two lines, as "CHAPTER I" and its title below it.
    while first < len(lines) and any(_begins(lines[: first + 1], title) for title in titles):
        first += 1
    return "\n".join(lines[first:]).strip() or text


def _begins(lines: Sequence[str], title: str) -> bool:
    """Return whether lines, read as one, are a title or its beginning."""
    words = " ".join(fold(" ".join(lines)).split())
    return not words or title == words or title.startswith(f"{words} ")


def _prompt(name: str, /, **values: object) -> str:
    """Return the prompt `<name>.txt` with every $placeholder filled."""
    return fill_template(PROMPTS / f"{name}.txt", **values)
