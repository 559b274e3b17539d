"""Print texts, JSON, counts and notices, on a terminal or into a pipe."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from fabula.config.settings import Settings
from fabula.graph import Gap
from fabula.models.clean import clean_output, escape_json
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.build.outcome import Outcome

MAX_LISTED = 10
"""How many files a line lists."""


def echo(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text for people, without the control characters that a terminal would obey."""
    click.echo(clean_output(str(text)), err=err, nl=nl)


def notice_offline(settings: Settings, *, is_said: bool = False) -> None:
    """Tell on every run without a chat model where the texts come from, unless it `is_said`."""
    if settings.offline and not is_said:
        echo(
            "Offline: no chat model is set, so summaries and details are extracts of the text, and "
            "an answer is a list of passages. To use a model, set OPENAI_API_KEY or "
            "OPENAI_BASE_URL.",
            err=True,
        )


def print_json(value: Any) -> None:
    """Print a JSON value, indented, in UTF-8; characters that a terminal obeys are escaped."""
    click.echo(escape_json(json.dumps(value, indent=2, ensure_ascii=False)))


def local_time(moment: str) -> str:
    """Return a time of ISO 8601, as the graph has them in UTC, in the time zone of this machine."""
    try:
        return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return moment


def describe_gaps(gaps: Sequence[Gap]) -> str:
    """Return in words how many gaps there are, in which steps, and the reason for the first."""
    steps = Counter(gap.step for gap in gaps)
    by_step = " and ".join(f"{number:,} in {step}" for step, number in sorted(steps.items()))
    return f"{count_noun(len(gaps), 'gap')}, {by_step}, as {gaps[0].why.rstrip('.')}"


def show_skipped(outcomes: Iterable[Outcome]) -> None:
    """Print which files were skipped: each with a reason, and how many have no reader."""
    skipped = [outcome for outcome in outcomes if outcome.status == "skipped"]
    for outcome in skipped:
        for why in outcome.notes:
            echo(f"skipped    {outcome.source} {why}")
    names = [outcome.source for outcome in skipped if not outcome.notes]
    if not names:
        return
    kinds = Counter(PurePath(name).suffix.lower() or "without a suffix" for name in names)
    by_kind = ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common(MAX_LISTED))
    more = f" and {len(names) - MAX_LISTED:,} more" if len(names) > MAX_LISTED else ""
    echo(
        f"skipped    {count_noun(len(names), 'file')} of kinds that Fabula doesn't read "
        f"({by_kind}): {', '.join(names[:MAX_LISTED])}{more}"
    )
