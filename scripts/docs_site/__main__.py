"""Builds the site: `PYTHONPATH=scripts python -m docs_site [FOLDER]`.

Without a folder it goes to build/site. Nothing is fetched. A warning of the builder ends it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from docs_site import (
    commands,
    diagrams,
    llms,
    operations,
    python_api,
    queries,
    routes,
    schema,
    settings,
)
from docs_site.pages import Pages, titles

ROOT = Path(__file__).parents[2]
WORK = ROOT / "build" / "docs"
"""Where the pages are put together. A folder of its own, since a build leaves nothing in docs/."""
THEME = Path(__file__).parent / "theme"


def main() -> None:
    """Write all pages, draw their diagrams, and have Zensical make the site."""
    target = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "site").resolve()
    pages = Pages.read(ROOT)
    for module in (commands, operations, settings, routes, schema, queries, python_api):
        pages.add(module.make_pages())
    diagrams.draw_all(pages.texts.values(), WORK / "diagrams")
    source = WORK / "pages"
    pages.write(source)
    config = _write_config(pages)
    _run_zensical(config)
    site = WORK / "site"
    llms.write(pages, titles(config), site)
    if target.exists():
        shutil.rmtree(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    site.rename(target)
    print(f"{target}: {len(pages.texts)} pages")


def _write_config(pages: Pages) -> Path:
    """Write mkdocs.yml with the version and with the pages of the reference in its navigation."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    config = WORK / "mkdocs.yml"
    config.write_text(f"{text}\nsite_name: Fabula {version('fabula')}\n", encoding="utf-8")
    shutil.copytree(THEME, WORK / "theme", dirs_exist_ok=True)
    return config


def _run_zensical(config: Path) -> None:
    site = config.parent / "site"
    if site.exists():
        shutil.rmtree(site)
    paths = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    run = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "-f", config.name],
        cwd=config.parent,
        env=environment,
        check=False,
    )
    if run.returncode:
        sys.exit(run.returncode)


if __name__ == "__main__":
    main()
