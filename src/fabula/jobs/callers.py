"""Callers: who asks for jobs and answers, and what that caller may do, see and spend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self, get_args

from fabula.errors import Forbidden

Role = Literal["read", "write", "admin"]
"""What a caller must be allowed to do; each may do what those before it may."""
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True, slots=True)
class Quotas:
    """What may be spent in a day and a month (UTC), in tokens and US dollars; None for no limit."""

    tokens_a_day: int | None = None
    tokens_a_month: int | None = None
    money_a_day: float | None = None
    money_a_month: float | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Return the quotas among the values of a row."""
        return cls(**{field.name: row.get(field.name) for field in fields(cls)})

    def limits(self) -> dict[str, float]:
        """Return the quotas that are set."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: a key, the person at the machine, or the subject of an OpenID token."""

    id: str
    """The id in the audit and the ledger."""
    name: str
    role: Role
    collections: frozenset[str] | None = None
    """The names of the collections that the caller may see; None for all."""
    quotas: Quotas = Quotas()

    def may(self, role: Role) -> bool:
        """Return whether the caller may do what a role may."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def require(self, role: Role) -> None:
        """Raise Forbidden unless the caller may do what a role may."""
        if not self.may(role):
            raise Forbidden(
                f"This needs a key with the role {role}; this key has the role {self.role}."
            )

    @property
    def may_all(self) -> bool:
        """Whether the caller may use keys, the audit and Cypher, which concern all collections."""
        return self.may("admin") and self.collections is None

    @property
    def is_visitor(self) -> bool:
        """Whether it is somebody who has not signed in, at a public collection."""
        return self.id == VISITOR_ID

    def may_see(self, collection: str) -> bool:
        """Return whether the caller may see a collection."""
        return self.collections is None or collection in self.collections


VISITOR_ID = "visitor"
"""The id of all who have not signed in; no key has it."""


PERSON = Caller("person", "the person at the machine", "admin")
"""Who started the service, or was given its link to sign in."""
