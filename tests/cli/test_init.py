"""`fabula init` as a newcomer answers it: what is asked, tried, written, and where."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import keyring
import pytest
from click.testing import CliRunner, Result
from keyring.backend import KeyringBackend
from keyring.backends import fail

import minilm
from endpoint import Endpoint
from fabula.cli import main
from fabula.cli.commands.init import Prompter, write
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings, user_file
from fabula.errors import FabulaError

KEY = "sk-right"
NONE: Any = fail.Keyring
"""keyring's own stand-in where a system has none; untyped."""


class Keyring(KeyringBackend):
    """A keyring in memory."""

    name = "Drawer"
    priority = 5.0
    kept: dict[tuple[str, str], str]

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password


class PlainText(Keyring):
    """One that keyring itself would not recommend."""

    priority = 0.5


@pytest.fixture(autouse=True)
def no_keyring() -> Iterator[None]:
    """The keyring of whoever runs the tests is left alone."""
    keyring.set_keyring(NONE())
    yield
    keyring.set_keyring(NONE())


@pytest.fixture(params=[Keyring])
def kept(request: pytest.FixtureRequest, no_keyring: None) -> Keyring:
    backend: Keyring = request.param()
    backend.kept = {}
    keyring.set_keyring(backend)
    return backend


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with Endpoint(key=KEY, models=["good", "vectors"]) as endpoint:
        yield endpoint


@pytest.fixture
def books(tmp_path: Path) -> Path:
    folder = tmp_path / "my books"
    folder.mkdir()
    (folder / "winter.txt").write_text("Anna walked to the mill.")
    (folder / "cover.xyz").write_bytes(b"\x00")
    return folder


def init(*flags: str, typed: tuple[str, ...] = (), code: int = 0) -> Result:
    lines = "".join(f"{line}\n" for line in typed)
    result = CliRunner().invoke(main, ["init", *flags], input=lines)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def toml(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def own() -> dict[str, Any]:
    return toml(user_file())


def test_answers_are_tried_and_written_where_they_belong(
    server: Endpoint, kept: Keyring, books: Path, tmp_path: Path
) -> None:
    output = init(typed=(server.url, KEY, "good", "", "vectors", "novels", str(books), "y")).stdout
    assert own() == {
        "base_url": server.url,
        "model": "good",
        "embedding_model": "vectors",
        "keyring": True,
    }
    assert stat.S_IMODE(user_file().stat().st_mode) == 0o600
    assert stat.S_IMODE(user_file().parent.stat().st_mode) == 0o700
    assert toml(tmp_path / "fabula.toml") == {"collection": "novels"}
    assert kept.kept == {("fabula", server.url): KEY}
    assert server.calls == 2
    assert "The model good answers.\nThe embedding model vectors answers." in output
    assert "1 file that Fabula reads, and 1 of other kinds." in output
    assert output.endswith(f"Next: fabula ingest '{books}'\n")
    settings = Settings.read()
    assert (settings.model, settings.collection, settings.offline) == ("good", "novels", False)
    with closing(ModelFactory(settings)) as kit:
        assert len(kit.embedder.embed(["a word"]).vectors) == 1, "with the keyring's key"


def test_the_key_of_the_keyring_goes_to_its_own_endpoint_alone(
    server: Endpoint, kept: Keyring
) -> None:
    kept.kept["fabula", "http://elsewhere:1/v1"] = KEY
    settings = Settings.read(base_url=server.url, keyring=True, embedding_model="vectors")
    with (
        closing(ModelFactory(settings)) as kit,
        pytest.raises(FabulaError, match=f"The keyring has no key for {server.url}"),
    ):
        kit.embedder.embed(["a word"])
    assert server.calls == 0


@pytest.mark.parametrize("kept", [PlainText], indirect=True)
def test_a_key_is_kept_in_no_keyring_that_writes_it_out(server: Endpoint, kept: Keyring) -> None:
    output = init(typed=(server.url, KEY, "good", "", "vectors", "", "")).stdout
    assert kept.kept == {}
    assert "The key is not written to a file: set OPENAI_API_KEY to it" in output
    assert KEY not in user_file().read_text()


def test_a_key_of_the_environment_is_not_asked_for(
    server: Endpoint, kept: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    output = init(typed=(server.url, "good", "", "vectors", "", "")).stdout
    assert "Its key is already set." in output
    assert kept.kept == {}
    assert "keyring" not in own()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (("http://127.0.0.1:9/v1", KEY, "good", "", "vectors"), "OPENAI_BASE_URL"),
        (("URL", "sk-wrong", "good", "", "vectors"), "OPENAI_API_KEY"),
        (("URL", KEY, "bad", "", "vectors"), "FABULA_MODEL"),
        (("URL", KEY, "good", "", "bad"), "FABULA_EMBEDDING_MODEL"),
        (("localhost",), "expected http://... or https://..."),
    ],
    ids=["address", "key", "model", "embedding model", "no address"],
)
def test_what_does_not_work_is_told_and_asked_again(
    wrong: tuple[str, ...], says: str, server: Endpoint, kept: Keyring
) -> None:
    first = tuple(server.url if line == "URL" else line for line in wrong)
    result = init(typed=(*first, server.url, KEY, "good", "", "vectors", "", "", "y"))
    assert says in result.stderr
    assert "Try again, or type offline for no model:" in result.stderr
    assert own()["model"] == "good"
    assert kept.kept == {("fabula", server.url): KEY}


def test_a_key_that_is_set_and_refused_may_be_another(
    server: Endpoint, kept: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-old")
    output = init(
        typed=(server.url, "good", "", "vectors", "", KEY, "", "", "", "", "", "y")
    ).stdout
    assert kept.kept == {("fabula", server.url): KEY}
    assert (
        "The key in OPENAI_API_KEY, or in your own file, overrides this one: remove it." in output
    )


def test_what_was_tried_is_the_default_of_the_next_try(server: Endpoint, kept: Keyring) -> None:
    init(typed=(server.url, KEY, "bad", "", "vectors", "", "", "good", "", "", "", "", "y"))
    assert (own()["model"], own()["embedding_model"]) == ("good", "vectors")
    assert kept.kept == {("fabula", server.url): KEY}


@pytest.mark.parametrize("typed", [("", ""), ("offline",)], ids=["no key", "no model"])
def test_without_a_key_it_is_offline_and_says_so(
    typed: tuple[str, ...], kept: Keyring, tmp_path: Path
) -> None:
    output = init(typed=(*typed, "", "")).stdout
    assert "Fabula works offline" in output
    assert output.endswith("Next: fabula demo\n")
    assert not user_file().exists()
    assert not (tmp_path / "fabula.toml").exists()
    assert Settings.read().offline


def test_who_had_a_model_may_go_offline(monkeypatch: pytest.MonkeyPatch, kept: Keyring) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    init(typed=("offline", "", ""))
    assert own() == {"model": "offline", "embedding_model": "wordllama-256"}
    assert Settings.read().offline


def test_offline_that_was_named_is_offline_although_there_is_an_endpoint(
    server: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asked gpt-4.1-mini instead, and wrote that into the file."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    init("--yes", "--model", "offline", "--embedding-model", "wordllama-256")
    assert own() == {"model": "offline", "embedding_model": "wordllama-256"}
    assert server.bodies == []
    # No chat model, and an embedding model of the endpoint.
    output = init("--yes", "--model", "offline", "--embedding-model", "vectors").stdout
    assert "The embedding model vectors answers." in output
    values = {"model": "offline", "embedding_model": "vectors", "base_url": server.url}
    assert own() == values


def test_nothing_is_asked_with_yes(
    server: Endpoint, books: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    flags = ("--base-url", server.url, "--model", "good", "--embedding-model", "vectors")
    init("--yes", *flags, "-c", "novels", "--books", str(books))
    assert own() == {"base_url": server.url, "model": "good", "embedding_model": "vectors"}
    assert toml(tmp_path / "fabula.toml") == {"collection": "novels"}
    assert "FABULA_MODEL" in init("--yes", *flags[:2], "--model", "bad", code=1).stderr
    assert "doesn't exist" in init("--yes", *flags, "--books", "nowhere", code=1).stderr


def test_a_strong_model_for_aspects_is_tried_and_written(kept: Keyring) -> None:
    with Endpoint(key=KEY, models=["good", "better", "vectors"]) as endpoint:
        output = init(typed=(endpoint.url, KEY, "good", "better", "vectors", "", "", "y")).stdout
        assert own()["aspect_model"] == "better"
        assert "The aspect model better answers." in output
        # It stays what is suggested as long as the chat model does.
        init(typed=("", "", "", "", "", "", ""))
        assert own()["aspect_model"] == "better"
    assert Settings.read().judge == "better"


def test_the_strong_model_of_a_family_is_suggested(kept: Keyring) -> None:
    models = ["gpt-4.1-mini", "gpt-4.1", "vectors"]
    with Endpoint(key=KEY, models=models) as endpoint:
        init(typed=(endpoint.url, KEY, "gpt-4.1-mini", "", "vectors", "", "", "y"))
    assert own()["aspect_model"] == "gpt-4.1"


def test_with_yes_a_suggested_model_that_does_not_answer_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Endpoint(key=KEY, models=["gpt-4.1-mini", "vectors"]) as endpoint:
        flags = ("--base-url", endpoint.url, "--model", "gpt-4.1-mini")
        result = init("--yes", *flags, "--embedding-model", "vectors")
        assert "Aspects are found by gpt-4.1-mini instead." in result.stderr
        assert "aspect_model" not in own()
        chosen = ("--aspect-model", "gpt-4.1", "--embedding-model", "vectors")
        assert "FABULA_ASPECT_MODEL" in init("--yes", *flags, *chosen, code=1).stderr


def test_yes_alone_sets_up_offline() -> None:
    assert "Fabula works offline" in init("--yes").stdout


def test_offline_search_by_a_model_of_this_machine_is_named_and_set_up(kept: Keyring) -> None:
    output = init(typed=("offline", "", "")).stdout
    cure = "`pip install 'fabula[local-models]'`, then `fabula init --embedding-model fastembed:"
    assert cure in output
    minilm.require_packages()
    local = ("--embedding-model", "fastembed:minilm")
    refusal = init("--yes", *local, code=1).stderr
    assert "knows no model 'minilm'" in refusal
    minilm.write_model(Settings.read().models_folder / "minilm")
    output = init(*local, typed=("offline", "", "")).stdout
    assert "The embedding model fastembed:minilm answers." in output
    assert "fabula[local-models]" not in output
    assert own() == {"model": "offline", "embedding_model": "fastembed:minilm"}
    assert (Settings.read().offline, Settings.read().embeds_by_endpoint) == (True, False)
    # It stays what is suggested.
    init(typed=("offline", "", ""))
    assert own()["embedding_model"] == "fastembed:minilm"


def test_what_is_there_stays_and_is_replaced_only_when_told(
    server: Endpoint, kept: Keyring, tmp_path: Path
) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text(
        '# mine\nmodel = "old"  # the best\ntop_k = 7\n\n[aspects]\nlevels = 3\n'
    )
    answers = (server.url, KEY, "good", "", "vectors", "", "", "y")
    result = init(typed=(*answers, "n"))
    assert "has model = 'old'. Change it to 'good'?" in result.stdout
    kept_as_it_was = {"model": "old", "top_k": 7, "aspects": {"levels": 3}}
    added = {"base_url": server.url, "embedding_model": "vectors", "keyring": True}
    assert own() == kept_as_it_was | added
    assert user_file().read_text().startswith('# mine\nmodel = "old"  # the best\n')
    init(typed=("", "good", "", "", "", "", "y"))
    assert own() == kept_as_it_was | added | {"model": "good"}
    assert stat.S_IMODE(user_file().stat().st_mode) == 0o600
    before = user_file().read_bytes()
    assert "Written to" not in init(typed=("", "", "", "", "", "")).stdout
    assert user_file().read_bytes() == before


def test_a_link_in_the_working_folder_is_not_written_through(tmp_path: Path, kept: Keyring) -> None:
    (tmp_path / "target").write_text("")
    (tmp_path / "fabula.toml").symlink_to(tmp_path / "target")
    assert "is a link" in init(typed=("offline", "novels", ""), code=1).stderr
    assert (tmp_path / "target").read_text() == ""


def test_a_link_to_the_users_own_file_stays_one(
    tmp_path: Path, kept: Keyring, server: Endpoint
) -> None:
    (tmp_path / "dotfile").write_text("")
    user_file().parent.mkdir(parents=True)
    user_file().symlink_to(tmp_path / "dotfile")
    init(typed=(server.url, KEY, "good", "", "vectors", "", "", "y"))
    assert user_file().is_symlink()
    assert toml(tmp_path / "dotfile")["model"] == "good"


def test_what_something_stronger_says_otherwise_is_told(
    monkeypatch: pytest.MonkeyPatch, kept: Keyring, server: Endpoint
) -> None:
    monkeypatch.setenv("FABULA_MODEL", "other")
    output = init(typed=(server.url, KEY, "good", "", "vectors", "", "", "y")).stdout
    assert "model has another value here: FABULA_MODEL or a nearer file sets it." in output


@pytest.mark.parametrize("answer", ["a/b", "x" * 300])
def test_a_name_that_no_collection_can_have_is_asked_for_again(
    answer: str, kept: Keyring, tmp_path: Path
) -> None:
    result = init(typed=("offline", answer, "tales", ""))
    assert "The name of a collection" in result.stderr
    assert toml(tmp_path / "fabula.toml") == {"collection": "tales"}


def test_a_password_in_an_address_is_written_to_no_file(kept: Keyring) -> None:
    with Endpoint() as endpoint:
        url = endpoint.url.replace("//", "//me:hidden@")
        output = init(typed=(url, "", "good", "", "vectors", "", "")).stdout
    assert "keep OPENAI_BASE_URL set" in output
    assert "hidden" not in user_file().read_text()


def test_it_needs_no_terminal(server: Endpoint, tmp_path: Path) -> None:
    fabula = Path(sys.executable).with_name("fabula")
    lines = "\n".join((server.url, KEY, "good", "", "vectors", "", "", ""))
    run = subprocess.run(
        [fabula, "init"],
        input=lines,
        env=os.environ | {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        start_new_session=True,
    )
    assert run.returncode == 0, run.stderr
    assert "Warning" not in run.stderr
    assert own()["base_url"] == server.url
    assert KEY not in user_file().read_text() + run.stdout + run.stderr


def test_who_breaks_off_leaves_everything_as_it_was(server: Endpoint, kept: Keyring) -> None:
    assert "Aborted" in init(typed=(server.url, KEY), code=1).stderr
    assert not user_file().exists()
    assert kept.kept == {}


@pytest.fixture
def open_server() -> Iterator[Endpoint]:
    """An endpoint that asks for no key."""
    with Endpoint(models=["good", "vectors"]) as endpoint:
        yield endpoint


def test_an_endpoint_without_a_key_can_follow_one_with_a_key(
    open_server: Endpoint, kept: Keyring
) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text("keyring = true\n")
    # The address, no key, the models, collection, books, and that the file may be changed.
    init(typed=(open_server.url, "", "good", "", "vectors", "", "", "y"))
    assert own()["keyring"] is False


def test_a_key_goes_to_no_other_address(open_server: Endpoint, kept: Keyring) -> None:
    kept.set_password("fabula", "http://127.0.0.1:9/v1", KEY)
    # The first does not answer; its key is known, and none is typed for the second.
    first = ("http://127.0.0.1:9/v1", "good", "", "vectors")
    init(typed=(*first, open_server.url, "", "good", "", "vectors", "", ""))
    assert kept.kept == {("fabula", "http://127.0.0.1:9/v1"): KEY}
    assert "keyring" not in own()


def test_a_link_to_the_users_own_file_leaves_its_folder_as_it_is(
    open_server: Endpoint, tmp_path: Path
) -> None:
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir(mode=0o755)
    (dotfiles / "fabula.toml").write_text("")
    user_file().parent.mkdir(parents=True)
    user_file().symlink_to(dotfiles / "fabula.toml")
    init(typed=(open_server.url, "", "good", "", "vectors", "", ""))
    assert own()["model"] == "good"
    assert stat.S_IMODE(dotfiles.stat().st_mode) == 0o755
    assert stat.S_IMODE((dotfiles / "fabula.toml").stat().st_mode) == 0o600


def test_yes_takes_no_model_out_where_a_key_is_not_set_just_now() -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text('model = "good"\nembedding_model = "vectors"\n')
    init("--yes")
    assert own() == {"model": "good", "embedding_model": "vectors"}


def test_a_keyring_that_cannot_be_loaded_is_none() -> None:
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            "from fabula.models.keyring import keyring_name; print([keyring_name()])",
        ],
        env=os.environ | {"PYTHON_KEYRING_BACKEND": "nosuch.Keyring"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "['']\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# a comment\n",
        'model="old"',
        "[aspects]\nlevels = 3\n",
        'top_k = 3\n\n\n[aspects]\nmodel = "not this"\n',
        'graphs = [\n  "aspects",\n]\nmodel = "old" # why\n[x]\n',
        'model = """\nold\n"""\n\n# notes\n[[x]]\na = 1\n',
    ],
)
def test_only_what_is_meant_changes_in_a_file(text: str, tmp_path: Path) -> None:
    file = tmp_path / "fabula.toml"
    file.write_text(text)
    values: dict[str, str | bool] = {"model": 'a "quoted" \\ näme', "keyring": True}
    assert write(file, values, Prompter(yes=True)) == values
    assert toml(file) == tomllib.loads(text) | values
    lines = [line for line in text.splitlines() if line.startswith(("#", "top_k", "["))]
    made = file.read_text().splitlines()
    assert [line for line in made if line in lines] == lines, "comments and the order stay"
    assert ("# why" in text) == ("# why" in file.read_text())
