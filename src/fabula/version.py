"""The version of Fabula that is installed."""

from importlib.metadata import version

__version__ = version("fabula")
