"""The documentation site is built without a warning, and loads nothing from another host."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from lxml import html

from chromium import browser
from docs_site.pages import Pages, read_config, titles, widen_lists
from docs_site.python_api import make_pages as make_python_pages
from docs_site.schema import draw_edges
from fabula.cli import COMMANDS, find_commands
from fabula.config.settings import setting_fields
from fabula.graph import CHUNK
from fabula.graph.explore import query_names
from fabula.graph.installed import graphs

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "mkdocs.yml"
BUILT = os.environ.get("DOCS_SITE")
"""The site that .ci/run has built."""
SHIPPED = {
    *("annotations", "aspects", "collection_communities", "communities", "discourse", "entities"),
    *("episodes", "facts", "identities", "speech"),
}
LOADS = "//script[@src]/@src | //link[@rel!='canonical']/@href | //img/@src | //iframe/@src"


# The pages


def test_every_page_has_a_place_in_the_navigation() -> None:
    """A page that nobody can reach: give it a line of `nav` in mkdocs.yml."""
    pages = Pages.read(ROOT)
    places = [path for _, path in titles(CONFIG)]
    assert len(places) == len(set(places))
    generated = {path for path in places if path not in pages.texts}
    assert pages.texts.keys() - set(places) == set()
    assert all(path.startswith("reference/") for path in generated)


def test_no_remote_font_script_or_repository_is_configured() -> None:
    config = read_config(CONFIG)
    assert config["theme"]["font"] is False
    loaded = [
        *config["extra_css"],
        *config["extra"]["polyfills"],
        *config.get("extra_javascript", ()),
    ]
    for file in loaded:
        assert (ROOT / "docs" / file).is_file(), file
    # The address of the repository is not known yet: no link leads where nothing is.
    assert "repo_url" not in config
    assert "site_url" not in config


@pytest.mark.parametrize(
    ("written", "widened"),
    [
        ("- one\n  more\n- two", "- one\n    more\n- two"),
        ("Text:\n- one", "Text:\n\n- one"),
        ("1. one\n\n   ```\n   code\n     deep\n   ```\n2. two",
         "1. one\n\n    ```\n    code\n      deep\n    ```\n2. two"),
        ("- one\n  - in it\n    more\n- two", "- one\n\n    - in it\n        more\n- two"),
        ("```\n- no\n  list\n```", "```\n- no\n  list\n```"),
        ("    - code\n", "    - code\n"),
    ],
)  # fmt: skip
def test_lists_are_indented_as_python_markdown_reads_them(written: str, widened: str) -> None:
    assert widen_lists(written) == widened


def test_no_row_of_a_table_stands_alone() -> None:
    """A blank line before a row ends the table: the page showed it with its bars, as text."""
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        prose = re.sub(r"(?ms)^```.*?^```", "", path.read_text("utf-8"))
        assert re.findall(r"\n\n(\|[^\n]*)\n(?!\|[ :-]*-)", prose) == [], path.name


def test_links_out_of_docs_lead_to_the_readme_or_are_text() -> None:
    pages = Pages({"a.md": "# The A\n", "b/c.md": "", "readme.md": ""}, {})
    written = "[x](../README.md#ask) [y](../src/f.py) [z](a.md) [w](https://example.org/)"
    changed = "[x](readme.md#ask) y [z](a.md) [w](https://example.org/)"
    assert pages.relink("a.md", written) == changed
    assert pages.relink("b/c.md", "See [a.md](../a.md#x).") == "See [The A](../a.md#x)."
    assert pages.relink("b/c.md", "[x](../../README.md)") == "[x](../readme.md)"
    assert pages.relink("a.md", "[the package][p].\n\n[p]: ../tests/p.py\n") == "the package.\n\n"
    assert pages.relink("a.md", "```\n[y](../src/f.py)\n```\n") == "```\n[y](../src/f.py)\n```\n"


# What is generated


def test_a_graph_says_what_its_edges_connect() -> None:
    """Each type of edge, between labels that there are: the schema page is drawn from it."""
    known = graphs()
    own = {name: {*graph.passages, *graph.elements} for name, graph in known.items()}
    for name in SHIPPED:
        graph = known[name]
        assert {edge for _, edge, _ in graph.connects} == {*graph.edges}, name
        below = {label for other in (*graph.rests_on, *graph.uses) for label in own[other]}
        for start, _, end in graph.connects:
            assert start in own[name]
            assert end in own[name] | below | {CHUNK}


def test_a_diagram_has_an_arrow_for_two_labels_and_a_sign_for_one() -> None:
    edges = (("A", "X", "B"), ("A", "Y", "B"), ("A", "Z", "A"))
    assert draw_edges(edges, ("A",), ("B",)).splitlines()[1:-2] == [
        "flowchart LR",
        '  A[["A<br>↻ Z"]]',
        '  B("B"):::foreign',
        '  A -- "X<br>Y" --> B',
    ]


def test_every_public_name_is_on_a_page_of_the_python_api() -> None:
    pages = make_python_pages()
    assert "::: fabula.App" in pages["reference/python/collections.md"]
    assert "::: fabula.TooLarge" in pages["reference/python/errors.md"]


# The site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site: that of .ci/run, or one of the tests' own."""
    if BUILT:
        return Path(BUILT)
    folder = tmp_path_factory.mktemp("site") / "site"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "scripts")}
    run = subprocess.run(
        [sys.executable, "-m", "docs_site", str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


@pytest.mark.slow
def test_nothing_is_loaded_from_another_host(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        for address in html.parse(page).xpath(LOADS):
            assert not re.match(r"(https?:)?//", address), (page.name, address)
            if not address.startswith(("data:", "#")):
                target = unquote(address.partition("#")[0].partition("?")[0])
                base = site if page.name == "404.html" else page.parent
                assert (base / target.lstrip("/")).exists(), (page.name, address)
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", sheet.read_text("utf-8"))


@pytest.mark.slow
def test_every_place_of_the_navigation_is_a_page_and_is_searched(site: Path) -> None:
    index = json.loads((site / "search.json").read_text(encoding="utf-8"))
    found = {item["location"].partition("#")[0] for item in index["items"]}
    for _, path in titles(CONFIG):
        page = path.removesuffix(".md") + ".html"
        assert (site / page).is_file()
        assert page in found or (page == "index.html" and "" in found), page
    assert any("humbug" in item["text"].casefold() for item in index["items"])


@pytest.mark.slow
def test_the_reference_is_that_of_the_program(site: Path) -> None:
    commands = (site / "reference" / "commands.md").read_text(encoding="utf-8")
    for name in (*COMMANDS, *find_commands()):
        assert f"\n## fabula {name}\n" in commands
    settings = (site / "reference" / "settings.md").read_text(encoding="utf-8")
    assert [name for name in setting_fields() if f"| `{name}`<br>" not in settings] == []
    queries = (site / "reference" / "queries.md").read_text(encoding="utf-8")
    assert [name for name in query_names() if f"\n## {name}\n" not in queries] == []
    routes = (site / "reference" / "http.md").read_text(encoding="utf-8")
    assert "`POST /api/v1/collections/{collection}/ask`" in routes
    assert "### list_documents" in (site / "reference" / "mcp.md").read_text(encoding="utf-8")
    [picture] = html.parse(site / "reference" / "schema.html").xpath(
        "//h2[@id='speech']/following::*[name()='svg'][@role][1]"
    )
    assert "SPOKEN_BY" in "".join(picture.itertext())
    # Where the site was built is not told.
    whole = "".join(page.read_text("utf-8") for page in (site / "reference").glob("*.md"))
    assert str(ROOT) not in whole
    assert str(Path.home()) + "/" not in whole


@pytest.mark.slow
def test_a_program_finds_every_page_as_markdown(site: Path) -> None:
    listed = (site / "llms.txt").read_text(encoding="utf-8")
    assert listed.startswith("# Fabula\n\n> ")
    paths = re.findall(r"^- \[[^\]]+\]\(([^)]+\.md)\)", listed, re.MULTILINE)
    assert paths == [path for _, path in titles(CONFIG)]
    assert all((site / path).is_file() for path in paths)
    whole = (site / "llms-full.txt").read_text(encoding="utf-8")
    assert whole.count("<!-- ") >= len(paths)
    assert "Your first book in five minutes" in whole


@pytest.mark.slow
def test_the_site_works_from_a_folder_in_a_browser(site: Path) -> None:
    """Opened from disk, by day and night, wide and narrow; a search finds a page."""
    remote: list[str] = []
    troubles: list[str] = []
    with browser() as chromium:
        for scheme, width in (("light", 1400), ("dark", 360)):
            page = chromium.new_page(
                viewport={"width": width, "height": 900},
                color_scheme=scheme,  # type: ignore[arg-type]
            )
            page.on("request", lambda one: remote.append(one.url) if "//" in one.url[:8] else None)
            page.on("pageerror", lambda error: troubles.append(str(error)))
            for name in ("index", "reference/schema", "reference/commands", "modes", "404"):
                page.goto((site / f"{name}.html").as_uri())
                assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            page.close()
        page = chromium.new_page(viewport={"width": 1400, "height": 900})
        page.goto((site / "index.html").as_uri())
        page.keyboard.press("Control+k")
        page.locator("input[aria-label=Search]:focus").wait_for()
        page.keyboard.type("spoilers")
        page.get_by_text("No spoilers").last.wait_for()
        assert "Fabula " in page.locator("header").inner_text()
    assert [url for url in remote if not url.startswith(("file://", "data:", "blob:"))] == []
    assert troubles == []
