"""Exchange: annotations and texts in the formats of other programs."""
