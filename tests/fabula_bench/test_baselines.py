"""What a system of an experiment is compared with."""

from __future__ import annotations

from fabula_bench.report.about import SweepPoint, System
from fabula_bench.report.summary import choose_baselines


def system(name: str, swept: SweepPoint | None = None) -> System:
    return System(name, {}, {}, {}, swept)


def swept(series: str, value: int) -> System:
    return system(f"{series} {value}", SweepPoint("context_tokens", value, series))


def test_systems_are_compared_with_the_first() -> None:
    assert choose_baselines([system("naive"), system("raptor"), swept("graph", 5)]) == {
        "raptor": "naive",
        "graph 5": "naive",
    }
    assert choose_baselines([]) == {}


def test_in_a_sweep_of_several_systems_each_is_compared_at_its_own_value() -> None:
    systems = [swept(name, value) for name in ("naive", "graph") for value in (500, 1000)]
    assert choose_baselines([*systems, swept("graph", 9), system("whole text")]) == {
        "naive 1000": "naive 500",
        "graph 500": "naive 500",
        "graph 1000": "naive 1000",
        "graph 9": "naive 500",
        "whole text": "naive 500",
    }
