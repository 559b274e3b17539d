"""`fabula query`: answer a question, with the passages that the answer is based on."""

from __future__ import annotations

import re
import sys
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.last_answer import keep_answer, keep_question
from fabula.cli.shared.opening import choose_collection, open_app
from fabula.cli.shared.options import ASKING, GRAPH, settings_flags, until_flag, where_flag
from fabula.cli.shared.screen import echo, notice_offline, print_json
from fabula.config.settings import Settings
from fabula.graph.hits import describe_place
from fabula.models import NO_ANSWER
from fabula.text.names import EVERYTHING
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.ask.answer import Answer, AnswerStream
    from fabula.ask.query import Query
    from fabula.graph.entries import Entry
    from fabula.graph.trace import Trace
    from fabula.library import App
    from fabula.library.collection import Collection
    from fabula.operations.asking import BegunAnswer

ASPECTS = "plot, character, setting, point of view, style, theme, irony and symbol"
"""The aspects of the default set."""
Form = Literal["text", "json", "markdown"]
"""How an answer is printed."""
NOTHING = "Nothing in the graph passes these filters."
MAX_QUOTED = 300
"""How many characters of a cited sentence are shown."""
MAX_QUOTATION = 160
"""How many characters of a quotation that was compared with the books are shown."""


@click.command(
    "query",
    cls=Command,
    examples=(
        'query "Why does Scrooge change?"',
        'query "Who is Fred?" --document "A Christmas Carol" --aspect character',
        'query "Why does Scrooge change?" --markdown > answer.md',
        'query "Why does Scrooge change?" --dry-run',
        "query - < question.txt",
    ),
)
@click.argument("words", nargs=-1, required=True, metavar="QUESTION")
@click.option(
    "--document",
    multiple=True,
    metavar="NAME",
    help="only this document: id, title or file; may be repeated",
)
@where_flag
@click.option(
    "--aspect",
    "aspects",
    multiple=True,
    metavar="NAME",
    help=f"only summaries of these: {ASPECTS}, or others that `fabula show` lists",
)
@until_flag
@click.option("--level", "levels", metavar="N or N-M", help="only these levels")
@click.option(
    "--kind", "kinds", multiple=True, metavar="NAME", help="only these: chunk, summary, detail, ..."
)
@click.option(
    "--across",
    metavar="NAMES",
    help="ask several collections, as novels,plays; 'all' for all of them",
)
@click.option("--show-context", is_flag=True, help="show the passages that the model was given")
@click.option("--explain", is_flag=True, help="show how passages were found, step by step")
@click.option("--dry-run", is_flag=True, help="only show the expected calls and cost")
@click.option("--json", "as_json", is_flag=True, help="print JSON (docs/answer-fields.md)")
@click.option("--markdown", "as_markdown", is_flag=True, help="print Markdown with footnotes")
@settings_flags(*GRAPH, *ASKING)
def command(
    words: tuple[str, ...],
    across: str | None,
    show_context: bool,
    explain: bool,
    dry_run: bool,
    as_json: bool,
    as_markdown: bool,
    settings: Settings,
    **filters: Any,
) -> None:
    """Answer QUESTION from the graph's passages: chunks, summaries and details.

    A dash reads the question from standard input. `fabula search` shows the passages alone.
    """
    from fabula.ask.query import Query
    from fabula.library.across import find_collections
    from fabula.operations.asking import BegunAnswer

    _refuse_contradictions(across, dry_run, as_markdown, as_json, explain, show_context)
    question = sys.stdin.read().strip() if words == ("-",) else " ".join(words)
    given = {name: value for name, value in filters.items() if value}
    query = Query.of(question, settings, **given)
    # On a terminal the line below an answer says this: the screen has no room for both.
    has_closing_line = sys.stdout.isatty() and not (as_json or as_markdown or dry_run)
    notice_offline(settings, is_said=has_closing_line)
    names = _collection_names(across) if across else None
    with open_app(settings) as app:
        among = [choose_collection(app)] if names is None else find_collections(app, names)
        if names is None:
            _notice_place(query, among[0])
        if dry_run:
            _show_expected(query, among[0], settings, as_json=as_json)
            return
        form: Form = "json" if as_json else "markdown" if as_markdown else "text"
        begun = BegunAnswer(None, query, among, is_across=names is not None)
        followed = begun.path if explain else None
        is_found = _answer(begun, app, among[0], query, form, show_context, followed)
        if as_json:
            return
        if not is_found:
            echo(NOTHING, err=True)
        if explain:
            from fabula.cli.shared.trace import print_trace

            print_trace(begun.path)
    if not is_found:
        raise click.exceptions.Exit(1)


def _refuse_contradictions(
    across: str | None,
    dry_run: bool,
    as_markdown: bool,
    as_json: bool,
    explain: bool,
    show_context: bool,
) -> None:
    """Raise UsageError for flags that ask for two different things."""
    if as_markdown and (as_json or explain):
        raise click.UsageError("--markdown prints an answer alone: leave the other flag out.")
    if dry_run and (as_markdown or explain or show_context):
        raise click.UsageError("--dry-run shows an estimate alone: leave the other flag out.")
    if across and (dry_run or explain):
        flag = "--dry-run" if dry_run else "--explain"
        raise click.UsageError(f"{flag} is about one collection: leave it out, or --across.")


def _collection_names(across: str) -> tuple[str, ...]:
    return () if across.strip() == EVERYTHING else tuple(filter(None, re.split(r"[,\s]+", across)))


def _answer(
    begun: BegunAnswer,
    app: App,
    collection: Collection,
    query: Query,
    form: Form,
    show_context: bool,
    followed: Trace | None,
) -> bool:
    """Print an answer, keep what it cites and the question; return whether passages were found."""
    about, stream = begun.about_collections, begun.stream
    across = ",".join(about.get("collections", ()))
    for name, why in about.get("left_out", {}).items():
        echo(f"Left out: collection {name}. {why}", err=True)
    if form == "json":
        from fabula.operations.shown_answer import to_json

        shown = begun.show()
        keep_question(query, stream.answer, collection, across)
        print_json(to_json(shown))
        return True
    if not stream.hits:
        return False

    def keep() -> None:
        keep_answer(stream.answer, collection)
        keep_question(query, stream.answer, collection, across)

    try:
        if form == "markdown":
            _print_markdown(stream.answer, app, collection)
        else:
            is_offline = collection.settings.offline
            # If they are `followed`, steps taken meanwhile are printed as they end.
            print_answer(stream, show_context, followed, is_offline=is_offline)
    except BrokenPipeError:
        keep()  # Whoever reads only the beginning, as by `head`, may open what it cites.
        raise
    keep()
    return True


def _print_markdown(answer: Answer, app: App, collection: Collection) -> None:
    from fabula.export.markdown import books_of, markdown

    owners = {each.hit.document: each.hit.collection for each in answer.context}

    def find(id: str) -> Entry:
        owner = owners.get(id)
        return (app.collection(owner) if owner else collection).document(id)

    echo(markdown(answer, books_of([answer], find)))


def _notice_place(query: Query, collection: Collection) -> None:
    """Say what was understood by the place up to which the reader has read."""
    if volumes := collection.read_volumes(query.until, query.only_document):
        echo(f"Only what is read is used: {volumes}.", err=True)
    elif query.until:
        place = collection.reading_place(query.until, query.only_document)
        echo(f"Only what is read {place} of {place.document.title} is used.", err=True)


def _show_expected(
    query: Query, collection: Collection, settings: Settings, *, as_json: bool
) -> None:
    """Print what a question would ask of models."""
    from fabula.operations.asking import estimate_query

    expected = estimate_query(collection, query)
    if as_json:
        from fabula.operations.shown_answer import to_json

        print_json(to_json(expected))
    else:
        from fabula.cli.shared.estimate import show_steps

        show_steps(expected.usage, settings)


def print_answer(
    stream: AnswerStream,
    show_context: bool,
    followed: Trace | None = None,
    *,
    is_offline: bool,
    opener: str = "fabula read",
) -> None:
    """Print an answer while it is written, then what it cites; or the closest passages.

    Args:
        stream: The answer.
        show_context: Whether to print what it is written from first.
        followed: The trace whose new steps are printed, on standard error, as they end.
        is_offline: Whether no model answers.
        opener: The command that opens a passage by its number.
    """
    if show_context:
        if stream.brief:
            echo(f"Brief: {stream.brief}\n")
        for passage in stream.context:
            echo(
                f"[{passage.number}] {describe_place(passage.hit, passage.spans)}\n{passage.text}\n"
            )
    if stream.quotes:
        print_quotes(stream, show_context=show_context, opener=opener)
        return
    try:
        shown = len(followed.root.steps) if followed else 0
        for piece in stream:
            for step in followed.root.steps[shown:] if followed else ():
                echo(f"{step.name}: {step.note}", err=True)
                shown += 1
            echo(piece, nl=False)
    finally:
        # An error after a partial answer must begin on a line of its own.
        echo("\n")
    if is_offline and stream.text == NO_ANSWER:
        echo(
            "Offline: no model was asked, and no passage has enough of the question's words to "
            "answer it."
        )
    from fabula.ask.quotations.passage_quotes import quote_cited

    for quote in quote_cited(stream.answer):
        echo(f"[{quote.number}] {describe_place(quote.hit, quote.matches)}")
        for start, end in quote.matches:
            words = " ".join(quote.hit.text[start:end].split())
            echo(f"    {textwrap.shorten(words, MAX_QUOTED, placeholder=' ...')}")
    print_verification(stream.answer)


def print_verification(answer: Answer) -> None:
    """Print which quotations of an answer are in the books, and which citations are weak or wrong.

    Nothing is printed of an answer that no model wrote: it consists of the books' own words.
    """
    if answer.quotes:
        return
    lines = []
    if counts := Counter(each.status for each in answer.quotations):
        total = ", ".join(f"{number} {status}" for status, number in counts.items())
        lines.append(f"Quotations compared with the books: {total}.")
    lines += [f"  {line}" for each in answer.quotations if (line := each.describe(_shorten))]
    lines += [
        f"Weak citation [{each.number}]: the passage has no word of “{_shorten(each.sentence)}”."
        for each in answer.weak_citations
    ]
    if answer.citation_warning:
        lines.append(answer.citation_warning)
    if lines:
        echo("\n" + "\n".join(lines))


def _shorten(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= MAX_QUOTATION else f"{words[:MAX_QUOTATION]}…"


def print_quotes(stream: AnswerStream, *, show_context: bool, opener: str) -> None:
    """Print the closest passages; on a terminal at least three, shortened to fit."""
    count = len(stream.context)
    is_shortened = False
    if sys.stdout.isatty():
        from fabula.cli.shared.shown_quotes import show_quotes

        is_shortened = show_quotes(stream.quotes)
    else:
        for quote in stream.quotes:
            echo(f"[{quote.number}] {describe_place(quote.hit)}\n{quote.hit.text.rstrip()}\n")
    manner = "shortened to the screen" if is_shortened else "as the book prints them"
    rest = "" if show_context or opener != "fabula read" else ", `--show-context` prints all"
    last = f", up to {count}" if count > 1 else ""
    echo(
        f"Offline: no model was asked. These are the closest of {count_noun(count, 'passage')} "
        f"that a model would answer from, {manner}. `{opener} 1` opens one, by its "
        f"number{last}{rest}."
    )
