"""What models are expected to reply, so that a run can be counted before it is paid for."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fabula import tokens
from fabula.providers import Embedder, Embeddings, Prompt, Reply
from fabula.providers.cache import ResponseCache, chat_key, embedding_key
from fabula.shapes import AspectsReply, PassagesReply, SummariesReply

PASSAGE = re.compile(r"(?:\A|\n\n)\[passage (\d+)\] ")


@dataclass(frozen=True, slots=True)
class Lengths:
    """Means of what models write: aspects named of a cluster, tokens of a summary and a detail."""

    aspects: float
    summary: float
    detail: float


class ExpectedChat:
    """A chat that asks no model: what is kept is known, all else is of the expected length.

    Its words are the passages' own, so that summaries are where their passages are.
    """

    def __init__(
        self, model: str, lengths: Lengths, cache: ResponseCache | None, endpoint: str
    ) -> None:
        self._model, self._lengths, self._cache = model, lengths, cache
        self._endpoint = endpoint
        self._named_so_far = itertools.count()

    def complete(self, prompt: Prompt) -> Reply:
        """A reply in the form that is asked for."""
        key = chat_key(self._endpoint, self._model, prompt)
        if self._cache and (kept := self._cache.reply(key)):
            return kept
        return Reply(self._text(prompt))

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
        """The same in one piece."""
        yield self.complete(prompt)

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Nothing is kept here."""

    def _text(self, prompt: Prompt) -> str:
        if prompt.schema is None:
            return self._summary(prompt)
        if issubclass(prompt.schema, AspectsReply):
            return json.dumps({"aspects": self._named(prompt)})
        if issubclass(prompt.schema, SummariesReply):
            summary = self._summary(prompt)
            told = [{"aspect": name, "summary": summary} for name in self._named(prompt)]
            return json.dumps({"summaries": told}, ensure_ascii=False)
        if issubclass(prompt.schema, PassagesReply):
            parts = PASSAGE.split(_between(prompt.user, "passages"))[1:]
            facts = [
                {"passage": int(number), "details": self._details(text, prompt)}
                for number, text in zip(parts[::2], parts[1::2], strict=True)
            ]
            return json.dumps({"passages": facts}, ensure_ascii=False)
        details = self._details(_between(prompt.user, "passage"), prompt)
        return json.dumps({"details": details}, ensure_ascii=False)

    def _named(self, prompt: Prompt) -> list[str]:
        """As many aspects as are expected, in turns; one of those that are asked for again."""
        assert prompt.schema is not None
        names = _closed_list(prompt.schema.model_json_schema())
        turn = next(self._named_so_far)
        first, after = (round(self._lengths.aspects * one) for one in (turn, turn + 1))
        count = 1 if prompt.sample else min(after - first, len(names))
        return [names[(first + place) % len(names)] for place in range(count)]

    def _summary(self, prompt: Prompt) -> str:
        return tokens.cut(_between(prompt.user, "passages"), round(self._lengths.summary))

    def _details(self, text: str, prompt: Prompt) -> list[str]:
        """Runs of the passage's words, one after the other."""
        asked = re.search(r"give the (\d+) key facts", prompt.user, re.IGNORECASE)
        details, rest = [], " ".join(text.split())
        for _ in range(int(asked[1]) if asked else 1):
            detail = tokens.cut(rest, round(self._lengths.detail))
            rest = rest[len(detail) :].lstrip()
            details += [detail] if detail else []
        return details or ["nothing"]


class ExpectedEmbedder:
    """An embedder under the name of a model that is not asked: vectors of a free one stand in.

    What is kept in the cache is counted as saved.
    """

    def __init__(
        self,
        model: str,
        batch: int,
        stand_in: Embedder,
        cache: ResponseCache | None,
        endpoint: str,
    ) -> None:
        self.model, self.batch = model, batch
        self._stand_in, self._cache, self._endpoint = stand_in, cache, endpoint

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Rows of the stand-in; the tokens are those of the texts that would be sent."""
        keys = {embedding_key(self._endpoint, self.model, text): text for text in texts}
        kept = self._cache.vectors(list(keys)) if self._cache else {}
        sent = [text for key, text in keys.items() if key not in kept]
        vectors = self._stand_in.embed(texts).vectors
        return Embeddings(vectors, sum(tokens.count_all(sent)), cached=not sent)


def _between(user: str, marker: str) -> str:
    _, _, rest = user.partition(f"<{marker}>")
    return rest.partition(f"</{marker}>")[0].strip()


def _closed_list(schema: Any) -> list[str]:
    """The enum of a schema, wherever it stands."""
    if isinstance(schema, dict):
        if "enum" in schema:
            return list(schema["enum"])
        schema = list(schema.values())
    if isinstance(schema, list):
        for value in schema:
            if found := _closed_list(value):
                return found
    return []
