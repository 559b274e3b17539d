"""`fabula edit`: the title, author, year and metadata of a document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner, Result

from database import name_server
from fabula.cli import main
from fabula.errors import BadValue, NotFound
from fabula.library.collection import Collection
from fabula.operations.documents import edit_document
from fabula.server import Address
from offline import offline_app


@pytest.fixture(scope="module")
def books(address: Address) -> Iterator[Collection]:
    with offline_app(address) as app:
        books = app.collection("default")
        books.ingest_text("The whale swam.", source="w.txt", title="The Whale")
        yield books


@pytest.fixture
def run(books: Collection, address: Address, monkeypatch: pytest.MonkeyPatch) -> Any:
    name_server(monkeypatch, address)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments)

    return run


def test_what_is_not_given_stays_as_it_is(books: Collection, run: Any) -> None:
    id = books.document("The Whale").id
    author = run("edit", "w.txt", "--author", "Herman Melville", "--published", "1851")
    assert author.stdout == f"{id}: The Whale by Herman Melville (1851)\n"
    title = run("edit", "The Whale", "  Moby-Dick ")
    assert title.stdout == f"{id}: Moby-Dick by Herman Melville (1851)\n"
    entry = books.document("Moby-Dick")
    assert (entry.id, entry.author, entry.published) == (id, "Herman Melville", "1851")
    # An empty value takes an author and a year away.
    assert run("edit", "Moby", "--author", "", "--published", "").stdout == f"{id}: Moby-Dick\n"
    assert run("edit", "Moby-Dick", "The Whale").exit_code == 0
    assert books.document("w.txt").title == "The Whale"


def test_what_can_not_be_is_refused_and_changes_nothing(books: Collection, run: Any) -> None:
    before = books.document("w.txt")
    nothing = run("edit", "w.txt")
    assert (nothing.exit_code, "Give a new title" in nothing.stderr) == (1, True)
    assert "The title is empty" in run("edit", "w.txt", " ").stderr
    with pytest.raises(BadValue, match="The title is empty"):
        edit_document(books, "w.txt", title="")
    with pytest.raises(NotFound, match="There is no document"):
        edit_document(books, "nothing.txt", title="Something")
    assert books.document("w.txt") == before
