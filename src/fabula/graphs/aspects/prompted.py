"""A writer that asks chat models, with the texts of `prompts/`."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from fabula.errors import BadReply
from fabula.graphs.aspects.prompts import prompt
from fabula.graphs.aspects.replies import read_aspects, read_details, read_passages, read_summaries
from fabula.graphs.aspects.schemas import (
    DetailsReply,
    PassagesReply,
    aspects_reply,
    summaries_reply,
)
from fabula.graphs.aspects.stand_ins import StandIns
from fabula.graphs.aspects.values import Aspect
from fabula.models import Chat, Prompt
from fabula.models.prompted import WORDS
from fabula.models.replies import ask, ask_once, read_summary, shortened
from fabula.text import tokens

LOG = logging.getLogger("fabula")

ROOM = 3
"""A reply may take so many times its limit: cut by us at a sentence, not by the endpoint."""
FAR_TOO_LONG = 1.5
"""Times its limit; a longer summary is asked for again."""


@dataclass(frozen=True, slots=True)
class PromptedWriter:
    """A `Writer` with a chat for each of its three tasks."""

    detecting: Chat
    summarising: Chat
    condensing: Chat
    stand_ins: StandIns
    temperature: float = 0.5
    summary_tokens: int = 200
    details: int = 2
    detail_tokens: int = 60
    aspects_with_summaries: bool = False

    def detect(self, text: str, aspects: Sequence[Aspect], sample: int = 0) -> dict[str, str]:
        """The names of those `aspects` that are clearest in `text`. Raises ModelError.

        With `aspects_with_summaries` the same call writes the summaries; where its reply can't be
        used, the names are asked for alone, and a summary that is far too long is left out.
        """
        if self.aspects_with_summaries:
            try:
                return self._detect_and_summarise(text, aspects, sample)
            except BadReply as error:
                LOG.info("Aspects are asked for without their summaries: %s", error)
        names = tuple(aspect.name for aspect in aspects)
        listed = "\n".join(f"- {aspect.name}: {aspect.description}" for aspect in aspects)
        asked = Prompt(
            system=prompt("detect_system"),
            user=prompt("detect", aspects=listed, passages=text),
            max_tokens=100 + 2 * tokens.count(", ".join(names)),
            temperature=self.temperature,
            schema=aspects_reply(names),
            sample=sample,
            stand_in=lambda: self.stand_ins.detected(names, sample),
        )
        return dict.fromkeys(
            ask(self.detecting, asked, lambda reply: read_aspects(reply, names)), ""
        )

    def summarise(self, texts: Sequence[str], aspect: Aspect) -> str:
        """What `texts` tell about `aspect`, in whole sentences of at most `summary_tokens`."""
        size, passages = self._summary_size, "\n\n".join(texts)
        asked = Prompt(
            system=prompt("summarise_system"),
            user=prompt(
                "summarise",
                passages=passages,
                aspect=aspect.name,
                description=aspect.description,
                focus=aspect.focus,
                **size,
            ),
            max_tokens=ROOM * self.summary_tokens,
            temperature=self.temperature,
            stand_in=lambda: self.stand_ins.summarised(passages),
        )
        summary = ask(self.summarising, asked, read_summary)
        if self._is_far_too_long(summary):
            shorter = prompt("shorter", reply=summary, **size)
            asked = replace(asked, user=f"{asked.user}\n\n{shorter}")
            # Where that can't be had, what there is is cut.
            with suppress(BadReply):
                summary = ask(self.summarising, asked, read_summary)
        return shortened(summary, self.summary_tokens)

    def condense(self, texts: Sequence[str]) -> Iterator[tuple[str, ...] | BadReply]:
        """Of each text at most `details` fragments of at most `detail_tokens`, none like another.

        Several texts are asked for in one call; those that its reply leaves out, one by one, as
        they are read. A text whose own call has no usable reply has the error in their place.
        """
        if not self.details:
            yield from [()] * len(texts)
            return
        found = self._condense_several(texts) if len(texts) > 1 else {}
        for number, text in enumerate(texts, 1):
            try:
                told = found.get(number) or self._condense_one(text)
            except BadReply as error:
                yield error
            else:
                yield tuple(shortened(detail, self.detail_tokens) for detail in told)

    def _detect_and_summarise(
        self, text: str, aspects: Sequence[Aspect], sample: int
    ) -> dict[str, str]:
        names = tuple(aspect.name for aspect in aspects)
        listed = [f"- {aspect.name}: {aspect.description} {aspect.focus}" for aspect in aspects]
        asked = Prompt(
            system=prompt("detect_and_summarise_system"),
            user=prompt(
                "detect_and_summarise",
                aspects="\n".join(listed),
                passages=text,
                **self._summary_size,
            ),
            max_tokens=100 + ROOM * self.summary_tokens * len(aspects),
            temperature=self.temperature,
            schema=summaries_reply(names),
            sample=sample,
            stand_in=lambda: self.stand_ins.detected_and_summarised(text, names, sample),
        )
        found = ask_once(self.summarising, asked, lambda reply: read_summaries(reply, names))
        return {
            name: "" if self._is_far_too_long(one) else shortened(one, self.summary_tokens)
            for name, one in found.items()
        }

    def _condense_several(self, texts: Sequence[str]) -> dict[int, tuple[str, ...]]:
        numbered = "\n\n".join(f"[passage {n}] {text}" for n, text in enumerate(texts, 1))
        asked = Prompt(
            system=prompt("condense_several_system"),
            user=prompt(
                "condense_several",
                passages=numbered,
                passages_count=len(texts),
                **self._detail_size,
            ),
            max_tokens=100 + ROOM * self.details * self.detail_tokens * len(texts),
            temperature=self.temperature,
            schema=PassagesReply,
            stand_in=lambda: self.stand_ins.condensed_several(texts, self.details),
        )

        def read(reply: str) -> dict[int, tuple[str, ...]]:
            return read_passages(reply, len(texts), self.details)

        try:
            return ask_once(self.condensing, asked, read)
        except BadReply as error:
            LOG.info("The details of %d chunks are asked for one by one: %s", len(texts), error)
            return {}

    def _condense_one(self, text: str) -> tuple[str, ...]:
        asked = Prompt(
            system=prompt("condense_system"),
            user=prompt("condense", passage=text, **self._detail_size),
            max_tokens=100 + ROOM * self.details * self.detail_tokens,
            temperature=self.temperature,
            schema=DetailsReply,
            stand_in=lambda: self.stand_ins.condensed(text, self.details),
        )
        return ask(self.condensing, asked, lambda reply: read_details(reply, self.details))

    @property
    def _summary_size(self) -> dict[str, int]:
        return {"tokens": self.summary_tokens, "words": round(WORDS * self.summary_tokens)}

    @property
    def _detail_size(self) -> dict[str, int]:
        words = round(WORDS * self.detail_tokens)
        return {"count": self.details, "tokens": self.detail_tokens, "words": words}

    def _is_far_too_long(self, summary: str) -> bool:
        return tokens.count(summary) > FAR_TOO_LONG * self.summary_tokens
