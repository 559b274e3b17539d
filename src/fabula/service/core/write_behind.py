"""Writes that an answer does not wait for, and that do not fail it: they are tried again."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextvars import copy_context

from fabula.errors import StoreError

LOG = logging.getLogger("fabula.service")
WAIT_SECONDS = 2.0
"""How long the reader of a finished answer waits for it to be kept, before being told it is not."""
DELAYS_SECONDS = (0.0, 0.5, 1.0, 3.0, 10.0, 30.0, 60.0)
"""Before each attempt. A Neo4j that is restarted is back within the sum of them."""


def write_behind(write: Callable[[], None], description: str) -> bool:
    """Run a write in a thread of its own, again after each StoreError.

    Args:
        write: Writes to Neo4j. It may be called several times.
        description: What is written, as the log calls it.

    Returns:
        Whether it was written within `WAIT_SECONDS`. If not, it is still tried until the delays are
        used up, and the log says how that ended.
    """
    is_written = threading.Event()

    def attempt() -> None:
        for delay in DELAYS_SECONDS:
            time.sleep(delay)
            try:
                write()
            except StoreError as error:
                LOG.warning("%s is not written yet: %s", description, error)
            except Exception:
                LOG.exception("%s is lost, as it can't be written.", description)
                return
            else:
                is_written.set()
                return
        LOG.error(
            "%s is lost: it was not written in %d attempts.", description, len(DELAYS_SECONDS)
        )

    threading.Thread(
        target=copy_context().run, args=(attempt,), name="write-behind", daemon=True
    ).start()
    return is_written.wait(WAIT_SECONDS)
