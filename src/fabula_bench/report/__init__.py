"""The report of a run in Markdown: tables and charts, from the files of its folder alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fabula.errors import FabulaError
from fabula.models.prices import Price
from fabula_bench.report.contents import write_markdown
from fabula_bench.report.published import read_published
from fabula_bench.report.read import read_run
from fabula_bench.report.summary import calculate_scores, write_summary

SUMMARY, MARKDOWN = "summary.csv", "report.md"


def write_report(folder: Path, prices: Mapping[str, Price]) -> Path:
    """Read the files of a run, write its report and summary beside them; return the report's file.

    Raises:
        FabulaError: The folder contains no run, or can't be written to.
    """
    recorded = read_run(folder)
    scores = calculate_scores(recorded)
    try:
        write_summary(scores, folder / SUMMARY)
        run = recorded.run
        published = read_published(run.suite, run.data.name, hard=run.data.hard)
        markdown = write_markdown(recorded, scores, published, prices)
        (folder / MARKDOWN).write_text(markdown, encoding="utf-8")
    except OSError as error:
        why = error.strerror or str(error)
        raise FabulaError(f"The report can't be written into {folder}: {why}.") from error
    return folder / MARKDOWN
