"""The documentation site: what is generated from the program, and how the whole is built.

`make docs` runs `python -m docs_site`. Pages that people write are in docs/; the others are made
here at each build, so that they cannot differ from the program.
"""
