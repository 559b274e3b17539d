"""Recognises persons by their names alone, where nothing in the text shows that they are persons.

The rules take a name for a person's by what stands beside it: a title, a verb of speech, a
relative. Who is only mentioned has none of them. But a name that begins with a forename is a
person's, unless the text shows it as a place.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from fabula.graphs.entities.forenames import is_forename
from fabula.graphs.entities.names import lower_name, name_key, title_sex
from fabula.graphs.entities.resolve import PERSON, PLACE, UNKNOWN
from fabula.graphs.entities.values import Extraction
from fabula.graphs.entities.words import words_of


def recognise_persons(
    extraction: Extraction, language: str, ordinary: Collection[str]
) -> Extraction:
    """Give the type of a person to names without a type that begin with a title or a forename.

    Args:
        extraction: What rules extracted.
        language: The language of the text, an ISO 639-1 code.
        ordinary: Words that the text has in lower case; no forename alone is one of them: Will.
    """
    places = {name_key(mention.name) for mention in extraction.mentions if mention.type == PLACE}
    mentions = [
        replace(mention, type=PERSON)
        if mention.type == UNKNOWN
        and name_key(mention.name) not in places
        and _is_of_a_person(mention.name, language, ordinary)
        else mention
        for mention in extraction.mentions
    ]
    return replace(extraction, mentions=tuple(mentions))


def _is_of_a_person(name: str, language: str, ordinary: Collection[str]) -> bool:
    if title_sex(name):
        return True
    words, small = name_key(name).split(), words_of(language)
    if lower_name(name).split()[0] in small.articles or words[-1] in small.kinds_of_thing:
        return False
    if words[-1] in small.kinds_of_place or not small.connectives.isdisjoint(words):
        return False
    return is_forename(words[0]) and (len(words) > 1 or words[0] not in ordinary)
