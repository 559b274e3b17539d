"""Who asks: what it is called, what it may, what it may see and spend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self

Role = Literal["read", "write", "admin"]
ROLES: tuple[Role, ...] = ("read", "write", "admin")
"""Each may do what those before it may."""


@dataclass(frozen=True, slots=True)
class Quotas:
    """What may be spent in a day and in a month (UTC); None: as much as one likes.

    Money is in US dollars.
    """

    tokens_a_day: int | None = None
    tokens_a_month: int | None = None
    money_a_day: float | None = None
    money_a_month: float | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Those among other values."""
        return cls(**{one.name: row.get(one.name) for one in fields(cls)})

    def given(self) -> dict[str, float]:
        """Those that there are."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever asks: a key, a person at a browser, or a person whose token another vouches for.

    `id` is what the audit and the ledger call it. `collections` are the names of those it may see;
    None: all.
    """

    id: str
    name: str
    role: Role
    collections: frozenset[str] | None = None
    quotas: Quotas = Quotas()

    def may(self, role: Role) -> bool:
        """Whether it may do what that role may."""
        return ROLES.index(self.role) >= ROLES.index(role)

    @property
    def may_all(self) -> bool:
        """Whether it may do what concerns every collection: keys, the audit, Cypher of its own."""
        return self.may("admin") and self.collections is None

    def may_see(self, collection: str) -> bool:
        """Whether a collection exists for it."""
        return self.collections is None or collection in self.collections


PERSON = Caller("person", "the person at the machine", "admin")
"""Who started the service, or was given its link."""
