"""Without a chat model, a graph that needs one is refused before anything is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from database import connect, name_server, wipe
from endpoint import Endpoint
from fabula import Fabula, SettingsError
from fabula.cli import main
from fabula.config.settings import OFFLINE, STATIC
from fabula.graph.installed import graphs
from fabula.operations.documents import drop_graph
from fabula.server import Address
from served import server_of

STORY = (
    "Title: Winter\nLanguage: en\n\nAnna walked to the mill on day 1. Boris walked to the mill.\n"
)
NEED_MODEL = [name for name, graph in graphs().items() if graph.needs_model]


@pytest.fixture
def offline(address: Address, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fabula]:
    name_server(monkeypatch, address)
    with (
        connect(address) as store,
        Fabula(**server_of(address), model=OFFLINE, embedding_model=STATIC) as fabula,
    ):
        wipe(store)
        yield fabula


@pytest.mark.whole
def test_facts_and_events_need_a_model() -> None:
    assert sorted(NEED_MODEL) == ["discourse", "facts"]


@pytest.mark.parametrize("name", NEED_MODEL)
def test_it_is_neither_built_nor_brought_in(name: str, offline: Fabula, tmp_path: Path) -> None:
    (tmp_path / "winter.txt").write_text(STORY)
    refused = f"The graph {name!r} needs a chat model. Set OPENAI_API_KEY or OPENAI_BASE_URL."
    for dry in (True, False):
        with pytest.raises(SettingsError, match=refused):
            if dry:
                offline.ingest(tmp_path / "winter.txt", graphs=[name], dry=True)
            else:
                offline.ingest(tmp_path / "winter.txt", graphs=[name])
    assert list(offline.documents()) == []
    offline.ingest(tmp_path / "winter.txt", graphs=["entities"])
    with pytest.raises(SettingsError, match=refused):
        offline.build(name)
    shown = CliRunner().invoke(main, ["build", name, "--model", "offline"])
    assert shown.exit_code == 1
    assert refused in shown.stderr
    assert f"`fabula drop {name}`" in shown.stderr


def test_what_a_model_built_is_not_made_anew_without_one(
    offline: Fabula, address: Address, tmp_path: Path
) -> None:
    file = tmp_path / "winter.txt"
    file.write_text(STORY)
    with (
        Endpoint() as endpoint,
        Fabula(
            **server_of(address),
            base_url=endpoint.url,
            model="m",
            embedding_model=STATIC,
            graphs=("discourse",),
        ) as fabula,
    ):
        [outcome] = fabula.ingest(file)
    assert outcome.error is None
    file.write_text(STORY + "Clara came.\n")
    with pytest.raises(SettingsError, match="The graph 'discourse' needs a chat model"):
        offline.ingest(file)
    [entry] = offline.documents()
    assert "discourse" in entry.graphs
    drop_graph(offline, "discourse")
    [outcome] = offline.ingest(file)
    assert outcome.error is None
