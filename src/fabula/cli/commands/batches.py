"""`fabula batches`: the batches of model calls that runs with --batch have sent."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.options import settings_flags
from fabula.cli.shared.screen import echo, print_json
from fabula.cli.shared.tables import begin_table, print_table
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings
from fabula.errors import ModelError, NotFound, SettingsError
from fabula.models.batch_options import BatchOptions
from fabula.models.batch_store import BatchRow, BatchStore
from fabula.models.prices import cost, read_prices
from fabula.models.usage import Usage
from fabula.text.nouns import count_with_verb

if TYPE_CHECKING:
    from fabula.models.batch_rounds import BatchRounds

LOG = logging.getLogger("fabula")


@click.command("batches", cls=Command, examples=("batches", "batches --all", "batches --cancel 3"))
@click.option("--all", "show_all", is_flag=True, help="list those that have ended as well")
@click.option("--cancel", type=int, metavar="NUMBER", help="cancel a batch")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@settings_flags("base_url", "model", "embedding_model", "cache_folder")
def command(show_all: bool, cancel: int | None, as_json: bool, settings: Settings) -> None:
    """List the batches of model calls that have not ended, as the endpoint says now.

    The replies of those that have ended are saved. The documents that they are for go on when the
    command that began them is run again. What a cancelled batch has answered by then is paid for,
    and saved as well; the rest is sent again when that command is run again.
    """
    with closing(BatchStore(settings.cache_folder)) as store:
        if store.exists and store.batches():
            with closing(ModelFactory(settings)) as models:
                _update(models, store, cancel)
        elif cancel is not None:
            raise _not_found(cancel)
        rows = store.batches(open_only=not show_all) if store.exists else []
        unbooked = store.find_unbooked() if store.exists and not as_json else {}
    if as_json:
        print_json([asdict(row) for row in rows])
    elif rows:
        _show(rows)
    else:
        echo("No batch is under way.")
    if unbooked:
        echo(_describe_unbooked(unbooked, settings))


def _describe_unbooked(usages: Mapping[str, Usage], settings: Settings) -> str:
    """Return what is paid for, and counted to no document, key or job yet."""
    total = sum(usages.values(), Usage())
    price = cost(read_prices(settings.prices), usages)
    dollars = f", ${price.known:,.4f}" if price.known else ""
    calls = count_with_verb(total.calls, "call")
    return (
        f"{calls} answered that no build has used yet "
        f"({total.prompt_tokens + total.completion_tokens:,} tokens{dollars}). What is paid for is "
        "counted by the command or job that uses it."
    )


def _update(models: ModelFactory, store: BatchStore, cancel: int | None) -> None:
    """Ask the endpoint about its batches, and cancel one; list them as they were if it fails."""
    try:
        rounds = models.batch_rounds(BatchOptions())
        if cancel is not None:
            _cancel(rounds, store, cancel)
        rounds.advance()
    except (ModelError, SettingsError) as error:
        if cancel is not None:
            raise
        LOG.warning("The list shows what the endpoint said last: %s", error)


def _cancel(rounds: BatchRounds, store: BatchStore, number: int) -> None:
    row = next((row for row in store.batches() if row.number == number), None)
    if row is None:
        raise _not_found(number)
    if row.endpoint != rounds.calls.endpoint.url:
        raise NotFound(
            f"Batch {number} is at {row.endpoint}, and not at {rounds.calls.endpoint.url}.",
            advice=f"Add --base-url {row.endpoint}.",
        )
    rounds.cancel(number)


def _not_found(number: int) -> NotFound:
    return NotFound(f"No batch {number} is under way.", advice="`fabula batches` lists them.")


def _show(rows: Sequence[BatchRow]) -> None:
    numbers = ("number", "calls", "answered", "hours")
    columns = ("number", "status", "model", "calls", "answered", "hours", "batch", "note")
    table = begin_table(*columns, right=numbers)
    for row in rows:
        hours = ((row.updated if row.state == "done" else time.time()) - row.created) / 3600
        table.add_row(
            str(row.number),
            row.status or ("to be sent" if row.state in ("new", "uploaded") else "being sent"),
            row.model,
            f"{row.lines:,}",
            f"{row.done:,}",
            f"{hours:.1f}",
            row.remote,
            row.note,
        )
    print_table(table)
