"""The endpoint as a process: `python -m tests.support.endpoint --port 0` prints its URL."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import FAULTS, Endpoint, every, none

arguments = argparse.ArgumentParser(description=__doc__)
arguments.add_argument("--port", type=int, default=0)
arguments.add_argument("--delay", type=float, default=0.0, help="seconds a call takes")
arguments.add_argument("--dimensions", type=int, default=256, help="of the embeddings")
arguments.add_argument("--fault", choices=FAULTS, help="what goes wrong now and then")
arguments.add_argument("--every", type=int, default=10, help="the n-th calls go wrong")
arguments.add_argument("--notes", type=Path, help="file for a line on each answered request")
given = arguments.parse_args()
endpoint = Endpoint(
    port=given.port,
    delay=given.delay,
    dimensions=given.dimensions,
    notes=given.notes,
    plan=every(given.every, given.fault) if given.fault else none,
)
sys.stdout.write(f"{endpoint.url}\n")
sys.stdout.flush()
endpoint.serve()
