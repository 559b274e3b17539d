"""Pictures of documents: a page to explore, an SVG or a PNG.

There are four: `trees` shows summary trees, `network` entities, their relations and who speaks to
whom, `communities` the same by communities, and `story` events in the order told. Other packages
may bring more, by the contract in `fabula.library.drawing`.
"""
