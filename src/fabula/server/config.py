"""The private server's configuration and its first password."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fabula.errors import ServerError
from fabula.server.admin import AdminTool
from fabula.server.private_files import make_private, open_private
from fabula.server.state import HOST, LastStart

SETTINGS = {
    "dbms.security.auth_enabled": "true",
    "dbms.usage_report.enabled": "false",
    "client.allow_telemetry": "false",
    "server.fleet_discovery.enabled": "false",
    "server.http.x_forward.enabled": "false",
    "server.https.enabled": "false",
    "db.logs.query.enabled": "OFF",
    # LOAD CSV reads no file and no address, neither for this user nor for an injected query.
    "dbms.security.allow_csv_import_from_file_urls": "false",
    "server.directories.import": "import",
    "internal.dbms.cypher_ip_blocklist": "0.0.0.0/0,::/0",
    # No statement of Fabula takes so long; a forgotten transaction ends.
    "db.transaction.timeout": "1h",
    # A private server has no replica, so logs are deleted once they are checkpointed.
    "db.tx_log.preallocate": "false",
    "db.tx_log.rotation.size": "32m",
    "db.tx_log.rotation.retention_policy": "keep_none",
    "internal.dbms.index.vector.merge_policy": "TIERED",
    "internal.dbms.index.vector.segments_per_tiers": "2.0",
    # A statement is planned once, and not for each length of a text or a list among its parameters:
    # planning takes a tenth of a second or more, and finds the same plan.
    "internal.cypher.use_parameter_size": "false",
}
"""The settings of every server of Fabula's; docker-compose.yml has the same."""

QUICK_STOP = {
    # Databases are closed before this wait begins. It made a stop take 10 s instead of 1.
    "internal.server.bolt.thread_pool_shutdown_wait_time": "0s",
    # A lock is an idle transaction, for which a stop would wait 70 s. A writer still has time to
    # commit.
    "db.shutdown_transaction_end_timeout": "1s",
    "internal.db.transaction.shutdown_terminated_transaction_wait_timeout": "3s",
}
"""Settings by which a server that is asked to stop does not wait for nothing."""


def memory(heap: str, page_cache: str) -> dict[str, str]:
    """Return the settings for the sizes of heap and page cache, such as 512m or 2g.

    By Neo4j's default all queries together may use seven tenths of the heap. A single query needs
    as much: the switch of a document of a quarter of the heap takes more than half of it.
    """
    return {
        "server.memory.heap.max_size": heap,
        "server.memory.pagecache.size": page_cache,
    }


def addresses(ports: LastStart) -> dict[str, str]:
    """Return the settings that make the server listen only on loopback, on these ports."""
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
    """Write settings as neo4j.conf."""
    make_private(folder)
    lines = ["# Written by Fabula at every start: changes made here are lost."]
    lines += [f"{name}={value}" for name, value in settings.items()]
    with open_private(folder / "neo4j.conf") as stream:
        stream.write(("\n".join(lines) + "\n").encode())


def set_password(password: str, tool: AdminTool, neo4j: Path) -> None:
    """Set the password of the user neo4j. This works only before the server's first start."""
    arguments = neo4j / "conf" / "arguments"
    try:
        # In a file, because every user of the machine can read a process's arguments.
        with open_private(arguments) as stream:
            stream.write(f"dbms set-initial-password {password}\n".encode())
        tool.run(neo4j, f"@{arguments}")
    except ServerError as error:
        raise ServerError(f"The private Neo4j's first password can't be set: {error}") from error
    finally:
        arguments.unlink(missing_ok=True)
