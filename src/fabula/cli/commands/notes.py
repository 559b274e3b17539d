"""`fabula notes`: notes and highlights on words of a document."""

from __future__ import annotations

import click

from fabula.cli.shared.help import Group
from fabula.cli.shared.operations import make_commands


@click.group("notes", cls=Group, commands=make_commands("notes"))
def command() -> None:
    """Note or highlight words of a document; list, search, export and remove notes.

    Notes are kept with the document, and survive rebuilds, and an edit of the text where their
    words do. With `--build`, or after `fabula build annotations`, they can be asked.
    """
