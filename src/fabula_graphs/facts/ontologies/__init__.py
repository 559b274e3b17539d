"""Ontologies that come with Fabula, one TOML file each."""
