"""What every framework's retriever asks: a collection of this process, or a service's by URL."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx2

from fabula.errors import FabulaError, NotFound
from fabula.model import Hit

if TYPE_CHECKING:
    from fabula.collection import Collection

Search = Callable[[str, dict[str, Any]], list[Hit]]
"""Finds hits for a question, asked with fields of `fabula.Query`, as `mode` and `k`."""
SECONDS = 60.0
FIELDS = tuple(Hit.__dataclass_fields__)


def over(collection: Collection) -> Search:
    """Asks a collection of this process."""

    def search(question: str, asked: dict[str, Any]) -> list[Hit]:
        return collection.retrieve(question, **asked)

    return search


def at(url: str, collection: str, key: str) -> Search:
    """Asks the collection of a service at `url`, as `http://127.0.0.1:8040`, with a key of its."""
    place = f"{url.rstrip('/')}/api/v1/collections/{quote(collection, safe='')}/search"
    headers = {"Authorization": f"Bearer {key}"}

    def search(question: str, asked: dict[str, Any]) -> list[Hit]:
        # A Query takes one name for several; JSON's readers want a list.
        given = {
            name: [one] if name in ("aspects", "kinds") and isinstance(one, str) else one
            for name, one in asked.items()
        }
        try:
            body = {"question": question, **given}
            response = httpx2.post(place, json=body, headers=headers, timeout=SECONDS)
            said = response.json()
        except (httpx2.HTTPError, ValueError) as error:
            raise FabulaError(f"The service at {url} can't be reached: {error}.") from error
        if response.status_code == 404:
            raise NotFound(said["detail"])
        if response.is_error:
            raise FabulaError(said["detail"])
        return [Hit(**{name: hit[name] for name in FIELDS}) for hit in said["hits"]]

    return search


def metadata(hit: Hit) -> dict[str, Any]:
    """What a framework keeps beside a hit's text: where it stands, and what it is."""
    return {name: getattr(hit, name) for name in FIELDS if name not in ("text", "tokens")}
