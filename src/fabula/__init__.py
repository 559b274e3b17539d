"""Graph RAG for long narrative texts, on Neo4j.

`__init__.pyi` has the public names, for type checkers and for Python, which imports a name when it
is first used: `fabula --help` needs none.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
