"""What the options of a graph or a mode may declare about their table of settings."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel


class FlatOptions(BaseModel):
    """Options whose settings may be given without the name of their table, as `levels = 3`.

    A name that several such tables have sets all of them. The settings of the core come first.
    """

    main: ClassVar[str] = ""
    """The setting that the table's own name stands for, if its value is not a table."""
