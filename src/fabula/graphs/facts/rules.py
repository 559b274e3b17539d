"""Kinship, service and friendship of two names of one sentence, found without a model.

Six patterns of English, few and precise: "X, the K of Y"; "X, Y's K"; "Y's K, X"; "Y's K X"; "X was
the K of Y"; "X married Y". Pronouns are not resolved, and nothing else is found. A question states
nothing; a condition or a denial only what it mentions in passing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from fabula.graph import Part
from fabula.graphs.entities.labels import ENTITY, FROM_CHUNK
from fabula.graphs.facts.values import ChosenMeaning, FactStatement
from fabula.text.document import Chunk
from fabula.text.sentences import spans

LANGUAGE = "en"
PERSON = "person"
KIN = "son daughter brother sister wife husband father mother servant friend"
_OPEN, _CLOSE = "\ue000", "\ue001"
_X = f"{_OPEN}(?P<x>\\d+){_CLOSE}"
_Y = f"{_OPEN}(?P<y>\\d+){_CLOSE}"
_K = (
    "(?:(?:eldest|elder|youngest|younger|only|second|third|first|old|older|oldest|dear|little|late"
    "|beloved|own|faithful|trusty|best|great|good|poor|young|twin)[ ,]+){0,2}"
    f"(?P<k>{KIN.replace(' ', '|')})"
)
_THE = "(?:the|a|an) "
_NOT_HIS = "(?!['’]s|['’] )"
"""Excludes a name in the genitive: the fact is about somebody of theirs."""
_STOP = "(?=[,.;:!?)—–]|$)(?!, and )(?!, n?or )"
PATTERNS = {
    "X, the K of Y": f"{_X}, (?:{_THE})?{_K} (?:of|to) {_Y}{_NOT_HIS}",
    "X, Y's K": f"{_X}, {_Y}['’]s {_K}{_STOP}",
    "Y's K, X": f"{_Y}['’]s {_K}, {_X}{_NOT_HIS}{_STOP}",
    "Y's K X": f"{_Y}['’]s {_K} {_X}",
    "X was the K of Y": f"{_X} (?:was|is) (?:{_THE})?{_K} (?:of|to) {_Y}{_NOT_HIS}",
    "X married Y": f"{_X} (?:had |has )?married {_Y}{_NOT_HIS}(?! to )",
}
_CLAUSES = ("X was the K of Y", "X married Y")
"""Patterns that are clauses: in a condition they state nothing, unlike the others."""
_UNSTATED = re.compile(
    r"\b(?:if|whether|unless|suppose|neither|nor|never)\b[^.;!?]*$", re.IGNORECASE
)
_QUESTION = re.compile(r"[^.;!?]*\?")
_COMPILED = {name: re.compile(pattern) for name, pattern in PATTERNS.items()}


def state_by_rules(chunks: Sequence[Chunk], entities: Part, language: str) -> list[FactStatement]:
    """Return what the patterns find between names of one sentence, in text order."""
    if language != LANGUAGE:
        return []
    ids = {node.id for node in entities.nodes if node.label == ENTITY}
    printed: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for edge in entities.edges:
        if edge.type == FROM_CHUNK and edge.start in ids:
            places = zip(edge.properties["starts"], edge.properties["names"], strict=True)
            printed[edge.end] += [(start, form, edge.start) for start, form in places]
    statements: list[FactStatement] = []
    for chunk in chunks:
        names = [(start - chunk.start, form, id) for start, form, id in printed[chunk.id]]
        cut = spans(chunk.text, language)
        starts = [start for start, _ in cut]
        by_sentence: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
        for place in sorted(names):
            by_sentence[bisect_right(starts, place[0]) - 1].append(place)
        for row in sorted(by_sentence):
            begin, end = cut[row]
            inside = [(at - begin, form, id) for at, form, id in by_sentence[row]]
            for subject, predicate, object in match(chunk.text[begin:end], inside):
                statements.append(
                    FactStatement(
                        chunk.id,
                        chunk.start,
                        subject[1],
                        predicate,
                        object[1],
                        PERSON,
                        PERSON,
                        " ".join(chunk.text[begin:end].split()),
                        (ChosenMeaning(subject[2]), None, ChosenMeaning(object[2])),
                    )
                )
    return statements


Place = tuple[int, str, str]
"""Where a name begins in a sentence, its printed form, and the id of its entity."""


def match(sentence: str, places: Iterable[Place]) -> Iterator[tuple[Place, str, Place]]:
    """Yield the pairs of names that a pattern relates, each once for each relation.

    Args:
        sentence: The sentence.
        places: The names in it, in the order in which they begin.

    Yields:
        The subject, the predicate and the object.

    """
    names = list(places)
    # Names are replaced by their numbers, so that patterns need not know their words.
    masked, end = "", 0
    for number, (start, form, _) in enumerate(names):
        # A form may be printed over a line's end, and it may stand within a longer one.
        pattern = re.compile(r"\s+".join(map(re.escape, form.split())))
        printed = pattern.match(sentence, start)
        if start < end or printed is None:
            continue
        masked += f"{sentence[end:start]}{_OPEN}{number}{_CLOSE}"
        end = printed.end()
    masked = " ".join((masked + sentence[end:]).split())
    seen: set[tuple[str, str, str]] = set()
    for name, pattern in _COMPILED.items():
        for hit in pattern.finditer(masked):
            unstated = name in _CLAUSES and _UNSTATED.search(masked, 0, hit.start())
            if unstated or _QUESTION.match(masked, hit.end()):
                continue
            groups = hit.groupdict()
            subject, object = names[int(groups["x"])], names[int(groups["y"])]
            predicate = f"{groups['k']} of" if "k" in groups else "married"
            key = (subject[2], predicate, object[2])
            if subject[2] != object[2] and key not in seen:
                seen.add(key)
                yield subject, predicate, object
