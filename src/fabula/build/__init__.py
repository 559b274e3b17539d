"""Documents into parts, and parts into the graph."""
