"""The commands of these graphs."""
