"""Fabula as a retriever of other frameworks: a module each, imported by nobody but who uses it."""
