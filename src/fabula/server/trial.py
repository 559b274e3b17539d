"""A graph from a file is opened by a server of its own before it takes another's place."""

from __future__ import annotations

import base64
import http.client
import json

from fabula.errors import ServerError
from fabula.server import process
from fabula.server.admin import AdminTool
from fabula.server.launch import Launcher
from fabula.server.progress import Report
from fabula.server.state import HOST, USERNAME, Home, Remembered

ANSWER_PATIENCE = 300
"""Seconds: the first query reads all of a graph's plans and indexes in."""
FINE = 202


def refuse_unopenable(launcher: Launcher, tool: AdminTool, report: Report) -> None:
    """Raises ServerError where no server can open the graph in the launcher's home."""
    try:
        server = launcher.launch(tool, None, report)
        answer = _answer(server, launcher.home.password() or "")
    finally:
        end_trial(launcher.home)
    if answer:
        raise ServerError(f"Neo4j can't open the graph: {answer}.")


def end_trial(home: Home) -> None:
    """Ends the server of `home`, if one runs."""
    if pid := process.search(home):
        process.end(pid, process.STOP_PATIENCE)


def _answer(server: Remembered, password: str) -> str:
    """What `server` says against a query of its graph; nothing where it answers."""
    login = base64.b64encode(f"{USERNAME}:{password}".encode()).decode()
    headers = {"Authorization": f"Basic {login}", "Content-Type": "application/json"}
    query = json.dumps({"statement": "MATCH (n) RETURN n LIMIT 1"})
    connection = http.client.HTTPConnection(HOST, server.http, timeout=ANSWER_PATIENCE)
    try:
        connection.request("POST", "/db/neo4j/query/v2", query, headers)
        response = connection.getresponse()
        said = response.read()
        if response.status == FINE:
            return ""
        return str(json.loads(said)["errors"][0]["message"]).rstrip(".")
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError) as error:
        return str(error) or type(error).__name__
    finally:
        connection.close()
