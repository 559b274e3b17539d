"""What the private server's folder remembers: credentials, ports and the process."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path

from fabula.errors import ServerError
from fabula.server.room import refused

HOST = "127.0.0.1"
USERNAME = "neo4j"


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server answers, and who may ask."""

    uri: str
    browser: str
    username: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Remembered:
    """The ports of the server and its process id, 0 for none; the process may be long gone."""

    bolt: int
    http: int
    pid: int = 0

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
    def lock(self) -> Path:
        """Held by whoever starts, stops or destroys the server."""
        return self.path / "lock"

    def remembered(self) -> Remembered | None:
        """The ports and process of the last start; None before the first."""
        try:
            found = json.loads(self.state.read_text(encoding="utf-8"))
            return Remembered(int(found["bolt"]), int(found["http"]), int(found["pid"]))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise refused(error, self.path) from error
        except (ValueError, KeyError, TypeError):
            # Nothing in it is worth more than a new start: ports are chosen again.
            return None

    def remember(self, server: Remembered) -> None:
        """Keeps ports and process for the next command."""
        _write(self.state, json.dumps(asdict(server)))

    def password(self) -> str | None:
        """The server's password; None before there is one."""
        try:
            return str(json.loads(self.credentials.read_text(encoding="utf-8"))["password"])
        except FileNotFoundError:
            return None
        except OSError as error:
            raise refused(error, self.path) from error
        except (ValueError, KeyError, TypeError) as error:
            raise ServerError(
                f"{self.credentials} does not hold the password of the private Neo4j any more. Put "
                "the file back, or begin again with `fabula db destroy`."
            ) from error

    def new_password(self) -> str:
        """A random password, kept in a file of mode 0600."""
        # Hex: one that began with a dash would be an option to Neo4j's admin tool.
        password = secrets.token_hex(24)
        _write(self.credentials, json.dumps({"username": USERNAME, "password": password}))
        return password


def _write(file: Path, text: str) -> None:
    """Replaces `file` at once; only the user may read it."""
    part = file.with_name(f".{file.name}.{os.getpid()}")
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text + "\n")
        stream.flush()
        os.fsync(stream.fileno())  # else a power cut may leave the new name with nothing in it
    part.replace(file)
