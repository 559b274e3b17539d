"""Gold annotations that nobody here made, and how well the graphs agree with them."""
