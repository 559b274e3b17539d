"""Check that the server's database answers: a server may accept connections without it."""

from __future__ import annotations

import logging

from fabula.errors import DatabaseDown
from fabula.graph.queries import read_statement
from fabula.server.state import Address

CONNECT_SECONDS = 10.0
"""How long a connection to a server on loopback may take."""


def find_problem(address: Address) -> str:
    """Return what is wrong with the database of the server at an address; '' for nothing."""
    from neo4j.exceptions import DriverError, Neo4jError

    try:
        _ask(address)
    except Neo4jError as error:
        return (error.message or str(error.code)) if error.code in DatabaseDown.CODES else ""
    except DriverError as error:
        return str(error)
    return ""


def is_down(address: Address) -> bool:
    """Return whether the server answers that its database has stopped at an error."""
    from neo4j.exceptions import DriverError, Neo4jError

    try:
        _ask(address)
    except Neo4jError as error:
        return error.code in DatabaseDown.CODES
    except DriverError:
        return False
    return False


def _ask(address: Address) -> None:
    """Send a small query. Raise what the driver raises."""
    import neo4j

    # The driver logs what it raises as well.
    logging.getLogger("neo4j").setLevel(logging.CRITICAL)
    auth = (address.username, address.password)
    with (
        neo4j.GraphDatabase.driver(
            address.uri, auth=auth, connection_timeout=CONNECT_SECONDS
        ) as driver,
        driver.session(database="neo4j") as session,
    ):
        session.run(read_statement("core/find_time")).consume()
