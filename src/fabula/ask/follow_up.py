"""A follow-up question without a model: which document it stays in, and what is said about it.

With a model, the question is reworded to stand alone and is searched for as that. Without one, the
words of a question show only a little of what it refers to: a name for a pronoun
(`fabula.models.offline.guide`), and here the document that is being talked about.
"""

from __future__ import annotations

from collections.abc import Sequence

from fabula.ask.scope import AskedTurn
from fabula.models.offline.guide import has_unknown_pronoun, refers_back

STAYS = (
    "Offline, a follow-up is asked of the document that the last answer is from: {}. Name whom or "
    "what you mean, or the document, to ask others."
)
SEVERAL_DOCUMENTS = (
    "Offline, it can't be known which document is meant, as the last answer is from several: name "
    "it, or whom you mean. Understanding a follow-up needs a model."
)
UNKNOWN_PRONOUN = (
    "Offline, only a name in an earlier question is put in the place of a pronoun; anything else "
    "needs a model. Name whom you mean."
)


def document_of_follow_up(question: str, turns: Sequence[AskedTurn]) -> str | None:
    """Return the id of the document that a follow-up stays in, offline.

    A chain of follow-ups stays where it began: each turn before counts with the document that it
    was asked of, or that its whole answer is from.

    Args:
        question: The question, as it was asked.
        turns: The previous turns, in order.

    Returns:
        '' if the question refers back and the last answer is from several documents; None if it
        does not refer to what was said before.
    """
    if not turns or not refers_back(question):
        return None
    return turns[-1].only_document


def describe_follow_up(question: str, sought: str, document: str | None, title: str) -> str:
    """Return what a reader has to know about how a follow-up was understood offline.

    Args:
        question: The question, as it was asked.
        sought: The question as it was searched with.
        document: What `document_of_follow_up` returned.
        title: The title of the document that it was kept to; '' if the reader named it, or if the
            collection has no other.
    """
    notes = [STAYS.format(title)] if title else []
    if document == "":
        notes.append(SEVERAL_DOCUMENTS)
    elif has_unknown_pronoun(question, sought):
        notes.append(UNKNOWN_PRONOUN)
    return " ".join(notes)
