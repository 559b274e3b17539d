"""Write a report into the folder of its run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from fabula.errors import FabulaError
from fabula.experiments.report.contents import write_markdown
from fabula.experiments.report.drawings import Drawings, draw_figures
from fabula.experiments.report.page import to_html
from fabula.experiments.report.published import read_published
from fabula.experiments.report.read import read_run
from fabula.experiments.report.summary import calculate_scores, write_summary
from fabula.models.prices import Price

SUMMARY, MARKDOWN, PAGE = "summary.csv", "report.md", "report.html"
NO_PLOTS = (
    "There are no plots, as matplotlib is not installed: pip install 'fabula[bench]', and make the "
    "report again."
)


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """The files of a report; `missing` says why there are no plots, or is empty."""

    files: tuple[Path, ...]
    missing: str


def write_report(folder: Path, prices: Mapping[str, Price]) -> WrittenReport:
    """Read the files of a run and write its tables, plots and pages beside them.

    Raises:
        FabulaError: The folder contains no run, or can't be written to.
    """
    recorded = read_run(folder)
    scores = calculate_scores(recorded)
    try:
        write_summary(scores, folder / SUMMARY)
        has_plots = find_spec("matplotlib") is not None
        drawings = (
            draw_figures(recorded, scores, folder) if has_plots else Drawings(missing=NO_PLOTS)
        )
        run = recorded.run
        published = read_published(run.suite, run.data.name, hard=run.data.hard)
        markdown = write_markdown(recorded, scores, drawings, published, prices)
        (folder / MARKDOWN).write_text(markdown, encoding="utf-8")
        (folder / PAGE).write_text(to_html(markdown, folder), encoding="utf-8")
    except OSError as error:
        why = error.strerror or str(error)
        raise FabulaError(f"The report can't be written into {folder}: {why}.") from error
    files = tuple(folder / name for name in (SUMMARY, MARKDOWN, PAGE, *drawings.files))
    return WrittenReport(files, drawings.missing)
