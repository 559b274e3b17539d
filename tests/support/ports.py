"""Ports that stay free until a server of the test listens at them."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def free_port() -> Iterator[int]:
    """A port at which nobody listens, and which no other program is given meanwhile.

    It is bound, so that the kernel gives it to nobody, and does not listen: who connects is
    refused, and a server that sets SO_REUSEADDR, as all of ours do, may listen at it.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]
