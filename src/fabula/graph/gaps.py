"""How many gaps a build may have, and the gaps of a part as its graph keeps them."""

from __future__ import annotations

import logging
import textwrap
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from fabula.errors import BadReply, FabulaError, RuleError
from fabula.graph import GAP, LACKS, Gap, Part

if TYPE_CHECKING:
    from fabula.graph.builds import Build

LOG = logging.getLogger("fabula")
MAX_SHARE = 0.1
"""Of a graph's pieces: if more are missing, something other than a few passages is wrong."""
ALWAYS_ALLOWED = 1
"""Pieces that may be missing however short the text is. A story of 4,000 words has some nine
windows of `entities`: it would have to fail as a whole if a model declines one of them."""
MAX_REASON_CHARACTERS = 300
"""An endpoint may quote a whole passage."""

Values = ParamSpec("Values")
Made = TypeVar("Made")


def gaps_of(part: Part) -> tuple[Gap, ...]:
    """Return the gaps of a part, in text order."""
    rests_on: dict[str, dict[str, float]] = {}
    for edge in part.edges:
        if edge.type == LACKS:
            rests_on.setdefault(edge.start, {})[edge.end] = edge.properties["weight"]
    nodes = [node for node in part.nodes if node.label == GAP]
    place = ("start", "end")
    nodes.sort(key=lambda node: (*(node.properties.get(name, 0) for name in place), node.id))
    return tuple(
        make_gap(node.properties, node.sources, rests_on.get(node.id, {})) for node in nodes
    )


def make_gap(
    properties: Mapping[str, Any], sources: Sequence[str], rests_on: Mapping[str, float]
) -> Gap:
    """Return a gap, made of the properties of the node that stands for it."""
    common = ("name", "step", "why")
    own = {name: value for name, value in properties.items() if name not in common}
    return Gap(properties["step"], properties["why"], tuple(sources), rests_on, own)


@dataclass(frozen=True, slots=True)
class Missing:
    """Stands for a piece that could not be made; `why` says in a sentence what went wrong."""

    why: str


class GapLimit:
    """Lets a build go on without a piece that a model does not give, or that a rule fails on.

    The steps of one build share it, in all their threads. Each says how many pieces it will have,
    including those that are used again, and asks before it leaves one out. If it is `strict`, none
    may be left out. Pieces that a model does not give have to be rare. Those that rules fail on may
    be many: no setting, model or other try would give them.
    """

    def __init__(self, owner: str = "", *, strict: bool = False) -> None:
        """Begin with no gap.

        Args:
            owner: What is built, for the log, as "speech of Middlemarch".
            strict: Whether the first gap ends the build.
        """
        self._owner = owner
        self._strict = strict
        self._expected = self._gaps = 0
        self._logged: set[str] = set()
        self._counting = threading.Lock()

    def expect(self, pieces: int) -> None:
        """Add to the number of pieces that the graph should have."""
        with self._counting:
            self._expected += pieces

    def attempt(
        self,
        make: Callable[Values, Made | Build[Made]],
        *values: Values.args,
        **others: Values.kwargs,
    ) -> Build[Made | Missing]:
        """Return the piece that `make` makes, at once or as a build, or why it is left out.

        Raises:
            BadReply: No reply can be used, and too much is left out, as `accept` has it.
            RuleError: `make` failed, and no piece may be left out.
        """
        from fabula.graph.builds import settle  # a question needs none

        try:
            return (yield from settle(make(*values, **others)))
        except BadReply as error:
            return Missing(self.accept(error))
        except Exception as error:  # noqa: BLE001  those that are no fault are raised
            return self.note_fault(error)

    def catch_fault(
        self, make: Callable[Values, Made], *values: Values.args, **others: Values.kwargs
    ) -> Made | Missing:
        """Return what `make` makes, or what is wrong with its code.

        Raises:
            RuleError: `make` failed, and no piece may be left out.
        """
        try:
            return make(*values, **others)
        except Exception as error:  # noqa: BLE001  those that are no fault are raised
            return self.note_fault(error)

    def note_fault(self, error: Exception) -> Missing:
        """Return what is wrong with a graph's code, in which an error was not expected.

        It is logged with its traceback, once in a build.

        Raises:
            RuleError: No piece may be left out.
            Exception: Nothing is wrong with the code, and the next piece would have this error too.
        """
        if isinstance(error, FabulaError | MemoryError | OSError):
            raise error
        why = _describe_fault(error)
        if self._strict:
            raise RuleError(f"{self._owner}: {why}") from error
        with self._counting:
            is_new = why not in self._logged
            self._logged.add(why)
        if is_new:
            LOG.error("A gap in %s: %s", self._owner, why, exc_info=error)
        return Missing(why)

    def accept(self, error: BadReply) -> str:
        """Return why a piece is left out, for its gap.

        Raises:
            BadReply: Too many are left out: two or more, and over a tenth of the pieces expected so
                far; the only piece there is; or any, if `strict`.
        """
        if self._strict:
            raise error
        why = textwrap.shorten(str(error), MAX_REASON_CHARACTERS, placeholder="…")
        with self._counting:
            self._gaps += 1
            gaps, expected = self._gaps, self._expected
        # Of a single piece none may be missing: nothing would be left.
        if gaps > max(min(ALWAYS_ALLOWED, expected - 1), MAX_SHARE * expected):
            raise BadReply(
                f"{gaps:,} of {expected:,} pieces of the graph are missing, more than a tenth. "
                f"The last: {why}"
            ) from error
        return why


def _describe_fault(error: Exception) -> str:
    """Return in a sentence which error came from which line of the program."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    what = f"{type(error).__name__} in {Path(place.filename).name}, line {place.lineno}"
    why = f"a rule failed with {what}, which is a fault of the program ({error})."
    return textwrap.shorten(why, MAX_REASON_CHARACTERS, placeholder="…")
