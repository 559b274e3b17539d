"""Documents and passages as the API, the page and MCP show them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from fabula.app.collection import Collection
from fabula.config.settings import Settings
from fabula.errors import NotFound
from fabula.graph.entries import Entry
from fabula.models.usage import Usage
from fabula.text.names import quote_name

END_OF_TEXT = 10**9
"""An offset beyond the last character of any text."""


class View(BaseModel):
    """The base class of all views; they are frozen."""

    model_config = ConfigDict(frozen=True)


UsageByStep = Mapping[str, Usage]


class MoneyView(View):
    """What something cost.

    `money` is in US dollars, as far as prices are known; null if no price is. `unpriced` are the
    models that were used and whose price is not known: `money` does not include them.
    """

    money: float | None
    unpriced: list[str] = []


def money(settings: Settings, usage: Mapping[str, Usage]) -> dict[str, Any]:
    """Return the cost of a usage as the fields of a `MoneyView`."""
    cost = settings.cost(usage)
    return {"money": cost.money, "unpriced": list(cost.unpriced)}


def document_of(collection: Collection, id: str) -> Entry:
    """Return the document of an id. Raises NotFound, also for a title or the start of an id."""
    for entry in collection.store.find_named(collection.name, id, 2, whole=True):
        if entry.id == id:
            return entry
    raise NotFound(
        f"There is no document {quote_name(id)} in collection {quote_name(collection.name)}."
    )
