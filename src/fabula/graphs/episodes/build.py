"""Build the graph of episodes: stretches of a text are summarised in order, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from fabula.graph import Gap
from fabula.graph.builds import Build
from fabula.graph.calls import Calls
from fabula.graph.gaps import Missing
from fabula.graph.kept_replies import keep_replies
from fabula.graph.method import BuildText, BuildWork, Built, Known
from fabula.graphs.episodes.labels import EPISODES
from fabula.graphs.episodes.mapping import make_gap, nodes_and_edges
from fabula.graphs.episodes.options import Options
from fabula.graphs.episodes.part_facts import count_facts
from fabula.graphs.episodes.values import Episode, Stretch
from fabula.graphs.episodes.windows import plan_episodes, stable_window_size, walk
from fabula.graphs.episodes.writer import EpisodeWriter, make_writer
from fabula.models.roles import ModelProfile
from fabula.text import tokens
from fabula.text.document import Chunk
from fabula.text.ids import digest
from fabula.text.sections import BETWEEN, SEPARATOR, span_of_sections

Member = Chunk | Episode
"""What an episode may be made from."""


@keep_replies
def build(
    text: BuildText, options: Options, models: ModelProfile, known: Known, work: BuildWork
) -> Build[Built]:
    """Build the graph of episodes of a document; this knows no database.

    Windows of consecutive chunks are summarised in the order of the text, as in the timeline of
    ComoRAG (Wang et al. 2025, arXiv 2508.10419), and levels of episodes above them, along the
    sections of the text. Each episode rests on one stretch alone, so that it tells nothing that
    comes after its end. Each call knows its own stretch only, and the calls of a level run in
    parallel. What no model gives is left out as a gap.

    Args:
        text: The document and its chunks.
        options: The options of the graph.
        models: The models to ask; offline, the text itself is quoted.
        known: The previous graph, made by the same models and options.
        work: Workers for calls, progress, and the limit of gaps.

    Raises:
        ModelError: An endpoint fails, or too many replies cannot be used.
    """
    previous_size = 0 if options.window_chunks else int(known.facts.get("window", 0))
    size = options.window_chunks or stable_window_size(
        len(text.chunks), len(known.chunks), previous_size
    )
    tops = plan_episodes(text.chunks, size, options.window_tokens, options.members)
    stretches = list(walk(tops))
    work.gaps.expect(len(stretches))
    writer = make_writer(text, options, models, known.means.get("mean_episode"))
    steps = _Steps(text, writer, Calls(models, work), work)
    for level, group in groupby(sorted(stretches, key=_level), key=_level):
        yield from steps.write_level(level, list(group))
    # By place, the highest level first: the order of reading.
    episodes = sorted(steps.episodes, key=lambda each: (each.start, -each.level))
    nodes, edges = nodes_and_edges(episodes)
    embedded = yield from steps.calls.embed_nodes(nodes, known)
    gaps = sorted(steps.gaps, key=lambda gap: (gap.sources, gap.properties["level"]))
    return Built(tuple(embedded), edges, count_facts(episodes, size), tuple(gaps))


def _level(stretch: Stretch) -> int:
    return stretch.level


@dataclass(slots=True)
class _Steps:
    """The steps of one document's build, and what they share."""

    text: BuildText
    writer: EpisodeWriter
    calls: Calls
    work: BuildWork
    written: dict[Stretch, tuple[Member, ...]] = field(default_factory=dict)
    """What stands for a stretch in the level above: its episode, or what is left without it."""
    episodes: list[Episode] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)

    def write_level(self, level: int, stretches: Sequence[Stretch]) -> Build[None]:
        """Write the episodes of some stretches of one level; the levels below are written."""
        members = [self._members(stretch) for stretch in stretches]
        # What is alone would only be summarised again: a gap took the members beside it.
        alone = [level > 1 and len(of_stretch) < 2 for of_stretch in members]
        new = [row for row, is_alone in enumerate(alone) if not is_alone]

        def write(row: int) -> Build[Episode | Missing]:
            texts = [member.text.strip() for member in members[row]]
            end = stretches[row].chunks[-1].end
            summary = yield from self.work.gaps.attempt(self.writer.write, texts, level, end)
            if isinstance(summary, Missing):
                return summary
            return self._make(level, members[row], summary, tokens.count(summary), self.writer.by)

        replies = yield from self.calls.each(EPISODES, write, new)
        results = dict(zip(new, replies, strict=True))
        for row, stretch in enumerate(stretches):
            episode = results.get(row)
            if isinstance(episode, Episode):
                self.episodes.append(episode)
                self.written[stretch] = (episode,)
                continue
            if isinstance(episode, Missing):
                missing = [member.id for member in members[row]]
                self.gaps.append(make_gap(level, missing, _sources(members[row]), episode.why))
            # The level above goes on with what there is: windows that failed leave nothing.
            self.written[stretch] = members[row] if level > 1 else ()

    def _members(self, stretch: Stretch) -> tuple[Member, ...]:
        if not stretch.parts:
            return stretch.chunks
        return tuple(member for part in stretch.parts for member in self.written[part])

    def _make(
        self, level: int, members: Sequence[Member], summary: str, count: int, by: str
    ) -> Episode:
        sources = _sources(members)
        return Episode(
            id=digest(10, "episode", self.text.document.id, *(member.id for member in members)),
            level=level,
            members=tuple(member.id for member in members),
            sources=sources,
            section=_span(members),
            start=members[0].start,
            end=members[-1].end,
            text=summary,
            tokens=count,
            by=by,
        )


def _sources(members: Sequence[Member]) -> tuple[str, ...]:
    return tuple(
        id
        for member in members
        for id in ((member.id,) if isinstance(member, Chunk) else member.sources)
    )


def _span(members: Sequence[Member]) -> str:
    """Return 'First – Last', or the name of the section that all members are in."""
    names = [name for member in members for name in member.section.split(BETWEEN) if name] or [""]
    # The heading of a book, which contains the first chapter, is no section beside it.
    while len(names) > 1 and names[1].startswith(f"{names[0]}{SEPARATOR}"):
        names = names[1:]
    return span_of_sections(names[0], names[-1])
