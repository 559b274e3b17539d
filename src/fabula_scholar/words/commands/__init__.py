"""The commands on words."""
