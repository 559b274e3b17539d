"""Open a graph from a file with a separate server before it replaces another graph."""

from __future__ import annotations

import base64
import http.client
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from fabula.errors import ServerError
from fabula.server import process
from fabula.server.admin import AdminTool
from fabula.server.launch import Launcher
from fabula.server.progress import ProgressReport
from fabula.server.state import HOST, USERNAME, Home, LastStart

ANSWER_SECONDS = 300
"""How long the first query may take, which reads in all of a graph's indexes."""
ACCEPTED = 202
FIRST_QUERY = "MATCH (n) RETURN n LIMIT 1"


class Edit(NamedTuple):
    """A statement that changes a graph before it replaces another, and returns one number."""

    statement: str
    parameters: Mapping[str, str] = MappingProxyType({})


def open_graph(
    launcher: Launcher, tool: AdminTool, report: ProgressReport, edit: Edit | None = None
) -> int:
    """Open the graph in the launcher's home, and change it.

    Returns:
        The number that `edit` returned; 0 without one.

    Raises:
        ServerError: No server can open the graph.
    """
    try:
        server = launcher.launch(tool, None, report)
        # A server starts and accepts connections even if it could not open its graph.
        answer = run(server, launcher.home.password() or "", edit or Edit(FIRST_QUERY))
        if answer is None:
            raise ServerError("Neo4j can unpack the file, but can't open the graph in it.")
        return int(answer["data"]["values"][0][0]) if edit else 0
    finally:
        end_trial(launcher.home)


def run(server: LastStart, password: str, statement: Edit) -> Any | None:
    """Return a server's answer to a statement; None if it does not answer or refuses it."""
    login = base64.b64encode(f"{USERNAME}:{password}".encode()).decode()
    headers = {"Authorization": f"Basic {login}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection(HOST, server.http, timeout=ANSWER_SECONDS)
    try:
        body = json.dumps(statement._asdict())
        connection.request("POST", "/db/neo4j/query/v2", body, headers)
        response = connection.getresponse()
        return json.load(response) if response.status == ACCEPTED else None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def end_trial(home: Home) -> None:
    """Stop the server of a home, if one runs."""
    if pid := process.find_server(home):
        process.end(pid, process.STOP_SECONDS)
