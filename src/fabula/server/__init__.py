"""Fabula's private Neo4j: a Community server that only this machine can reach."""

from fabula.server.private import Dump, PrivateServer, ServerStatus
from fabula.server.progress import IDLE, ProgressReport, ServerProgress, ignore_progress
from fabula.server.state import Address

__all__ = [
    "IDLE",
    "Address",
    "Dump",
    "PrivateServer",
    "ProgressReport",
    "ServerProgress",
    "ServerStatus",
    "ignore_progress",
]
