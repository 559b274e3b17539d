"""Other systems beside a run: `python -m fabula_bench.speed.peers SUITE --out FOLDER`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from fabula.errors import FabulaError
from fabula.models.usage import Usage
from fabula_bench.speed.peers.catalogue import read_peers
from fabula_bench.speed.peers.running import run
from fabula_bench.suite import read_suite

PEERS = read_peers()
ROW = "{:<16} {:>12} {:>9} {:>8} {:>11}  {}"


@click.command()
@click.argument("suite")
@click.option("--out", "folder", type=click.Path(path_type=Path), required=True, help="of the run")
@click.option("--peer", "names", multiple=True, type=click.Choice(tuple(PEERS)), help="only these")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="ask only so many questions")
@click.option("--data", type=click.Path(path_type=Path), help="folder of the data set's files")
def main(
    suite: str, folder: Path, names: Sequence[str], limit: int | None, data: Path | None
) -> None:
    """Puts the questions of the run of SUITE in FOLDER to other systems, and keeps their results.

    The endpoint and the models are those of the environment: OPENAI_BASE_URL, OPENAI_API_KEY,
    FABULA_MODEL, FABULA_EMBEDDING_MODEL. `fabula bench report FOLDER` shows what came of it.
    """
    try:
        peers = [PEERS[name] for name in names or PEERS]
        outcomes = run(read_suite(suite), folder, data, limit, peers, click.echo)
    except FabulaError as error:
        raise click.ClickException(str(error)) from error
    click.echo(ROW.format("peer", "answered", "index s", "calls", "tokens", ""))
    for outcome in outcomes:
        total = sum(outcome.indexing.spent.values(), Usage())
        tokens = total.prompt_tokens + total.completion_tokens
        note = outcome.skipped or "; ".join(outcome.failed[:1])
        answered = f"{outcome.answered} of {outcome.asked}"
        seconds = f"{outcome.indexing.seconds:.1f}"
        click.echo(ROW.format(outcome.name, answered, seconds, total.calls, tokens, note))


if __name__ == "__main__":
    main()
