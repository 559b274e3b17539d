"""The tests' own model endpoint: OpenAI's HTTP interface, deterministic replies, faults to order.

In a test: `with Endpoint(plan=every(3, "error")) as endpoint: ... endpoint.url`; in a process of
its own: `python -m tests.support.endpoint --port 0 --delay 0.2`, which prints its URL.
"""

from .faults import FAULTS, Plan, chance, every, listed, none
from .model import vector
from .server import Endpoint

__all__ = ["FAULTS", "Endpoint", "Plan", "chance", "every", "listed", "none", "vector"]
