"""Build the graph of speech: quotations by their marks, and speakers by rules or by a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fabula.graph.builds import Build
from fabula.graph.extraction import MODEL, RULES, ExtractionCalls, Records, WindowReplies, own_id
from fabula.graph.kept_replies import keep_replies
from fabula.graph.method import BuildText, BuildWork, Built, Known
from fabula.models.roles import ModelProfile
from fabula.text.document import Chunk
from fabula_graphs.speech.confidence import READ_SHARE
from fabula_graphs.speech.inner import attribute_inner
from fabula_graphs.speech.mapping import nodes_and_edges, place_quotations
from fabula_graphs.speech.options import Options
from fabula_graphs.speech.part_facts import count_facts
from fabula_graphs.speech.persons import Persons
from fabula_graphs.speech.plays import find_speeches
from fabula_graphs.speech.questions import SpeakerRecord, ask_speakers
from fabula_graphs.speech.quotations import find_quotations
from fabula_graphs.speech.rules import SpeakerRules
from fabula_graphs.speech.values import READ, Placed, Quotation, Spoken
from fabula_graphs.speech.words import SpeechWords, has_words, words_of

READ_PRIORITY = 1


@keep_replies
def build(
    text: BuildText, options: Options, models: ModelProfile, known: Known, work: BuildWork
) -> Build[Built]:
    """Build the graph of speech of a document; this knows no database.

    Marks, dashes and the labels of plays tell what is quoted. Rules find speakers and addressees;
    where there is a chat model, it is asked about windows of chunks that have quotations, and what
    it says is used if the text prints it. What no model gives is left to the rules, with a gap.

    Raises:
        ModelError: The model can't be asked.
    """
    language = text.document.language
    words = words_of(language)
    below = text.below.get("entities")
    persons = (
        Persons.of_entities(below, words)
        if below
        else Persons.of_text(text.chunks, language, words)
    )
    whole = text.document.text
    quotations = find_speeches(text.document, text.chunks)
    is_play = bool(quotations)
    quotations = quotations or find_quotations(whole, words)
    calls = ExtractionCalls(models, work)
    spoken = _attribute(text, quotations, words, persons, calls)
    placed = place_quotations(spoken, text.chunks)
    replies: WindowReplies[Records[SpeakerRecord]] = WindowReplies()
    # The label above a speech is certain: a model could say nothing more.
    if not models.offline and not is_play and placed:
        of_chunks = {item.chunk for item in placed}
        cut = [
            window
            for window in calls.cut(text, options.window_tokens, known)
            if not of_chunks.isdisjoint(window.ids)
        ]
        work.gaps.expect(len(cut))
        question = ask_speakers(placed, persons, words, known.means)
        replies = yield from calls.ask_windows(question, cut, READ_PRIORITY)
        placed = _take(placed, replies.records, whole)
    placed = calls.read_by_rule(
        lambda run: attribute_inner(run, whole, words, persons),
        placed,
        lambda item: [item.chunk],
        lambda item: [item],
    )
    nodes, edges = nodes_and_edges(placed, text.chunks, whole, persons)
    embedded = yield from calls.embed_nodes(nodes, known)
    counts = count_facts(placed, persons, has_words(language), replies)
    return Built(tuple(embedded), tuple(edges), counts, calls.gaps)


def _attribute(
    text: BuildText,
    quotations: Sequence[Quotation],
    words: SpeechWords,
    persons: Persons,
    calls: ExtractionCalls,
) -> list[Spoken]:
    """Return the quotations with their speakers by rules; nobody where the rules fail."""

    def inside(chunks: Sequence[Chunk]) -> list[Quotation]:
        start, end = chunks[0].start, chunks[-1].end
        return [quotation for quotation in quotations if start <= quotation.start < end]

    def attribute(chunks: Sequence[Chunk]) -> list[Spoken]:
        said = inside(chunks)
        start, end = chunks[0].start, max([chunks[-1].end, *(each.end for each in said)])
        # What is before is left blank, so that places are those in the whole text.
        read = "\n" * start + text.document.text[start:end]
        return SpeakerRules(read, said, words, persons).attribute()

    return calls.read_by_rule(
        attribute, text.chunks, own_id, lambda chunk: [*map(Spoken, inside([chunk]))]
    )


def _take(placed: Sequence[Placed], records: Sequence[SpeakerRecord], text: str) -> list[Placed]:
    """Return the quotations with what a model says of them in the place of what rules say."""
    by_place: Mapping[tuple[str, int], SpeakerRecord] = {
        (record.chunk, record.offset): record for record in records
    }
    taken: list[Placed] = []
    for item in placed:
        record = by_place.get((item.chunk, item.offset))
        if record is None or not record.speaker:
            taken.append(replace(item, by=RULES))
            continue
        said = item.spoken
        is_same = said.speaker.casefold() == record.speaker.casefold()
        evidence = _find_words(record.words, said, text)
        taken.append(
            replace(
                item,
                by=MODEL,
                spoken=replace(
                    said,
                    speaker=record.speaker,
                    addressee=record.addressee or said.addressee,
                    rule=said.rule if is_same and said.rule else READ,
                    confidence=max(READ_SHARE, said.confidence if is_same else 0.0),
                    evidence=evidence or (said.evidence if is_same else (0, 0)),
                    mention=said.mention if is_same else (0, 0),
                ),
            )
        )
    return taken


def _find_words(words: str, said: Spoken, text: str) -> tuple[int, int] | None:
    """Where the words that a model named stand, nearest to the quotation; None for nowhere."""
    if not words:
        return None
    reach = 2000
    start, end = said.quotation.start, said.quotation.end
    after = text.find(words, end, end + reach)
    before = text.rfind(words, max(0, start - reach), start)
    near = [at for at in (after, before) if at >= 0]
    if not near:
        return None
    best = min(near, key=lambda at: abs(at - (end if at >= end else start)))
    return best, best + len(words)
