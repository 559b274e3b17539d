"""The experiments of the method: suites of data sets, systems and metrics, run and reported."""
