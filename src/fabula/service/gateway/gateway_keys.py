"""The keys of a gateway: `fgw_<id>_<secret>`. Its file has only a hash of each secret.

A secret has 256 random bits, so one round of SHA-256 is enough.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock

from fabula.errors import NotFound, SettingsError
from fabula.text.names import quote_name

FILE = "gateway-keys.json"
LOCK_FILE = "gateway-keys.lock"
PREFIX = "fgw_"
MAX_NAME_CHARACTERS = 100
MAX_KEY_CHARACTERS = 200
"""The longest text that is looked up as a key."""


@dataclass(frozen=True, slots=True)
class GatewayKey:
    """A key in the list of keys; `made` is a time in ISO 8601, `hash` a SHA-256 in hexadecimal."""

    id: str
    name: str
    hash: str
    made: str


class GatewayKeys:
    """The keys in a folder's file; one that is made or revoked here is so at once everywhere."""

    def __init__(self, folder: Path) -> None:
        """Use the keys in a folder; their file is made with the first key."""
        self._path = folder / FILE
        self._lock = threading.Lock()
        self._read_at: tuple[int, int, int] | None = None
        self._keys: tuple[GatewayKey, ...] = ()
        self._temporary: tuple[GatewayKey, ...] = ()

    def make(self, name: str) -> tuple[str, str]:
        """Create a key.

        Args:
            name: Whom or what it is for; metrics show it.

        Returns:
            The id of the key, and the whole key, which can't be shown again.

        Raises:
            SettingsError: The name is empty, too long, or not printable.

        """
        if not name.strip() or len(name) > MAX_NAME_CHARACTERS or not name.isprintable():
            raise SettingsError(
                f"Say whom the key is for, in {MAX_NAME_CHARACTERS} characters at most."
            )
        key, secret = _new_key(name.strip())
        with self._changing():
            self._write((*self._read(), key))
        return key.id, secret

    def make_temporary(self, name: str) -> str:
        """Return a key that only this object knows, and that ends with it."""
        key, secret = _new_key(name)
        self._temporary = (*self._temporary, key)
        return secret

    def list(self) -> Sequence[GatewayKey]:
        """Return the keys of the file, oldest first."""
        with self._lock:
            return self._read()

    def revoke(self, id: str) -> None:
        """Remove a key. Raises NotFound."""
        with self._changing():
            keys = self._read()
            left = tuple(key for key in keys if key.id != id)
            if len(left) == len(keys):
                raise NotFound(
                    f"There is no key {quote_name(id)}.",
                    advice="`fabula gateway keys` lists them.",
                )
            self._write(left)

    def find(self, secret: str) -> str | None:
        """Return the name of the key that is given; None if it is not valid."""
        id, _, rest = secret.removeprefix(PREFIX).partition("_")
        if not secret.startswith(PREFIX) or len(secret) > MAX_KEY_CHARACTERS or not rest:
            return None
        with self._lock:
            keys = (*self._temporary, *self._read())
        for key in keys:
            if key.id == id and hmac.compare_digest(key.hash, _digest(rest)):
                return key.name
        return None

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Hold the file while it is read, changed and written: no other process may between."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._lock, FileLock(self._path.with_name(LOCK_FILE)):
            yield

    def _read(self) -> tuple[GatewayKey, ...]:
        """The keys of the file, read again only after a change, as each call asks for them."""
        try:
            status = self._path.stat()
        except FileNotFoundError:
            self._read_at, self._keys = None, ()
            return ()
        read_at = (status.st_ino, status.st_mtime_ns, status.st_size)
        if read_at != self._read_at:
            try:
                rows = json.loads(self._path.read_text(encoding="utf-8"))
                self._keys = tuple(GatewayKey(**row) for row in rows)
            except (OSError, ValueError, TypeError) as error:
                raise SettingsError(
                    f"{self._path} can't be read as the gateway's list of keys: {error}."
                ) from error
            self._read_at = read_at
        return self._keys

    def _write(self, keys: Sequence[GatewayKey]) -> None:
        """Replace the file at once: a reader sees the old list or the new one."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = self._path.with_name(f"{FILE}.{os.getpid()}")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123  an open descriptor
            json.dump([asdict(key) for key in keys], file, indent=1)
        beside.replace(self._path)


def _new_key(name: str) -> tuple[GatewayKey, str]:
    """A new key and its secret form."""
    id, secret = secrets.token_hex(5), secrets.token_urlsafe(32)
    made = datetime.now(UTC).isoformat(timespec="seconds")
    return GatewayKey(id, name, _digest(secret), made), f"{PREFIX}{id}_{secret}"


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
