"""Graphs beside the core: speech, discourse, facts, identities and communities of collections."""
