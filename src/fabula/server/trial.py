"""Open a graph from a file with a separate server before it replaces another graph."""

from __future__ import annotations

import base64
import http.client
import json

from fabula.errors import ServerError
from fabula.server import process
from fabula.server.admin import AdminTool
from fabula.server.launch import Launcher
from fabula.server.progress import ProgressReport
from fabula.server.state import HOST, USERNAME, Home, LastStart

ANSWER_SECONDS = 300
"""How long the first query may take, which reads in all of a graph's indexes."""
ACCEPTED = 202


def refuse_unopenable(launcher: Launcher, tool: AdminTool, report: ProgressReport) -> None:
    """Raise ServerError if no server can open the graph in the launcher's home."""
    try:
        server = launcher.launch(tool, None, report)
        # A server starts and accepts connections even if it could not open its graph.
        if not opens(server, launcher.home.password() or ""):
            raise ServerError("Neo4j can unpack the file, but can't open the graph in it.")
    finally:
        end_trial(launcher.home)


def opens(server: LastStart, password: str) -> bool:
    """Return whether a server answers a query over its graph."""
    login = base64.b64encode(f"{USERNAME}:{password}".encode()).decode()
    headers = {"Authorization": f"Basic {login}", "Content-Type": "application/json"}
    query = json.dumps({"statement": "MATCH (n) RETURN n LIMIT 1"})
    connection = http.client.HTTPConnection(HOST, server.http, timeout=ANSWER_SECONDS)
    try:
        connection.request("POST", "/db/neo4j/query/v2", query, headers)
        return connection.getresponse().status == ACCEPTED
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def end_trial(home: Home) -> None:
    """Stop the server of a home, if one runs."""
    if pid := process.find_server(home):
        process.end(pid, process.STOP_SECONDS)
