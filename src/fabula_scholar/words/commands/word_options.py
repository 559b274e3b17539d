"""Options and output that the commands on words have in common: concordance, collocates, ..."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from fabula.cli.shared.options import GRAPH, settings_flags, until_flag
from fabula.cli.shared.screen import print_json
from fabula.cli.shared.tables import print_table
from fabula.config.settings import Settings
from fabula.export.cells import format_csv

if TYPE_CHECKING:
    from fabula.app.collection import Collection
    from fabula_scholar.words.corpus import Corpus

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class WordOptions:
    """What every command on words is given, besides what it looks for.

    Attributes:
        settings: The settings.
        document: The only document that is counted: its id, title or file; '' for all.
        until: The place up to which the reader has read it; '' for the end.
        stemmed: Whether other forms of a word are the same.
        content_words: Whether function words are left out of the result.
        limit: How many rows are printed at most.
        as_json: Whether they are printed as JSON.
        as_csv: Whether they are printed as CSV.

    """

    settings: Settings
    document: str
    until: str
    stemmed: bool
    limit: int
    as_json: bool
    as_csv: bool
    content_words: bool = False

    def corpus(self, collection: Collection) -> Corpus:
        """Return the texts that are counted."""
        from fabula_scholar.words.corpus import read_corpus

        return read_corpus(self.read(collection), self.document)

    def read(self, collection: Collection) -> Collection:
        """Return the collection as far as the reader has read."""
        return collection.as_read(self.document, self.until)

    @property
    def is_table(self) -> bool:
        """Whether a person reads the rows."""
        return not (self.as_json or self.as_csv)


def word_options(
    limit: int, *, has_document: bool = True, has_content_words: bool = True
) -> Callable[[Function], Function]:
    """Give a command the options that all commands on words have, as one value, `options`.

    Args:
        limit: The default of --limit.
        has_document: Whether to add --document; a command without takes the document as argument.
        has_content_words: Whether to add --content-words.

    """
    flags: list[Callable[[Function], Function]] = [
        click.option(
            "--stem",
            "stemmed",
            is_flag=True,
            help="count other forms of a word as the same (stems)",
        ),
        click.option(
            "--limit", type=click.IntRange(1), default=limit, show_default=True, help="maximum rows"
        ),
        click.option("--json", "as_json", is_flag=True, help="print JSON"),
        click.option("--csv", "as_csv", is_flag=True, help="print CSV"),
        until_flag,
        settings_flags(*GRAPH),
    ]
    if has_content_words:
        about = "leave out function words, such as 'the'"
        flags.insert(1, click.option("--content-words", is_flag=True, help=about))
    if has_document:
        about = "only in this document: its id, title or file"
        flags.insert(0, click.option("--document", default="", help=about))
    names = {field.name for field in fields(WordOptions)}

    def decorate(command: Function) -> Function:
        @functools.wraps(command)
        def with_options(**values: Any) -> Any:
            common = {name: values.pop(name) for name in names & values.keys()}
            return command(options=WordOptions(**common), **values)

        wrapped: Function = with_options
        for flag in reversed(flags):
            wrapped = flag(wrapped)
        return wrapped

    return decorate


def print_rows(
    rows: Sequence[Mapping[str, Any]],
    columns: Mapping[str, str],
    options: WordOptions,
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Print rows as a table, as CSV, or as JSON with some facts about all of them.

    Args:
        rows: Each by the names of its values.
        columns: The headings of a table by these names; CSV and JSON have all values.
        options: Say how rows are printed.
        facts: What else JSON has.

    """
    if options.as_json:
        print_json({**(facts or {}), "rows": list(rows)})
        return
    if options.as_csv:
        names = list(rows[0]) if rows else list(columns)
        click.echo(format_csv(names, [[row[name] for name in names] for row in rows]), nl=False)
        return
    table = Table(show_edge=False)
    is_number = {name: bool(rows) and isinstance(rows[0][name], int | float) for name in columns}
    for name, heading in columns.items():
        table.add_column(heading, justify="right" if is_number[name] else "left")
    for row in rows:
        table.add_row(*(_cell(row[name]) for name in columns))
    print_table(table)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
