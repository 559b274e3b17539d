"""The report of a run: tables, figures and pages, from the files of its folder alone."""

from fabula.experiments.report.write import WrittenReport, write_report

__all__ = ["WrittenReport", "write_report"]
