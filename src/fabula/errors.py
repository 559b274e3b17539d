"""The errors that Fabula raises. Every message says what happened, to what, and what to do.

FabulaError
├── SettingsError    a setting is unknown or has a bad value
├── LoadError        a file can't become a document
├── BadValue         a value that a caller gave can't be stored, or be sent to Neo4j
├── CorrectionRefused  a person's correction of a graph makes no sense
├── InvalidPlace     what names a reader's place can't be a place in any text
├── DataError        a data set of questions is missing or not in its format
├── ModelError       the model endpoint refused, failed or can't be reached
│   ├── BadReply     a model's reply is not what was asked for
│   │   └── TextRefused  an endpoint does not take a text, for its content or its length
│   └── BudgetSpent  a run has spent the calls or tokens that it may
├── RuleError        a rule of a graph failed on a text: a fault of the program
├── StoreError       Neo4j refused, failed or can't be reached
│   ├── SpaceError   the graph holds embeddings of another model
│   ├── DatabaseDown the server answers, its database does not
│   ├── Refused      a user's own statement is no Cypher, or does what it may not do
│   └── Changed      a document was changed by another while it was read or built on
├── TooLarge         a document, a file or a request is larger than can be taken in
├── Stopped          a run or an answer was stopped by the caller
├── ServerError      the private Neo4j can't be fetched, started or stopped
├── ClusterError     the Dask cluster can't be reached, or its workers can't do the work
│   └── WorkerLost   the workers that a document was given to died, one after the other
├── NotFound         no such document, collection or aspect
├── Conflict         a request does not fit the present state of what it names
└── Forbidden        a caller is known, but may not do that
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


class FabulaError(Exception):
    """An error that a person can understand and usually do something about.

    `str(error)` is the message followed by the advice, which is what the command line and the
    library show. The service shows `error.message` alone.

    Args:
        message: One or two plain sentences that fit every interface: what happened, to what, and
            what to do, without commands and options.
        advice: The commands, options or settings that help at a command line, as sentences of
            their own.
    """

    def __init__(self, message: str = "", *, advice: str = "") -> None:
        super().__init__(f"{message} {advice}" if advice else message)
        self.message = message


class SettingsError(FabulaError):
    """A setting is unknown or has a bad value."""


class LoadError(FabulaError):
    """A file can't become a document."""


class BadValue(FabulaError):
    """A value that a caller gave can't be stored, or be sent to Neo4j."""


class CorrectionRefused(FabulaError):
    """A correction would change nothing, or does not fit what is in the graph."""


class InvalidPlace(FabulaError):
    """What names a reader's place can't be a place in any text."""


class DataError(FabulaError):
    """A data set of questions is missing or not in its format."""


class ModelError(FabulaError):
    """The model endpoint refused, failed or can't be reached."""


class BadReply(ModelError):
    """A model's reply is not what was asked for."""


class TextRefused(BadReply):
    """An endpoint does not take a text, for its content or its length; asking again is useless."""


class BudgetSpent(ModelError):
    """A run has spent the calls or tokens that it may."""


class RuleError(FabulaError):
    """A rule of a graph failed on a text, which is a fault of the program."""


class StoreError(FabulaError):
    """Neo4j refused, failed or can't be reached."""


class SpaceError(StoreError):
    """The graph holds embeddings of another model or dimension."""


class Refused(StoreError):
    """A user's Cypher statement can't be parsed, takes too long, or does what it may not.

    Args:
        why: The reason, without a full stop.
        instead: How the reason goes on at a command line, as ": --write allows it".
    """

    def __init__(self, why: str, instead: str = "") -> None:
        super().__init__(f"{why}{instead}.")
        self.message = f"{why}."


class DatabaseDown(StoreError):
    """The server answers, but its database does not: it stopped at an error or can't be opened."""

    CODES = (
        "Neo.DatabaseError.Transaction.TransactionLogError",
        "Neo.DatabaseError.Transaction.TransactionStartFailed",
        "Neo.TransientError.General.DatabaseUnavailable",
    )
    """The codes of Neo4j's errors that mean this."""


class Changed(StoreError):
    """A document was changed by another while it was read or built on."""


class TooLarge(FabulaError):
    """A document, a file or a request is larger than can be taken in."""


class Stopped(FabulaError):
    """A run or an answer was stopped by the caller, with a `Stop`."""

    def __init__(
        self, message: str = "Stopped as requested. Replies that were paid for are cached."
    ) -> None:
        super().__init__(message)


class ServerError(FabulaError):
    """The private Neo4j can't be fetched, started or stopped."""


class ClusterError(FabulaError):
    """The Dask cluster can't be reached, or its workers can't do the work."""


class WorkerLost(ClusterError):
    """The workers that a document was given to died, one after the other."""


class NotFound(FabulaError):
    """No such document, collection or aspect."""


class Conflict(FabulaError):
    """A request does not fit the present state of what it names.

    Args:
        message: What does not fit, and what would.
        state: The state, if it has a name.
    """

    def __init__(self, message: str, *, state: str = "") -> None:
        super().__init__(message)
        self.state = state


class Forbidden(FabulaError):
    """A caller is known, but may not do that."""


MAX_COMPARED = 200
"""Names with more characters are not compared: the time grows with the product of both lengths."""


def did_you_mean(name: str, names: Iterable[str], otherwise: str = "") -> str:
    """Return 'Did you mean x?' with the nearest of `names`, or `otherwise` if none is near."""
    import difflib

    if len(name) > MAX_COMPARED:
        return otherwise
    near = difflib.get_close_matches(name, list(names), 1, cutoff=0.5)
    return f"Did you mean {near[0]}?" if near else otherwise


def first_problem(error: ValidationError) -> str:
    """Return where the first fault of some data is, and what it is: 'a.b: is missing'."""
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"]))
    in_plain_words = {"extra_forbidden": "there is no such key", "missing": "is missing"}
    fault = in_plain_words.get(first["type"], first["msg"].removeprefix("Value error, "))
    return f"{where}: {fault[0].lower()}{fault[1:]}" if where else fault
