"""What docs/browser.md tells works on the real page: Neo4j Browser as the private server has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from analyst import Analyst, settings
from chromium import browser
from database import connect, wipe
from fabula.graph.explore import shipped_query
from fabula.server import Address
from graphs import DIMENSIONS, MODEL, put, small_graph

pytestmark = pytest.mark.long

GRASS = Path(__file__).parents[2] / "docs" / "browser.grass"


@pytest.fixture(scope="module")
def analyst(address: Address) -> Iterator[Analyst]:
    """At the page, connected to a small graph whose chunks are 'word 0.' to 'word 3.'."""
    with browser() as chromium, connect(address) as store:
        wipe(store)
        store.prepare("default", MODEL, DIMENSIONS)
        put(store, small_graph())
        yield Analyst.connected(chromium, address)


@pytest.mark.screen
def test_a_query_pastes_as_it_is_once_the_lines_of_its_head_are_entered(analyst: Analyst) -> None:
    statement = shipped_query("read").statement
    analyst.set(*settings(statement))
    expect(analyst.run(statement)).to_contain_text('"word 3."')


def test_the_address_of_the_page_fills_in_the_server_and_the_user(
    analyst: Analyst, address: Address
) -> None:
    fresh = analyst.page.context.browser
    assert fresh
    page = fresh.new_page()
    page.goto(address.page, wait_until="commit")
    expect(page.get_by_test_id("username")).to_have_value(address.username)
    place = address.uri.partition("://")[2]
    expect(page.get_by_test_id("boltaddress")).to_have_value(place)
    assert address.password not in address.page
    page.close()


def test_a_tree_is_drawn_in_the_colours_of_the_style_sheet(analyst: Analyst) -> None:
    analyst.drop(GRASS)
    statement = shipped_query("tree").statement
    analyst.set(*settings(statement))
    frame = analyst.run(statement)
    expect(frame.locator("g.node").first).to_be_visible()
    assert "color: #4C8EDA" in GRASS.read_text(encoding="utf-8").partition("node.Summary")[2]
    colours = frame.locator("g.node circle").evaluate_all(
        "circles => circles.map(circle => circle.getAttribute('fill'))"
    )
    assert {"#4C8EDA", "#D9C8AE"} <= set(colours)
