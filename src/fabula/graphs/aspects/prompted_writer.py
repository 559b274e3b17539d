"""A writer that asks chat models, with the prompts of `prompts/`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from fabula.errors import BadReply
from fabula.graph.builds import Build, ChatStep
from fabula.graph.summaries import REPLY_ROOM, ask_summary, is_much_too_long, summary_size
from fabula.graphs.aspects.options import DetailsForm
from fabula.graphs.aspects.placeholders import AspectPlaceholders
from fabula.graphs.aspects.prompts import prompt
from fabula.graphs.aspects.replies import read_aspects, read_details, read_passages, read_summaries
from fabula.graphs.aspects.schemas import (
    CondensedPassagesReply,
    CondensedReply,
    DetailsReply,
    PassagesReply,
    aspects_reply,
    summaries_reply,
)
from fabula.graphs.aspects.values import PLAIN_WORDS, Aspect, TextWords
from fabula.models import Prompt
from fabula.models.prompted import WORDS_PER_TOKEN
from fabula.models.prompts import number_texts
from fabula.models.replies import shorten
from fabula.text import tokens

LOG = logging.getLogger("fabula")


@dataclass(frozen=True, slots=True)
class PromptedWriter:
    """A `Writer` that has a chat model for each of its three tasks."""

    detecting: ChatStep
    summarising: ChatStep
    condensing: ChatStep
    placeholders: AspectPlaceholders
    temperature: float = 0.5
    summary_tokens: int = 200
    """Maximum tokens of a summary."""
    details: int = 2
    """Maximum number of details of a chunk."""
    detail_tokens: int = 60
    """Maximum tokens of a detail."""
    details_form: DetailsForm = "facts"
    """Whether a detail is a key fact or the whole text condensed."""
    aspects_with_summaries: bool = False
    """Whether one call names a cluster's aspects and writes their summaries."""
    words: TextWords = PLAIN_WORDS
    """What the prompts call the kind of text."""

    def detect(
        self, text: str, aspects: Sequence[Aspect], sample: int = 0
    ) -> Build[dict[str, str]]:
        """Return the aspects that are clearest in a text, each with a summary or ''.

        With `aspects_with_summaries` the same call writes the summaries. If its reply cannot be
        used, the names are asked for alone; a summary that is much too long is replaced by ''.

        Raises:
            ModelError: No usable reply could be had.
        """
        if self.aspects_with_summaries:
            try:
                return (yield from self._detect_and_summarise(text, aspects, sample))
            except BadReply as error:
                LOG.info("Aspects are asked for without their summaries: %s", error)
        names = tuple(aspect.name for aspect in aspects)
        listed = "\n".join(f"- {aspect.name}: {aspect.description}" for aspect in aspects)
        request = Prompt(
            system=prompt("detect_system", kind=self.words.kind, kinds=self.words.kinds),
            user=prompt("detect", aspects=listed, passages=text),
            max_tokens=100 + 2 * tokens.count(", ".join(names)),
            temperature=self.temperature,
            schema=aspects_reply(names),
            sample=sample,
            placeholder=lambda: self.placeholders.detect(names, sample),
        )
        detected = yield from self.detecting.ask(request, lambda reply: read_aspects(reply, names))
        return dict.fromkeys(detected, "")

    def summarise(self, texts: Sequence[str], aspect: Aspect) -> Build[str]:
        """Return what texts say about an aspect, in whole sentences of at most `summary_tokens`.

        A summary that is much too long is asked for once more, shorter; then it is cut.

        Raises:
            ModelError: No usable reply could be had.
        """
        size, passages = self._summary_size, "\n\n".join(texts)
        request = Prompt(
            system=prompt("summarise_system", kind=self.words.kind),
            user=prompt(
                "summarise",
                passages=passages,
                aspect=aspect.name,
                description=aspect.description,
                focus=aspect.focus,
                subject=self.words.subject,
                **size,
            ),
            max_tokens=REPLY_ROOM * self.summary_tokens,
            temperature=self.temperature,
            placeholder=lambda: self.placeholders.summarise(passages),
        )
        return ask_summary(
            self.summarising,
            request,
            self.summary_tokens,
            lambda summary: prompt("shorter", reply=summary, **size),
        )

    def condense(self, texts: Sequence[str]) -> Build[Sequence[tuple[str, ...] | BadReply]]:
        """Return at most `details` details of each text, of at most `detail_tokens` each.

        Several texts are asked for in one call. Those that its reply leaves out are asked for one
        by one, side by side. For a text whose own call has no usable reply either, the error is
        returned.
        """
        if not self.details:
            return [()] * len(texts)
        by_number: dict[int, tuple[str, ...]] = {}
        if len(texts) > 1:
            by_number = yield from self._condense_several(texts)
        left = [number for number in range(1, len(texts) + 1) if not by_number.get(number)]
        alone = yield [self._condense_one(texts[number - 1]) for number in left]
        replies = {**by_number, **dict(zip(left, alone, strict=True))}
        return [
            reply
            if isinstance(reply := replies[number], BadReply)
            else tuple(shorten(detail, self.detail_tokens) for detail in reply)
            for number in range(1, len(texts) + 1)
        ]

    def _detect_and_summarise(
        self, text: str, aspects: Sequence[Aspect], sample: int
    ) -> Build[dict[str, str]]:
        names = tuple(aspect.name for aspect in aspects)
        listed = [f"- {aspect.name}: {aspect.description} {aspect.focus}" for aspect in aspects]
        request = Prompt(
            system=prompt(
                "detect_and_summarise_system", kind=self.words.kind, kinds=self.words.kinds
            ),
            user=prompt(
                "detect_and_summarise",
                aspects="\n".join(listed),
                passages=text,
                subject=self.words.subject,
                **self._summary_size,
            ),
            max_tokens=100 + REPLY_ROOM * self.summary_tokens * len(aspects),
            temperature=self.temperature,
            schema=summaries_reply(names),
            sample=sample,
            placeholder=lambda: self.placeholders.detect_and_summarise(text, names, sample),
        )
        summaries = yield from self.summarising.ask_once(
            request, lambda reply: read_summaries(reply, names)
        )
        return {
            name: "" if self._is_much_too_long(summary) else shorten(summary, self.summary_tokens)
            for name, summary in summaries.items()
        }

    def _condense_several(self, texts: Sequence[str]) -> Build[dict[int, tuple[str, ...]]]:
        """Return details by the texts' numbers from 1; nothing if the reply cannot be used."""
        numbered = "\n\n".join(number_texts(texts, "passage "))
        request = Prompt(
            system=prompt(f"{self._condense}_several_system", kind=self.words.kind),
            user=prompt(
                f"{self._condense}_several",
                passages=numbered,
                passages_count=len(texts),
                **self._detail_values,
            ),
            max_tokens=100 + REPLY_ROOM * self.details * self.detail_tokens * len(texts),
            temperature=self.temperature,
            schema=CondensedPassagesReply if self._is_whole else PassagesReply,
            placeholder=lambda: self.placeholders.condense_several(texts, self.details),
        )

        def read(reply: str) -> dict[int, tuple[str, ...]]:
            return read_passages(reply, len(texts), self.details, self.details_form)

        try:
            return (yield from self.condensing.ask_once(request, read))
        except BadReply as error:
            LOG.info("The details of %d chunks are asked for one by one: %s", len(texts), error)
            return {}

    def _condense_one(self, text: str) -> Build[tuple[str, ...] | BadReply]:
        request = Prompt(
            system=prompt(f"{self._condense}_system", kind=self.words.kind),
            user=prompt(self._condense, passage=text, **self._detail_values),
            max_tokens=100 + REPLY_ROOM * self.details * self.detail_tokens,
            temperature=self.temperature,
            schema=CondensedReply if self._is_whole else DetailsReply,
            placeholder=lambda: self.placeholders.condense(text, self.details),
        )

        def read(reply: str) -> tuple[str, ...]:
            return read_details(reply, self.details, self.details_form)

        try:
            return (yield from self.condensing.ask(request, read))
        except BadReply as error:
            return error

    @property
    def _is_whole(self) -> bool:
        return self.details_form == "whole"

    @property
    def _condense(self) -> str:
        """The name of the prompt for details of one text."""
        return "condense_whole" if self._is_whole else "condense"

    @property
    def _summary_size(self) -> dict[str, int]:
        return summary_size(self.summary_tokens)

    @property
    def _detail_values(self) -> dict[str, int | str]:
        words = round(WORDS_PER_TOKEN * self.detail_tokens)
        example = {} if self._is_whole else {"example": self.words.example}
        return {"count": self.details, "tokens": self.detail_tokens, "words": words, **example}

    def _is_much_too_long(self, summary: str) -> bool:
        return is_much_too_long(summary, self.summary_tokens)
