"""Search a collection of this process, or of a service: what every framework's retriever does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import quote

import httpx2

from fabula.errors import FabulaError, NotFound
from fabula.graph.hits import SHOWN_FIELDS, Hit

if TYPE_CHECKING:
    from fabula.library.collection import Collection

Search = Callable[[str, dict[str, Any]], list[Hit]]
"""Finds hits for a question, with options of a `fabula.Query`, as `mode` and `k`."""
TIMEOUT_SECONDS = 60.0


def search_collection(collection: Collection) -> Search:
    """Return what searches a collection of this process."""

    def search(question: str, options: dict[str, Any]) -> list[Hit]:
        return collection.retrieve(question, **options)

    return search


def search_service(url: str, collection: str, key: str) -> Search:
    """Return what searches a collection of a service.

    Args:
        url: The service's address, as `http://127.0.0.1:8040`.
        collection: The name of the collection.
        key: A key of the service, as `fabula keys make` prints it.
    """
    place = f"{url.rstrip('/')}/api/v1/collections/{quote(collection, safe='')}/search"
    headers = {"Authorization": f"Bearer {key}"}

    def search(question: str, options: dict[str, Any]) -> list[Hit]:
        # A Query takes a single aspect or kind as it is; the service wants a list.
        values = {
            name: [value] if name in ("aspects", "kinds") and isinstance(value, str) else value
            for name, value in options.items()
        }
        try:
            body = {"question": question, **values}
            response = httpx2.post(place, json=body, headers=headers, timeout=TIMEOUT_SECONDS)
        except httpx2.HTTPError as error:
            raise FabulaError(f"The service at {url} can't be reached: {error}.") from error
        if response.is_error:
            problem = _detail(response) or (
                f"The service at {url} can't be reached: the reply has status "
                f"{response.status_code}, and is not one of Fabula's. Check the address."
            )
            raise (NotFound if response.status_code == 404 else FabulaError)(problem)
        try:
            hits = response.json()["rows"]
            return [
                Hit(**{name: hit[name] for name in SHOWN_FIELDS if name in hit}) for hit in hits
            ]
        except (ValueError, KeyError, TypeError) as error:
            raise FabulaError(
                f"What answered at {url} is not a Fabula service, or is one of another version."
            ) from error

    return search


def _detail(response: httpx2.Response) -> str:
    """Return the reason that a service gives for its refusal; '' if another program refused."""
    try:
        detail = response.json()["detail"]
    except (ValueError, KeyError, TypeError):
        return ""
    return detail if isinstance(detail, str) else ""


def metadata(hit: Hit) -> dict[str, Any]:
    """Return what a framework keeps beside a hit's text: where it stands, and what it is."""
    return {name: getattr(hit, name) for name in SHOWN_FIELDS if name not in ("text", "tokens")}


def refuse_missing(error: ModuleNotFoundError, framework: str, package: str) -> NoReturn:
    """Raise ModuleNotFoundError that names the package to install."""
    raise ModuleNotFoundError(
        f"{framework} is not installed here ({error}): pip install {package}", name=error.name
    ) from error
