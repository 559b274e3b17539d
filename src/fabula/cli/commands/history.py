"""`fabula history`: the questions that were asked with `fabula query`."""

from __future__ import annotations

import click

from fabula.cli.shared.help import Group
from fabula.cli.shared.last_answer import KeptQuestion, delete_questions, recall_questions
from fabula.cli.shared.options import settings_flags
from fabula.cli.shared.screen import echo, local_time, print_json
from fabula.cli.shared.tables import begin_table, print_table
from fabula.config.settings import Settings
from fabula.errors import FabulaError, NotFound
from fabula.server.state import Home
from fabula.text.nouns import count_noun

HOME = settings_flags("home")


@click.group("history", cls=Group)
def command() -> None:
    """List the questions that you asked with `fabula query`, show or repeat one.

    They are kept in Fabula's folder, readable by you alone, with their answers and without settings
    or keys. The setting question_history says how many; 0 turns it off.
    """


@command.command("list", examples=("history list", "history list --json"))
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help="maximum questions"
)
@click.option("--json", "as_json", is_flag=True, help="print JSON, all of them")
@HOME
def list_(limit: int, as_json: bool, settings: Settings) -> None:
    """List the latest questions by their numbers."""
    questions = list(enumerate(recall_questions(settings.home), 1))
    if as_json:
        print_json([{"number": number, **kept.model_dump()} for number, kept in questions])
        return
    if not questions:
        echo("There are no questions yet: ask with `fabula query`.")
        return
    table = begin_table("no.", "when", "collection", "question", "mode", right=("no.",))
    for number, kept in questions[-limit:]:
        collections = kept.across or kept.collection
        table.add_row(str(number), local_time(kept.at), collections, kept.question, kept.mode)
    print_table(table)


@command.command("show", examples=("history show 1",))
@click.argument("number", type=click.IntRange(1))
@HOME
def show(number: int, settings: Settings) -> None:
    """Show the question of this NUMBER with the answer that it had."""
    kept = _find(number, settings)
    where = [f"collections {kept.across}" if kept.across else f"collection {kept.collection}"]
    where += [f"document {kept.document}"] if kept.document else []
    where += [f"until {kept.until}"] if kept.until else []
    echo(f"{kept.question}\n\n{kept.answer}\n")
    echo(f"{local_time(kept.at)}, {', '.join(where)}, mode {kept.mode}")


@command.command("repeat", examples=("history repeat 1",))
@click.argument("number", type=click.IntRange(1))
@click.pass_context
@HOME
def repeat(context: click.Context, number: int, settings: Settings) -> None:
    """Ask the question of this NUMBER again, of the same collection, document, place and mode."""
    from fabula.cli import main

    kept = _find(number, settings)
    arguments = ["query", "--home", str(settings.home), "--collection", kept.collection]
    arguments += ["--across", kept.across] if kept.across else []
    options = {"--document": kept.document, "--until": kept.until, "--mode": kept.mode}
    for flag, value in options.items():
        arguments += [flag, value] if value else []
    if code := main.main([*arguments, "--", kept.question], standalone_mode=False):
        context.exit(code)


@command.command("clear", examples=("history clear --yes",))
@click.option("--yes", is_flag=True, help="do not ask for confirmation")
@HOME
def clear(yes: bool, settings: Settings) -> None:
    """Delete all questions that were kept."""
    if not yes:
        click.confirm("Delete all questions that were kept?", abort=True)
    try:
        delete_questions(settings.home)
    except OSError as error:
        file = Home(settings.home).questions
        raise FabulaError(f"{file} can't be deleted ({error}): delete it by hand.") from error
    echo("The questions are deleted.")


def _find(number: int, settings: Settings) -> KeptQuestion:
    questions = recall_questions(settings.home)
    if number > len(questions):
        if not questions:
            raise NotFound("No question is kept yet: ask with `fabula query`.")
        raise NotFound(
            f"There is no question {number}: {count_noun(len(questions), 'question')} kept. "
            "`fabula history list` shows their numbers."
        )
    return questions[number - 1]
