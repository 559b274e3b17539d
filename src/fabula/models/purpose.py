"""What models are called for: a question, which somebody waits for, or a build."""

from __future__ import annotations

from dataclasses import dataclass, field

from fabula.models.stop import Stop


@dataclass(frozen=True, slots=True)
class Purpose:
    """What calls are for: a build, unless they are `urgent`, as a question's are.

    Urgent calls go before a build's. Once `stop` is set, all waiting for this ends, and nothing is
    begun.
    """

    urgent: bool = False
    stop: Stop = field(default_factory=Stop)

    @property
    def cut(self) -> Stop | None:
        """What cuts off a call under way, if anything does.

        A question's, as nobody reads the reply any more. A build's comes to its end: it is paid
        for, and its reply is kept for the next run.
        """
        return self.stop if self.urgent else None


BUILD = Purpose()
"""A build that nothing stops."""
