"""Gold annotations that nobody here made, and how well the graphs agree with them."""

GOLD = "gold"
"""Its name among the suites."""
PURPOSE = "Who is whom, who speaks and what happens, against annotations that others made."
