"""The name and the purpose of the measurement on gold annotations, for lists and commands."""

GOLD = "gold"
"""Its name among the suites."""
PURPOSE = "Who is whom, who speaks and what happens, against annotations that others made."
