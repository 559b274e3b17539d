"""Build the entity graph: what chunks say of people, places and things, merged and described."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from fabula.errors import BadReply
from fabula.graph import Gap
from fabula.graph.builds import Build, ChatStep, Start
from fabula.graph.extraction import MODEL, RULES, ExtractionCalls, WindowReplies, own_id
from fabula.graph.kept_replies import keep_replies
from fabula.graph.method import BuildText, BuildWork, Built, Known
from fabula.graphs.entities.confirm import confirm_names
from fabula.graphs.entities.decided_pairs import read_decided_pairs
from fabula.graphs.entities.demonstrations import read_demonstrations
from fabula.graphs.entities.descriptions import (
    Describer,
    Statements,
    first_statements,
    portions,
    salient_statements,
)
from fabula.graphs.entities.extract import ExtractedRecords, ask_entities, attribute, say_purpose
from fabula.graphs.entities.mapping import Description, edges_of, nodes_of
from fabula.graphs.entities.merge import resolve_mentions
from fabula.graphs.entities.options import Options
from fabula.graphs.entities.part_facts import EntityReplies, count_facts
from fabula.graphs.entities.placeholders import EntityPlaceholders
from fabula.graphs.entities.plays import add_speakers, read_speeches, tell_speakers_apart
from fabula.graphs.entities.records import DESCRIPTIONS
from fabula.graphs.entities.rules import extract_entities
from fabula.graphs.entities.triples import StatedTriple, ask_triples, join_facts
from fabula.graphs.entities.types import EntityType, read_types
from fabula.graphs.entities.values import Entities, Extraction
from fabula.models.roles import ModelProfile
from fabula.text.document import Chunk
from fabula.text.ranking import inverse_document_frequencies
from fabula.text.stems import stemmer_of

# What later calls depend on goes first.
EXTRACT_PRIORITY, NAMES_PRIORITY, STATE_PRIORITY, DESCRIBE_PRIORITY = range(1, 5)


@keep_replies
def build(
    text: BuildText, options: Options, models: ModelProfile, known: Known, work: BuildWork
) -> Build[Built]:
    """Build the entity graph of a document; this knows no database.

    A model reads windows of chunks; offline, rules read them. What they say of one chunk is merged
    with what they say of others, described and embedded. Deterministic where the models are: the
    same replies give the same graph, in whatever order they come. What no model gives is a gap.

    Raises:
        ModelError: The model can't be asked.
        SettingsError: The types, demonstrations or decisions on names can't be read.
    """
    decisions = read_decided_pairs(options.keep_apart, options.join)
    placeholders = EntityPlaceholders.of_means(known.means, options.description_tokens)
    calls = ExtractionCalls(models, work)
    replies = EntityReplies()
    stated: list[StatedTriple] = []
    stating = None
    if models.offline:
        extraction = _extract_by_rules(text, calls)
    else:
        cut = calls.cut(text, options.window_tokens, known)
        demonstrations = read_demonstrations(options.demonstrations)
        # Both steps run at once, and either may leave a gap first.
        work.gaps.expect((2 if options.triples else 1) * len(cut))
        if options.triples:
            about_triples = ask_triples(placeholders, demonstrations)
            stating = yield Start(calls.ask_windows(about_triples, cut, STATE_PRIORITY))
        types = read_types(options.types)
        purpose = say_purpose(options.domain, options.example_questions)
        question = ask_entities(types, options.gleanings, placeholders, demonstrations, purpose)
        replies.extracted = yield from calls.ask_windows(question, cut, EXTRACT_PRIORITY)
        extraction, replies.retyped = extract(replies.extracted, types, text.document.language)
    speeches = read_speeches(text.chunks, text.document.locators)
    extraction = add_speakers(extraction, speeches, text.chunks, text.document.language)
    decisions = tell_speakers_apart(decisions, speeches, text.chunks)
    resolved = resolve_mentions(
        extraction,
        language=text.document.language,
        decisions=decisions,
    )
    if resolved.resolution.doubtful and not models.offline:
        confirmed = yield from confirm_names(
            calls, NAMES_PRIORITY, resolved.resolution.doubtful, resolved.mentions
        )
        resolved = resolved.confirm(confirmed)
    cast = resolved.merge(text.document.id, text.decisions)
    statements = statements_of(cast)
    if models.offline:
        descriptions = quote(statements, text, options.description_tokens)
    else:
        describer = Describer(
            ChatStep("model", DESCRIPTIONS, DESCRIBE_PRIORITY),
            options.description_tokens,
            models.temperature,
            placeholders,
            demonstrations.text,
        )
        written = {
            str(node.properties["said"]): str(node.properties["text"])
            for node in known.nodes
            if node.properties.get("said")
        }
        descriptions, replies.merged = yield from describe(statements, describer, written, calls)
        if stating:
            [replies.stated] = yield [stating]
            stated = replies.stated.records
    triples = join_facts(text.document.id, stated)
    by = RULES if models.offline else MODEL
    nodes = nodes_of(cast, triples, descriptions, text.chunks, by)
    embedded = yield from calls.embed_nodes(nodes, known)
    return Built(
        tuple(embedded),
        tuple(edges_of(cast, triples)),
        count_facts(cast, triples, extraction.dropped, replies),
        calls.gaps,
    )


def _extract_by_rules(text: BuildText, calls: ExtractionCalls) -> Extraction:
    def read(chunks: Sequence[Chunk]) -> list[Extraction]:
        return [extract_entities(chunks, text.document.language)]

    runs = calls.read_by_rule(read, text.chunks, own_id)
    return Extraction(
        tuple(mention for run in runs for mention in run.mentions),
        tuple(mention for run in runs for mention in run.relation_mentions),
    )


def extract(
    replies: WindowReplies[ExtractedRecords], types: Sequence[EntityType], language: str = ""
) -> tuple[Extraction, int]:
    """Return what is said of all chunks, and how many entities had a type that is not listed."""
    names = [type.name for type in types]
    found = [attribute(window, answer.every, names, language) for window, answer in replies.usable]
    dropped: Counter[str] = Counter()
    for each, _ in found:
        dropped.update(each.dropped)
    extraction = Extraction(
        tuple(mention for each, _ in found for mention in each.mentions),
        tuple(mention for each, _ in found for mention in each.relation_mentions),
        dropped,
    )
    return extraction, sum(retyped for _, retyped in found)


def statements_of(cast: Entities) -> dict[str, Statements]:
    """Return what is said of each entity and relation, by its id."""
    names = {entity.id: entity.name for entity in cast.entities}
    statements = {
        entity.id: Statements.of(entity.name, entity.mentions) for entity in cast.entities
    }
    for relation in cast.relations:
        subject = f"{names[relation.source]} and {names[relation.target]}"
        statements[relation.id] = Statements.of(subject, relation.mentions)
    return statements


def describe(
    statements: Mapping[str, Statements],
    describer: Describer,
    written: Mapping[str, str],
    calls: ExtractionCalls,
) -> Build[tuple[dict[str, Description], list[str]]]:
    """Return the description of each entity and relation, by id, and those that a model merged.

    `written` are descriptions of the build before, by the digests of their statements.
    """
    many = [subject for subject in statements.values() if subject.are_many]
    new = portions([subject for subject in many if subject.digest not in written])
    calls.work.saved[DESCRIPTIONS] += max(0, len(portions(many)) - len(new))
    calls.work.gaps.expect(len(many))
    answers = yield from calls.each(DESCRIPTIONS, describer.merge, new)
    replies = {
        subject: reply
        for portion, texts in zip(new, answers, strict=True)
        for subject, reply in zip(portion, texts, strict=True)
    }
    descriptions: dict[str, Description] = {}
    merged: list[str] = []
    for id, subject in statements.items():
        text = replies.get(subject) or written.get(subject.digest)
        if isinstance(text, BadReply):
            why = calls.work.gaps.accept(text)
            calls.found_gaps.append(Gap(DESCRIPTIONS, why, subject.chunks, {id: 1.0}))
            descriptions[id] = Description(first_statements(subject, describer.limit), "")
            continue
        descriptions[id] = Description(text or subject.joined or subject.subject, subject.digest)
        if subject in replies:
            merged.append(descriptions[id].text)
    return descriptions, merged


def quote(
    statements: Mapping[str, Statements], text: BuildText, limit: int
) -> dict[str, Description]:
    """Return descriptions made of statements that are sentences of the text."""
    stemmer = stemmer_of(text.document.language)
    weights = inverse_document_frequencies(stemmer.content(chunk.text) for chunk in text.chunks)
    return {
        id: Description(
            salient_statements(subject, limit, stemmer, weights)
            if subject.texts
            else subject.subject,
            subject.digest,
        )
        for id, subject in statements.items()
    }
