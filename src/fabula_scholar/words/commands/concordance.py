"""Show every place of a word, in context: `fabula concordance`."""

from __future__ import annotations

from dataclasses import asdict

import click
from rich.table import Table

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_for_reading
from fabula.cli.shared.screen import echo
from fabula.cli.shared.tables import print_table
from fabula.text.nouns import count_noun
from fabula_scholar.words.commands.word_options import WordOptions, print_rows, word_options
from fabula_scholar.words.concordance import SORT_ORDERS, SortOrder


@click.command(
    "concordance",
    cls=Command,
    examples=(
        "concordance ghost",
        'concordance "old|poor man*" --document "A Christmas Carol" --sort right',
        r'concordance --regex "\bChristmas [A-Z]\w+" --csv',
    ),
)
@click.argument("words")
@click.option(
    "--regex", is_flag=True, help="WORDS is a regular expression (Python), over the text as it is"
)
@click.option(
    "--sort",
    type=click.Choice(SORT_ORDERS),
    default="position",
    show_default=True,
    help="by place, by the three words on the left or the right, or by what was found",
)
@click.option(
    "--context",
    type=click.IntRange(0, 2000),
    default=60,
    show_default=True,
    help="characters on each side",
)
@click.option("--first", type=click.IntRange(0), default=0, help="number of lines to skip")
@word_options(100, has_content_words=False)
def command(
    words: str,
    regex: bool,
    sort: SortOrder,
    context: int,
    first: int,
    options: WordOptions,
) -> None:
    """Show every place where WORDS stand, in context, one place a line.

    Case and accents do not count. In a word `*` is any letters and `?` one letter; `king|queen` is
    one or the other. `fabula read 3` opens the third line.
    """
    from fabula.cli.shared.last_answer import keep_places
    from fabula.errors import NotFound
    from fabula_scholar.words.corpus import make_concordance, read_corpus

    with open_for_reading(options.settings) as fabula:
        read = options.read(fabula)
        found = make_concordance(
            read_corpus(read, options.document),
            words,
            regex=regex,
            stemmed=options.stemmed,
            sort=sort,
            context=context,
            first=first,
            limit=options.limit,
        )
        places = [
            (number, line.document, f"{line.start}-{line.end}")
            for number, line in enumerate(found.lines, first + 1)
        ]
        keep_places(f"concordance {words}", places, read)
    if not found.total:
        raise NotFound(f"The texts do not have {words!r}.")
    rows = [asdict(line) for line in found.lines]
    if not options.is_table:
        facts = {"total": found.total, "documents": dict(found.by_document)}
        print_rows(rows, {}, options, facts)
        return
    several = len(found.by_document) > 1
    table = Table(show_edge=False, show_header=False, box=None, padding=(0, 1))
    table.add_column("number", justify="right", style="dim")
    table.add_column("left", justify="right", overflow="ellipsis", no_wrap=True)
    table.add_column("node", style="bold", no_wrap=True)
    table.add_column("right", overflow="ellipsis", no_wrap=True)
    table.add_column("where", style="dim", overflow="ellipsis", no_wrap=True)
    for number, line in enumerate(found.lines, first + 1):
        where = " · ".join(
            filter(None, (line.title if several else "", line.section, str(line.start)))
        )
        table.add_row(str(number), line.left, line.node, line.right.strip(), where)
    print_table(table)
    shown = f"; these are {first + 1:,} to {first + len(rows):,}" if len(rows) < found.total else ""
    in_texts = f" in {count_noun(len(found.by_document), 'document')}" if several else ""
    echo(f"{count_noun(found.total, 'line')}{in_texts}{shown}", err=True)
