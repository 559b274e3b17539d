"""Whether the server's database answers: a server may live on, and shake hands, without it."""

from __future__ import annotations

import logging

from fabula.errors import DatabaseDown
from fabula.queries import query
from fabula.server.state import Address


def trouble(address: Address) -> str:
    """What is wrong with the database of the private server at `address`, or ''."""
    import neo4j
    from neo4j.exceptions import DriverError, Neo4jError

    # The driver logs what it also raises.
    logging.getLogger("neo4j").setLevel(logging.CRITICAL)
    auth = (address.username, address.password)
    try:
        with (
            neo4j.GraphDatabase.driver(address.uri, auth=auth) as driver,
            driver.session(database="neo4j") as session,
        ):
            session.run(query("core/find_time")).consume()
    except Neo4jError as error:
        return (error.message or str(error.code)) if error.code in DatabaseDown.CODES else ""
    except DriverError as error:
        return str(error)
    return ""
