"""A brief of the documents that a question is about: the tops of the trees over them.

A reader who knows what a book is about understands a page of it better; so does a model (MiA-RAG,
arXiv 2512.17220, "mindscape"). The summaries are there and cost no call. They are no evidence: an
answer cites passages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from fabula.graph.hits import Filters, Hit, Passage, read_hit
from fabula.graph.installed import brief_statements
from fabula.graph.trace import Trace
from fabula.models.replies import shorten
from fabula.text import tokens

if TYPE_CHECKING:
    from fabula.ask.protocols import AnswerReader

MAX_DOCUMENTS = 3
"""Documents whose summaries are given, those of the best passages: more would leave none room."""
MIN_SUMMARY_TOKENS = 40
"""A summary is not cut shorter than this; there, it is left out."""


def write_brief(
    context: Sequence[Passage],
    filters: Filters,
    store: AnswerReader,
    budget: int,
    trace: Trace,
) -> str:
    """Return the summaries of the whole documents that passages are of; '' if there are none.

    Args:
        context: The passages.
        filters: Where the question looks.
        store: The graph.
        budget: Tokens of all summaries together.
        trace: Records which summaries they are.
    """
    ranked = sorted(context, key=lambda passage: -passage.hit.score)
    documents = list(dict.fromkeys(passage.hit.document for passage in ranked))[:MAX_DOCUMENTS]
    # The question's own restrictions are about passages. What the whole document tells is no hit.
    within = replace(filters, kinds=(), aspects=(), lowest=0, highest=99)
    with trace.step("brief", f"{budget} tokens") as step:
        tops = [
            read_hit(row)
            for statement in brief_statements()
            for row in store.read(statement, within, documents=documents)
        ]
        share = budget // max(1, len({top.document for top in tops}))
        parts, used = [], []
        for document in documents:
            text, summaries = _of_document([top for top in tops if top.document == document], share)
            if text:
                title = f"{summaries[0].title}: " if len(documents) > 1 else ""
                parts.append(f"{title}{text}")
                used += summaries
        step.record(tops, used)
    return "\n\n".join(parts)


def _of_document(tops: Sequence[Hit], budget: int) -> tuple[str, list[Hit]]:
    """Return the beginnings of a document's top summaries that fit, and the summaries."""
    texts: list[str] = []
    used: list[Hit] = []
    for _, group in groupby(tops, key=lambda top: top.aspect):
        of_aspect = list(group)
        for place, top in enumerate(of_aspect):
            # The summaries of one aspect, each of a stretch of the text, share what is left.
            share = budget // (len(of_aspect) - place)
            if share < MIN_SUMMARY_TOKENS:
                break
            text = shorten(top.text.strip(), share)
            budget -= tokens.count(text)
            texts.append(text)
            used.append(top)
    return " ".join(texts), used
