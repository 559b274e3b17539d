"""Settings: flags over environment over file; a wrong one is named, and the nearest right one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from annotated_types import Le, Lt
from pydantic import SecretStr

from cases import for_each
from fabula.ask.modes import modes
from fabula.ask.query import Query
from fabula.config.settings import CONVENTIONAL, Settings, environment_variable, setting_fields
from fabula.errors import FabulaError, SettingsError


def test_a_flag_beats_the_environment_which_beats_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fabula.toml").write_text("top_k = 3\nlevels = 3\ndetails = 3\n")
    monkeypatch.setenv("FABULA_TOP_K", "4")
    monkeypatch.setenv("FABULA_LEVELS", "4")
    settings = Settings.read(top_k=5)
    aspects = settings.table("aspects")
    assert (settings.top_k, aspects.levels, aspects.details) == (5, 4, 3)


def value_of(settings: Settings, name: str) -> object:
    """The value of a setting by its whole name."""
    table, _, inside = name.rpartition(".")
    return getattr(settings.table(table) if table else settings, inside)


@for_each("name", sorted(set(setting_fields()) - set(CONVENTIONAL)))
def test_every_setting_is_given_by_its_variable_or_by_its_whole_name(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = value_of(Settings(), name)
    # What is unset may be a share: nothing above 1 would do.
    given = ",".join(value) if isinstance(value, tuple) else "1" if value is None else str(value)
    variable = environment_variable(name)
    with monkeypatch.context() as patch:
        if variable:
            patch.setenv(variable, given)
        found = value_of(Settings.read(**{} if variable else {name: given}), name)
    found = found.get_secret_value() if isinstance(found, SecretStr) else found
    assert found == value or (value is None and float(str(found)) == 1)


def test_the_core_the_service_and_short_names_have_variables_and_other_tables_have_none() -> None:
    without = {name for name in setting_fields() if not environment_variable(name)}
    tables = {name.partition(".")[0] for name in without}
    assert all("." in name for name in without)
    assert {"aspects", "entities", "hybrid"} <= tables
    assert "serve" not in tables
    assert {environment_variable(name) for name in ("aspects.set", "aspects.levels")} == {
        "FABULA_ASPECTS",
        "FABULA_LEVELS",
    }


@pytest.mark.parametrize(
    ("variable", "advice"),
    [
        ("FABULA_CLUSTER_TOKENS", r"--set aspects\.cluster_tokens=VALUE.* \[aspects\]"),
        ("FABULA_ASPECTS__LEVELS", r"--set aspects\.levels=VALUE"),
        ("FABULA_TOP_DOWN__WIDTH", r"--set top-down\.width=VALUE"),
        ("FABULA_WIDTH", r"bottom-up\.width, top-down\.width.*--set bottom-up\.width=VALUE"),
    ],
)
def test_a_variable_that_a_tables_setting_might_have_says_how_it_is_given(
    variable: str, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "3")
    with pytest.raises(SettingsError, match=f"There is no setting {variable}.*{advice}"):
        Settings.read()


def test_a_line_without_its_table_says_which(tmp_path: Path) -> None:
    (tmp_path / "fabula.toml").write_text("cluster_tokens = 900\n")
    with pytest.raises(SettingsError, match=r"fabula\.toml: cluster_tokens.* under \[aspects\]"):
        Settings.read()


def test_a_table_is_read_from_every_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fabula.toml").write_text("[aspects]\nlevels = 3\ndetails = 3\nseed = 3\n")
    monkeypatch.setenv("FABULA_DETAILS", "4")
    aspects = Settings.read(**{"aspects.seed": "5"}).table("aspects")
    assert (aspects.levels, aspects.details, aspects.seed) == (3, 4, 5)


@pytest.mark.parametrize(
    ("flat", "name"),
    [("levels", "aspects.levels"), ("details", "aspects.details"), ("aspects", "aspects.set")],
)
def test_what_is_set_most_often_of_a_table_has_a_name_without_it(
    flat: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"levels": "3", "aspects": "general", "details": "1"}[flat]
    assert str(value_of(Settings.read(**{flat: given}), name)) == given
    monkeypatch.setenv(f"FABULA_{flat.upper()}", given)
    assert str(value_of(Settings.read(), name)) == given
    monkeypatch.delenv(f"FABULA_{flat.upper()}")
    table, own = name.split(".")
    for written in (f'{flat} = "{given}"', f'[{table}]\n{own} = "{given}"'):
        (tmp_path / "fabula.toml").write_text(written)
        assert str(value_of(Settings.read(), name)) == given


def test_a_key_of_a_table_is_named_with_it(tmp_path: Path) -> None:
    (tmp_path / "fabula.toml").write_text("[aspects]\nlevles = 3\n")
    with pytest.raises(SettingsError, match=r"aspects\.levles.*mean aspects\.levels"):
        Settings.read()
    (tmp_path / "fabula.toml").write_text("[aspects]\nlevels = -3\n")
    with pytest.raises(SettingsError, match=r"fabula\.toml: aspects\.levels = -3: "):
        Settings.read()


@pytest.mark.parametrize("name", sorted(CONVENTIONAL))
def test_a_setting_known_to_other_programs_has_their_variable_and_ours(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plain(settings: Settings) -> str:
        value = getattr(settings, name)
        return value if isinstance(value, str) else value.get_secret_value()

    monkeypatch.setenv(CONVENTIONAL[name], "theirs")
    assert plain(Settings.read()) == "theirs"
    monkeypatch.setenv(f"FABULA_{name.upper()}", "ours")
    assert plain(Settings.read()) == "ours"


def test_a_preset_is_weaker_than_all_that_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FABULA_TOP_K", "3")
    settings = Settings.read(preset="raptor", chunk_tokens=64)
    assert (settings.chunk_tokens, settings.top_k) == (64, 3)
    aspects = settings.table("aspects")
    assert (settings.collection, aspects.set, aspects.details) == ("raptor", "general", 0)
    assert Settings.read().collection == "default"


def test_a_misspelt_variable_names_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FABULA_CONCURENCY", "4")
    with pytest.raises(SettingsError, match=r"FABULA_CONCURENCY.*mean FABULA_CONCURRENCY"):
        Settings.read()


def test_a_misspelt_key_names_the_file_and_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "fabula.toml").write_text("chunk_token = 3\n")
    with pytest.raises(SettingsError, match=r"fabula\.toml: chunk_token.*mean chunk_tokens"):
        Settings.read()


@pytest.mark.parametrize(
    ("variable", "value", "complaint"),
    [
        ("FABULA_TOP_K", "many", "FABULA_TOP_K = 'many': .*integer"),
        ("FABULA_LEVELS", "-1", "FABULA_LEVELS = '-1': .*greater than"),
        ("FABULA_SERVE__LOG", "luck", "FABULA_SERVE__LOG = 'luck': .*'text' or 'json'"),
        ("FABULA_NEO4J_HEAP", "lots", "FABULA_NEO4J_HEAP = 'lots'"),
    ],
)
def test_a_bad_value_names_its_variable(
    variable: str, value: str, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match=complaint):
        Settings.read()


def test_a_broken_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.toml").write_text("top_k = \n")
    monkeypatch.setenv("FABULA_CONFIG", "own.toml")
    with pytest.raises(SettingsError, match=r"own\.toml can't be read as TOML"):
        Settings.read()


def test_without_key_and_url_the_models_are_offline() -> None:
    settings = Settings.read()
    assert (settings.model, settings.embedding_model, settings.offline) == (
        "offline",
        "wordllama-256",
        True,
    )


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "OPENAI_BASE_URL"])
def test_a_key_or_a_url_makes_the_models_real(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:1/v1")
    settings = Settings.read()
    assert not settings.offline
    assert settings.embedding_model == "text-embedding-3-small"


def test_secrets_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("NEO4J_PASSWORD", "hunter2")
    shown = repr(Settings.read()) + Settings.read().model_dump_json()
    assert "sk-secret" not in shown
    assert "hunter2" not in shown


def test_a_variable_set_to_nothing_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FABULA_HOME", "")
    monkeypatch.setenv("FABULA_TOP_K", "")
    assert Settings.read() == Settings.read(home=Settings().home, top_k=5)


def test_white_space_around_an_address_a_user_or_a_secret_is_taken_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEO4J_URI", " bolt://10.0.0.2\n")
    monkeypatch.setenv("NEO4J_PASSWORD", "hunter2\r\n")
    monkeypatch.setenv("OPENAI_API_KEY", " \n")
    write_own(tmp_path, '[collections.novels]\nneo4j_password = " other "\n')
    settings = Settings.read()
    assert settings.neo4j_uri == "bolt://10.0.0.2"
    assert settings.neo4j_password.get_secret_value() == "hunter2"
    assert settings.for_collection("novels").neo4j_password.get_secret_value() == "other"
    assert settings.offline


def test_a_secret_is_not_repeated_by_an_error(tmp_path: Path) -> None:
    own = tmp_path / "config" / "fabula" / "fabula.toml"
    own.parent.mkdir(parents=True)
    own.write_text("neo4j_password = 987654321987\n")
    with pytest.raises(SettingsError, match="neo4j_password = \\(not shown\\)") as caught:
        Settings.read()
    assert "987654321987" not in str(caught.value)


def test_a_collection_may_have_a_server_of_its_own(tmp_path: Path) -> None:
    table = '[collections."my novels"]\nneo4j_uri = "bolt://10.0.0.2"\nneo4j_password = "hunter2"\n'
    own = write_own(tmp_path, table)
    settings = Settings.read()
    assert settings.for_collection("my novels").neo4j_uri == "bolt://10.0.0.2"
    assert settings.for_collection("my novels").neo4j_username == "neo4j"
    assert "hunter2" not in f"{settings!r} {settings.redacted()}"
    own.write_text('[collections.novels]\nneo4j_url = "bolt://me:hunter2@10.0.0.2"\n')
    with pytest.raises(SettingsError, match=r"collections = \(not shown\)") as caught:
        Settings.read()
    assert "hunter2" not in str(caught.value)
    own.unlink()
    (tmp_path / "fabula.toml").write_text(table)
    with pytest.raises(SettingsError, match="collections is not taken from the working folder"):
        Settings.read()


def test_a_password_in_an_address_is_not_shown() -> None:
    address = "http://me:hunter2@models.example/v1"
    shown = Settings(base_url=address, neo4j_uri="bolt://me:hunter2@db.example:7687").redacted()
    assert shown["base_url"] == "http://models.example/v1"
    assert shown["neo4j_uri"] == "bolt://db.example:7687"
    assert "hunter2" not in str(shown)


# Whose file it is

A_STRANGERS = {
    "home": '"/tmp/theirs"',
    "cache_folder": '"/tmp/theirs"',
    "prices": '"/tmp/theirs.toml"',
    "api_key": '"sk-theirs"',
    "base_url": '"http://theirs.example/v1"',
    "neo4j_uri": '"bolt://theirs.example"',
    "neo4j_username": '"theirs"',
    "neo4j_password": '"theirs"',
    "neo4j_database": '"theirs"',
    "neo4j_heap": '"64g"',
    "neo4j_page_cache": '"64g"',
}


def write_own(tmp_path: Path, text: str) -> Path:
    """The user's own file of settings."""
    file = tmp_path / "config" / "fabula" / "fabula.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


@for_each("name", sorted(A_STRANGERS))
def test_a_working_folder_names_no_program_no_path_and_no_address(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "fabula.toml").write_text(f"top_k = 3\n{name} = {A_STRANGERS[name]}\n")
    with pytest.raises(
        SettingsError, match=f"{name} is not taken from the working folder"
    ) as refused:
        Settings.read()
    assert environment_variable(name) in str(refused.value)
    assert str(tmp_path / "config" / "fabula" / "fabula.toml") in str(refused.value)
    assert "theirs" not in str(refused.value)


@pytest.mark.parametrize("name", sorted(A_STRANGERS))
def test_the_users_own_file_and_a_named_one_may_set_all(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plain() -> str:
        value = getattr(Settings.read(), name)
        return str(value.get_secret_value() if isinstance(value, SecretStr) else value)

    for given in ("HOME", "CACHE_FOLDER"):
        monkeypatch.delenv(f"FABULA_{given}")
    line = f"{name} = {A_STRANGERS[name]}\n"
    wanted = A_STRANGERS[name].strip('"')
    own = write_own(tmp_path, line)
    assert plain() == wanted
    own.unlink()
    (tmp_path / "fabula.toml").write_text(line)
    monkeypatch.setenv("FABULA_CONFIG", "fabula.toml")
    assert plain() == wanted


@pytest.mark.parametrize("written", ["true", '"on"', "1"])
def test_a_working_folder_does_not_turn_on_what_reaches_the_network(
    written: str, tmp_path: Path
) -> None:
    write_own(tmp_path, "fetch = false\n")
    (tmp_path / "fabula.toml").write_text(f"fetch = {written}\n")
    with pytest.raises(
        SettingsError, match="fetch is not taken from the working folder"
    ) as refused:
        Settings.read()
    assert "FABULA_FETCH" in str(refused.value)


def test_a_working_folder_may_turn_off_what_reaches_the_network(tmp_path: Path) -> None:
    (tmp_path / "fabula.toml").write_text("fetch = false\n")
    assert Settings.read().fetch is False


def test_every_path_among_the_settings_is_kept_from_the_working_folder(tmp_path: Path) -> None:
    paths = [name for name, field in setting_fields().items() if "Path" in str(field.annotation)]
    assert {"home", "cache_folder", "prices"} <= set(paths)
    for name in paths:
        table, _, own = name.rpartition(".")
        head = f"[{table}]\n" if table else ""
        (tmp_path / "fabula.toml").write_text(f'{head}{own} = "there"\n')
        with pytest.raises(SettingsError, match="not taken from the working folder"):
            Settings.read()


def test_a_working_folders_file_is_stronger_than_the_users_own(tmp_path: Path) -> None:
    write_own(tmp_path, "top_k = 3\nchunk_tokens = 64\n")
    (tmp_path / "fabula.toml").write_text("top_k = 4\n")
    settings = Settings.read()
    assert (settings.top_k, settings.chunk_tokens) == (4, 64)


def test_in_the_configuration_folder_itself_the_file_is_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = write_own(tmp_path, 'base_url = "http://mine.example/v1"\n')
    monkeypatch.chdir(own.parent)
    assert Settings.read().base_url == "http://mine.example/v1"


def test_a_deeply_nested_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "fabula.toml").write_text(f"top_k = {'[' * 100_000}\n")
    with pytest.raises(SettingsError, match=r"fabula\.toml can't be read as TOML"):
        Settings.read()


# The context of a question


def test_a_context_is_of_sentences_offline_and_of_passages_with_a_model() -> None:
    online = Settings.read(base_url="http://localhost:1/v1")
    queries = [Query.of("Who?", settings) for settings in (Settings.read(), online)]
    assert [query.context for query in queries] == ["sentences", "auto"]
    assert Query.of("Who?", online, context="sentences").context == "sentences"
    with pytest.raises(FabulaError, match="not 'words'"):
        Query.of("Who?", online, context="words")
    assert Query.of("Who?", Settings.read(context="passages"), context="auto").context == "passages"


@pytest.mark.parametrize(("preset", "k"), [("published", 5), ("naive", 5), ("raptor", 20)])
def test_what_was_published_reads_what_it_finds_first_and_no_more(preset: str, k: int) -> None:
    query = Query.of("Who?", Settings.read(preset=preset))
    assert (query.k, query.max_candidates, query.context) == (k, k, "passages")


def test_a_question_reaches_as_far_as_its_context_holds() -> None:
    def reach(**given: Any) -> int:
        return Query.of("Who?", Settings.read(), **given).max_candidates

    assert reach() == 85
    assert reach(context_tokens=500) == 50
    assert reach(context_tokens=500, k=60) == 60
    assert reach(context_tokens=10**6) == 1000
    assert reach(fill=False, k=7) == 7


def test_every_figure_of_a_mode_has_a_bound_since_a_request_may_set_it() -> None:
    unbounded = [
        f"{mode}.{name}"
        for mode, way in modes().items()
        for name, field in way.options.model_fields.items()
        if field.annotation in (int, float, int | None, float | None)
        and not any(isinstance(bound, Le | Lt) for bound in field.metadata)
    ]
    assert unbounded == []
