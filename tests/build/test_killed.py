"""Whatever is killed, and whenever: the same command again finishes, and pays nothing twice."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from kills import ALL, AT_ONCE, Kills

pytestmark = [
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.own_server,
]

RUNS = 20


@pytest.fixture(scope="module")
def kills(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kills]:
    made = Kills(tmp_path_factory.mktemp("kills"), ALL)
    yield made
    made.close()


@pytest.mark.parametrize("run", range(RUNS))
def test_an_ingest_that_is_killed_anywhere_goes_on_where_it_was(kills: Kills, run: int) -> None:
    # Another each time; `python tests/support/kills.py --seed N --runs 1` does one again.
    seed = random.randrange(10**6)
    tally = kills.run(seed)
    assert tally.losses == [], f"seed {seed}: {tally}"
    # What was on its way when one end was killed had been answered, but never arrived.
    on_the_way = sum("fabula" in who or "endpoint" in who for who, _ in tally.kills)
    assert tally.repeated <= AT_ONCE * on_the_way, f"seed {seed}: {tally}"
