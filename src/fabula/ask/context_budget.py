"""How much of the text a prompt has room for.

With a model, more of the text is better than less of it, as long as it fits: 6,000 tokens where the
model's window is known to have room for them. A server with a small window may cut a prompt and not
say so (Ollama's default is 4,096 tokens), so a window that nobody knows is taken for a small one.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fabula.ask.query import USUAL_TOKENS, Query
from fabula.errors import ModelError
from fabula.graph.hits import Passage
from fabula.graph.trace import Trace
from fabula.models import Turn
from fabula.text import tokens

if TYPE_CHECKING:
    from fabula.ask.protocols import QuestionModels
    from fabula.models.endpoint.errors import EndpointError

LOG = logging.getLogger("fabula")
ROOMY_TOKENS = 6000
"""The tokens of a context for a model that has room for them. From about 5,000 on, passages in the
order of the text were published to be ahead of trees (DOS RAG, Laitenberger et al. 2025, arXiv
2506.03989); how many are best for Fabula's answers is what the suite `answers` measures."""
MIN_PASSAGES_TOKENS = 3000
"""From this many tokens on a context is made of whole passages. On three novels of GraphRAG-Bench,
sentences held 6, 5 and 2 points more of the evidence at 500, 1,000 and 1,700 tokens, and no more at
4,000: then the best passages are in the context anyway, and whole ones are easier to read."""
MIN_TOKENS = 256
"""A context is not made smaller than this: with less there is nothing to answer from."""
PROMPT_TOKENS = 500
"""Room for the rules, the numbers and the places of the passages in a prompt."""
BRIEF_TOKENS = 300
"""Room for the summaries of whole documents (MiA-RAG, arXiv 2512.17220, gives about as much)."""
TOKEN_SHARE = 0.75
"""The share of a window that is filled, by our count: models count other tokens than we do."""
MAX_SHORTENINGS = 3
"""How often a context is made smaller for a model that refuses it as too long."""


def settle_budget(
    query: Query, models: QuestionModels, trace: Trace, history: Sequence[Turn] = ()
) -> Query:
    """Return the question with the tokens of its context and what it is made of, where "auto".

    Args:
        query: The question.
        models: Say how much the chat model takes.
        trace: Records the choice.
        history: The turns of the conversation that go into the prompt, too.
    """
    if query.context_tokens == "auto":
        query = replace(query, context_tokens=_choose_budget(query, models, trace, history))
    if query.context == "auto":
        is_roomy = not models.offline and query.budget >= MIN_PASSAGES_TOKENS
        query = replace(query, context="passages" if is_roomy else "sentences")
    return query


def _choose_budget(
    query: Query, models: QuestionModels, trace: Trace, history: Sequence[Turn]
) -> int:
    if models.offline:
        return USUAL_TOKENS
    window = models.window()
    if window is None:
        budget = USUAL_TOKENS
        note = f"{budget} tokens: the model's window is not known; model_window sets it"
    else:
        budget = min(ROOMY_TOKENS, max(MIN_TOKENS, _room(query, models, history, window)))
        note = f"{budget} tokens, as the model's window has {window}"
    with trace.step("room", note):
        return budget


def _room(query: Query, models: QuestionModels, history: Sequence[Turn], window: int) -> int:
    """Return the tokens, by our count, that a window has beside all else in the prompt."""
    return int(TOKEN_SHARE * (window - models.answer_tokens)) - _other_tokens(query, history)


def _other_tokens(query: Query, history: Sequence[Turn]) -> int:
    turns = sum(tokens.count(turn.question) + tokens.count(turn.answer) for turn in history)
    brief = BRIEF_TOKENS if query.brief else 0
    return PROMPT_TOKENS + tokens.count(query.question) + turns + brief


def prompt_error(error: ModelError) -> EndpointError | None:
    """Return what the endpoint said, if it refused a prompt as too long for the model."""
    # Imported here, as the client of endpoints takes long to import.
    from fabula.models.endpoint.errors import error_reported

    reported = error_reported(error)
    return reported if reported is not None and reported.too_long else None


def shorten_context(
    context: Sequence[Passage],
    window: int | None,
    query: Query,
    models: QuestionModels,
    history: Sequence[Turn],
) -> list[Passage]:
    """Return fewer passages for a model that refused these as too long; none if that is no help.

    The best ones stay. Each keeps its number, so that a number that was shown before still means
    the same passage. What fits is remembered for the next question.

    Args:
        context: The passages that were refused.
        window: The model's window as its refusal says, if it does.
        query: The question.
        models: Remember how much the model takes.
        history: The turns of the conversation that are in the prompt, too.
    """
    budget = sum(tokens.count_all([passage.text for passage in context])) // 2
    if window is not None:
        budget = min(budget, _room(query, models, history, window))
    kept: set[int] = set()
    for passage in sorted(context, key=lambda passage: -passage.hit.score):
        cost = tokens.count(passage.text)
        if cost > budget:
            continue
        kept.add(passage.number)
        budget -= cost
    shorter = [passage for passage in context if passage.number in kept]
    if shorter:
        size = sum(tokens.count_all([passage.text for passage in shorter]))
        fitting = (size + _other_tokens(query, history)) / TOKEN_SHARE + models.answer_tokens
        models.limit_window(window or int(fitting))
        LOG.warning(
            "The %d passages found are too long for the model's window: it is given the best %d of "
            "them. Set FABULA_MODEL_WINDOW to its window in tokens, or lower "
            "FABULA_CONTEXT_TOKENS.",
            len(context),
            len(shorter),
        )
    return shorter
