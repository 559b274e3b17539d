"""Choose the episodes that tell what a book has told up to a place, and nothing of what follows.

All of this is pure except for `read_episodes`, which is given what reads the graph: a store, or the
tools of a mode.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from fabula.ask.quotations.passage_quotes import find_names
from fabula.graph.extraction import RULES
from fabula.graph.hits import Filters, Hit
from fabula.graph.queries import read_statement
from fabula.graphs.episodes.labels import EPISODE
from fabula.models.offline.extracts import MIN_WORDS, salience, sentence_lines
from fabula.models.replies import shorten
from fabula.text import tokens
from fabula.text.ranking import inverse_document_frequencies
from fabula.text.sections import BETWEEN
from fabula.text.sentences import spans
from fabula.text.stems import stemmer_of

By = Literal["", "chapter"]
USUAL_TOKENS = 1500
"""Tokens of a recap for which nobody asked for another length."""
LINES = 3
"""Sentences that tell a stretch where no model did."""
LINE_TOKENS = 80
"""Most tokens of each."""
QUOTATION_MARKS = frozenset('“”„«»"')
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class StoredEpisode:
    """An episode as the graph has it; `above` is the id of the episode that comprises it, or ''."""

    id: str
    document: str
    title: str
    language: str
    level: int
    section: str
    start: int
    end: int
    text: str
    tokens: int
    by: str
    above: str

    @property
    def hit(self) -> Hit:
        """The episode as a passage that a mode or a tool of a model returns."""
        names = ("id", "document", "title", "language", "section", "level", "start", "end")
        values = {name: getattr(self, name) for name in (*names, "text", "tokens")}
        return Hit(kind=EPISODE.lower(), aspect="", score=0.0, **values)


@dataclass(frozen=True, slots=True)
class RecapPart:
    """A paragraph of a recap, and the one stretch of the text that it rests on.

    Attributes:
        number: Its number in the recap, from 1.
        id: The id of its episode; '' for an extract of a stretch that has no episode.
        level: The level of its episode; 0 for such an extract.
        section: The section of the stretch, or its first and last one.
        start: The first character of the stretch.
        end: The character after it.
        text: What the stretch tells.
        tokens: The tokens of `text`.
        by: Who wrote it: 'model', or 'rules' for extracts of the text.
        pages: The labels of the printed pages of the stretch, as "113-114"; '' without any.
        lines: The same of numbered lines.
        document: The id of the document.
    """

    number: int
    id: str
    level: int
    section: str
    start: int
    end: int
    text: str
    tokens: int
    by: str
    pages: str = ""
    lines: str = ""
    document: str = ""

    @property
    def is_extract(self) -> bool:
        """Whether it consists of sentences of the book."""
        return self.by == RULES


class ReadRows(Protocol):
    """What reads the graph: `Store.read`."""

    def __call__(self, statement: str, filters: Filters, **parameters: Any) -> list[dict[str, Any]]:
        """Return the rows of a statement, which is given the filters as well."""
        ...


def read_episodes(read: ReadRows, filters: Filters) -> list[StoredEpisode]:
    """Return the episodes of a document that end by the reader's place, in text order.

    Args:
        read: Reads the rows of a statement.
        filters: The document.
    """
    rows = read(read_statement("episodes/find_episodes"), filters, document=filters.document)
    return [StoredEpisode(**{**row, "above": next(iter(row["above"]), "")}) for row in rows]


def choose_episodes(
    episodes: Sequence[StoredEpisode],
    place: int,
    *,
    by: By = "",
    level: int = 0,
    limit: int = 0,
) -> list[StoredEpisode]:
    """Return episodes that tile the text up to a place, in order, as wide ones as there are.

    These are the episodes that no other one comprises which also ends by the place. So far as the
    limit allows it, the one of the longest stretch is replaced by those that it comprises.

    Args:
        episodes: The episodes of one document.
        place: The character up to which the text was read.
        by: "chapter": none is of several sections, except for sections that are too short for an
            episode each.
        level: The highest level; 0 for any.
        limit: The most tokens of all together; 0: none is replaced by those below it. Episodes that
            have more from the beginning are not left out.
    """
    allowed = [
        episode
        for episode in episodes
        if episode.end <= place and (not level or episode.level <= level)
    ]
    ids = {episode.id for episode in allowed}
    below: dict[str, list[StoredEpisode]] = {}
    for episode in allowed:
        below.setdefault(episode.above if episode.above in ids else "", []).append(episode)
    chosen = below.get("", [])
    if by:
        chosen = _open_up(chosen, below, lambda episode: BETWEEN in episode.section)
    total = sum(episode.tokens for episode in chosen)
    while limit:
        fitting = [
            episode
            for episode in chosen
            if episode.id in below
            and total - episode.tokens + sum(part.tokens for part in below[episode.id]) <= limit
        ]
        if not fitting:
            break
        longest = max(fitting, key=lambda episode: (episode.end - episode.start, -episode.start))
        chosen = _open_up(chosen, {longest.id: below[longest.id]}, lambda episode: True)
        total = sum(episode.tokens for episode in chosen)
    return sorted(chosen, key=lambda episode: (episode.start, episode.id))


def _open_up(
    episodes: Sequence[StoredEpisode],
    below: Mapping[str, Sequence[StoredEpisode]],
    is_too_wide: Callable[[StoredEpisode], bool],
) -> list[StoredEpisode]:
    """Return episodes with those below them in the place of the ones that are too wide."""
    opened: list[StoredEpisode] = []
    for episode in episodes:
        if episode.id in below and is_too_wide(episode):
            opened += _open_up(below[episode.id], below, is_too_wide)
        else:
            opened.append(episode)
    return opened


def find_untold(episodes: Sequence[StoredEpisode], place: int) -> list[tuple[int, int]]:
    """Return the stretches before a place that none of some episodes in order rests on."""
    untold: list[tuple[int, int]] = []
    end = 0
    for episode in episodes:
        if episode.start > end:
            untold.append((end, episode.start))
        end = max(end, episode.end)
    if end < place:
        untold.append((end, place))
    return untold


def extract(texts: Sequence[str], language: str) -> str:
    """Return three sentences of a stretch in text order, a line each; '' if there is no word.

    What somebody did is told by sentences that begin with a name or with the teller's "I". Where
    there are fewer, others follow that have no speech in them, and then any. Of each kind those
    come first that have most of what the stretch is about.

    Args:
        texts: The chunks of the stretch, in text order.
        language: Their language.
    """
    whole = "\n\n".join(texts)
    lines = list(dict.fromkeys(sentence_lines(whole, language)))
    stemmer = stemmer_of(language)
    stems = [list(stemmer.stems(line)) for line in lines]
    idf = inverse_document_frequencies(stemmer.content(text) for text in texts)
    scores = salience(stems, idf)
    names = set(find_names(whole, language)) - {
        word.capitalize() for word in whole.split() if word.islower()
    }
    if language == "en":
        names.add("I")

    def rank(row: int) -> tuple[bool, bool, bool, float]:
        words = WORD.findall(lines[row])
        first = words[1:2] if words[:1] == ["The"] else words[:1]
        is_speech = not QUOTATION_MARKS.isdisjoint(lines[row])
        is_short = len(stems[row]) < MIN_WORDS
        return is_short, is_speech, names.isdisjoint(first), -scores[row]

    best = sorted((row for row, of_line in enumerate(stems) if of_line), key=rank)[:LINES]
    return "\n".join(_close(shorten(lines[row], LINE_TOKENS)) for row in sorted(best))


def _close(line: str) -> str:
    """Return a sentence without the marks of a speech that goes on before or after it."""
    opened, closed = (sum(map(line.count, marks)) for marks in ("“„«", "”»"))
    return line if opened == closed and line.count('"') % 2 == 0 else line.strip(' “”„«»"')


def fit(parts: Sequence[RecapPart], limit: int, language: str = "") -> list[RecapPart]:
    """Return parts of at most `limit` tokens together, each cut in proportion to its length.

    Each part keeps whole sentences where they fit, and a few words at least.
    """
    total = sum(part.tokens for part in parts)
    if not limit or total <= limit:
        return [*parts]
    cut = []
    for part in parts:
        text = _whole_sentences(part.text, language, max(1, limit * part.tokens // total))
        cut.append(replace(part, text=text, tokens=tokens.count(text)))
    return cut


def _whole_sentences(text: str, language: str, limit: int) -> str:
    """Return the first sentences of a text that fit a limit of tokens; at least a few words."""
    end = 0
    for _, stop in spans(text, language):
        if tokens.count(text[:stop].rstrip()) > limit:
            break
        end = stop
    return text[:end].rstrip() or shorten(text, limit)
