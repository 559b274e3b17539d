"""Build the facts of a document: stated, then normalised, then checked.

The three steps of Wikontic (Chepurova et al. 2025), over the document's own entities in the place
of Wikidata's.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from fabula.graph.builds import Build
from fabula.graph.extraction import ExtractionCalls, TextWindow, window_gap
from fabula.graph.kept_replies import keep_replies
from fabula.graph.method import BuildText, BuildWork, Built, Known
from fabula.models.roles import ModelProfile
from fabula_graphs.facts.checking import CheckRules, check
from fabula_graphs.facts.demonstrations import read_demonstrations
from fabula_graphs.facts.entities import NamedEntities
from fabula_graphs.facts.labels import NORMALISATION
from fabula_graphs.facts.mapping import edges_of, nodes_of
from fabula_graphs.facts.normalising import Meanings, Normaliser
from fabula_graphs.facts.ontology import read_ontology
from fabula_graphs.facts.options import Options
from fabula_graphs.facts.part_facts import count_facts
from fabula_graphs.facts.stating import ask_statements, prove
from fabula_graphs.facts.values import FactStatement

STATE_PRIORITY, NORMALISE_PRIORITY = range(1, 3)


@keep_replies
def build(
    text: BuildText, options: Options, models: ModelProfile, known: Known, work: BuildWork
) -> Build[Built]:
    """Build the facts of a document; this knows no database.

    A model states what windows of chunks say; then, in view of all entities of the document, names
    and predicates become its entities and the ontology's relations; what the ontology does not
    allow is left out. Deterministic where the models are; what no model gives is a gap.

    Raises:
        ModelError: The model can't be asked.
        SettingsError: `ontology` or `demonstrations` names no set.
    """
    ontology = read_ontology(options.ontology)
    entities = NamedEntities.of(text.below["entities"])
    language = text.document.language
    calls = ExtractionCalls(models, work)
    misnumbered: Counter[str] = Counter()
    cut = calls.cut(text, options.window_tokens, known)
    work.gaps.expect(len(cut))
    demonstrations = read_demonstrations(options.demonstrations)
    question = ask_statements(ontology, known.means, demonstrations)
    replies = yield from calls.ask_windows(question, cut, STATE_PRIORITY)
    statements = prove(replies.records, text.chunks, language)
    if options.normalise:
        normaliser = Normaliser(
            entities,
            ontology,
            models.static,
            calls,
            options.listed_relations,
            demonstrations.text,
            known.kept,
        )
        statements, misnumbered = yield from normalise(statements, normaliser, cut, calls)
    rules = CheckRules(strict=options.strict, types=options.check)
    checked = check(text.document.id, statements, entities, ontology, rules)
    nodes = yield from calls.embed_nodes(nodes_of(checked.facts, ontology, text.chunks), known)
    counts = count_facts(checked, replies, misnumbered)
    return Built(tuple(nodes), tuple(edges_of(checked.facts)), counts, calls.gaps)


def normalise(
    statements: Sequence[FactStatement],
    normaliser: Normaliser,
    cut: Sequence[TextWindow],
    calls: ExtractionCalls,
) -> Build[tuple[list[FactStatement], Counter[str]]]:
    """Return the statements with what a model takes their names and predicates for.

    It is asked about all windows once all of them have stated their facts. Where it gives nothing,
    words alone decide, until it is asked again. Besides, how many choices were left out, by the
    reason.
    """
    by_chunk: dict[str, list[FactStatement]] = defaultdict(list)
    for statement in statements:
        by_chunk[statement.chunk].append(statement)
    open_before = sum(normaliser.has_open(window, by_chunk) for window in cut)
    phrases = yield from normaliser.find_open(cut, by_chunk)
    calls.work.saved[NORMALISATION] += open_before - len(phrases)
    calls.work.gaps.expect(open_before)
    answers = yield from calls.ask_each(
        normaliser.question(),
        phrases,
        [window_gap(NORMALISATION, group.window) for group in phrases],
        NORMALISE_PRIORITY,
    )
    meanings: dict[str, Meanings] = {}
    dropped: Counter[str] = Counter()
    for group, answer in zip(phrases, answers, strict=True):
        if answer:
            dropped.update(answer.every.dropped)
            meanings |= dict.fromkeys(group.window.ids, answer.every.records[0])
    normalised = [
        normaliser.settle(statement, meanings.get(statement.chunk)) for statement in statements
    ]
    return normalised, dropped
