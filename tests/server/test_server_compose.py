"""docker-compose.yml: the official image, configured as the private server is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabula.config.settings import Settings, setting_fields
from fabula.config.settings import environment_variable as variable_of
from fabula.server import config
from fabula.server.artifacts import read_lock

FILE = Path(__file__).parents[2] / "docker-compose.yml"


@pytest.fixture(scope="module")
def compose() -> Any:
    return yaml.safe_load(FILE.read_text())


@pytest.fixture(scope="module")
def service(compose: Any) -> Any:
    return compose["services"]["neo4j"]


def variable(setting: str) -> str:
    """How the official image names a setting in its environment."""
    return "NEO4J_" + setting.replace("_", "__").replace(".", "_")


def test_it_runs_the_version_of_the_private_server(service: Any) -> None:
    assert service["image"] == f"neo4j:{read_lock().version}-community"


def test_every_setting_is_that_of_the_private_server_and_none_is_more(service: Any) -> None:
    fields = Settings.model_fields
    memory = config.memory(fields["neo4j_heap"].default, fields["neo4j_page_cache"].default)
    wanted = {variable(name): value for name, value in (config.SETTINGS | memory).items()}
    given = {
        name: re.sub(r"\$\{\w+:-(.*)\}", r"\1", value)
        for name, value in service["environment"].items()
        if name != "NEO4J_AUTH"
    }
    assert given == wanted


def test_its_memory_can_be_set_as_the_private_servers(service: Any) -> None:
    used = " ".join(service["environment"].values())
    for name in re.findall(r"FABULA_(\w+)", used):
        assert name.lower() in Settings.model_fields
    assert "FABULA_NEO4J_HEAP" in used
    assert "FABULA_NEO4J_PAGE_CACHE" in used


def test_it_listens_on_loopback_only(service: Any) -> None:
    assert sorted(service["ports"]) == ["127.0.0.1:7474:7474", "127.0.0.1:7687:7687"]


def test_it_starts_with_a_password_only(service: Any) -> None:
    assert service["environment"]["NEO4J_AUTH"].startswith("neo4j/${NEO4J_PASSWORD:?")


def test_it_has_a_health_check_and_a_volume(service: Any) -> None:
    assert "7474" in service["healthcheck"]["test"][-1]
    [volume] = service["volumes"]
    name, folder = volume.split(":")
    assert folder == "/data"
    assert name in yaml.safe_load(FILE.read_text())["volumes"]


def test_the_service_beside_it_is_set_by_settings_that_there_are(compose: Any) -> None:
    own = compose["services"]["fabula"]
    known = {variable_of(name) for name in setting_fields()}
    image = re.findall(r"(FABULA_\w+)=", (FILE.parent / "Dockerfile").read_text())
    assert {*own["environment"], *image} <= known
    assert image, "the image sets some"


def test_the_service_listens_on_loopback_and_may_write_to_its_volume_alone(compose: Any) -> None:
    own = compose["services"]["fabula"]
    assert own["ports"] == ["127.0.0.1:8040:8040"]
    assert own["read_only"] is True
    assert own["cap_drop"] == ["ALL"]
    [volume] = own["volumes"]
    name, folder = volume.split(":")
    assert name in compose["volumes"]
    image = (FILE.parent / "Dockerfile").read_text()
    assert f"FABULA_SERVE__UPLOADS={folder}/" in image
    assert f"FABULA_CACHE_FOLDER={folder}/" in image
    assert re.search(r"^USER fabula$", image, re.MULTILINE)


def test_the_service_is_given_any_setting_by_a_file_that_need_not_be_there(compose: Any) -> None:
    assert compose["services"]["fabula"]["env_file"] == [{"path": "fabula.env", "required": False}]
