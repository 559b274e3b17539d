"""List the words that stand near a word: `fabula collocates`."""

from __future__ import annotations

from dataclasses import asdict

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_for_reading
from fabula.cli.shared.screen import echo
from fabula.text.nouns import count_noun
from fabula_scholar.words.commands.word_options import WordOptions, print_rows, word_options

MEASURES = ("log_likelihood", "log_dice", "mutual_information", "count")
COLUMNS = {
    "word": "word",
    "count": "near",
    "left": "left",
    "right": "right",
    "total": "in all",
    "log_likelihood": "log-likelihood",
    "log_dice": "logDice",
    "mutual_information": "MI",
}


@click.command(
    "collocates",
    cls=Command,
    examples=("collocates ghost", "collocates ghost --left 3 --right 3 --by log_dice --stem"),
)
@click.argument("words")
@click.option("--left", type=int, default=5, show_default=True, help="words on the left")
@click.option("--right", type=int, default=5, show_default=True, help="words on the right")
@click.option(
    "--by", type=click.Choice(MEASURES), default=MEASURES[0], show_default=True, help="order"
)
@click.option(
    "--min-count",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="minimum count near WORDS",
)
@word_options(40)
def command(
    words: str,
    left: int,
    right: int,
    by: str,
    min_count: int,
    options: WordOptions,
) -> None:
    """List the words that stand near WORDS more often than elsewhere.

    Log-likelihood is that of Dunning (1993), logDice of Rychlý (2008), MI pointwise mutual
    information. A minus says that the word is rarer near WORDS than elsewhere.
    """
    from fabula_scholar.words.corpus import count_collocates

    with open_for_reading(options.settings) as fabula:
        found, nodes = count_collocates(
            options.corpus(fabula),
            words,
            left=left,
            right=right,
            stemmed=options.stemmed,
            min_count=min_count,
            function_words=not options.content_words,
        )
    found.sort(key=lambda item: (-getattr(item, by), item.word))
    rows = [asdict(item) for item in found[: options.limit]]
    facts = {"nodes": nodes, "collocates": len(found)}
    print_rows(rows, COLUMNS, options, facts)
    if options.is_table:
        echo(f"{count_noun(nodes, 'place')}, {count_noun(len(found), 'collocate')}", err=True)
