"""What leaves for other programs: files, networks, RDF, bibliographies."""
