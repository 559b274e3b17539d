"""Make the tables of costs: calls, tokens, money where prices are known, and time.

Everything except time counts what systems asked for, whether a model or the response cache
answered: otherwise a system would look cheaper because another one asked the same before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median

from fabula.models.prices import Cost, Price, cost
from fabula.models.usage import Usage
from fabula.text.nouns import count_noun
from fabula_bench.model import Result
from fabula_bench.report.about import Run, Stage
from fabula_bench.report.markdown import Cell, table
from fabula_bench.report.read import Recorded
from fabula_bench.report.wording import NOTHING, format_duration, format_number

NO_PRICE = "not known"


def question_table(recorded: Recorded) -> str:
    """Return what one question costs each system; models only if one was asked."""
    lines = {name: list(results.values()) for name, results in recorded.results.items() if results}
    counts: dict[str, Callable[[Result], float]] = {
        "context tokens": lambda line: line.context_tokens
    }
    if any(line.calls for results in lines.values() for line in results):
        counts |= {
            "calls": lambda line: line.calls,
            "tokens sent": lambda line: line.prompt_tokens,
            "tokens written": lambda line: line.completion_tokens,
        }
    rows = [
        (
            system,
            *(format_number(fmean(map(count_line, results))) for count_line in counts.values()),
            _time(results),
        )
        for system, results in lines.items()
    ]
    head = ("system", *counts, "time (median)")
    return table("A question, on the average.", head, rows)


def time_table(run: Run) -> str:
    """Return how long each stage of each system took."""
    stages = _stages(run)
    rows = [
        (
            system.name,
            *(
                _stage_cell(system.stages[stage]) if stage in system.stages else NOTHING
                for stage in stages
            ),
        )
        for system in run.systems
        if system.stages
    ]
    caption = "Time, the whole run. A graph that systems share is shown with each of them."
    return table(caption, ("system", *stages), rows)


def model_tables(run: Run, prices: Mapping[str, Price]) -> list[str]:
    """Return a table for each stage that asked models; none offline."""
    tables = []
    for name in _stages(run):
        spent_by_system = [
            (system.name, system.stages[name].spent)
            for system in run.systems
            if name in system.stages
        ]
        if any(usage != Usage() for _, spent in spent_by_system for usage in spent.values()):
            rows = [(system, *_spent(spent, prices)) for system, spent in spent_by_system]
            head = ("calls", "from the cache", "tokens sent", "of them cached", "tokens written")
            tables.append(
                table(f"Models, the whole run: {name}.", ("system", *head, "US dollars"), rows)
            )
    return tables


def _time(lines: Sequence[Result]) -> Cell | str:
    # Those of questions that the cache did not answer.
    timed = [
        line.seconds for line in lines if not any(usage.saved for usage in line.spent.values())
    ]
    if not timed:
        return NOTHING
    fewer = (f"n = {len(timed)}",) if len(timed) < len(lines) else ()
    return Cell(format_duration(median(timed)), fewer)


def _stage_cell(stage: Stage) -> Cell:
    total = sum(stage.spent.values(), Usage())
    saved = f"{total.saved:,} of {count_noun(total.uncached.calls, 'call')} from the cache"
    return Cell(format_duration(stage.seconds), (saved,) if total.saved else ())


def _stages(run: Run) -> list[str]:
    return list(dict.fromkeys(name for system in run.systems for name in system.stages))


def _spent(spent: Mapping[str, Usage], prices: Mapping[str, Price]) -> tuple[str, ...]:
    total = sum(spent.values(), Usage())
    uncached = total.uncached
    sent = (uncached.prompt_tokens, total.cached_tokens)
    counts = (uncached.calls, total.saved, *sent, uncached.completion_tokens)
    return (*(f"{count:,}" for count in counts), _money(spent, prices))


def _money(spent: Mapping[str, Usage], prices: Mapping[str, Price]) -> str:
    return format_cost(cost(prices, {model: usage.uncached for model, usage in spent.items()}))


def format_cost(total: Cost) -> str:
    """Return a cost in US dollars; a question mark stands for models without a known price."""
    if total.money is None:
        return NO_PRICE
    known = total.known
    text = f"{known:,.2f}" if known >= 0.01 or not known else f"{known:.4f}"
    return f"{text} + ?" if total.unpriced else text
