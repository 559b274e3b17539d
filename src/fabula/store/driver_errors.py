"""Errors of Neo4j's driver, translated into errors of ours that say what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from neo4j.exceptions import AuthError, DriverError, Neo4jError, ServiceUnavailable, SessionExpired

from fabula.errors import BadValue, DatabaseDown, StoreError

MIN_VERSION = (2026, 6)
"""The first Neo4j whose vector index filters by lists."""
CONNECTION_LOST = (
    "The connection to Neo4j was lost; nothing is half written. Try again in a moment: Fabula's "
    "own server is then started again."
)
"""It is shown by commands, by logs and to clients of the service, so it names no command."""


def refuse_old_server(components: Sequence[tuple[str, str]], uri: str) -> None:
    """Raise StoreError if the server is older than retrieval needs."""
    for name, version in components:
        numbers = re.match(r"(\d+)\.(\d+)", version)
        if "Kernel" in name and numbers and tuple(map(int, numbers.groups())) < MIN_VERSION:
            raise StoreError(
                f"The Neo4j at {uri} is version {version}, and Fabula needs 2026.06 or later: "
                "upgrade it, or unset NEO4J_URI to use Fabula's own."
            )


def is_out_of_memory(error: Neo4jError) -> bool:
    """Return whether a statement was ended because the server had too little memory for it."""
    return (error.code or "").endswith("OutOfMemoryError")


def out_of_memory_message(what: str) -> str:
    """Return a message for a statement that needed too much memory, without a full stop."""
    return (
        f"{what} needs more memory than Neo4j has for it. Narrow it, for example to one document "
        "or to fewer rows, or give the server more memory"
    )


INDEX_ADVICE = "`fabula check` names the indexes that are missing, and `fabula renew` makes them."
MEMORY_ADVICE = (
    "Set FABULA_NEO4J_HEAP=1g, or more than it is now, and run `fabula db stop`; on a server of "
    "your own raise server.memory.heap.max_size"
)
"""How to give a server more memory, without a full stop."""


@contextmanager
def explain_connecting(uri: str, username: str, database: str) -> Iterator[None]:
    """Raise errors of the first connection to a server as StoreError, in words."""
    try:
        yield
    except AuthError as error:
        raise StoreError(
            f"The Neo4j at {uri} refuses user {username!r} with this password: check "
            "NEO4J_USERNAME and NEO4J_PASSWORD."
        ) from error
    except ServiceUnavailable as error:
        raise StoreError(
            f"No Neo4j answers at {uri}: check NEO4J_URI and that the server runs, or unset "
            "NEO4J_URI to use Fabula's own."
        ) from error
    except Neo4jError as error:
        if error.code == "Neo.ClientError.Database.DatabaseNotFound":
            raise StoreError(
                f"The Neo4j at {uri} has no database {database!r}: check NEO4J_DATABASE."
            ) from error
        if error.code in DatabaseDown.CODES:
            raise DatabaseDown(
                f"The Neo4j at {uri} runs, but its database {database!r} stopped at an error, or "
                "can't be opened: the server's log says why."
            ) from error
        if (error.code or "").endswith("AuthenticationRateLimit"):
            raise StoreError(
                f"The Neo4j at {uri} was given too many wrong passwords: wait a few seconds, and "
                "check NEO4J_USERNAME and NEO4J_PASSWORD."
            ) from error
        raise StoreError(f"The Neo4j at {uri} refuses: {error.message}") from error
    except DriverError as error:
        raise StoreError(f"The Neo4j at {uri} can't be used: {error}") from error


@contextmanager
def explain_errors(name: str) -> Iterator[None]:
    """Raise errors of a statement as errors of ours, in words.

    Args:
        name: The name of the statement.

    Raises:
        BadValue: A parameter is a number or a text that Neo4j can't be sent.
        StoreError: The server refuses, fails or can't be reached.
    """
    try:
        yield
    except (OverflowError, UnicodeEncodeError) as error:
        # The driver's own packing: nothing was sent.
        what = "a number" if isinstance(error, OverflowError) else "half of a surrogate pair"
        limit = " beyond 64 bits" if isinstance(error, OverflowError) else ""
        raise BadValue(
            f"A value given to {name} has {what}{limit}, which Neo4j can't hold."
        ) from error
    except (ServiceUnavailable, SessionExpired) as error:
        raise StoreError(CONNECTION_LOST) from error
    except Neo4jError as error:
        if error.code in DatabaseDown.CODES:
            raise DatabaseDown(
                "The database stopped at an error while this ran, as it does when its disk is "
                "full; nothing is half written. Try again in a moment: Fabula's own server is then "
                "started anew, or says what is in the way."
            ) from error
        if is_out_of_memory(error):
            raise StoreError(
                f"{out_of_memory_message(f'Neo4j refused {name}: it')}.",
                advice=f"{MEMORY_ADVICE}.",
            ) from error
        message = f"Neo4j refused {name}: {error.message}"
        if "no such fulltext schema index" in message or "no such vector schema index" in message:
            raise StoreError(f"{message}.", advice=INDEX_ADVICE) from error
        raise StoreError(message) from error
    except DriverError as error:
        raise StoreError(f"Neo4j failed at {name}: {error}") from error
