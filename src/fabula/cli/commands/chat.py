"""`fabula chat`: a series of questions, which may refer to each other."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabula.ask.modes import modes
from fabula.ask.query import Query
from fabula.cli.commands.query import NOTHING, print_answer
from fabula.cli.commands.read import show
from fabula.cli.shared.help import Command
from fabula.cli.shared.last_answer import LastAnswer, keep_answer
from fabula.cli.shared.opening import open_for_reading
from fabula.cli.shared.options import ASKING, GRAPH, settings_flags, until_flag, where_flag
from fabula.cli.shared.screen import echo, notice_offline
from fabula.config.settings import Settings
from fabula.errors import FabulaError, NotFound, did_you_mean
from fabula.export.files import refuse_special_file, replace_file
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.ask.answer import AnswerStream
    from fabula.library.collection import Collection

PROMPT = "> "
ALL_DOCUMENTS = "all"
"""The argument of `/document` that stands for all documents."""
END_OF_TEXT = "end"
"""The argument of `/until` that stands for the end of the text."""
END_COMMANDS = ("/quit", "/exit")
HELP = """\
Type a question. It may refer to earlier ones: "And what did he do then?"

  /read 3          open citation 3 of the last answer
  /document NAME   ask only one document; `/document all` asks all again
  /until PLACE     show nothing of what comes after a place, as `/until Stave Three`;
                   `/until end` shows everything again
  /mode NAME       use another mode, or several: `/mode hippo,hybrid`
  /save FILE.md    write the conversation as Markdown, with footnotes
  /new             start a new conversation
  /help            show this help
  /quit            end the chat, as Ctrl-D does; Ctrl-C stops an answer"""


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
@click.option(
    "--document", default="", metavar="NAME", help="only this document: id, title or file"
)
@where_flag
@until_flag
@settings_flags(*GRAPH, *ASKING, "history_tokens")
def command(document: str, where: str, until: str, settings: Settings) -> None:
    """Ask a collection a series of questions.

    Answers have citations, as those of `fabula query`. If a question refers to earlier ones, the
    model first rewords it to stand alone, in one more small call. /help lists the commands.
    """
    notice_offline(settings)
    with open_for_reading(settings) as collection:
        chat = ChatSession(collection, where)
        if document:
            chat.choose_document(document)
        if until:
            chat.choose_place(until)
        if not chat.run():
            raise click.exceptions.Exit(1)


class ChatSession:
    """A conversation in the terminal: reads lines, prints answers and runs commands."""

    def __init__(self, collection: Collection, where: str = "") -> None:
        from fabula.library.catalogue import empty_collection_error

        if not (documents := collection.open_store().count(collection.name)[0]):
            raise empty_collection_error(collection.name)
        self._collection = collection
        self._conversation = collection.chat(**{"where": where} if where else {})
        self._last: LastAnswer | None = None
        self._saved: Path | None = None
        self._commands: dict[str, Callable[[str], None]] = {
            "/read": self.read,
            "/document": self.choose_document,
            "/until": self.choose_place,
            "/mode": self.choose_mode,
            "/save": self.save,
            "/new": self.forget,
            "/help": lambda _: echo(HELP),
        }
        count = f"{count_noun(documents, 'document')} of collection {collection.name}"
        echo(f"{count}. /help lists the commands, Ctrl-D ends the chat.", err=True)

    def run(self) -> bool:
        """Process lines until the end.

        Returns:
            False if a line of a script failed. At a terminal an error was seen by the user.
        """
        is_ok = True
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  gives `input` a history and arrow keys
        while (line := _read_line()) and line not in END_COMMANDS:
            try:
                self._do(line)
            except FabulaError as error:
                is_ok = False
                echo(f"Error: {error}", err=True)
            except KeyboardInterrupt:
                if not sys.stdin.isatty():
                    raise
                echo("\nStopped.", err=True)
        return is_ok or sys.stdin.isatty()

    def _do(self, line: str) -> None:
        if not line.startswith("/"):
            self.ask(line)
            return
        name, _, rest = line.partition(" ")
        if name not in self._commands:
            hint = did_you_mean(name, [*self._commands, "/quit"], "/help lists all commands.")
            raise NotFound(f"There is no command {name}. {hint}")
        self._commands[name](rest.strip().strip("\"'"))

    def ask(self, question: str) -> None:
        """Answer a question; an answer that Ctrl-C stops stays part of the conversation."""
        self._last = None
        stream = self._conversation.stream(question)
        if stream.sought != question:
            echo(f"Understood as: {stream.sought}", err=True)
        if stream.note:
            echo(stream.note, err=True)
        if not stream.hits:
            echo(NOTHING, err=True)
            return
        try:
            is_offline = self._collection.settings.offline
            print_answer(stream, show_context=False, is_offline=is_offline, opener="/read")
            echo()
        except KeyboardInterrupt:
            stream.close()
            raise
        finally:
            self._remember(stream)

    def _remember(self, stream: AnswerStream) -> None:
        with contextlib.suppress(FabulaError):
            if stream.answer.text:
                self._last = keep_answer(stream.answer, self._collection)

    def read(self, number: str) -> None:
        """Show the text around a citation of the last answer."""
        if not re.fullmatch(r"\[?\d{1,6}\]?", number):
            raise FabulaError("Give the number of a citation, as in /read 3.")
        if self._last is None:
            raise NotFound("No answer has citations yet: ask a question first.")
        citation = self._last.citation(int(number.strip("[]")))
        read = self._collection.as_read(citation.document, self._last.until)
        show(read.read(citation.document, citation.at))

    def choose_document(self, name: str) -> None:
        """Ask only one document from now on, or all again; without a name, print which."""
        options = self._conversation.options
        if name == ALL_DOCUMENTS:
            options.pop("document", None)
        elif name:
            options["document"] = self._collection.document(name).id
        if options.pop("until", None):
            # A place in one text is none in another.
            echo("Everything is shown again: /until sets a place of this document.", err=True)
        chosen = options.get("document")
        target = self._collection.document(chosen).title if chosen else "all documents"
        echo(f"Asking {target}.", err=True)

    def choose_place(self, until: str) -> None:
        """Show nothing of what comes after a place, or everything; without a place, print it."""
        collection, options = self._collection, self._conversation.options
        if until == END_OF_TEXT:
            options.pop("until", None)
        elif until and (volumes := collection.read_volumes(until, options.get("document", ""))):
            options["until"] = until
            echo(f"Only what is read is used: {volumes}.", err=True)
            return
        elif until:
            place = collection.reading_place(until, options.get("document", ""))
            options |= {"document": place.document.id, "until": str(place.end)}
            # Answers that rest on later text are left out of the prompts by `Collection.stream`.
            echo(f"Only what is read {place} of {place.document.title} is used.", err=True)
            return
        chosen = options.get("until")
        read = f"what is read up to {chosen}" if chosen else "everything"
        echo(f"Showing {read}.", err=True)

    def choose_mode(self, name: str) -> None:
        """Use another mode, or several, from now on; without a name, print which."""
        settings, options = self._collection.settings, self._conversation.options
        if name:
            options["mode"] = ",".join(Query.of("?", settings, mode=name).modes)
        mode = options.get("mode") or settings.mode
        echo(f"Mode: {mode}. Available: {', '.join(modes())}.", err=True)

    def save(self, name: str) -> None:
        """Write the conversation so far as Markdown; ask before replacing another file."""
        from fabula.export.markdown import books_of, conversation

        answers = self._conversation.answers
        if not name:
            raise FabulaError("Give a file name, as in /save talk.md.")
        if not answers:
            raise NotFound("There is nothing to save yet: ask a question first.")
        try:
            file = Path(name).expanduser()
            refuse_special_file(file)
            place = file.resolve()
            is_new = not file.exists() or place == self._saved
        # A name may be too long, have an unknown home folder or a loop of links.
        except (OSError, RuntimeError, ValueError) as error:
            raise FabulaError(f"{name} can't be written: {error}. Name another file.") from error
        if not is_new and not _confirm(f"{file} exists. Replace it?"):
            return
        with replace_file(file) as stream:
            stream.write(f"{conversation(answers, books_of(answers, self._collection.document))}\n")
        self._saved = place
        echo(f"{file}: {count_noun(len(answers), 'answer')}", err=True)

    def forget(self, _: str) -> None:
        """Start a new conversation."""
        self._conversation.forget()
        self._saved = None
        echo("A new conversation starts.", err=True)


def _read_line() -> str:
    """Return the next line that isn't empty, stripped, or '' at the end."""
    is_typed = sys.stdin.isatty()
    while True:
        try:
            line = input(PROMPT) if is_typed else sys.stdin.readline()
        except EOFError:
            echo()
            return ""
        except UnicodeDecodeError as error:
            if not is_typed:
                raise FabulaError(f"The input is not {error.encoding}.") from error
            echo(f"This is not {error.encoding}: type it again.", err=True)
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
