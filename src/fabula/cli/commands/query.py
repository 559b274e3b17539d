"""`fabula query`: answer a question, with the passages that the answer is based on."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from fabula.ask.answer import Answer
from fabula.cli.shared.help import Command
from fabula.cli.shared.last_answer import keep_answer, keep_question
from fabula.cli.shared.opening import open_collection, open_for_reading
from fabula.cli.shared.options import ASKING, GRAPH, settings_flags, until_flag
from fabula.cli.shared.screen import echo, notice_offline, print_json
from fabula.config.settings import Settings
from fabula.errors import NotFound, SettingsError
from fabula.graph.hits import Hit, Passage, Quote, describe_place, document_spans
from fabula.graph.trace import Trace
from fabula.models import NO_ANSWER
from fabula.text.names import EVERYTHING
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.app.collection import Collection
    from fabula.ask.answer import AnswerStream
    from fabula.ask.query import Query
    from fabula.models.usage import Usage

ASPECTS = "plot, character, setting, point of view, style, theme, irony and symbol"
"""The aspects of the default set."""
NOTHING = "Nothing in the graph passes these filters."
MAX_QUOTED = 300
"""How many characters of a cited sentence are shown."""


class Levels(click.ParamType[tuple[int, int]]):
    """A level, or a range of levels such as 1-3."""

    name = "levels"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Return the lowest and the highest level."""
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", str(value))
        if not match:
            self.fail("name a level as 1, or a range of levels as 1-3", param, ctx)
        lowest, highest = int(match[1]), int(match[2] or match[1])
        if lowest > highest:
            self.fail(f"the first level of a range is the lower: {highest}-{lowest}", param, ctx)
        return lowest, highest


@click.command(
    "query",
    cls=Command,
    examples=(
        'query "Why does Scrooge change?"',
        'query "Who is Fred?" --document "A Christmas Carol" --aspect character',
        'query "the weather" --no-answer --kind chunk --top-k 10',
        'query "Why does Scrooge change?" --markdown > answer.md',
        'query "Why does Scrooge change?" --dry-run',
        "query - < question.txt",
    ),
)
@click.argument("words", nargs=-1, required=True, metavar="QUESTION")
@click.option(
    "--document", default="", metavar="NAME", help="only this document: id, title or file"
)
@click.option(
    "--aspect",
    "aspects",
    multiple=True,
    metavar="NAME",
    help=f"only summaries of these: {ASPECTS}, or others that `fabula show` lists",
)
@until_flag
@click.option("--level", "levels", type=Levels(), metavar="N or N-M", help="only these levels")
@click.option(
    "--kind", "kinds", multiple=True, metavar="NAME", help="only these: chunk, summary, detail, ..."
)
@click.option(
    "--across",
    metavar="NAMES",
    help="ask several collections, as novels,plays; 'all' for all of them",
)
@click.option("--no-answer", is_flag=True, help="only show the passages that are found")
@click.option("--show-context", is_flag=True, help="show the passages that the model was given")
@click.option("--explain", is_flag=True, help="show how passages were found, step by step")
@click.option(
    "--dry-run", is_flag=True, help="only show the expected calls and cost, also of other modes"
)
@click.option("--json", "as_json", is_flag=True, help="print JSON, as docs/answers.md describes it")
@click.option("--markdown", "as_markdown", is_flag=True, help="print Markdown with footnotes")
@settings_flags(*GRAPH, *ASKING)
def command(
    words: tuple[str, ...],
    across: str | None,
    no_answer: bool,
    show_context: bool,
    explain: bool,
    dry_run: bool,
    as_json: bool,
    as_markdown: bool,
    settings: Settings,
    **filters: Any,
) -> None:
    """Answer QUESTION from the graph's passages: chunks, summaries and details.

    A dash reads the question from standard input.
    """
    from fabula.ask.query import Query

    _refuse_contradictions(across, dry_run, as_markdown, as_json, no_answer, explain, show_context)
    question = sys.stdin.read().strip() if words == ("-",) else " ".join(words)
    given = {name: value for name, value in filters.items() if value}
    query = Query.of(question, settings, **given)
    path = Trace()
    # On a terminal the line below an answer says this: the screen has no room for both.
    has_closing_line = sys.stdout.isatty() and not (as_json or as_markdown or no_answer or dry_run)
    notice_offline(settings, is_said=has_closing_line)
    if across and no_answer:
        _search_across(query, across, settings, as_json=as_json)
        return
    if across:
        _answer_across(query, across, settings, show_context, as_json, as_markdown)
        return
    with open_for_reading(settings) as fabula:
        _notice_place(query, fabula)
        if dry_run:
            _show_expected(query, fabula, settings, as_json=as_json)
            return
        if no_answer:
            hits = fabula.retrieve(query, path=path)
            result = {"question": question, "hits": [_hit_json(hit) for hit in hits]}
        else:
            stream = fabula.stream(query, path=path)
            result = _kept_json(query, stream, fabula) if as_json else {}
        if as_json:
            print_json(result | (_trace_json(path) if explain else {}))
            return
        is_found = bool(hits if no_answer else stream.hits)
        if not is_found:
            echo(NOTHING, err=True)
        elif no_answer:
            _print_hits(hits)
        else:
            _print(stream, fabula, show_context, as_markdown, path if explain else None)
            keep_question(query, stream.answer, fabula)
        if explain:
            from fabula.cli.shared.trace import print_trace

            print_trace(path)
    if not is_found:
        raise click.exceptions.Exit(1)


def _refuse_contradictions(
    across: str | None,
    dry_run: bool,
    as_markdown: bool,
    as_json: bool,
    no_answer: bool,
    explain: bool,
    show_context: bool,
) -> None:
    """Raise UsageError for flags that ask for two different things."""
    if as_markdown and (as_json or no_answer or explain):
        raise click.UsageError("--markdown prints an answer alone: leave the other flag out.")
    if dry_run and (as_markdown or no_answer or explain or show_context):
        raise click.UsageError("--dry-run shows an estimate alone: leave the other flag out.")
    if across and (dry_run or explain):
        flag = "--dry-run" if dry_run else "--explain"
        raise click.UsageError(f"{flag} is about one collection: leave it out, or --across.")


def _collection_names(across: str) -> tuple[str, ...]:
    return () if across.strip() == EVERYTHING else tuple(filter(None, re.split(r"[,\s]+", across)))


def _name_left_out(left_out: Mapping[str, str]) -> None:
    for name, why in left_out.items():
        echo(f"Left out: collection {name}. {why}", err=True)


def _search_across(query: Query, across: str, settings: Settings, *, as_json: bool) -> None:
    """Print the passages of several collections that serve a question best."""
    with open_collection(settings) as fabula:
        found = fabula.app.retrieve(query, _collection_names(across))
    _name_left_out(found.left_out)
    if as_json:
        hits = [_hit_json(hit) for hit in found.hits]
        print_json({"question": query.question, "hits": hits, "left_out": found.left_out})
    else:
        for rank, hit in enumerate(found.hits, start=1):
            echo(f"{rank}. {describe_place(hit)}\n{hit.text.strip()}\n")
    if not found.hits:
        echo(NOTHING, err=True)
        raise click.exceptions.Exit(1)


def _answer_across(
    query: Query,
    across: str,
    settings: Settings,
    show_context: bool,
    as_json: bool,
    as_markdown: bool,
) -> None:
    """Print an answer that is written from the passages of several collections."""
    with open_collection(settings) as fabula:
        found = fabula.app.stream(query, _collection_names(across))
        _name_left_out(found.left_out)
        stream = found.stream
        names = ",".join(found.collections)
        collection = fabula.app.collection(found.collections[0])
        if as_json:
            more = {"collections": list(found.collections), "left_out": dict(found.left_out)}
            keep_question(query, stream.answer, collection, names)
            print_json(_answer_json(stream.answer, settings) | more)
            return
        if not stream.hits:
            echo(NOTHING, err=True)
            raise click.exceptions.Exit(1)
        if as_markdown:
            from fabula.export.markdown import books_of, markdown

            owners = {each.hit.document: each.hit.collection for each in stream.context}
            books = books_of(
                [stream.answer], lambda id: fabula.app.collection(owners[id]).document(id)
            )
            echo(markdown(stream.answer, books))
        else:
            print_answer(stream, show_context, is_offline=settings.offline)
        keep_answer(stream.answer, collection)
        keep_question(query, stream.answer, collection, names)


def _kept_json(query: Query, stream: AnswerStream, collection: Collection) -> dict[str, Any]:
    """Return the answer as JSON, and keep the question for `fabula history`."""
    keep_question(query, stream.answer, collection)
    return _answer_json(stream.answer, collection.settings)


def _notice_place(query: Query, collection: Collection) -> None:
    """Say what was understood by the place up to which the reader has read."""
    if volumes := collection.read_volumes(query.until, query.document):
        echo(f"Only what is read is used: {volumes}.", err=True)
    elif query.until:
        place = collection.reading_place(query.until, query.document)
        echo(f"Only what is read {place} of {place.document.title} is used.", err=True)


def _show_expected(
    query: Query, collection: Collection, settings: Settings, *, as_json: bool
) -> None:
    """Print what a question would ask of models, in its mode and in each whose graph is there."""
    from fabula.ask.modes import modes

    steps = collection.expect_query(query)
    by_mode: dict[str, Mapping[str, Usage]] = {}
    for name in modes():
        if name != query.mode and not settings.offline:
            # A mode has no estimate if its graph is not built, or if the filters or options of
            # the question do not fit it.
            with suppress(NotFound, SettingsError):
                by_mode[name] = collection.expect_query(replace(query, mode=name))
    if not as_json:
        from fabula.cli.shared.estimate import show_question_estimate

        show_question_estimate(steps, by_mode, settings)
        return
    estimate = {
        name: {
            "usage": {step: usage.row for step, usage in usages.items()},
            "usd": settings.cost(usages).known,
            "unpriced": list(settings.cost(usages).unpriced),
        }
        for name, usages in {query.mode: steps, **by_mode}.items()
    }
    print_json({"question": query.question, "mode": query.mode, "estimate": estimate})


def _print(
    stream: AnswerStream,
    collection: Collection,
    show_context: bool,
    as_markdown: bool,
    followed: Trace | None,
) -> None:
    """Print an answer for people, and store its citations for `fabula read`.

    Steps that are taken while the answer is written are printed as they end, if they are followed.
    """
    if as_markdown:
        from fabula.export.markdown import books_of, markdown

        echo(markdown(stream.answer, books_of([stream.answer], collection.document)))
    else:
        print_answer(stream, show_context, followed, is_offline=collection.settings.offline)
    keep_answer(stream.answer, collection)


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
    from fabula.ask.passage_quotes import quote_cited

    for quote in quote_cited(stream.answer):
        echo(f"[{quote.number}] {describe_place(quote.hit, quote.matches)}")
        for start, end in quote.matches:
            words = " ".join(quote.hit.text[start:end].split())
            echo(f"    {textwrap.shorten(words, MAX_QUOTED, placeholder=' ...')}")
    from fabula.cli.shared.verification import print_verification

    print_verification(stream.answer)


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


def _print_hits(hits: Sequence[Hit]) -> None:
    for rank, hit in enumerate(hits, start=1):
        echo(f"{rank}. {describe_place(hit)} · score {hit.score:.3f}\n{hit.text.strip()}\n")


def _answer_json(answer: Answer, settings: Settings) -> dict[str, Any]:
    from fabula.ask.passage_quotes import quote_cited
    from fabula.cli.shared.verification import quotation_json, weak_json

    return {
        "question": answer.question,
        "answer": answer.text,
        "cut": answer.cut,
        "model": settings.model,
        "offline": settings.offline,
        "quotes": [_quote_json(quote) for quote in answer.quotes or quote_cited(answer)],
        "cited": list(answer.cited),
        "quotations": [quotation_json(quotation) for quotation in answer.quotations],
        "weak_citations": [weak_json(weak) for weak in answer.weak_citations],
        "warning": answer.citation_warning,
        "context": [_passage_json(passage) for passage in answer.context],
        "brief": answer.brief,
        "hits": [_hit_json(hit) for hit in answer.hits],
        "usage": {step: usage.row for step, usage in answer.usage.items()},
    }


def _trace_json(trace: Trace) -> dict[str, Any]:
    from fabula.cli.shared.trace import trace_json

    return {"path": trace_json(trace)}


def _passage_json(passage: Passage) -> dict[str, Any]:
    hit = {name: value for name, value in _hit_json(passage.hit).items() if name != "tokens"}
    spans = [list(span) for span in document_spans(passage.hit, passage.spans)]
    return hit | {"number": passage.number, "text": passage.text, "spans": spans}


def _quote_json(quote: Quote) -> dict[str, Any]:
    matches = [list(match) for match in quote.matches]
    return _hit_json(quote.hit) | {"number": quote.number, "matches": matches}


def _hit_json(hit: Hit) -> dict[str, Any]:
    of = {"collection": hit.collection} if hit.collection else {}
    return of | {
        "id": hit.id,
        "kind": hit.kind,
        "document": hit.document,
        "title": hit.title,
        "section": hit.section,
        "pages": hit.pages,
        "lines": hit.lines,
        "aspect": hit.aspect,
        "level": hit.level,
        "start": hit.start,
        "end": hit.end,
        "text": hit.text,
        "tokens": hit.tokens,
        "score": hit.score,
    }
