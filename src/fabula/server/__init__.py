"""Fabula's private Neo4j: a Community server that only this machine can reach."""

from fabula.server.private import Dump, PrivateServer, Status
from fabula.server.progress import IDLE, Progress, Report, quiet
from fabula.server.state import Address

__all__ = ["IDLE", "Address", "Dump", "PrivateServer", "Progress", "Report", "Status", "quiet"]
