"""Writing a report into the folder of its run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from fabula.errors import FabulaError
from fabula.experiments.report.contents import report
from fabula.experiments.report.drawings import Drawings, draw
from fabula.experiments.report.page import to_html
from fabula.experiments.report.published import published
from fabula.experiments.report.read import read
from fabula.experiments.report.summary import scores, write_summary
from fabula.models.prices import Price

SUMMARY, MARKDOWN, PAGE = "summary.csv", "report.md", "report.html"
NO_PLOTS = (
    "There are no plots, as matplotlib is not installed: pip install 'fabula[bench]', and make the "
    "report again."
)


@dataclass(frozen=True, slots=True)
class Written:
    """The files of a report, in its folder; `missing` says why there are no plots, or is empty."""

    files: tuple[Path, ...]
    missing: str


def write_report(folder: Path, prices: Mapping[str, Price]) -> Written:
    """Reads a run's files and writes its tables, plots and pages beside them.

    Raises FabulaError where the folder holds no run, or can't be written to.
    """
    recorded = read(folder)
    found = scores(recorded)
    try:
        write_summary(found, folder / SUMMARY)
        has_plots = find_spec("matplotlib") is not None
        drawings = draw(recorded, found, folder) if has_plots else Drawings(missing=NO_PLOTS)
        told = report(recorded, found, drawings, published(recorded.run.suite), prices)
        (folder / MARKDOWN).write_text(told, encoding="utf-8")
        (folder / PAGE).write_text(to_html(told, folder), encoding="utf-8")
    except OSError as error:
        why = error.strerror or str(error)
        raise FabulaError(f"The report can't be written into {folder}: {why}.") from error
    files = tuple(folder / name for name in (SUMMARY, MARKDOWN, PAGE, *drawings.files))
    return Written(files, drawings.missing)
