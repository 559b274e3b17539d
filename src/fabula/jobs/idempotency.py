"""Idempotency-Keys: a request that is sent twice with the same key is done once, for a day.

Digests of the key and of the body that came with it are saved on the node that the request made. If
two processes get the same request at the same time, a uniqueness constraint lets only one make it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from fabula.errors import Conflict
from fabula.jobs.callers import Caller


@dataclass(frozen=True, slots=True)
class Idempotency:
    """An Idempotency-Key as the graph has it."""

    mark: str
    """A digest of the key, the caller and the path."""
    body: str
    """A digest of the body that came with the key."""

    @classmethod
    def of(cls, key: str | None, caller: Caller, path: str, body: str) -> Idempotency | None:
        """Return the key of a request to a path; None if the request has none.

        Callers and paths have keys of their own: two callers may choose the same one.
        """
        if key is None:
            return None
        return cls(_digest(caller.id, path, key), _digest(body))

    def refuse_other_body(self, body: str) -> None:
        """Raise Conflict if the key came with another body before."""
        if body != self.body:
            raise Conflict(
                "This Idempotency-Key came with another body within the last 24 hours: send the "
                "same again, or take another key."
            )


def _digest(*parts: str) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()
