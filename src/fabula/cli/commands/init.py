"""`fabula init`: ask for models, a key and books, test them, and write the settings."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.options import settings_flags
from fabula.config.settings import FILE, OFFLINE, STATIC, Settings, environment_variable, user_file
from fabula.errors import FabulaError, SettingsError
from fabula.export.files import refuse_special_file, replace_file
from fabula.models.endpoint.address import OPENAI, normalize_url, redact_url, validate_key
from fabula.models.keyring import keyring_name, read_key, save_key
from fabula.models.providers import split_provider
from fabula.models.strong_model import strong_model
from fabula.server.private_files import make_private, write_private
from fabula.text.names import collection_problem, quote_name
from fabula.text.nouns import count_noun

OPENAI_NAME = "openai"
"""What the user types for OpenAI's own address."""
LOCAL_EXTRA = "`pip install 'fabula[local-models]'`"
LOCAL_EXAMPLE = "fastembed:BAAI/bge-small-en-v1.5"
MULTILINGUAL_EXAMPLE = "fastembed:sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
"""The smallest models of fastembed for English, 67 MB, and for fifty languages, 220 MB."""
DEFAULTS = {name: Settings.model_fields[name].default for name in ("model", "embedding_model")}
Values = dict[str, str | bool]
"""Settings by name."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The models that the user chose; a `base_url` of '' is OpenAI's, a `key` of '' is none."""

    base_url: str
    key: str
    model: str
    embedding_model: str
    aspect_model: str


NO_MODELS = ModelChoice("", "", OFFLINE, STATIC, OFFLINE)


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
@click.option("--yes", is_flag=True, help="do not ask: use flags, the environment and defaults")
@settings_flags("collection", "base_url", "model", "aspect_model", "embedding_model")
def command(books: str, yes: bool, settings: Settings) -> None:
    """Set Fabula up: ask for models, a key and books, test the models, and write the settings.

    Address and models are written to your own fabula.toml, which only you can read, and the
    collection to fabula.toml in this folder. A key is never written to a file: the system's keyring
    stores it (with `pip install 'fabula[keyring]'`), or you set OPENAI_API_KEY. Settings that exist
    are replaced only if you agree. Answers may come from a pipe, one per line.
    """
    prompter = Prompter(yes)
    models = choose_models(prompter, settings)
    collection = prompter.ask(
        "Collection that commands in this folder work in", settings.collection, _check_collection
    )
    books = prompter.ask("Folder of books (empty: none yet)", books, _check_books)
    own = own_values(models, settings, prompter)
    here: Values = {"collection": collection} if collection != Settings.read().collection else {}
    # The file that FABULA_CONFIG names replaces the one in this folder.
    local = Path(os.environ.get("FABULA_CONFIG") or FILE)
    written = write(user_file(), own, prompter) | write(local, here, prompter)
    for line in find_overridden(written):
        click.echo(line)
    click.echo(f"Next: fabula ingest {shlex.quote(books)}" if books else "Next: fabula demo")


class Prompter:
    """Asks the user, or reads answers from a pipe; with `yes` each answer is the default."""

    def __init__(self, yes: bool) -> None:
        self.yes = yes

    def ask(
        self, question: str, default: str, check: Callable[[str], None] = lambda _: None
    ) -> str:
        """Return the answer; ask again as long as `check` raises FabulaError."""
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
        """Return the answer, which isn't shown while it is typed."""
        if self.yes:
            return ""
        hidden = sys.stdin.isatty()
        answer = click.prompt(question, default="", show_default=False, hide_input=hidden)
        return str(answer).strip()

    def confirm(self, question: str) -> bool:
        """Say whether the user agrees."""
        return self.yes or click.confirm(question, default=True)


def choose_models(prompter: Prompter, settings: Settings) -> ModelChoice:
    """Ask for models until they answer a test."""
    tried: ModelChoice | None = None
    while True:
        try:
            models = _ask_models(prompter, settings, tried)
            tried = models
            models = try_models(models, may_replace=prompter.yes and not settings.aspect_model)
        except FabulaError as error:
            if prompter.yes:
                raise
            click.echo(f"{error}\nTry again, or type {OFFLINE} for no model:", err=True)
        else:
            return models


def _ask_models(prompter: Prompter, settings: Settings, tried: ModelChoice | None) -> ModelChoice:
    # With an endpoint at hand, somebody said so: --model offline, the environment or a file.
    is_chosen_offline = settings.offline and settings.has_endpoint
    is_static = settings.offline and settings.embedding_model == STATIC
    suggested = tried or ModelChoice(
        settings.base_url or "",
        settings.api_key.get_secret_value() if settings.api_key else "",
        settings.model if is_chosen_offline or not settings.offline else DEFAULTS["model"],
        DEFAULTS["embedding_model"] if is_static else settings.embedding_model,
        "" if settings.offline or not settings.aspect_model else settings.judge,
    )
    place = prompter.ask(
        "Address of the model endpoint, as http://localhost:11434/v1; or "
        f"{OPENAI_NAME}, or {OFFLINE}",
        OFFLINE
        if is_chosen_offline and not settings.embeds_by_endpoint and not tried
        else redact_url(suggested.base_url) or OPENAI_NAME,
    )
    if place == OFFLINE:
        return _work_offline("Without a model", settings)
    # An address with a password is shown without it; accepting that keeps the password.
    is_same = place in (redact_url(suggested.base_url), suggested.base_url)
    base_url = "" if place == OPENAI_NAME else suggested.base_url if is_same else place
    address = normalize_url(base_url)
    known = settings.api_key.get_secret_value() if settings.api_key else ""
    # A key that belongs to one address must not be sent to another.
    is_its = tried is not None and normalize_url(tried.base_url) == address
    key = _ask_key(prompter, address, suggested.key if is_its else known, again=tried is not None)
    if not (base_url or key):
        return _work_offline("Without a key", settings)
    model = prompter.ask("Chat model", suggested.model)
    aspect_model = OFFLINE if model == OFFLINE else _ask_aspect_model(prompter, model, suggested)
    static = (
        f"Embedding model, or one that needs no endpoint: {STATIC}, or {LOCAL_EXAMPLE} with "
        f"{LOCAL_EXTRA}"
    )
    embedding_model = prompter.ask(static, suggested.embedding_model)
    return ModelChoice(base_url, key, model, embedding_model, aspect_model)


def _ask_aspect_model(prompter: Prompter, model: str, suggested: ModelChoice) -> str:
    """Return the model that finds aspects, beside the chat model that was chosen."""
    return prompter.ask(
        "Chat model that finds the aspects of a text; a strong one is worth its price, as it is "
        "asked least",
        # What was set for another chat model says nothing about this one.
        suggested.aspect_model
        if model == suggested.model and suggested.aspect_model
        else strong_model(model),
    )


def _work_offline(why: str, settings: Settings) -> ModelChoice:
    """Return no models but an embedding model of this machine, if the settings name one."""
    click.echo(
        f"{why} Fabula works offline: summaries and details are extracts of the text, and an "
        "answer is a list of passages. Run `fabula init` again when you have a model."
    )
    provider, _ = split_provider(settings.embedding_model)
    if provider:
        return replace(NO_MODELS, embedding_model=settings.embedding_model)
    click.echo(
        f"Search is by words and by static vectors. A small embedding model on this machine finds "
        f"more, also without a key: {LOCAL_EXTRA}, then `fabula init --embedding-model "
        f"{LOCAL_EXAMPLE}`, or {MULTILINGUAL_EXAMPLE} for what is not English."
    )
    return NO_MODELS


def _ask_key(prompter: Prompter, address: str, default: str, *, again: bool) -> str:
    """Return the key that is set or in the keyring, or ask for one."""
    default = default or _read_stored_key(address)
    if default and not again:
        click.echo("Its key is already set.")
        return default
    empty = "the same" if default else "none"
    key = prompter.ask_key(f"Its key, which is not shown (empty: {empty})") or default
    return validate_key(key) if key else ""


def _read_stored_key(address: str) -> str:
    """Return the key of an endpoint in the keyring, or ''."""
    try:
        return read_key(address) if keyring_name() else ""
    except SettingsError:
        return ""


def try_models(models: ModelChoice, *, may_replace: bool) -> ModelChoice:
    """Ask the chat models for a word and the embedding model for a vector.

    Args:
        models: The models to try.
        may_replace: Whether the chat model may take the place of an aspect model that does not
            answer, since nobody chose that one.

    Returns:
        The models that answer.

    Raises:
        FabulaError: A model does not answer.
    """
    from fabula.config.model_factory import ModelFactory

    settings = Settings.read(
        base_url=models.base_url or OPENAI,
        api_key=models.key or None,
        model=models.model,
        aspect_model=models.aspect_model,
        embedding_model=models.embedding_model,
        # The user is waiting to correct an answer, so there are few attempts.
        attempts=2,
        keyring=False,
    )
    with closing(ModelFactory(settings)) as factory:
        for role, model, ask in factory.roles():
            is_same = role == "aspect model" and model == models.model
            if is_same or model in (OFFLINE, STATIC):
                continue
            try:
                ask()
            except FabulaError as error:
                if role != "aspect model" or not may_replace:
                    raise
                click.echo(f"{error}\nAspects are found by {models.model} instead.", err=True)
                models = replace(models, aspect_model=models.model)
            else:
                click.echo(f"The {role} {model} answers.")
    return models


def _check_collection(name: str) -> None:
    if problem := collection_problem(name):
        raise SettingsError(f"The name of a collection, {quote_name(name)}, {problem}.")


def _check_books(name: str) -> None:
    """Print how many files there are. Raise LoadError if there are none."""
    from fabula.errors import LoadError
    from fabula.load import find, readable_suffixes

    if name and "://" not in name:
        files, unknown = find([Path(name)])
        if not files:
            raise LoadError(f"{name} has no file that Fabula reads: {readable_suffixes()}.")
        rest = f", and {len(unknown):,} of other kinds" if unknown else ""
        click.echo(f"{count_noun(len(files), 'file')} that Fabula reads{rest}.")


def own_values(models: ModelChoice, settings: Settings, prompter: Prompter) -> Values:
    """Return the settings for the user's own file; the key goes to the keyring, if there is one."""
    if models.model == OFFLINE and not (models.base_url or models.key):
        now = Settings.read()
        is_offline = now.offline and now.embedding_model == models.embedding_model
        # A missing key is no reason to remove a model from the file.
        if is_offline or (prompter.yes and not settings.offline):
            return {}
        return {"model": OFFLINE, "embedding_model": models.embedding_model}
    values: Values = {"model": models.model, "embedding_model": models.embedding_model}
    if models.aspect_model != models.model or settings.aspect_model:
        values["aspect_model"] = models.aspect_model
    if models.base_url or settings.base_url:
        values["base_url"] = models.base_url or OPENAI
    if redact_url(models.base_url) != models.base_url:
        # A password in an address is a secret, as a key is.
        del values["base_url"]
        click.echo("An address with a password is not written to a file: keep OPENAI_BASE_URL set.")
    known = settings.api_key.get_secret_value() if settings.api_key else ""
    if settings.keyring and not models.key:
        values["keyring"] = False
    elif models.key != known:
        values |= _store_key(models, prompter)
        if known:
            click.echo(
                "The key in OPENAI_API_KEY, or in your own file, overrides this one: remove it."
            )
    return values


def _store_key(models: ModelChoice, prompter: Prompter) -> Values:
    name, address = keyring_name(), normalize_url(models.base_url)
    if _read_stored_key(address) == models.key:
        return {"keyring": True}
    if name and prompter.confirm(f"Store the key in the keyring ({name})?"):
        save_key(address, models.key)
        return {"keyring": True}
    missing = "" if name else " (or install 'fabula[keyring]', if the system has a keyring)"
    click.echo(f"The key is not written to a file: set OPENAI_API_KEY to it{missing}.")
    return {}


def write(file: Path, values: Values, prompter: Prompter) -> Values:
    """Set values in a file of settings and return those that were written.

    Values that the file has are replaced only if the user agrees; comments, the order and all other
    values stay. Only the user can read their own file.
    """
    import tomlkit

    is_own = file == user_file()
    file = file.resolve() if is_own else file
    refuse_special_file(file)
    try:
        document = tomlkit.parse(file.read_text(encoding="utf-8") if file.exists() else "")
        existing = document.unwrap()
        changed = {
            name: value
            for name, value in values.items()
            if existing.get(name) != value
            and (
                name not in existing
                or prompter.confirm(
                    f"{file} has {name} = {existing[name]!r}. Change it to {value!r}?"
                )
            )
        }
        if not changed:
            return {}
        document.update(changed)
        text = tomlkit.dumps(document)
        if is_own:
            make_private(user_file().parent)
            write_private(file, text.rstrip("\n"))
        else:
            with replace_file(file) as stream:
                stream.write(text)
    except (OSError, ValueError) as error:
        raise FabulaError(f"{file} can't be written: {error}.") from error
    click.echo(f"Written to {file}: {', '.join(changed)}.")
    return changed


def find_overridden(written: Values) -> Iterator[str]:
    """Yield a line for each value that a stronger source overrides."""
    now = Settings.read()
    for name, value in written.items():
        if getattr(now, name) != value:
            variable = environment_variable(name)
            yield f"{name} has another value here: {variable} or a nearer file sets it."
