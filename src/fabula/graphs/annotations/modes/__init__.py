"""The mode that finds what was annotated."""
