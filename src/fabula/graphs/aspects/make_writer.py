"""Make the writer of a document: by models, by rules, and by summarisers of other packages."""

from __future__ import annotations

from fabula.graph.builds import Build, ChatStep
from fabula.graph.method import BuildText
from fabula.graphs.aspects.options import Options
from fabula.graphs.aspects.placeholders import AspectPlaceholders
from fabula.graphs.aspects.summarisers import Complete, WriterWithSummarisers, make_summarisers
from fabula.graphs.aspects.values import ASPECTS, DETAILS, SUMMARIES, AspectSet
from fabula.graphs.aspects.writer import Writer
from fabula.models import Prompt
from fabula.models.roles import ModelProfile

# Priorities of calls, the lowest first: what many later calls depend on goes before the rest, and
# details, on which nothing depends, fill the gaps.
DETECT, SUMMARISE, CONDENSE = range(1, 4)


def make_writer(
    text: BuildText,
    aspect_set: AspectSet,
    options: Options,
    models: ModelProfile,
    placeholders: AspectPlaceholders,
) -> Writer:
    """Return a writer that asks chat models, or one that quotes the text if there is no model.

    Aspects that name a summariser are summarised by it.

    Args:
        text: The document to write about.
        aspect_set: The aspects, and the words for their kind of text.
        options: The options of the graph.
        models: The models to ask.
        placeholders: The replies that a dry run assumes.

    Raises:
        SettingsError: A summariser is not installed.
    """
    writer = _make_own_writer(text, aspect_set, options, models, placeholders)
    if not any(aspect.summariser for aspect in aspect_set.aspects):
        return writer
    complete = None if models.offline else _make_complete(models, placeholders)
    language = text.document.language
    summarisers = make_summarisers(aspect_set.aspects, language, complete)
    return WriterWithSummarisers(writer, summarisers, options.summary_tokens)


def _make_complete(models: ModelProfile, placeholders: AspectPlaceholders) -> Complete:
    """Return a function that asks the model of summaries."""
    chat = ChatStep("model", SUMMARIES, SUMMARISE)

    def ask_model(system: str, user: str, max_tokens: int, placeholder: str = "") -> Build[str]:
        request = Prompt(
            system=system,
            user=user,
            max_tokens=max_tokens,
            temperature=models.temperature,
            placeholder=lambda: placeholder or placeholders.summarise(user),
        )
        return chat.ask(request, str)

    return ask_model


def _make_own_writer(
    text: BuildText,
    aspect_set: AspectSet,
    options: Options,
    models: ModelProfile,
    placeholders: AspectPlaceholders,
) -> Writer:
    if models.offline:
        from fabula.graphs.aspects.offline_writer import ExtractiveWriter

        return ExtractiveWriter(
            [chunk.text.strip() for chunk in text.chunks],
            text.document.language,
            models.static,
            summary_tokens=options.summary_tokens,
            details=options.details,
            detail_tokens=options.detail_tokens,
        )
    from fabula.graphs.aspects.prompted_writer import PromptedWriter

    has_one_model = models.model("aspect_model") == models.model("model")
    return PromptedWriter(
        detecting=ChatStep("aspect_model", ASPECTS, DETECT),
        summarising=ChatStep("model", SUMMARIES, SUMMARISE),
        condensing=ChatStep("model", DETAILS, CONDENSE),
        placeholders=placeholders,
        temperature=models.temperature,
        summary_tokens=options.summary_tokens,
        details=options.details,
        detail_tokens=options.detail_tokens,
        details_form=options.details_form,
        aspects_with_summaries=options.aspects_with_summaries and has_one_model,
        words=aspect_set.words,
    )
