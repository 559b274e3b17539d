"""What is sent twice under one `Idempotency-Key` is done once, for a day.

The mark of the key, and of what was sent with it, is kept on the node that was made: of two
processes that are sent the same at the same time, a uniqueness constraint lets one make it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Header, Request

from fabula.service.http.errors import Conflict

if TYPE_CHECKING:
    from fabula.service.core.callers import Caller

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="the same with the same body within 24 hours makes nothing anew",
    ),
]
"""The header, for routes that make something."""


@dataclass(frozen=True, slots=True)
class Once:
    """A key as the graph keeps it: `mark` tells it from all others', `said` what it came with."""

    mark: str
    said: str

    @classmethod
    def of(cls, key: str | None, caller: Caller, request: Request, said: str) -> Once | None:
        """That of a request which says `said`; None where no key was sent. A key is its caller's
        and its route's own.
        """
        if key is None:
            return None
        return cls(_digest(caller.id, request.url.path, key), _digest(said))

    def refuse_other(self, said: str) -> None:
        """Raises Conflict where the key came with something else before."""
        if said != self.said:
            raise Conflict(
                "This Idempotency-Key came with another body within the last 24 hours: send the "
                "same again, or take another key."
            )


def _digest(*parts: str) -> str:
    told = repr(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(told).hexdigest()
