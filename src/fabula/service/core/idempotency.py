"""What is sent twice with one `Idempotency-Key` is done once, for a day.

The mark of the key, and a digest of the body that came with it, are kept on the node that was made.
If two processes are sent the same at the same time, a uniqueness constraint lets one of them make
it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabula.service.core.errors import Conflict

if TYPE_CHECKING:
    from fabula.service.core.callers import Caller


@dataclass(frozen=True, slots=True)
class Idempotency:
    """An Idempotency-Key as the graph keeps it.

    `mark` is a digest of the key, the caller and the address, `body` one of what was sent with it.
    """

    mark: str
    body: str

    @classmethod
    def of(cls, key: str | None, caller: Caller, path: str, body: str) -> Idempotency | None:
        """Return that of a request to a path; None where no key was sent.

        A key is its caller's own, and the address's: two callers may choose the same.
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
