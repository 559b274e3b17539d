"""The purpose of a model call: a question, whose answer somebody waits for, or a build."""

from __future__ import annotations

from dataclasses import dataclass, field

from fabula.models.stop import Stop


@dataclass(frozen=True, slots=True)
class Purpose:
    """What calls are made for.

    Attributes:
        urgent: Whether they are for a question; urgent calls go before those of builds.
        stop: Once it is set, all waiting for this purpose ends, and no call begins.
    """

    urgent: bool = False
    stop: Stop = field(default_factory=Stop)

    @property
    def cut(self) -> Stop | None:
        """The stop that also cuts off calls under way; None for a build.

        Nobody reads the reply to a stopped question. A call of a build is completed: it has to be
        paid for, and its reply is cached for the next run.
        """
        return self.stop if self.urgent else None


BUILD = Purpose()
"""The purpose of a build that is never stopped."""
