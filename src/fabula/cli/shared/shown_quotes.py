"""Show quotations on a terminal: at least three, shortened to fit, what matches in bold."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.text import Text

from fabula.cli.shared.tables import console
from fabula.graph.hits import Quote, describe_place
from fabula.text.sentences import spans

SURROUNDING_LINES = 5
"""Lines of the screen for what is around an answer: the command, three of notice, the prompt."""
MIN_QUOTES = 3
"""Shown on the smallest screen."""
MIN_LINES, GOOD_LINES = 2, 6
"""Lines of text that a quotation has at least, and from which a further quotation is shown."""
ELLIPSIS = "…"


def show_quotes(quotes: Sequence[Quote]) -> bool:
    """Print the first quotes, as many as fit on the screen; return whether any was shortened."""
    screen = console()
    shown = on_screen(quotes, screen.width, screen.height - SURROUNDING_LINES)
    for head, text in shown:
        screen.print(head, soft_wrap=False)
        screen.print(text, soft_wrap=False)
        screen.print()
    return any(
        text.plain != quote.hit.text.strip()
        for quote, (_, text) in zip(quotes, shown, strict=False)
    )


def on_screen(quotes: Sequence[Quote], width: int, height: int) -> list[tuple[Text, Text]]:
    """Return places and texts of quotes that fit into `height` lines together.

    There are at least `MIN_QUOTES`, if there are as many, and a further one where each still has
    `GOOD_LINES`. What is too long is shortened to what answers best and what is around it, with
    an ellipsis wherever something is left out. A blank line follows each. Matches are bold.
    """
    ruler = Console(width=width)

    def count(text: Text) -> int:
        return len(text.wrap(ruler, width))

    heads = [Text(f"[{quote.number}] {describe_place(quote.hit)}", style="dim") for quote in quotes]
    needs = [count(_whole(quote)) for quote in quotes]
    number = len(quotes)
    while True:
        room = height - sum(count(head) + 1 for head in heads[:number])
        lines = _share(room, needs[:number])
        is_good = all(
            given >= min(need, GOOD_LINES) for given, need in zip(lines, needs, strict=False)
        )
        if number <= MIN_QUOTES or is_good:
            break
        number -= 1
    return [
        (head, _whole(quote) if given >= need else _excerpt(quote, given, count))
        for head, quote, given, need in zip(heads, quotes, lines, needs, strict=False)
    ]


def _share(room: int, needs: Sequence[int]) -> list[int]:
    """Return how many of some lines each text gets: what short ones leave goes to the others."""
    lines = [0] * len(needs)
    for rank, index in enumerate(sorted(range(len(needs)), key=lambda index: needs[index])):
        equal = room // (len(needs) - rank)
        lines[index] = max(MIN_LINES, min(needs[index], equal))
        room -= lines[index]
    # What the divisions left over goes to the first text that has use for it.
    for index, need in enumerate(needs):
        more = min(max(room, 0), need - lines[index])
        lines[index] += max(more, 0)
        room -= max(more, 0)
    return lines


def _whole(quote: Quote) -> Text:
    text = Text(quote.hit.text)
    for start, end in quote.matches:
        text.stylize("bold", start, end)
    text.rstrip()
    return text


def _excerpt(quote: Quote, lines: int, count: Callable[[Text], int]) -> Text:
    """Return what answers best of a passage, and as much around it as fits into some lines."""
    sentences = spans(quote.hit.text, quote.hit.language)
    start, end = quote.key
    if start == end:
        start, end = quote.matches[0] if quote.matches else sentences[0]
    if count(_join(quote, (start, end))) > lines:
        return _cut(quote, start, end, lines, count)
    for _, last in sentences:
        # The rest of a sentence of which the key is a part, and then the next ones.
        if last > end:
            if count(_join(quote, (start, last))) > lines:
                break
            end = max(end, last)
    # Then the sentences before it, from the nearest.
    for first, last in reversed(sentences):
        if first < start and last >= start:
            if count(_join(quote, (first, end))) > lines:
                break
            start = first
    # What is left of the last line has the beginning of the next sentence.
    _, until = next((span for span in sentences if span[1] > end), (0, len(quote.hit.text)))
    return _cut(quote, start, until, lines, count, at_least=end)


def _join(quote: Quote, span: tuple[int, int]) -> Text:
    """Return a stretch of a passage, with an ellipsis wherever something of it is left out."""
    text = quote.hit.text
    start, end = span
    joined = Text(f"{ELLIPSIS} " if text[:start].strip() else "")
    piece = Text(text)
    for first, last in quote.matches:
        piece.stylize("bold", first, last)
    joined.append_text(piece[start : start + len(text[start:end].rstrip())])
    if text[end:].strip():
        joined.append(f" {ELLIPSIS}")
    return _without_blank_lines(joined)


def _without_blank_lines(text: Text) -> Text:
    """Return a text whose paragraphs follow each other: a small screen has no room for more."""
    parts = Text()
    end = 0
    for match in re.finditer(r"\n[ \t]*\n\s*", text.plain):
        parts.append_text(text[end : match.start()]).append("\n")
        end = match.end()
    return parts.append_text(text[end:])


def _cut(
    quote: Quote,
    start: int,
    end: int,
    lines: int,
    count: Callable[[Text], int],
    at_least: int = 0,
) -> Text:
    """Return the longest beginning of a stretch that fits, to a word's end, with an ellipsis."""
    ends = [start + match.end() for match in re.finditer(r"\S+", quote.hit.text[start:end])]
    text = _join(quote, (start, at_least)) if at_least > start else Text(ELLIPSIS)
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high) // 2
        shorter = _join(quote, (start, ends[middle]))
        if count(shorter) <= lines:
            text = shorter if ends[middle] > at_least else text
            low = middle + 1
        else:
            high = middle
    return text
