"""How fast Fabula is, and what it costs: `python -m fabula_bench.speed`."""

import sys
from pathlib import Path

# The spoilers are looked for in graphs that the tests' endpoint builds.
sys.path.insert(0, str(Path(__file__).parents[3] / "tests" / "support"))
