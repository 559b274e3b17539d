"""Build the discourse graph: what happens in chunks, and how neighbours hang together.

After a chunk graph of 5W1H and discourse relations; its fault was that every pair got a relation,
two thirds of them the same one, so here a model may say that there is none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import pairwise

from fabula.graph import Gap, Part
from fabula.graph.builds import Build, Start
from fabula.graph.calls import batches
from fabula.graph.extraction import ExtractionCalls, ModelQuestion
from fabula.graph.kept_replies import keep_replies
from fabula.graph.method import BuildText, BuildWork, Built, Known
from fabula.graphs.entities.labels import ENTITY
from fabula.graphs.entities.resolve import PERSON, PLACE, person_or_place
from fabula.models.roles import ModelProfile
from fabula.text.ids import digest
from fabula_graphs.discourse.demonstrations import read_demonstrations
from fabula_graphs.discourse.labels import LINKS
from fabula_graphs.discourse.mapping import nodes_and_edges, ties_to_entities
from fabula_graphs.discourse.normal import normal, normal_forms, split_list
from fabula_graphs.discourse.options import Options
from fabula_graphs.discourse.part_facts import PairReplies, count_facts
from fabula_graphs.discourse.printed import EntityPlaces
from fabula_graphs.discourse.questions import (
    DiscourseRecords,
    Pair,
    ask_events,
    ask_links,
    chunk_ids,
)
from fabula_graphs.discourse.senses import read_senses
from fabula_graphs.discourse.values import Link

READ_PRIORITY, JUDGE_PRIORITY = range(1, 3)


@keep_replies
def build(
    text: BuildText, options: Options, models: ModelProfile, known: Known, work: BuildWork
) -> Build[Built]:
    """Build the discourse graph of a document; this knows no database.

    A model reads windows of chunks for events and judges pairs of neighbours. The same replies give
    the same graph, in whatever order they come. What no model gives is a gap.

    Raises:
        ModelError: The model can't be asked.
        SettingsError: `senses` or `demonstrations` names no set.
    """
    language = text.document.language
    senses = read_senses(options.senses)
    pairs = list(pairwise(text.chunks))
    calls = ExtractionCalls(models, work)
    cut = calls.cut(text, options.window_tokens, known)
    # Both steps run at once, and either may leave a gap first.
    work.gaps.expect(len(cut) + len(batches(pairs, options.pairs)))
    demonstrations = read_demonstrations(options.demonstrations)
    about_pairs = ask_links(senses, language, known.means, demonstrations)
    kept = KeptLinks(senses.digest, known.kept, work.kept)
    judging = yield Start(judge_pairs(pairs, options.pairs, about_pairs, kept, calls))
    places = EntityPlaces.of(text.below.get("entities"), language)
    question = ask_events(language, known.means, demonstrations, places)
    event_replies = yield from calls.ask_windows(question, cut, READ_PRIORITY)
    [link_replies] = yield [judging]
    links = kept.of(pairs)
    nodes, edges = nodes_and_edges(
        text.document.id,
        event_replies.records,
        links,
        text.chunks,
        lambda value: normal(value, language),
        senses.cause,
    )
    if entities := text.below.get("entities"):
        edges += ties_to_entities(nodes, _resolver(entities, language))
    counts = count_facts(nodes, edges, links, event_replies, link_replies)
    return Built(tuple(nodes), tuple(edges), counts, calls.gaps)


@dataclass(frozen=True, slots=True)
class KeptLinks:
    """What a model said of pairs by a set of senses, kept pair by pair for the next build.

    Attributes:
        senses: The digest of the set.
        known: What the build before kept.
        answers: What this one keeps: by the key of a pair its link as JSON, or '' for none.
    """

    senses: str
    known: Mapping[str, str]
    answers: dict[str, str]

    def recall(self, pair: Pair) -> bool:
        """Keep what is known of a pair. Returns whether there is anything."""
        key = self._key(pair)
        if key in self.known:
            self.answers[key] = self.known[key]
        return key in self.known

    def keep(self, pairs: Sequence[Pair], links: Sequence[Link]) -> None:
        """Keep what a reply says of some pairs."""
        written = {(link.arg1, link.arg2): json.dumps(astuple(link)) for link in links}
        self.answers.update({self._key(pair): written.get(_ids(pair), "") for pair in pairs})

    def of(self, pairs: Sequence[Pair]) -> list[Link]:
        """Return the links of pairs, in their order."""
        answers = (self.answers.get(self._key(pair)) for pair in pairs)
        return [Link(*json.loads(answer)) for answer in answers if answer]

    def _key(self, pair: Pair) -> str:
        return digest(9, self.senses, *_ids(pair))


def judge_pairs(
    pairs: Sequence[Pair],
    pairs_per_call: int,
    question: ModelQuestion[Sequence[Pair], DiscourseRecords[Link]],
    kept: KeptLinks,
    calls: ExtractionCalls,
) -> Build[PairReplies]:
    """Have a model judge the pairs that are not known, several in each call, and keep the links."""
    new = [pair for pair in pairs if not kept.recall(pair)]
    groups = batches(new, pairs_per_call)
    calls.work.saved[LINKS] += len(batches(pairs, pairs_per_call)) - len(groups)
    answers = yield from calls.ask_each(question, groups, [*map(_gap, groups)], JUDGE_PRIORITY)
    replies = PairReplies(len(pairs))
    for group, answer in zip(groups, answers, strict=True):
        if answer:
            replies.judged += len(group)
            replies.new.append(answer.every)
            kept.keep(group, answer.every.records)
    return replies


def _ids(pair: Pair) -> tuple[str, str]:
    return pair[0].id, pair[1].id


def _gap(pairs: Sequence[Pair]) -> Gap:
    ids = chunk_ids(pairs)
    return Gap(LINKS, "", ids, dict.fromkeys(ids, 1.0))


def _resolver(entities: Part, language: str) -> Callable[[str, str], list[str]]:
    """Return what finds the ids of the entities that have the name in a slot."""
    by_form: dict[str, list[tuple[str, int, str]]] = {}
    for node in entities.nodes:
        if node.label == ENTITY:
            properties = node.properties
            rank = (person_or_place(properties["type"]), -properties["mentions"], node.id)
            forms = {form for name in properties["names"] for form in normal_forms(name, language)}
            for form in forms:
                by_form.setdefault(form, []).append(rank)
    types = {"who": PERSON, "where": PLACE}

    def best(slot: str, name: str) -> str:
        for form in normal_forms(name, language):
            if ranks := by_form.get(form):
                # Of several, the one of the right type, and of those the one mentioned most.
                return min(ranks, key=lambda rank: (rank[0] != types[slot], *rank[1:]))[2]
        return ""

    def resolve(slot: str, value: str) -> list[str]:
        whole = best(slot, value)
        parts = [whole] if whole else [best(slot, part) for part in split_list(value)]
        return list(dict.fromkeys(filter(None, parts)))

    return resolve
