"""Whatever is killed, and whenever: the same command again finishes, and pays nothing twice."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from kills import ALL, AT_ONCE, Kills

pytestmark = [pytest.mark.long, pytest.mark.own_server]

SEED = 710
"""Draws two kills: of Fabula and the endpoint, and of Neo4j alone, each amid an ingest."""
MORE = 20


@pytest.fixture(scope="module")
def kills(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kills]:
    made = Kills(tmp_path_factory.mktemp("kills"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kills]:
    """The same with every graph that a text may have."""
    made = Kills(tmp_path_factory.mktemp("family"), ALL)
    yield made
    made.close()


@pytest.mark.kill
def test_a_killed_ingest_goes_on_where_it_was(kills: Kills) -> None:
    goes_on(kills, SEED)


@pytest.mark.nightly
@pytest.mark.parametrize("run", range(MORE))
def test_an_ingest_that_is_killed_anywhere_goes_on_where_it_was(family: Kills, run: int) -> None:
    # Another each time; `python tests/kills.py --seed N --runs 1` does one again.
    goes_on(family, random.randrange(10**6))


def goes_on(kills: Kills, seed: int) -> None:
    tally = kills.run(seed)
    assert tally.losses == [], f"seed {seed}: {tally}"
    # What was on its way when one end was killed had been answered, but never arrived.
    on_the_way = sum("fabula" in who or "endpoint" in who for who, _ in tally.kills)
    assert tally.repeated <= AT_ONCE * on_the_way, f"seed {seed}: {tally}"
