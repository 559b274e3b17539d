"""Show quotations on a terminal: as many as fit, with what matches the question in bold."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from fabula.cli.shared.tables import console
from fabula.graph.hits import Quote, describe_place

SURROUNDING_LINES = 7
"""Lines of the screen for what is around an answer: the command, the notice and the prompt."""


def show_quotes(quotes: Sequence[Quote]) -> None:
    """Print the first quotes, as many as fit on the screen."""
    screen = console()
    for head, text in on_screen(quotes, screen.width, screen.height - SURROUNDING_LINES):
        screen.print(head, soft_wrap=False)
        screen.print(text, soft_wrap=False)
        screen.print()


def on_screen(quotes: Sequence[Quote], width: int, height: int) -> list[tuple[Text, Text]]:
    """Return places and texts of the first quotes that fit into `height` lines; at least one.

    A blank line follows each. Matches are bold.
    """
    ruler = Console(width=width)
    fitting: list[tuple[Text, Text]] = []
    for quote in quotes:
        head = Text(f"[{quote.number}] {describe_place(quote.hit)}", style="dim")
        text = Text(quote.hit.text)
        for start, end in quote.matches:
            text.stylize("bold", start, end)
        text.rstrip()
        height -= len(head.wrap(ruler, width)) + len(text.wrap(ruler, width)) + 1
        if fitting and height < 0:
            break
        fitting.append((head, text))
    return fitting
