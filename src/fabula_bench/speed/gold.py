"""What the graphs find against gold annotations that others made: LitBank and PolDraCor, offline.

The same figures as `fabula bench run gold`, each with a floor: what was measured when it was last
changed, less a margin. A change that makes one of them worse fails here.
"""

from __future__ import annotations

import tempfile
import tomllib
from pathlib import Path

from fabula.build.outcome import SilentListener
from fabula.config.settings import OFFLINE, STATIC
from fabula_bench.gold.run import NOVELS, PLAYS, GoldRun, run_gold
from fabula_bench.speed.report import Figure

FLOORS: dict[str, float] = tomllib.loads(
    Path(__file__).with_name("floors.toml").read_text(encoding="utf-8")
)
"""The least that each measure may be."""


def measure(books: Path | None) -> list[Figure]:
    """Figures of all texts in litbank/ and poldracor/ beside the folder of books."""
    data = books.parent if books else Path()
    if not books or not ((data / NOVELS).is_dir() or (data / PLAYS).is_dir()):
        return [Figure("not measured: --books names no folder beside litbank/", 0, "texts")]
    with tempfile.TemporaryDirectory() as folder:
        offline = {"model": OFFLINE, "embedding_model": STATIC}
        outcome = run_gold(GoldRun(data, Path(folder), offline), SilentListener())
    figures = outcome.systems[0].figures
    return [
        Figure("texts that could not be measured", len(outcome.failed), "", 0, must=True),
        *(
            Figure(name, figures[name].mean, "", floor, at_least=True, must=True)
            for name, floor in FLOORS.items()
            if name in figures
        ),
    ]
