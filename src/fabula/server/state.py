"""The folder of the private server, and the credentials, ports and process that it records."""

from __future__ import annotations

import json
import logging
import secrets
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Self
from urllib.parse import quote

from pydantic import BaseModel, Field

from fabula.server.disk_space import write_error
from fabula.server.private_files import write_private

log = logging.getLogger(__name__)
HOST = "127.0.0.1"
USERNAME = "neo4j"
SCRATCH = "scratch."
"""How the name of a folder begins that may be deleted at any time."""
MOVING = "moving."
"""How the name of such a folder begins while stores move into it and out of it."""


@dataclass(frozen=True, slots=True)
class Address:
    """The addresses of a server, and its user and password."""

    uri: str
    browser: str
    username: str
    password: str = field(repr=False)

    @property
    def page(self) -> str:
        """Return the address of Neo4j Browser with the server and the user filled in."""
        scheme, _, place = self.uri.partition("://")
        return f"{self.browser}?dbms={scheme}://{quote(self.username, safe='')}@{place}"


@dataclass(frozen=True, slots=True)
class LastStart:
    """The last start: the server's ports and process id, 0 for none. It may have ended since."""

    bolt: int
    http: int
    pid: int = 0
    begun: float = 0.0
    """When the process began, in seconds since the epoch; 0 if that is not known."""

    @property
    def ports(self) -> set[int]:
        """Return the ports that the server's process listens on."""
        return {self.bolt, self.http}

    def without_process(self) -> LastStart:
        """Return the same ports without a process, for the next start."""
        return replace(self, pid=0, begun=0.0)

    def address(self, password: str) -> Address:
        """Return the address of a server on these ports."""
        return Address(
            uri=f"bolt://{HOST}:{self.bolt}",
            browser=f"http://{HOST}:{self.http}/browser/",
            username=USERNAME,
            password=password,
        )


class _PathInside:
    """The path of a file or folder in the folder of the private server."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def __get__(self, home: Home, owner: type[Home] | None = None) -> Path:
        return home.path.joinpath(*self._names)


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of the private server, and the paths in it."""

    path: Path
    neo4j = _PathInside("neo4j")
    """Neo4j's home: its configuration, data and logs."""
    conf = _PathInside("neo4j", "conf")
    """The folder of neo4j.conf."""
    log = _PathInside("neo4j", "logs", "neo4j.log")
    """Neo4j's log."""
    debug_log = _PathInside("neo4j", "logs", "debug.log")
    """Neo4j's internal log, which has the reasons of a failed start."""
    console = _PathInside("neo4j", "logs", "console.log")
    """The file of what the server's process has printed since its start."""
    programs = _PathInside("server")
    """The folder of jars, with a folder in it for each lock list."""
    credentials = _PathInside("credentials.json")
    """The JSON file of the user name and the password, which only this user can read."""
    state = _PathInside("state.json")
    """The JSON file of the ports and the process."""
    dumps = _PathInside("dumps")
    """The folder of the dumps that are made without a command."""
    torn_logs = _PathInside("torn_logs")
    """The folder of copies of transaction logs that were repaired."""
    last_answers = _PathInside("last_answers")
    """The folder of the citations of each terminal's last answer, for `fabula read`."""
    questions = _PathInside("questions.jsonl")
    """The file of the questions that were asked, for `fabula history`."""
    lock = _PathInside("lock")
    """The lock file, which whoever starts, stops or deletes the server holds."""

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Return the folder as a setting names it, with `~` and links resolved."""
        return cls(folder.expanduser().resolve())

    def __contains__(self, name: object) -> bool:
        """Return whether Fabula makes a file or folder of this name here."""
        files = (self.credentials, self.state, self.questions)
        paths = (self.neo4j, self.programs, self.dumps, self.torn_logs, self.last_answers, *files)
        prefixes = (SCRATCH, MOVING, *(f".{file.name}." for file in files))
        known = {path.name for path in (*paths, self.lock)}
        return isinstance(name, str) and (name in known or name.startswith(prefixes))

    def last_start(self) -> LastStart | None:
        """Return the last start; None before the first one, or if the file is damaged."""
        try:
            return _State.model_validate_json(self.state.read_bytes()).read_last_start()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise write_error(error, self.path) from error
        except ValueError:
            return None

    def recover_ports(self) -> None:
        """Record lost ports again from neo4j.conf; the process is found by its arguments."""
        configured = self._read_conf()
        if configured is not None and self.last_start() is None:
            log.warning("%s is damaged. The ports are read from neo4j.conf instead.", self.state)
            self.save_start(configured)

    def _read_conf(self) -> LastStart | None:
        """Return the ports of the last start from neo4j.conf."""
        try:
            lines = (self.conf / "neo4j.conf").read_text(encoding="utf-8").splitlines()
            values = dict(line.split("=", 1) for line in lines if "=" in line)
            bolt, http = (
                values[f"server.{name}.listen_address"].rpartition(":")[2]
                for name in ("bolt", "http")
            )
            return _State.model_validate({"bolt": bolt, "http": http, "pid": 0}).read_last_start()
        except (OSError, ValueError, KeyError):
            return None

    def save_start(self, server: LastStart) -> None:
        """Record the ports and the process for the next command."""
        write_private(self.state, json.dumps(asdict(server)))

    def password(self) -> str | None:
        """Return the server's password; None before its first start, or if the file is damaged."""
        try:
            return _Credentials.model_validate_json(self.credentials.read_bytes()).password
        except FileNotFoundError:
            return None
        except OSError as error:
            raise write_error(error, self.path) from error
        except ValueError:
            return None

    def new_password(self) -> str:
        """Return a random password, which is saved in a file of mode 0600."""
        # Hexadecimal: Neo4j's admin tool would take one that begins with a dash for an option.
        password = secrets.token_hex(24)
        write_private(self.credentials, json.dumps({"username": USERNAME, "password": password}))
        return password


class _State(BaseModel):
    """The schema of state.json."""

    bolt: int = Field(ge=1, le=65535)
    http: int = Field(ge=1, le=65535)
    pid: int = Field(ge=0, lt=2**31)
    begun: float = Field(0.0, ge=0, allow_inf_nan=False)

    def read_last_start(self) -> LastStart:
        return LastStart(self.bolt, self.http, self.pid, self.begun)


class _Credentials(BaseModel):
    """The schema of credentials.json."""

    password: str = Field(pattern=r"^[0-9A-Za-z_-]{8,200}$")
