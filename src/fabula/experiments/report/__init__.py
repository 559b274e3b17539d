"""The report of a run: tables, figures and pages, from the files of its folder alone."""

from fabula.experiments.report.write import Written, write_report

__all__ = ["Written", "write_report"]
