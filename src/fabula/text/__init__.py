"""Documents, sections and chunks, and what all graphs need to know about text."""
