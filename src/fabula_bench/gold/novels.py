"""Measure what graphs find in a novel against LitBank's annotations of it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from fabula.graph import findings
from fabula.graph.findings import Findings, FoundEntity, GivenName, JoinedNames
from fabula_bench.gold.litbank import PERSON, PLACES, GoldMention, LitBankText
from fabula_bench.gold.scores import TextScores, align_clusters
from fabula_scholar.exchange.token_files import Carrier

GIVEN = "aliases, names given"
GIVEN_PERSONS = "aliases of persons, names given"
ALIASES = "aliases of persons, from the text"
PERSONS, PLACE_NAMES = "persons", "places"
QUOTATIONS, SPEAKERS, SPEAKERS_SURE = "quotations", "speakers", "speakers that are sure"
EVENTS = "events"
MIN_OVERLAP = 0.3
"""The share of the characters of a printed name and a gold mention, taken together, that both have,
from which they are the same mention: "Ruskin" and "dear Mr. Ruskin"."""
TYPES = {
    PERSON: findings.PERSON,
    "ORG": "organization",
    "VEH": "object",
    **dict.fromkeys(PLACES, findings.PLACE),
}
"""LitBank's types as graphs call them."""

_FOUND_AS = {findings.PERSON: (findings.PERSON, findings.GROUP), findings.PLACE: (findings.PLACE,)}
_EDGES = re.compile(r"[^\W_](?:.*[^\W_])?", re.DOTALL)
JoinNames = Callable[[Sequence[GivenName], str], Sequence[JoinedNames]]


@dataclass(frozen=True, slots=True)
class AliasPair:
    """Two printed names of a passage that are of one person, or were taken for such.

    `verdict` is right, wrong or missed; `rule` says by which rule they were joined.
    """

    text: str
    names: tuple[str, str]
    counts: tuple[int, int]
    is_person: bool
    verdict: str
    rule: str


def pair_given_names(text: LitBankText, join: JoinNames) -> list[AliasPair]:
    """Give all proper names of a passage to a graph to be joined, and judge all pairs of them.

    Each name is given with its type and the places at which it is printed, and nothing else: a pair
    is right if both are names of one cluster.
    """
    clusters: dict[tuple[str, str], set[str]] = defaultdict(set)
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for mention in text.mentions:
        if mention.form == "PROP":
            name = mention.text, TYPES[mention.type]
            clusters[name].add(mention.cluster)
            places[name].append(mention.start)
    given = [GivenName(name, type, tuple(starts)) for (name, type), starts in places.items()]
    of_names = list(clusters.values())
    rules = {(pair.first, pair.second): pair.rule for pair in join(given, "en")}
    pairs = []
    for first, second in combinations(range(len(given)), 2):
        is_one = not of_names[first].isdisjoint(of_names[second])
        rule = rules.get((first, second))
        if is_one or rule is not None:
            pairs.append(
                AliasPair(
                    text.name,
                    (given[first].name, given[second].name),
                    (len(given[first].places), len(given[second].places)),
                    given[first].type == given[second].type == findings.PERSON,
                    "missed" if rule is None else "right" if is_one else "wrong",
                    rule or "",
                )
            )
    return pairs


def score_pairs(scores: TextScores, measure: str, pairs: Iterable[AliasPair]) -> None:
    """Add the precision and the recall of pairs of names."""
    verdicts = [pair.verdict for pair in pairs]
    scores.add_matches(
        measure,
        [verdict == "right" for verdict in verdicts if verdict != "missed"],
        [verdict == "right" for verdict in verdicts if verdict != "wrong"],
    )


def score_findings(scores: TextScores, gold: LitBankText, found: Findings, document: str) -> None:
    """Add what was found in a document that has a passage of LitBank, against its annotations.

    Only what is within the passage counts, as no more of the book is annotated.
    """
    passage = _Passage(gold, document)
    entities = passage.read_entities(found.entities)
    _score_aliases(scores, passage, entities)
    _score_clusters(scores, PERSONS, passage, entities, findings.PERSON)
    _score_clusters(scores, PLACE_NAMES, passage, entities, findings.PLACE)
    _score_quotations(scores, passage, entities, found)
    _score_events(scores, passage, found)


@dataclass(frozen=True, slots=True)
class _ReadEntity:
    """A found entity, with the gold mentions that its names in the passage are, by their numbers.

    `others` is at how many places a name is printed in the passage that is no gold mention.
    """

    entity: FoundEntity
    mentions: frozenset[int]
    others: int


class _Passage:
    """A gold passage, its annotations by the characters of the document that has it."""

    def __init__(self, gold: LitBankText, document: str) -> None:
        self.document = document
        self._carrier = Carrier(gold.text, document)
        self.first, self.last = self._span(0, len(gold.text)) or (0, 0)
        placed = [(self._span(m.start, m.end), m) for m in gold.mentions]
        self.spans = [span for span, _ in placed if span]
        self.mentions: list[GoldMention] = [mention for span, mention in placed if span]
        self.quotations = [
            (span, quotation.speaker)
            for quotation in gold.quotations
            if (span := self._span(quotation.start, quotation.end))
        ]
        self.events = [span for event in gold.events if (span := self._span(*event))]

    def _span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return where the words between two characters of the gold text are in the document."""
        span = self._carrier.span(start, end)
        return self.words(*span) if span else None

    def words(self, start: int, end: int) -> tuple[int, int]:
        """These characters without marks and spaces before the first word and after the last."""
        inside = self.document[start:end]
        words = _EDGES.search(inside)
        return (start + words.start(), start + words.end()) if words else (start, end)

    def has(self, start: int, end: int) -> bool:
        return self.first <= start and end <= self.last

    def mention_at(self, start: int, end: int) -> int | None:
        """The gold mention, a name before others, that has most in common with these characters."""
        best: tuple[float, bool, int] | None = None
        for number, (first, last) in enumerate(self.spans):
            common = min(end, last) - max(start, first)
            if common <= 0:
                continue
            share = common / (max(end, last) - min(start, first))
            if share >= MIN_OVERLAP:
                rank = (share, self.mentions[number].form == "PROP", -number)
                best = max(best, rank) if best else rank
        return -best[2] if best else None

    def read_entities(self, entities: Iterable[FoundEntity]) -> list[_ReadEntity]:
        read = []
        for entity in entities:
            numbers: set[int] = set()
            others = 0
            for name, starts in entity.places.items():
                for start in starts:
                    if self.has(start, start + len(name)):
                        number = self.mention_at(start, start + len(name))
                        if number is None:
                            others += 1
                        else:
                            numbers.add(number)
            if numbers or others:
                read.append(_ReadEntity(entity, frozenset(numbers), others))
        return read


def _score_aliases(scores: TextScores, passage: _Passage, entities: Sequence[_ReadEntity]) -> None:
    """Pairs of printed names of persons: joined if one entity was found at a place of each."""
    clusters: dict[str, set[str]] = defaultdict(set)
    for mention in passage.mentions:
        if mention.form == "PROP" and mention.type == PERSON:
            clusters[mention.text].add(mention.cluster)
    joined: set[tuple[str, str]] = set()
    for read in entities:
        names = {passage.mentions[number].text for number in read.mentions}
        joined.update(combinations(sorted(names & clusters.keys()), 2))
    pairs = [*combinations(sorted(clusters), 2)]
    true = {pair for pair in pairs if not clusters[pair[0]].isdisjoint(clusters[pair[1]])}
    scores.add_matches(
        ALIASES,
        [pair in true for pair in pairs if pair in joined],
        [pair in joined for pair in pairs if pair in true],
    )


def _score_clusters(
    scores: TextScores, measure: str, passage: _Passage, entities: Sequence[_ReadEntity], type: str
) -> None:
    """Score found entities of a type against gold clusters that have a proper name, by CEAF."""
    gold: dict[str, set[int]] = defaultdict(set)
    for number, mention in enumerate(passage.mentions):
        if mention.form == "PROP" and TYPES[mention.type] == type:
            gold[mention.cluster].add(number)
    found: dict[str, frozenset[int]] = {}
    for read in entities:
        # A family is among the persons, as LitBank annotates both as PER.
        if read.entity.type not in _FOUND_AS[type]:
            continue
        # An entity without a proper name, as "the White Rabbit", is neither right nor wrong.
        common_nouns = {
            number
            for number in read.mentions
            if passage.mentions[number].form != "PROP"
            and TYPES[passage.mentions[number].type] == type
        }
        # What is no gold mention takes part with numbers of its own.
        others = range(-len(found) * 10_000 - read.others, -len(found) * 10_000)
        if numbers := (read.mentions - common_nouns) | set(others):
            found[read.entity.id] = frozenset(numbers)
    clusters = {cluster: frozenset(numbers) for cluster, numbers in gold.items()}
    partners = align_clusters(found, clusters)
    similar_to_gold = dict(partners.values())
    scores.add_matches(
        measure,
        [partners[id][1] if id in partners else 0 for id in found],
        [similar_to_gold.get(cluster, 0) for cluster in clusters],
    )
    named = dict.fromkeys(clusters, False)
    for numbers in found.values():
        for number in numbers:
            if number >= 0 and passage.mentions[number].cluster in named:
                named[passage.mentions[number].cluster] = True
    scores.add(f"{measure}, found by any name", named.values())


def _score_quotations(
    scores: TextScores, passage: _Passage, entities: Sequence[_ReadEntity], found: Findings
) -> None:
    """Quotations with the same first and last word; speakers of the gold quotations."""
    if not (found.quotations or found.finds_quotations):
        return
    cluster_of = _clusters_of_entities(passage, entities)
    by_span = {
        span: quotation
        for quotation in found.quotations
        if passage.has(*(span := passage.words(quotation.start, quotation.end)))
    }
    gold = dict(passage.quotations)
    scores.add_matches(
        QUOTATIONS, [span in gold for span in by_span], [span in by_span for span in gold]
    )
    for span, speaker in gold.items():
        if not speaker:
            continue
        clusters: set[str] = set()
        if quotation := by_span.get(span):
            if quotation.speaker in cluster_of:
                clusters.add(cluster_of[quotation.speaker])
            elif quotation.speaker_words:
                number = passage.mention_at(*quotation.speaker_words)
                if number is not None:
                    clusters.add(passage.mentions[number].cluster)
        scores.add(SPEAKERS, [speaker in clusters])
        is_named = quotation and (quotation.speaker or quotation.speaker_words)
        if quotation and is_named and not quotation.is_doubtful:
            scores.add(SPEAKERS_SURE, [speaker in clusters])


def _clusters_of_entities(passage: _Passage, entities: Iterable[_ReadEntity]) -> Mapping[str, str]:
    """For each entity the gold cluster that most of its mentions are of."""
    clusters: dict[str, str] = {}
    for read in entities:
        counts = Counter(passage.mentions[number].cluster for number in read.mentions)
        if counts:
            clusters[read.entity.id] = min(counts, key=lambda name: (-counts[name], name))
    return clusters


def _score_events(scores: TextScores, passage: _Passage, found: Findings) -> None:
    """Gold event words within the predicates of events, and predicates that have one."""
    if not (found.events or found.finds_events):
        return
    gold = set(passage.events)
    inside = [
        set(event.words)
        for event in found.events
        if event.words and passage.has(event.words[0][0], event.words[-1][1])
    ]
    covered = set().union(*inside)
    scores.add_matches(
        EVENTS,
        [not words.isdisjoint(gold) for words in inside],
        [event in covered for event in passage.events],
    )
