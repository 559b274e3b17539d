"""Fabula's private Neo4j: a Community server that only this machine can reach.

Most commands find it running: `running` looks for it, and `private` starts, stops and repairs it.
"""

from fabula.server.progress import IDLE, ProgressReport, ServerProgress, ignore_progress
from fabula.server.state import Address

__all__ = ["IDLE", "Address", "ProgressReport", "ServerProgress", "ignore_progress"]
