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
from fabula.cli.shared.last_answer import keep_answer
from fabula.cli.shared.opening import open_for_reading
from fabula.cli.shared.options import ASKING, GRAPH, settings_flags
from fabula.cli.shared.screen import count_noun, echo, notice_offline, print_json
from fabula.config.settings import Settings
from fabula.errors import NotFound, SettingsError
from fabula.graph.hits import Hit, Passage, Quote, describe_place, document_spans
from fabula.graph.trace import Trace

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
@click.option("--level", "levels", type=Levels(), metavar="N or N-M", help="only these levels")
@click.option(
    "--kind", "kinds", multiple=True, metavar="NAME", help="only these: chunk, summary, detail, ..."
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

    if as_markdown and (as_json or no_answer or explain):
        raise click.UsageError("--markdown prints an answer alone: leave the other flag out.")
    if dry_run and (as_markdown or no_answer or explain or show_context):
        raise click.UsageError("--dry-run shows an estimate alone: leave the other flag out.")
    question = sys.stdin.read().strip() if words == ("-",) else " ".join(words)
    given = {name: value for name, value in filters.items() if value}
    query = Query.of(question, settings, **given)
    path = Trace()
    notice_offline(settings)
    with open_for_reading(settings) as fabula:
        if dry_run:
            _show_expected(query, fabula, settings, as_json=as_json)
            return
        if no_answer:
            hits = fabula.retrieve(query, path=path)
            result = {"question": question, "hits": [_hit_json(hit) for hit in hits]}
        else:
            stream = fabula.stream(query, path=path)
            result = _answer_json(stream.answer, settings) if as_json else {}
        if as_json:
            print_json(result | (_trace_json(path) if explain else {}))
            return
        is_found = bool(hits if no_answer else stream.hits)
        if not is_found:
            echo(NOTHING, err=True)
        elif no_answer:
            _print_hits(hits)
        else:
            _print(stream, fabula, show_context, as_markdown)
        if explain:
            from fabula.cli.shared.trace import print_trace

            print_trace(path)
    if not is_found:
        raise click.exceptions.Exit(1)


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
    stream: AnswerStream, collection: Collection, show_context: bool, as_markdown: bool
) -> None:
    """Print an answer for people, and store its citations for `fabula read`."""
    if as_markdown:
        from fabula.export.markdown import books_of, markdown

        echo(markdown(stream.answer, books_of([stream.answer], collection.document)))
    else:
        print_answer(stream, show_context)
    keep_answer(stream.answer, collection)


def print_answer(stream: AnswerStream, show_context: bool) -> None:
    """Print an answer while it is written, then what it cites; or the closest passages."""
    if show_context:
        for passage in stream.context:
            echo(
                f"[{passage.number}] {describe_place(passage.hit, passage.spans)}\n{passage.text}\n"
            )
    if stream.quotes:
        print_quotes(stream)
        return
    try:
        for piece in stream:
            echo(piece, nl=False)
    finally:
        # An error after a partial answer must begin on a line of its own.
        echo("\n")
    from fabula.ask.quotes import quote_cited

    for quote in quote_cited(stream.answer):
        echo(f"[{quote.number}] {describe_place(quote.hit, quote.matches)}")
        for start, end in quote.matches:
            words = " ".join(quote.hit.text[start:end].split())
            echo(f"    {textwrap.shorten(words, MAX_QUOTED, placeholder=' ...')}")


def print_quotes(stream: AnswerStream) -> None:
    """Print the closest passages; on a terminal as many as fit, with bold matches."""
    if sys.stdout.isatty():
        from fabula.cli.shared.quotes import show_quotes

        show_quotes(stream.quotes)
    else:
        for quote in stream.quotes:
            echo(f"[{quote.number}] {describe_place(quote.hit)}\n{quote.hit.text.rstrip()}\n")
    count = count_noun(len(stream.context), "passage")
    echo(
        f"Offline: no model was asked. These are the closest of {count} that a model would answer "
        "from, as the book prints them."
    )


def _print_hits(hits: Sequence[Hit]) -> None:
    for rank, hit in enumerate(hits, start=1):
        echo(f"{rank}. {describe_place(hit)} · score {hit.score:.3f}\n{hit.text.strip()}\n")


def _answer_json(answer: Answer, settings: Settings) -> dict[str, Any]:
    from fabula.ask.quotes import quote_cited

    return {
        "question": answer.question,
        "answer": answer.text,
        "model": settings.model,
        "offline": settings.offline,
        "quotes": [_quote_json(quote) for quote in answer.quotes or quote_cited(answer)],
        "cited": list(answer.cited),
        "context": [_passage_json(passage) for passage in answer.context],
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
    return {
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
