"""The embedding space that settings name, and the settings that a collection's own space needs.

Vectors of two models can't be compared, nor those with a prefix and without it. So a collection
keeps the space that it was embedded in, whatever the settings name by now.
"""

from __future__ import annotations

from dataclasses import replace

from fabula.config.settings import STATIC, Settings
from fabula.errors import SpaceError
from fabula.models.prefixes import (
    NO_PREFIXES,
    Prefixes,
    known_prefixes,
    prefixes_of_space,
    space_name,
    split_space_name,
)


def find_prefixes(settings: Settings) -> Prefixes:
    """Return what is put before texts to be embedded: the settings', or else the model's own."""
    if settings.embedding_model == STATIC:
        return NO_PREFIXES
    known = known_prefixes(settings.embedding_model)
    query, passage = settings.embedding_query_prefix, settings.embedding_passage_prefix
    if query is None and passage == "" and known.passage:
        # As in `prefixes_of_space`: bare passages, bare questions.
        return NO_PREFIXES
    return Prefixes(
        known.query if query is None else query,
        known.passage if passage is None else passage,
    )


def name_space(settings: Settings) -> str:
    """Return the name of the space that texts are embedded in, as collections record it."""
    return space_name(settings.embedding_model, find_prefixes(settings).passage)


def for_questions(settings: Settings, space: str, collection: str) -> Settings:
    """Return settings whose embedding model makes vectors of a collection's space.

    A question is compared with the collection's vectors, so the model that made them embeds it,
    whatever model the settings name.

    Args:
        settings: The settings.
        space: The name of the space, as the collection records it.
        collection: The name of the collection, for the error.

    Raises:
        SpaceError: Its model needs an endpoint, and none is set.
        SettingsError: Its model needs a package that is not installed.
    """
    if space == name_space(settings):
        return settings
    model, _ = split_space_name(space)
    of_space = settings.model_copy(update={"embedding_model": model})
    if of_space.embeds_by_endpoint and not settings.has_endpoint:
        raise SpaceError(
            f"The collection was embedded by {model}, and only that model can embed questions "
            "to it. No endpoint is set that has it.",
            advice="Set OPENAI_BASE_URL to the server that has it, or OPENAI_API_KEY; or run "
            f"`fabula reembed --collection {collection}` to embed the collection by "
            f"{settings.embedding_model}.",
        )
    # Of a question in the settings' own space none of this is imported.
    from fabula.models.providers import LOCAL, split_provider

    provider, name = split_provider(model)
    if provider == LOCAL:
        from fabula.models.local.loading import require_fastembed

        require_fastembed(name)
    is_own = model == settings.embedding_model
    configured = find_prefixes(settings) if is_own else known_prefixes(model)
    prefixes = prefixes_of_space(space, configured)
    if is_own and settings.embedding_query_prefix is not None:
        prefixes = replace(prefixes, query=settings.embedding_query_prefix)
    return _embedding_by(settings, model, prefixes)


def for_building(settings: Settings, space: str) -> Settings:
    """Return settings that add to a collection's space, as far as it is the same.

    A collection whose passages were embedded without the prefix that their model wants, or with
    another one, goes on so, unless the settings name a prefix. Of one of another model nothing is
    taken: the caller has to compare `name_space`.
    """
    model, passage = split_space_name(space)
    is_same = model == settings.embedding_model and space != name_space(settings)
    if not is_same or settings.embedding_passage_prefix is not None:
        return settings
    return _embedding_by(settings, model, replace(find_prefixes(settings), passage=passage))


def _embedding_by(settings: Settings, model: str, prefixes: Prefixes) -> Settings:
    update = {
        "embedding_model": model,
        "embedding_query_prefix": prefixes.query,
        "embedding_passage_prefix": prefixes.passage,
    }
    return settings.model_copy(update=update)
