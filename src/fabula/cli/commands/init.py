"""`fabula init`: what is needed is asked for, tried, and written where it belongs."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.options import settings_flags
from fabula.cli.shared.screen import counted
from fabula.config.settings import FILE, OFFLINE, STATIC, Settings, own_file, variable
from fabula.errors import FabulaError, SettingsError
from fabula.export.files import refuse_special_file, replace_file
from fabula.models.address import OPENAI, checked_key, checked_url, shown_url
from fabula.models.keyring import keep_key, keeper, read_key
from fabula.server.private_files import make_private, write_private
from fabula.text.names import collection_problem, quoted

OPENAIS = "openai"
"""What stands for OpenAI's own address."""
USUAL = {name: Settings.model_fields[name].default for name in ("model", "embedding_model")}
Values = dict[str, str | bool]
"""Settings by name."""


@dataclass(frozen=True, slots=True)
class Models:
    """Models, and where they are: '' is OpenAI's address, and no key."""

    base_url: str
    key: str
    model: str
    embedding_model: str


NONE = Models("", "", OFFLINE, STATIC)


@click.command(
    "init",
    cls=Command,
    examples=(
        "init",
        "init --base-url http://localhost:11434/v1 --model llama3.1",
        "init --yes --books novels/ --collection novels",
    ),
)
@click.option("--books", default="", metavar="PATH", help="a folder of books, or a file")
@click.option("--yes", is_flag=True, help="don't ask: flags, the environment and defaults answer")
@settings_flags("collection", "base_url", "model", "embedding_model")
def command(books: str, yes: bool, settings: Settings) -> None:
    """Set Fabula up: ask for models, a key and books, try the models, write what was chosen.

    Address and models go to your own fabula.toml, which only you may read, and the collection to
    that of this folder. A key goes to no file: the system's keyring keeps it (with `pip install
    'fabula[keyring]'`), or you set OPENAI_API_KEY. What is set already is replaced only if you say
    so. Answers may come from a pipe, one a line.
    """
    questions = Questions(yes)
    models = choose_models(questions, settings)
    collection = questions.ask(
        "Collection that commands in this folder work in", settings.collection, _check_collection
    )
    books = questions.ask("Folder of books (empty: none yet)", books, _check_books)
    own = own_values(models, settings, questions)
    here: Values = {"collection": collection} if collection != Settings.read().collection else {}
    # The file that FABULA_CONFIG names stands in the place of this folder's.
    local = Path(os.environ.get("FABULA_CONFIG") or FILE)
    written = write(own_file(), own, questions) | write(local, here, questions)
    for line in not_in_force(written):
        click.echo(line)
    click.echo(f"Next: fabula ingest {shlex.quote(books)}" if books else "Next: fabula demo")


class Questions:
    """What is asked on a terminal, or read from a pipe; with `yes` each answer is its default."""

    def __init__(self, yes: bool) -> None:
        self.yes = yes

    def ask(
        self, question: str, default: str, check: Callable[[str], None] = lambda _: None
    ) -> str:
        """The answer, on one line; asked again until `check` raises no FabulaError."""
        while True:
            answer = default
            if not self.yes:
                answer = click.prompt(question, default=default, show_default=bool(default)).strip()
            try:
                check(answer)
            except FabulaError as error:
                if self.yes:
                    raise
                click.echo(f"{error}", err=True)
            else:
                return answer

    def ask_key(self, question: str) -> str:
        """The answer, which is not shown as it is typed."""
        if self.yes:
            return ""
        hidden = sys.stdin.isatty()
        answer = click.prompt(question, default="", show_default=False, hide_input=hidden)
        return str(answer).strip()

    def confirm(self, question: str) -> bool:
        """Whether the answer is yes."""
        return self.yes or click.confirm(question, default=True)


def choose_models(questions: Questions, settings: Settings) -> Models:
    """Models that were tried; asked for again until they answer."""
    tried: Models | None = None
    while True:
        try:
            models = _ask_models(questions, settings, tried)
            tried = models
            try_models(models)
        except FabulaError as error:
            if questions.yes:
                raise
            click.echo(f"{error}\nOnce more, or {OFFLINE} for no model:", err=True)
        else:
            return models


def _ask_models(questions: Questions, settings: Settings, tried: Models | None) -> Models:
    usual = tried or Models(
        settings.base_url or "",
        settings.api_key.get_secret_value() if settings.api_key else "",
        USUAL["model"] if settings.offline else settings.model,
        USUAL["embedding_model"] if settings.offline else settings.embedding_model,
    )
    place = questions.ask(
        f"Address of the model endpoint, as http://localhost:11434/v1; or {OPENAIS}, or {OFFLINE}",
        shown_url(usual.base_url) or OPENAIS,
    )
    if place == OFFLINE:
        return _without("Without a model")
    # An address that was set with a password in it is shown without, and may stay as it is.
    is_same = place in (shown_url(usual.base_url), usual.base_url)
    base_url = "" if place == OPENAIS else usual.base_url if is_same else place
    address = checked_url(base_url)
    known = settings.api_key.get_secret_value() if settings.api_key else ""
    # What was typed for one address, or is kept for it, goes to no other.
    is_its = tried is not None and checked_url(tried.base_url) == address
    key = _ask_key(questions, address, usual.key if is_its else known, again=tried is not None)
    if not (base_url or key):
        return _without("Without a key")
    model = questions.ask("Chat model", usual.model)
    static = f"Embedding model, or {STATIC}, which needs no endpoint"
    return Models(base_url, key, model, questions.ask(static, usual.embedding_model))


def _without(why: str) -> Models:
    click.echo(
        f"{why} Fabula works offline: summaries and details are extracts of the text, and a "
        "question finds passages. `fabula init` sets a model up whenever you have one."
    )
    return NONE


def _ask_key(questions: Questions, address: str, usual: str, *, again: bool) -> str:
    """The key that is set, or in the keyring; or what is typed."""
    usual = usual or _kept(address)
    if usual and not again:
        click.echo("Its key is the one that is set already.")
        return usual
    empty = "the same" if usual else "none"
    key = questions.ask_key(f"Its key, which is not shown (empty: {empty})") or usual
    return checked_key(key) if key else ""


def _kept(address: str) -> str:
    """The key that the keyring has of an endpoint, or ''."""
    try:
        return read_key(address) if keeper() else ""
    except SettingsError:
        return ""


def try_models(models: Models) -> None:
    """Asks the chat model a word and the embedding model a vector. Raises FabulaError."""
    from fabula.config.kit import Kit

    settings = Settings.read(
        base_url=models.base_url or OPENAI,
        api_key=models.key or None,
        model=models.model,
        embedding_model=models.embedding_model,
        # Who is waiting to be asked again need not sit out every try.
        attempts=2,
        keyring=False,
    )
    with closing(Kit(settings)) as kit:
        for role, model, ask in kit.roles():
            if role != "aspect model" and model not in (OFFLINE, STATIC):
                ask()
                click.echo(f"The {role} {model} answers.")


def _check_collection(name: str) -> None:
    if wrong := collection_problem(name):
        raise SettingsError(f"The name of a collection, {quoted(name)}, {wrong}.")


def _check_books(name: str) -> None:
    """Says how many files are there. Raises LoadError where none is."""
    from fabula.errors import LoadError
    from fabula.load import find, known

    if name and "://" not in name:
        files, others = find([Path(name)])
        if not files:
            raise LoadError(f"{name} has no file that Fabula reads: {known()}.")
        beside = f", and {len(others):,} of other kinds" if others else ""
        click.echo(f"{counted(len(files), 'file')} that Fabula reads{beside}.")


def own_values(models: Models, settings: Settings, questions: Questions) -> Values:
    """What the user's own file is to say; the key goes to the keyring, if there is one."""
    if models == NONE:
        now = Settings.read()
        is_so = now.offline and now.embedding_model == STATIC
        # That no key is set here is no reason to take out a model that is.
        if is_so or (questions.yes and not settings.offline):
            return {}
        return {"model": OFFLINE, "embedding_model": STATIC}
    values: Values = {"model": models.model, "embedding_model": models.embedding_model}
    if models.base_url or settings.base_url:
        values["base_url"] = models.base_url or OPENAI
    if shown_url(models.base_url) != models.base_url:
        # Its password is as good as a key.
        del values["base_url"]
        click.echo("An address with a password is written to no file: keep OPENAI_BASE_URL set.")
    known = settings.api_key.get_secret_value() if settings.api_key else ""
    if settings.keyring and not models.key:
        values["keyring"] = False
    elif models.key != known:
        values |= _keep(models, questions)
        if known:
            click.echo("The key of OPENAI_API_KEY, or of your own file, is stronger: take it out.")
    return values


def _keep(models: Models, questions: Questions) -> Values:
    name, address = keeper(), checked_url(models.base_url)
    if _kept(address) == models.key:
        return {"keyring": True}
    if name and questions.confirm(f"Keep the key in the keyring ({name})?"):
        keep_key(address, models.key)
        return {"keyring": True}
    missing = "" if name else " (or install 'fabula[keyring]', where the system has a keyring)"
    click.echo(f"The key is written to no file: set OPENAI_API_KEY to it{missing}.")
    return {}


def write(file: Path, values: Values, questions: Questions) -> Values:
    """Sets values in a file of settings; of those that it has otherwise only what may be replaced.

    The user's own file is for the user alone. Returns what was written.
    """
    is_own = file == own_file()
    file = file.resolve() if is_own else file
    refuse_special_file(file)
    try:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        there = tomllib.loads(text)
        changed = {
            name: value
            for name, value in values.items()
            if there.get(name) != value
            and (
                name not in there
                or questions.confirm(f"{file} has {name} = {there[name]!r}. Make it {value!r}?")
            )
        }
        if not changed:
            return {}
        text = edited(text, changed, file)
        if is_own:
            make_private(own_file().parent)
            write_private(file, text.rstrip("\n"))
        else:
            with replace_file(file) as stream:
                stream.write(text)
    except (OSError, ValueError) as error:
        raise FabulaError(f"{file} can't be written: {error}.") from error
    click.echo(f"Written to {file}: {', '.join(changed)}.")
    return changed


def edited(text: str, values: Values, file: Path) -> str:
    """A TOML text that has these values, and else what it had, comments on other lines too.

    Raises FabulaError where its lines are too unusual for that.
    """
    table = re.search(r"^\s*\[", text, re.MULTILINE)
    head, tables = (text[: table.start()], text[table.start() :]) if table else (text, "")
    for name, value in values.items():
        line = f"{name} = {json.dumps(value, ensure_ascii=False)}"
        head, found = re.subn(rf"^\s*{name}\s*=.*$", lambda _: line, head, count=1, flags=re.M)  # noqa: B023
        if not found:
            head = f"{head.rstrip()}\n{line}\n".lstrip("\n")
    made = f"{head.rstrip()}\n\n{tables.lstrip()}" if tables else head
    if not _says(made, tomllib.loads(text) | values):
        lines = "; ".join(f"{name} = {json.dumps(value)}" for name, value in values.items())
        raise FabulaError(f"{file} is not changed, as its lines are unusual. Write there: {lines}.")
    return made


def _says(text: str, values: dict[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == values
    except tomllib.TOMLDecodeError:
        return False


def not_in_force(written: Values) -> Iterator[str]:
    """A line for each value that was written in vain, as something stronger says otherwise."""
    now = Settings.read()
    for name, value in written.items():
        if getattr(now, name) != value:
            yield f"{name} is otherwise here, as {variable(name)} or a nearer file sets it, too."
