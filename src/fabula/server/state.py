"""What the private server's folder remembers: credentials, ports and the process."""

from __future__ import annotations

import json
import logging
import secrets
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

from pydantic import BaseModel, Field

from fabula.server.disk_space import write_error
from fabula.server.private_files import write_private

log = logging.getLogger(__name__)
HOST = "127.0.0.1"
USERNAME = "neo4j"
SCRATCH = "scratch."
"""Begins the name of a folder that holds nothing anybody needs: it may be deleted at any time."""
MOVING = "moving."
"""Begins the name of such a folder while stores move into it and out of it."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server answers, and who may ask."""

    uri: str
    browser: str
    username: str
    password: str = field(repr=False)

    @property
    def page(self) -> str:
        """Neo4j Browser's page, with the server and the user filled in; never the password."""
        scheme, _, place = self.uri.partition("://")
        return f"{self.browser}?dbms={scheme}://{quote(self.username, safe='')}@{place}"


@dataclass(frozen=True, slots=True)
class LastStart:
    """The ports of the server and its process id, 0 for none; the process may be long gone."""

    bolt: int
    http: int
    pid: int = 0
    begun: float = 0.0
    """When the process began, in seconds since the epoch; 0 where that is not known."""

    @property
    def ports(self) -> set[int]:
        """Where the server's process itself listens."""
        return {self.bolt, self.http}

    def stopped(self) -> LastStart:
        """The same ports, for the next start."""
        return replace(self, pid=0, begun=0.0)

    def address(self, password: str) -> Address:
        """Where a server on these ports answers."""
        return Address(
            uri=f"bolt://{HOST}:{self.bolt}",
            browser=f"http://{HOST}:{self.http}/browser/",
            username=USERNAME,
            password=password,
        )


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of the private server, and what is where in it."""

    path: Path

    @property
    def neo4j(self) -> Path:
        """Neo4j's own home: its configuration, data and logs."""
        return self.path / "neo4j"

    @property
    def conf(self) -> Path:
        """The folder of neo4j.conf."""
        return self.neo4j / "conf"

    @property
    def log(self) -> Path:
        """Neo4j's log."""
        return self.neo4j / "logs" / "neo4j.log"

    @property
    def debug_log(self) -> Path:
        """Neo4j's log of what it does itself, in which the reasons of a failed start are."""
        return self.neo4j / "logs" / "debug.log"

    @property
    def console(self) -> Path:
        """What the server's process printed since it was started."""
        return self.neo4j / "logs" / "console.log"

    @property
    def programs(self) -> Path:
        """A folder for each lock list, with its jars."""
        return self.path / "server"

    @property
    def credentials(self) -> Path:
        """The user name and the password, as JSON, for the user's eyes only."""
        return self.path / "credentials.json"

    @property
    def state(self) -> Path:
        """The ports and the process, as JSON."""
        return self.path / "state.json"

    @property
    def dumps(self) -> Path:
        """The folder of the dumps that are kept without being asked for."""
        return self.path / "dumps"

    @property
    def torn_logs(self) -> Path:
        """The folder of copies of transaction logs that were repaired."""
        return self.path / "torn_logs"

    @property
    def last_answer(self) -> Path:
        """The citations of the last answer, as JSON, for `fabula read`."""
        return self.path / "last_answer.json"

    @property
    def lock(self) -> Path:
        """Held by whoever starts, stops or destroys the server."""
        return self.path / "lock"

    def __contains__(self, name: object) -> bool:
        """Whether a file or folder of this name is one that Fabula makes here."""
        files = (self.credentials, self.state, self.last_answer)
        own = (self.neo4j, self.programs, self.dumps, self.torn_logs, *files, self.lock)
        parts = (SCRATCH, MOVING, *(f".{file.name}." for file in files))
        known = {path.name for path in own}
        return isinstance(name, str) and (name in known or name.startswith(parts))

    def last_start(self) -> LastStart | None:
        """The ports and process of the last start; None before it, or where they are lost."""
        try:
            return _State.model_validate_json(self.state.read_bytes()).remembered()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise write_error(error, self.path) from error
        except ValueError:
            return None

    def recover_ports(self) -> None:
        """Writes ports that were lost again; the process is found by its arguments."""
        configured = self._configured()
        if configured is not None and self.last_start() is None:
            log.warning("%s is damaged: its ports are read from neo4j.conf.", self.state)
            self.save_start(configured)

    def _configured(self) -> LastStart | None:
        """The ports of the last start, as neo4j.conf has them."""
        try:
            lines = (self.conf / "neo4j.conf").read_text(encoding="utf-8").splitlines()
            given = dict(line.split("=", 1) for line in lines if "=" in line)
            bolt, http = (
                given[f"server.{name}.listen_address"].rpartition(":")[2]
                for name in ("bolt", "http")
            )
            return _State.model_validate({"bolt": bolt, "http": http, "pid": 0}).remembered()
        except (OSError, ValueError, KeyError):
            return None

    def save_start(self, server: LastStart) -> None:
        """Keeps ports and process for the next command."""
        write_private(self.state, json.dumps(asdict(server)))

    def password(self) -> str | None:
        """The server's password; None where there is none, before its first start or any more."""
        try:
            return _Credentials.model_validate_json(self.credentials.read_bytes()).password
        except FileNotFoundError:
            return None
        except OSError as error:
            raise write_error(error, self.path) from error
        except ValueError:
            return None

    def new_password(self) -> str:
        """A random password, kept in a file of mode 0600."""
        # Hex: one that began with a dash would be an option to Neo4j's admin tool.
        password = secrets.token_hex(24)
        write_private(self.credentials, json.dumps({"username": USERNAME, "password": password}))
        return password


class _State(BaseModel):
    """What state.json may hold."""

    bolt: int = Field(ge=1, le=65535)
    http: int = Field(ge=1, le=65535)
    pid: int = Field(ge=0, lt=2**31)
    begun: float = Field(0.0, ge=0, allow_inf_nan=False)

    def remembered(self) -> LastStart:
        return LastStart(self.bolt, self.http, self.pid, self.begun)


class _Credentials(BaseModel):
    """What credentials.json may hold."""

    password: str = Field(pattern=r"^[0-9A-Za-z_-]{8,200}$")
