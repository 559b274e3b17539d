"""Count words, and runs of words: `fabula ngrams`."""

from __future__ import annotations

from dataclasses import asdict

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_for_reading
from fabula.cli.shared.screen import echo
from fabula_scholar.words.commands.word_options import WordOptions, print_rows, word_options


@click.command(
    "ngrams",
    cls=Command,
    examples=(
        'ngrams "A Christmas Carol" --content-words',
        "ngrams --size 3 --with ghost --json",
    ),
)
@click.argument("document", default="")
@click.option(
    "--size", type=click.IntRange(1, 10), default=1, show_default=True, help="words in each run"
)
@click.option("--with", "containing", default="", help="only those with this word, as ghost*")
@click.option(
    "--min-count", type=click.IntRange(1), default=1, show_default=True, help="minimum count"
)
@word_options(40, has_document=False)
def command(
    size: int,
    containing: str,
    min_count: int,
    options: WordOptions,
) -> None:
    """Count the words of DOCUMENT (its id, title or file), or of all: alone, or in runs of --size.

    Below the table are the tokens (all words), the types (different words), and their ratio; the
    standardised one is the mean over every 1,000 words, by which long and short texts can be
    compared.
    """
    from fabula_scholar.words.corpus import count_ngrams

    with open_for_reading(options.settings) as fabula:
        found = count_ngrams(
            options.corpus(fabula),
            size=size,
            stemmed=options.stemmed,
            min_count=min_count,
            function_words=not options.content_words,
            containing=containing,
            limit=options.limit,
        )
    counts = found.counts
    facts = {
        **asdict(counts),
        "ratio": counts.ratio,
        "ngrams": found.total,
        "distinct_ngrams": found.distinct,
    }
    columns = {"words": "words", "count": "count", "documents": "documents"}
    rows = [asdict(row) for row in found.rows]
    print_rows(rows, columns, options, facts)
    if options.is_table:
        echo(
            f"{counts.tokens:,} tokens, {counts.types:,} types ({counts.hapaxes:,} once), "
            f"type-token ratio {counts.ratio:.3f}, standardised {counts.standard_ratio:.3f}",
            err=True,
        )
