"""List the words that tell a document from others: `fabula keyness`."""

from __future__ import annotations

from dataclasses import asdict

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import choose_collection, open_app
from fabula_scholar.words.commands.word_options import WordOptions, print_rows, word_options

COLUMNS = {
    "word": "word",
    "count": "here",
    "reference_count": "there",
    "per_million": "here per million",
    "reference_per_million": "there per million",
    "log_likelihood": "log-likelihood",
    "log_ratio": "log ratio",
    "percent_difference": "%DIFF",
}


@click.command(
    "keyness",
    cls=Command,
    examples=('keyness "A Christmas Carol" --against-collection novels',),
)
@click.argument("document")
@click.option("--against", default="", help="document to compare with: its id, title or file")
@click.option("--against-collection", default="", help="collection to compare with")
@click.option("--negative", is_flag=True, help="words that are rarer here, instead")
@click.option(
    "--min-count", type=click.IntRange(1), default=3, show_default=True, help="minimum count"
)
@word_options(40, has_document=False)
def command(
    against: str,
    against_collection: str,
    negative: bool,
    min_count: int,
    options: WordOptions,
) -> None:
    """List the words that are more frequent in DOCUMENT (its id, title or file) than elsewhere.

    It is compared with another document, with another collection, or else with all others of its
    collection. Log-likelihood says how sure the difference is, log ratio (Hardie 2014) and %DIFF
    how large: a log ratio of 1 is twice as frequent.
    """
    from fabula_scholar.words.corpus import find_key_words, read_corpus, read_reference

    if against and against_collection:
        raise click.UsageError("Name a document or a collection to compare with, not both.")
    with open_app(options.settings) as app:
        fabula = choose_collection(app)
        texts = options.corpus(fabula)
        if against_collection and against_collection != fabula.name:
            reference = read_corpus(app.collection(against_collection))
        else:
            reference = read_reference(fabula, options.document, against)
        found = find_key_words(
            texts,
            reference,
            stemmed=options.stemmed,
            min_count=min_count,
            negative=negative,
            function_words=not options.content_words,
        )
    rows = [asdict(item) for item in found[: options.limit]]
    print_rows(rows, COLUMNS, options, {"words": len(found)})
