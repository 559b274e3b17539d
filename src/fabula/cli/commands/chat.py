"""`fabula chat`: questions that lean on those before them, in one sitting."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabula.ask.modes import modes
from fabula.ask.query import AUTO, Query
from fabula.cli.commands.query import NOTHING, print_answer
from fabula.cli.commands.read import show
from fabula.cli.shared.help import Command
from fabula.cli.shared.last_answer import LastAnswer, keep
from fabula.cli.shared.opening import meant
from fabula.cli.shared.options import ASKING, GRAPH, settings_flags
from fabula.cli.shared.screen import counted, echo, notice_offline
from fabula.config.settings import Settings
from fabula.errors import FabulaError, NotFound, did_you_mean
from fabula.export.files import refuse_special_file, replace_file

if TYPE_CHECKING:
    from fabula.app.collection import Collection
    from fabula.ask.answer import AnswerStream

PROMPT = "> "
ALL = "all"
"""What `/document` is told for all of them."""
ENDS = ("/quit", "/exit")
HELP = """\
A line is a question, which may lean on those before it: "And what did he do then?"

  /read 3          opens citation 3 of the last answer
  /document NAME   asks one document alone; `/document all` all of them again
  /mode NAME       goes another way through the graph, or several: `/mode hippo,hybrid`;
                   `/mode auto` goes the way that serves each question
  /save FILE.md    writes the conversation as Markdown, with footnotes
  /new             forgets what was said
  /help            shows this
  /quit            ends, as Ctrl-D does; Ctrl-C ends an answer"""


@click.command(
    "chat",
    cls=Command,
    examples=(
        "chat",
        'chat --document "A Christmas Carol"',
        "chat -c novels --mode top-down",
        "chat < questions.txt",
    ),
)
@click.option("--document", default="", metavar="NAME", help="only this one: id, title or file")
@settings_flags(*GRAPH, *ASKING, "history_tokens")
def command(document: str, settings: Settings) -> None:
    """Talk about the books of a collection: ask, read on, ask again.

    Answers cite as those of `fabula query` do. With a model, a question that leans on what was said
    is first worded to stand alone, in one small call more. /help lists what else can be typed.
    """
    notice_offline(settings)
    with meant(settings) as collection:
        talk = Talk(collection)
        if document:
            talk.choose_document(document)
        if not talk.run():
            raise click.exceptions.Exit(1)


class Talk:
    """A conversation as it is typed: lines in, answers and what commands show out."""

    def __init__(self, collection: Collection) -> None:
        from fabula.app.catalogue import nothing_there

        if not (documents := collection.store.count(collection.name)[0]):
            raise nothing_there(collection.name)
        self._collection = collection
        self._conversation = collection.chat()
        self._last: LastAnswer | None = None
        self._saved: Path | None = None
        self._commands: dict[str, Callable[[str], None]] = {
            "/read": self.read,
            "/document": self.choose_document,
            "/mode": self.choose_mode,
            "/save": self.save,
            "/new": self.forget,
            "/help": lambda _: echo(HELP),
        }
        told = f"{counted(documents, 'document')} of collection {collection.name}"
        echo(f"{told}. /help tells what can be typed, Ctrl-D ends.", err=True)

    def run(self) -> bool:
        """Does line by line what is typed; whether all went well, or somebody was there to see."""
        well = True
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  gives `input` the lines before, and arrow keys
        while (line := _read_line()) and line not in ENDS:
            try:
                self._do(line)
            except FabulaError as error:
                well = False
                echo(f"Error: {error}", err=True)
            except KeyboardInterrupt:
                if not sys.stdin.isatty():
                    raise
                echo("\nStopped.", err=True)
        return well or sys.stdin.isatty()

    def _do(self, line: str) -> None:
        if not line.startswith("/"):
            self.ask(line)
            return
        name, _, rest = line.partition(" ")
        if name not in self._commands:
            hint = did_you_mean(
                name, [*self._commands, "/quit"], "/help lists those that there are."
            )
            raise NotFound(f"There is no command {name}. {hint}")
        self._commands[name](rest.strip().strip("\"'"))

    def ask(self, question: str) -> None:
        """Answers a question; what is said of it until Ctrl-C stays part of the conversation."""
        self._last = None
        stream = self._conversation.stream(question)
        if stream.sought != question:
            echo(f"Understood as: {stream.sought}", err=True)
        if not stream.hits:
            echo(NOTHING, err=True)
            return
        try:
            print_answer(stream, show_context=False)
            echo()
        except KeyboardInterrupt:
            stream.close()
            raise
        finally:
            self._keep(stream)

    def _keep(self, stream: AnswerStream) -> None:
        with contextlib.suppress(FabulaError):
            if stream.answer.text:
                self._last = keep(stream.answer, self._collection)

    def read(self, number: str) -> None:
        """Shows the text around a citation of the last answer."""
        if not re.fullmatch(r"\[?\d{1,6}\]?", number):
            raise FabulaError("Name a citation by its number, as /read 3.")
        if self._last is None:
            raise NotFound("There is no answer yet that cites anything: ask something.")
        cited = self._last.citation(int(number.strip("[]")))
        show(self._collection.read(cited.document, cited.at))

    def choose_document(self, name: str) -> None:
        """Asks one document alone from now on, or all again; without a name tells which."""
        options = self._conversation.options
        if name == ALL:
            options.pop("document", None)
        elif name:
            options["document"] = self._collection.document(name).id
        chosen = options.get("document")
        asked = self._collection.document(chosen).title if chosen else "all documents"
        echo(f"Asking {asked}.", err=True)

    def choose_mode(self, name: str) -> None:
        """Goes another way from now on, or several at once; without a name tells which."""
        settings, options = self._collection.settings, self._conversation.options
        if name:
            options["mode"] = ",".join(Query.of("?", settings, mode=name).modes)
        way = options.get("mode") or settings.mode
        echo(f"Asking by {way}. There are: {', '.join([AUTO, *modes()])}.", err=True)

    def save(self, name: str) -> None:
        """Writes the conversation until now as Markdown; asks before another file is replaced."""
        from fabula.export.markdown import books_of, conversation

        answers = self._conversation.answers
        if not name:
            raise FabulaError("Name a file, as /save talk.md.")
        if not answers:
            raise NotFound("There is nothing to save yet: ask something.")
        try:
            file = Path(name).expanduser()
            refuse_special_file(file)
            place = file.resolve()
            is_new = not file.exists() or place == self._saved
        # Not every name can be looked for: too long, nobody's home, in a circle of links.
        except (OSError, RuntimeError, ValueError) as error:
            raise FabulaError(f"{name} can't be written: {error}. Name another file.") from error
        if not is_new and not _confirm(f"{file} is there. Replace it?"):
            return
        with replace_file(file) as stream:
            stream.write(f"{conversation(answers, books_of(answers, self._collection.document))}\n")
        self._saved = place
        echo(f"{file}: {counted(len(answers), 'answer')}", err=True)

    def forget(self, _: str) -> None:
        """Begins a new conversation."""
        self._conversation.forget()
        self._saved = None
        echo("Forgotten: the next question leans on nothing.", err=True)


def _read_line() -> str:
    """The next line that says something, without the space around it; '' at the end."""
    is_typed = sys.stdin.isatty()
    while True:
        try:
            line = input(PROMPT) if is_typed else sys.stdin.readline()
        except EOFError:
            echo()
            return ""
        except UnicodeDecodeError as error:
            if not is_typed:
                raise FabulaError(f"What was typed is not in {error.encoding}.") from error
            echo(f"That is not in {error.encoding}: type it again.", err=True)
            continue
        except KeyboardInterrupt:
            if not is_typed:
                raise
            echo("\nCtrl-D ends the chat.", err=True)
            continue
        if line.strip():
            if not is_typed:
                echo(f"{PROMPT}{line.strip()}")
            return line.strip()
        if not is_typed and not line:
            return ""


def _confirm(question: str) -> bool:
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        echo(err=True)
        return False
