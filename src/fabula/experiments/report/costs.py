"""What the systems cost: calls, tokens, money where prices are known, and time.

All but time is what they asked for, whether a model or the response cache answered: what one
system asks another may have asked before it, and which came first says nothing of either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median

from fabula.experiments.report.about import Run, Stage
from fabula.experiments.report.markdown import Cell, table
from fabula.experiments.report.read import Line, Recorded
from fabula.experiments.report.wording import NOTHING, count, counted, duration, number
from fabula.models.prices import Price, cost
from fabula.models.usage import Usage

NO_PRICE = "not known"


def per_question(recorded: Recorded) -> dict[str, dict[str, float]]:
    """What a question costs each system on the average, by what it is counted in.

    Tokens to and from models, or where no system asks one, of the contexts, as those would be
    sent; and seconds, of systems that have a question without a reply from the cache.
    """
    there = {name: list(lines.values()) for name, lines in recorded.results.items() if lines}
    asked = {
        name: fmean(line.prompt_tokens + line.completion_tokens for line in lines)
        for name, lines in there.items()
    }
    read = {name: fmean(line.context_tokens for line in lines) for name, lines in there.items()}
    tokens = {"tokens a question": asked} if any(asked.values()) else {"tokens of context": read}
    times = {name: median(timed) for name, lines in there.items() if (timed := _seconds(lines))}
    return {**tokens, "seconds a question (median)": times}


def question_table(recorded: Recorded) -> str:
    """A row a system: what one question takes; of models only where one was asked."""
    lines = {name: list(found.values()) for name, found in recorded.results.items() if found}
    counts: dict[str, Callable[[Line], float]] = {"context tokens": lambda one: one.context_tokens}
    if any(one.calls for found in lines.values() for one in found):
        counts |= {
            "calls": lambda one: one.calls,
            "tokens sent": lambda one: one.prompt_tokens,
            "tokens written": lambda one: one.completion_tokens,
        }
    rows = [
        (
            system,
            *(number(fmean(map(of, found))) for of in counts.values()),
            _time(found),
        )
        for system, found in lines.items()
    ]
    head = ("system", *counts, "time (median)")
    return table("A question, on the average.", head, rows)


def time_table(run: Run) -> str:
    """A row a system: how long each stage took."""
    stages = _stages(run)
    rows = [
        (
            system.name,
            *(
                _took(system.stages[stage]) if stage in system.stages else NOTHING
                for stage in stages
            ),
        )
        for system in run.systems
        if system.stages
    ]
    caption = "Time, the whole run. A graph that systems share is shown with each of them."
    return table(caption, ("system", *stages), rows)


def model_tables(run: Run, prices: Mapping[str, Price]) -> list[str]:
    """A table a stage in which models were asked, a row a system; none offline."""
    tables = []
    for name in _stages(run):
        found = [
            (system.name, system.stages[name].spent)
            for system in run.systems
            if name in system.stages
        ]
        if any(usage != Usage() for _, spent in found for usage in spent.values()):
            rows = [(system, *_spent(spent, prices)) for system, spent in found]
            head = ("calls", "from the cache", "tokens sent", "of them cached", "tokens written")
            tables.append(
                table(f"Models, the whole run: {name}.", ("system", *head, "US dollars"), rows)
            )
    return tables


def _seconds(lines: Sequence[Line]) -> list[float]:
    """How long questions took that the cache had no part in."""
    return [line.seconds for line in lines if line.is_timed]


def _time(lines: Sequence[Line]) -> Cell | str:
    timed = _seconds(lines)
    if not timed:
        return NOTHING
    fewer = (f"n = {len(timed)}",) if len(timed) < len(lines) else ()
    return Cell(duration(median(timed)), fewer)


def _took(stage: Stage) -> Cell:
    total = sum(stage.spent.values(), Usage())
    saved = f"{count(total.saved)} of {counted(total.uncached.calls, 'call')} from the cache"
    return Cell(duration(stage.seconds), (saved,) if total.saved else ())


def _stages(run: Run) -> list[str]:
    return list(dict.fromkeys(name for system in run.systems for name in system.stages))


def _spent(spent: Mapping[str, Usage], prices: Mapping[str, Price]) -> tuple[str, ...]:
    total = sum(spent.values(), Usage())
    asked = total.uncached
    sent = (asked.prompt_tokens, total.cached_tokens)
    counts = (asked.calls, total.saved, *sent, asked.completion_tokens)
    return (*map(count, counts), _money(spent, prices))


def _money(spent: Mapping[str, Usage], prices: Mapping[str, Price]) -> str:
    found = cost(prices, {model: usage.uncached for model, usage in spent.items()})
    if found.money is None:
        return NO_PRICE
    known = found.known
    told = f"{known:,.2f}" if known >= 0.01 or not known else f"{known:.4f}"
    return f"{told} + ?" if found.unpriced else told
