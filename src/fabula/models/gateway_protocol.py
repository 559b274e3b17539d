"""What a Fabula behind a gateway (`fabula gateway`) and the gateway tell each other by headers.

A gateway speaks OpenAI's interface, and any program may use it without these headers. Fabula adds
what OpenAI's interface has no fields for: which reply the cache keeps a call under, and whether
somebody waits for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

VERSION = "1"
VERSION_HEADER = "x-fabula-gateway"
"""A response's header by which a gateway is recognised; its value is VERSION."""
KEY_HEADER = "x-fabula-key"
"""A request's header: the response cache's key of the reply (`cache.chat_key`), in hexadecimal. The
body alone does not have it: it lacks a prompt's sample, and has the correction of an earlier reply,
which asks for the same thing again."""
READS_HEADER = "x-fabula-reads"
"""A request's header: what is read from the answer, names of READINGS joined by commas."""
READINGS = ("json", "tools", "vectors")
PRIORITY_HEADER = "x-fabula-priority"
"""A request's header: ANSWER, where somebody waits for the reply, or BUILD."""
ANSWER, BUILD = "answer", "build"
CACHE_HEADER = "x-fabula-cache"
"""A response's header: HIT if the reply was paid for earlier, SHARED if it is that of an equal call
that was under way, MISS otherwise."""
HIT, SHARED, MISS = "hit", "shared", "miss"
FRESH_HEADER = ("cache-control", "no-store")
"""A request's header and its value that ask the endpoint anew and leave the cache alone."""
INFO_PATH = "/gateway"
"""The path, below /v1, of what a gateway says of itself."""
REPLIES_PATH = "/replies"
"""The path, below /v1, of the cached replies: DELETE removes the one of a key."""
BUDGET_CODE = "fabula_budget_spent"
"""The code of an error for a call that the gateway's budget does not allow."""
UNUSABLE_CODE = "unusable_answer"
"""The code of an error for an answer of the endpoint that can't be read, as broken JSON."""
VECTORS_CODE = "unusable_vectors"
"""The code of an error for an answer that does not have a usable vector for each text."""
KEY_PATTERN = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class GatewayHints:
    """What is sent to a gateway about a call.

    Attributes:
        key: The response cache's key of the reply, 32 bytes; empty for a call that has none.
        reads: Names of READINGS.
        fresh: Whether the endpoint has to be asked, whatever the cache has.

    """

    key: bytes = b""
    reads: tuple[str, ...] = ()
    fresh: bool = False

    def headers(self, *, urgent: bool) -> dict[str, str]:
        """Return the headers of the call; `urgent` says whether somebody waits for the reply."""
        headers = {PRIORITY_HEADER: ANSWER if urgent else BUILD}
        if self.key:
            headers[KEY_HEADER] = self.key.hex()
        if self.reads:
            headers[READS_HEADER] = ",".join(self.reads)
        if self.fresh:
            name, value = FRESH_HEADER
            headers[name] = value
        return headers


NO_HINTS = GatewayHints()
