"""The report of a run in Markdown: tables and charts, from the files of its folder alone."""

from fabula_bench.report.write import write_report

__all__ = ["write_report"]
