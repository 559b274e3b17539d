"""Check one by one what Fabula needs: the machine, Neo4j, its indexes, and the models."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import partial

from fabula.config.embedding_space import for_building, for_questions, name_space
from fabula.config.settings import OFFLINE, STATIC, Settings
from fabula.errors import FabulaError
from fabula.library.collection import Collection
from fabula.models.endpoint.address import redact_url
from fabula.models.providers import LOCAL, split_provider
from fabula.packages import BESIDE, describe_missing
from fabula.store import Store, schema
from fabula.store.embedding_space import describe_other_prefix
from fabula.text.nouns import count_noun

OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One thing that was checked: whether it is `well`, and what to say about it or do."""

    name: str
    passed: bool
    message: str


_LOCAL_HINT = (
    ". `pip install 'fabula[local-models]'` brings embedding models that need neither "
    "(docs/local-models.md)"
)


def examine(
    collection: Collection, choose: Callable[[], Collection] | None = None
) -> Iterator[DoctorCheck]:
    """Yield the checks, each as soon as it is made.

    The private Neo4j is started, and each model is called once.

    Args:
        collection: The collection to check.
        choose: Returns the collection whose indexes and embeddings are checked in its place, as
            `App.default_collection`; called once Neo4j answers. A check of its own names it.
    """
    yield _python()
    yield DoctorCheck("packages", True, describe_missing() or ", ".join(BESIDE))
    yield _keys(collection.settings)
    store = yield from _neo4j(collection)
    if store and choose:
        store, collection = yield from _choose_collection(store, collection, choose)
    if store:
        yield _run_check("indexes", partial(_indexes, store, collection))
        yield _run_check("embeddings", partial(_embeddings, collection))
    for name, model, ask in collection.app.models.roles():
        yield _run_check(name, partial(_model, model, ask))


def _python() -> DoctorCheck:
    version = ".".join(map(str, sys.version_info[:3]))
    well = sys.version_info >= OLDEST_PYTHON
    return DoctorCheck(
        "Python", well, version if well else f"{version} is too old: install 3.11 or later"
    )


def _keys(settings: Settings) -> DoctorCheck:
    if settings.base_url:
        has_key = settings.api_key or settings.keyring
        key = "with a key" if has_key else "without a key"
        return DoctorCheck("endpoint", True, f"{redact_url(settings.base_url)}, {key}")
    if settings.api_key:
        return DoctorCheck("endpoint", True, "OpenAI's, with the key of OPENAI_API_KEY")
    if settings.keyring:
        return DoctorCheck("endpoint", True, "OpenAI's, with the key of the keyring")
    if not settings.offline or settings.embeds_by_endpoint:
        cure = "set OPENAI_API_KEY, or OPENAI_BASE_URL for another endpoint"
        return DoctorCheck("endpoint", False, f"OpenAI's, without a key: {cure}")
    return DoctorCheck(
        "endpoint",
        True,
        "none, so Fabula works offline by extraction; set OPENAI_API_KEY or OPENAI_BASE_URL"
        + ("" if settings.embedding_model != STATIC else _LOCAL_HINT),
    )


def _neo4j(collection: Collection) -> Generator[DoctorCheck, None, Store | None]:
    try:
        store, settings = collection.open_store(), collection.settings
        where = settings.neo4j_uri or f"Fabula's own, in {settings.home}"
        yield DoctorCheck("Neo4j", True, f"{store.version()}, {where}")
    except FabulaError as error:
        yield DoctorCheck("Neo4j", False, str(error))
        return None
    return store


def _choose_collection(
    store: Store, collection: Collection, choose: Callable[[], Collection]
) -> Generator[DoctorCheck, None, tuple[Store, Collection]]:
    try:
        chosen = choose()
        if chosen.name == collection.name:
            return store, collection
        store = chosen.open_store()
    except FabulaError as error:
        yield DoctorCheck("collection", False, str(error))
        return store, collection
    message = f"{chosen.name}, as {collection.name} is empty, and no collection was named"
    yield DoctorCheck("collection", True, message)
    return store, chosen


def _indexes(store: Store, collection: Collection) -> str:
    space = collection.space()
    if space is None:
        return f"none yet for collection {collection.name!r}: its first ingest makes them"
    if faults := schema.find_faults(store, space):
        descriptions = (f"{fault.name} {fault.what}: {fault.cure}" for fault in faults)
        raise FabulaError("; ".join(descriptions))
    return ", ".join(f"{name} online" for name in schema.needed_indexes(space))


def _embeddings(collection: Collection) -> str:
    space = collection.space()
    if space is None or not space.has_documents:
        return f"none yet in collection {collection.name!r}: run `fabula ingest BOOK`"
    vectors = f"{space.dimensions} dimensions of {space.model}"
    documents = count_noun(len(collection.documents()), "document")
    message = f"collection {collection.name!r}, {documents}, {vectors}"
    settings = collection.app.settings
    for_questions(settings, space.model, collection.name)
    if space.phase:
        return f"{message}; being re-embedded with {space.target}"
    adding, named = for_building(settings, space.model), name_space(settings)
    if name_space(adding) != space.model:
        better = ", which find better" if space.model == STATIC else ""
        return (
            f"{message}: questions are embedded by it, too. `fabula reembed --collection "
            f"{collection.name}` gives it embeddings of {named}{better}; until then it "
            "takes no further documents"
        )
    if adding is not settings:
        return f"{message}. {describe_other_prefix(space, named)}"
    return message


def _model(model: str, ask: Callable[[], object]) -> str:
    if model in (OFFLINE, STATIC):
        return f"{model}, which needs no endpoint"
    ask()
    is_local = split_provider(model)[0] == LOCAL
    return f"{model}{', which runs on this machine,' if is_local else ''} answers"


def _run_check(name: str, check: Callable[[], str]) -> DoctorCheck:
    try:
        return DoctorCheck(name, True, check())
    except FabulaError as error:
        return DoctorCheck(name, False, str(error))
