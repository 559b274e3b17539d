"""The benchmark: `python -m fabula_bench.speed [PART...]`.

What misses its goal is shown, and no error, unless it is a floor that must be kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import click
import psutil

from fabula_bench.speed import library, spoilers
from fabula_bench.speed.report import Figure, shown, table_rows

PARTS = (
    *("waiting", "writers", "small-documents", "names", "quotations", "gold"),
    *("stability", "spoilers", "library", "where", "large-book"),
)
"""Modules of this package, whose `measure` is given the folder of books."""
SIZED = ("library", "where")
"""Those whose library is as large as is asked for."""


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice(PARTS))
@click.option(
    "--books",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="real books to take texts from, instead of the shipped story told again and again; "
    "for gold, with litbank/ and poldracor/ beside it",
)
@click.option(
    "--passages",
    type=click.Choice(library.SIZES),
    default=library.SIZES[0],
    show_default=True,
    help="how large the library grows; 300000 takes an hour, 1000000 a night",
)
@click.option(
    "--probes",
    type=click.IntRange(min=1),
    default=spoilers.PROBES,
    show_default=True,
    help="how many questions look for spoilers; 10000 take an hour",
)
@click.option(
    "--strict",
    is_flag=True,
    help="print rows for the table of docs/scaling.md, and end with code 1 where a goal is missed",
)
@click.option("--json", "file", type=click.Path(dir_okay=False, path_type=Path), help="write here")
def main(
    parts: Sequence[str],
    books: Path | None,
    passages: int,
    probes: int,
    strict: bool,
    file: Path | None,
) -> None:
    """Measures PARTS, or everything, on servers and endpoints of its own. Takes some minutes."""
    more = {name: {"passages": passages} for name in SIZED} | {"spoilers": {"probes": probes}}
    measured: dict[str, list[Figure]] = {}
    for part in parts or PARTS:
        click.echo(f"{part} (load average {psutil.getloadavg()[0]:.1f})")
        module = import_module(f"fabula_bench.speed.{part.replace('-', '_')}")
        measured[part] = module.measure(books, **more.get(part, {}))
        click.echo(f"{shown(measured[part])}\n")
    load = f"{psutil.getloadavg()[0]:.1f}"
    click.echo(f"load average at the end: {load}, of {os.cpu_count()} CPUs")
    if file:
        results = {
            part: [asdict(figure) | {"verdict": figure.verdict} for figure in figures]
            for part, figures in measured.items()
        }
        file.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    every = [figure for figures in measured.values() for figure in figures]
    if strict:
        machine = f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, load {load}"
        for part, figures in measured.items():
            size = f" --passages {passages}" if part in SIZED else ""
            click.echo(table_rows(f"python -m fabula_bench.speed {part}{size}", figures, machine))
        if missed := [figure.what for figure in every if figure.verdict == "missed"]:
            raise click.ClickException(f"goals missed: {'; '.join(missed)}")
    if lost := [f.what for f in every if f.must and f.verdict == "missed"]:
        raise click.ClickException(f"below the floor: {'; '.join(lost)}")


main()
