"""How the private server is configured, and how it gets its first password."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fabula.errors import ServerError
from fabula.server.admin import AdminTool
from fabula.server.private_files import make_private, open_private
from fabula.server.state import HOST, Remembered

SETTINGS = {
    "dbms.security.auth_enabled": "true",
    "dbms.usage_report.enabled": "false",
    "client.allow_telemetry": "false",
    "server.fleet_discovery.enabled": "false",
    "server.http.x_forward.enabled": "false",
    "server.https.enabled": "false",
    "db.logs.query.enabled": "OFF",
    # LOAD CSV reads no file and asks no address: not for this user, nor for one who got a query in.
    "dbms.security.allow_csv_import_from_file_urls": "false",
    "server.directories.import": "import",
    "internal.dbms.cypher_ip_blocklist": "0.0.0.0/0,::/0",
    # Nothing that Fabula asks takes so long; what was forgotten ends.
    "db.transaction.timeout": "1h",
    # A private server has no replica to bring up to date: logs go once they are checkpointed.
    "db.tx_log.preallocate": "false",
    "db.tx_log.rotation.size": "32m",
    "db.tx_log.rotation.retention_policy": "keep_none",
    # Every segment of a vector index is searched on its own, and by default each book adds one:
    # merging begins at fifty. Internal settings, so a new version of Neo4j may not know them; it
    # then refuses to start and names them (tests/server/test_server_merging.py).
    "internal.dbms.index.vector.merge_policy": "TIERED",
    "internal.dbms.index.vector.segments_per_tiers": "2.0",
    # A statement is planned once, and not again for each length of a text or a list that it is
    # given: planning takes a tenth of a second and more, and finds the same plan.
    "internal.cypher.use_parameter_size": "false",
}
"""What every server of Fabula's has in common; docker-compose.yml says the same."""

QUICK_STOP = {
    # Databases are closed before this wait begins; it made a stop take 10 s instead of 1.
    "internal.server.bolt.thread_pool_shutdown_wait_time": "0s",
    # A turn is an idle transaction, which no waiting ends: 70 s. What writes has time to commit.
    "db.shutdown_transaction_end_timeout": "1s",
    "internal.db.transaction.shutdown_terminated_transaction_wait_timeout": "3s",
}
"""How a server that is told to stop does not wait for what is in vain."""


def memory(heap: str, page_cache: str) -> dict[str, str]:
    """The settings for the sizes of heap and page cache, given as 512m or 2g.

    By Neo4j's default all queries together may have seven tenths of the heap. One alone may not
    have less: to switch in a document of a quarter of it takes more than half.
    """
    return {
        "server.memory.heap.max_size": heap,
        "server.memory.pagecache.size": page_cache,
    }


def addresses(ports: Remembered) -> dict[str, str]:
    """The settings that make the server listen on loopback only, on these ports."""
    bolt, http = f"{HOST}:{ports.bolt}", f"{HOST}:{ports.http}"
    return {
        "server.default_listen_address": HOST,
        "server.default_advertised_address": HOST,
        "server.bolt.listen_address": bolt,
        "server.bolt.advertised_address": bolt,
        "server.http.listen_address": http,
        "server.http.advertised_address": http,
    }


def write_conf(folder: Path, settings: Mapping[str, str]) -> None:
    """Writes `settings` as neo4j.conf."""
    make_private(folder)
    lines = ["# Written by Fabula at every start: changes made here are lost."]
    lines += [f"{name}={value}" for name, value in settings.items()]
    with open_private(folder / "neo4j.conf") as stream:
        stream.write(("\n".join(lines) + "\n").encode())


def set_password(password: str, tool: AdminTool, neo4j: Path) -> None:
    """Makes `password` that of the user neo4j; works only before the server's first start."""
    arguments = neo4j / "conf" / "arguments"
    try:
        # Through a file, because every user of the machine can read a process's arguments.
        with open_private(arguments) as stream:
            stream.write(f"dbms set-initial-password {password}\n".encode())
        tool.run(neo4j, f"@{arguments}")
    except ServerError as error:
        raise ServerError(f"The private Neo4j's first password can't be set: {error}") from error
    finally:
        arguments.unlink(missing_ok=True)
