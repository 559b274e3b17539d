"""Build the discourse graph: what happens in chunks, and how neighbours hang together.

After a chunk graph of 5W1H and discourse relations; its fault was that every pair got a relation,
two thirds of them the same one, so here a model may say that there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from fabula.graph import Gap, Part
from fabula.graph.builds import Build, Start
from fabula.graph.calls import batches
from fabula.graph.extraction import (
    ExtractionCalls,
    ModelQuestion,
    windows,
)
from fabula.graph.method import BuildText, BuildWork, Built, Known
from fabula.graphs.entities.labels import ENTITY
from fabula.graphs.entities.resolve import PERSON, PLACE, person_or_place
from fabula.models.roles import ModelProfile
from fabula_graphs.discourse.demonstrations import read_demonstrations
from fabula_graphs.discourse.labels import LINKS
from fabula_graphs.discourse.mapping import (
    JUDGED_BY,
    PreviousDiscourse,
    flatten_pairs,
    nodes_and_edges,
    read_previous,
    ties_to_entities,
)
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


def build(
    text: BuildText, options: Options, models: ModelProfile, known: Known, work: BuildWork
) -> Build[Built]:
    """Build the discourse graph of a document; this knows no database.

    A model reads windows of chunks for events and judges pairs of neighbours. The same replies give
    the same graph, in whatever order they come. What is known of unchanged chunks and pairs is used
    again, and what no model gives is a gap.

    Raises:
        ModelError: The model can't be asked.
        SettingsError: `senses` or `demonstrations` names no set.

    """
    language = text.document.language
    senses = read_senses(options.senses)
    pairs = list(pairwise(text.chunks))
    calls = ExtractionCalls(models, work)
    previous = read_previous(known, senses)
    cut = windows(text.chunks, options.window_tokens, language)
    # Both steps run at once, and either may leave a gap first.
    work.gaps.expect(len(cut) + len(batches(pairs, options.pairs)))
    demonstrations = read_demonstrations(options.demonstrations)
    about_pairs = ask_links(senses, language, known.means, demonstrations)
    judging = yield Start(judge_pairs(pairs, options.pairs, about_pairs, previous, calls))
    places = EntityPlaces.of(text.below.get("entities"), language)
    question = ask_events(language, known.means, demonstrations, places)
    event_replies = yield from calls.ask_windows(question, cut, previous.read, READ_PRIORITY)
    events = event_replies.collect(lambda _, reply: reply.records, previous.events)
    [(links, link_replies)] = yield [judging]
    nodes, edges = nodes_and_edges(
        text.document.id,
        events,
        links,
        text.chunks,
        lambda value: normal(value, language),
        senses.cause,
    )
    if entities := text.below.get("entities"):
        edges += ties_to_entities(nodes, _resolver(entities, language))
    counts = count_facts(nodes, edges, links, event_replies, link_replies, known.facts)
    made = {**counts, JUDGED_BY: senses.digest}
    return Built(tuple(nodes), tuple(edges), made, calls.gaps)


def judge_pairs(
    pairs: Sequence[Pair],
    pairs_per_call: int,
    question: ModelQuestion[Sequence[Pair], DiscourseRecords[Link]],
    previous: PreviousDiscourse,
    calls: ExtractionCalls,
) -> Build[tuple[list[Link], PairReplies]]:
    """Return the links of pairs in their order, and the replies; each call judges several pairs."""
    new = [pair for pair in pairs if _ids(pair) not in previous.judged]
    groups = batches(new, pairs_per_call)
    calls.work.saved[LINKS] += len(batches(pairs, pairs_per_call)) - len(groups)
    answers = yield from calls.ask_each(question, groups, [*map(_gap, groups)], JUDGE_PRIORITY)
    replies = PairReplies(len(pairs), len(pairs) - len(new))
    links = dict(previous.links)
    for group, answer in zip(groups, answers, strict=True):
        if answer:
            replies.judged += len(group)
            replies.new.append(answer.every)
            links |= {(link.arg1, link.arg2): link for link in answer.every.records}
    return [links[_ids(pair)] for pair in pairs if _ids(pair) in links], replies


def _ids(pair: Pair) -> tuple[str, str]:
    return pair[0].id, pair[1].id


def _gap(pairs: Sequence[Pair]) -> Gap:
    ids = chunk_ids(pairs)
    return Gap(LINKS, "", ids, dict.fromkeys(ids, 1.0), {"pairs": flatten_pairs(map(_ids, pairs))})


def _resolver(entities: Part, language: str) -> Callable[[str, str], list[str]]:
    """From a slot and its value to the ids of the entities that have such a name.

    Where several have it, the one of the right type, and of those the one mentioned most.
    """
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
                return min(ranks, key=lambda rank: (rank[0] != types[slot], *rank[1:]))[2]
        return ""

    def resolve(slot: str, value: str) -> list[str]:
        whole = best(slot, value)
        parts = [whole] if whole else [best(slot, part) for part in split_list(value)]
        return list(dict.fromkeys(filter(None, parts)))

    return resolve
